//! A host's settings as a stack file.

use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use maxseg_core::excerpt::escaped;
use maxseg_core::mss::black_hole::MtuSearch;
use maxseg_core::settings::{CongestionName, LinuxRules, MtuProbing};
use maxseg_core::units::Time;
use maxseg_linux::observe::host::{HostReading, Interface, Route};

use super::unknown_keys::sysctls;

/// Reads a sysctl by its dotted name.
type Sysctl<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Features of a route (`RTAX_FEATURE_*` in `linux/rtnetlink.h`), as ip-route(8) names them: `ecn` and `tcp_usec_ts`.
const FEATURE_ECN: u32 = 1;
const FEATURE_USEC_TS: u32 = 1 << 4;

/// Headers of IP and TCP without options, in bytes.
const HEADERS: [(u32, &str); 2] = [(40, "IPv4"), (60, "IPv6")];

/// The stack file of `host`, whose route is that to `to` or else the default route.
pub(super) fn host_text(host: &HostReading, sysctl: Sysctl<'_>, to: Option<IpAddr>) -> String {
    let mut stack = StackText::new(sysctl);
    let route = host.route.as_ref().ok().and_then(Option::as_ref);
    stack.congestion(route);
    stack.switch("sack", "net.ipv4.tcp_sack", |value| value != "0");
    stack.switch("timestamps", "net.ipv4.tcp_timestamps", |value| value != "0");
    stack.ecn(route);
    stack.mtu_probing();
    // Every socket begins with what it says (`inet_create`, `net/ipv4/af_inet.c`).
    stack.switch("df", "net.ipv4.ip_no_pmtu_disc", |value| value == "0");
    stack.window_scaling();
    stack.route(host, route);
    stack.timer(host, route);
    stack.linux(host);
    for (name, simulated) in sysctls() {
        stack.unknown_sysctl(name, simulated.as_deref());
    }
    stack.finish(&about(host, route, to))
}

fn about(host: &HostReading, route: Option<&Route>, to: Option<IpAddr>) -> String {
    let kernel = host.kernel.as_deref().unwrap_or("of an unknown release");
    let way = to.map_or_else(|| "default route".to_owned(), |to| format!("route to {to}"));
    match route.and_then(|route| route.interface.as_ref().ok()) {
        Some(interface) => {
            format!("TCP of a host with Linux {kernel}, {way} by {}", interface.name)
        }
        None => format!("TCP of a host with Linux {kernel}"),
    }
}

/// The parts of the file.
struct StackText<'a> {
    sysctl: Sysctl<'a>,
    top: String,
    rto: String,
    linux: String,
    notes: String,
}

impl<'a> StackText<'a> {
    fn new(sysctl: Sysctl<'a>) -> Self {
        let [top, rto, linux, notes] = [const { String::new() }; 4];
        Self { sysctl, top, rto, linux, notes }
    }

    fn note(&mut self, text: &str) {
        let _ = writeln!(self.notes, "# {}", escaped(text));
    }

    /// The value of a sysctl; one that cannot be read is noted.
    fn read(&mut self, name: &str) -> Option<String> {
        match (self.sysctl)(name) {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(&format!("{name}: {}; the base's value stands", unreadable(&error)));
                None
            }
        }
    }

    /// A switch above the tables.
    fn switch(&mut self, key: &str, name: &str, is_on: impl Fn(&str) -> bool) {
        let Some(value) = self.read(name) else { return };
        line(&mut self.top, key, is_on(&value), &format!("{name} = {value}"));
    }

    fn congestion(&mut self, route: Option<&Route>) {
        let of_route = route.and_then(|route| metric(route, "congctl"));
        let (name, source) = match of_route {
            Some(name) => (name.to_owned(), "congctl of the route"),
            None => match self.read("net.ipv4.tcp_congestion_control") {
                Some(name) => (name, "net.ipv4.tcp_congestion_control"),
                None => return,
            },
        };
        let known = [CongestionName::Cubic, CongestionName::Reno, CongestionName::Bbr];
        if known.iter().any(|known| known.word() == name) {
            return line(&mut self.top, "congestion", format!("\"{name}\""), source);
        }
        self.note(&format!(
            "{source}: {name} is not simulated; the base's congestion control stands"
        ));
    }

    /// A route can turn it on for the connections that go by it (`tcp_ecn_send_syn` in `net/ipv4/tcp_output.c`).
    fn ecn(&mut self, route: Option<&Route>) {
        if features(route) & FEATURE_ECN != 0 {
            line(&mut self.top, "ecn", true, "features ecn of the route");
        } else {
            self.switch("ecn", "net.ipv4.tcp_ecn", |value| value == "1");
        }
    }

    fn mtu_probing(&mut self) {
        const NAME: &str = "net.ipv4.tcp_mtu_probing";
        let Some(value) = self.read(NAME) else { return };
        match value.parse().map(MtuProbing::of_sysctl) {
            Ok(probing) => {
                line(&mut self.top, "mtu_probing", probing, &format!("{NAME} = {value}"));
            }
            Err(_) => self.no_number(NAME, &value),
        }
    }

    /// A size of the search for the path MTU. The kernel takes any number for the first, and sends no less than `tcp_min_snd_mss`.
    fn mtu_search(&mut self, key: &str) {
        let name = format!("net.ipv4.{key}");
        let Some(value) = self.read(&name) else { return };
        let size = value.parse::<i64>().map(|size| {
            let [least, most] = [MtuSearch::LEAST, MtuSearch::MOST].map(u64::cast_signed);
            size.clamp(least, most)
        });
        match size {
            Ok(size) => line(&mut self.linux, key, size, &format!("{name} = {value}")),
            Err(_) => self.no_number(&name, &value),
        }
    }

    fn no_number(&mut self, name: &str, value: &str) {
        self.note(&format!("{name} = {value} is no number; the base's value stands"));
    }

    fn window_scaling(&mut self) {
        if self.read("net.ipv4.tcp_window_scaling").is_some_and(|value| value == "0") {
            line(&mut self.top, "window_scale", "\"off\"", "net.ipv4.tcp_window_scaling = 0");
        }
    }

    /// What the route and its interface set, and what of it no key takes.
    fn route(&mut self, host: &HostReading, route: Option<&Route>) {
        let Some(route) = route else {
            let why = match &host.route {
                Ok(_) => "there is no default route; --to ADDRESS takes another".to_owned(),
                Err(error) => format!("routes cannot be read ({error}); `ip route` asks the same"),
            };
            return self.note(&format!("no mss, initial_window and rto.min of a route: {why}"));
        };
        match &route.interface {
            Ok(interface) => self.interface(route, interface),
            Err(error) => self.note(&format!("the interface cannot be read: {error}")),
        }
        if let Some(segments) = metric(route, "initcwnd") {
            line(
                &mut self.top,
                "initial_window",
                format!("\"{segments} segments\""),
                "initcwnd of the route",
            );
        }
        if metric(route, "quickack").is_some() {
            line(&mut self.top, "delayed_ack", false, "quickack of the route");
        }
        if let Some(bytes) = metric(route, "window") {
            line(&mut self.top, "window", format!("\"{bytes} B\""), "window of the route");
        }
        let taken =
            ["congctl", "initcwnd", "advmss", "mtu", "rto_min", "quickack", "window", "features"];
        for (name, value) in route.metrics.iter().filter(|(name, _)| !taken.contains(name)) {
            let unit = if matches!(*name, "rtt" | "rttvar") { " ms" } else { "" };
            self.note(&format!("route: {name} {value}{unit} (not simulated)"));
        }
        match features(Some(route)) & !FEATURE_ECN {
            0 => {}
            FEATURE_USEC_TS => self.note("route: features tcp_usec_ts (not simulated)"),
            others => self.note(&format!("route: features {others:#x} (not simulated)")),
        }
    }

    fn interface(&mut self, route: &Route, interface: &Interface) {
        let number = |name| metric(route, name).and_then(|value| value.parse::<u32>().ok());
        let (headers, version) = HEADERS[usize::from(route.is_v6)];
        let segments = 1..=65_495;
        let of_mtu = interface.mtu.map(|mtu| (mtu.saturating_sub(headers), mtu));
        match of_mtu.filter(|(mss, _)| segments.contains(mss)) {
            Some((mss, mtu)) => {
                let source = format!(
                    "MTU of {} ({mtu}) less {headers} bytes of {version} and TCP",
                    interface.name
                );
                line(&mut self.top, "mss", mss, &source);
            }
            None => self.note("no MTU, and so no mss: it follows from the scenario's hops"),
        }
        if let Some(mtu) = number("mtu").filter(|mtu| (68..=65_535).contains(mtu)) {
            line(&mut self.linux, "route_mtu", mtu, "mtu of the route");
            if route.is_mtu_locked {
                self.note("route: its mtu is locked, so that DF is clear and routers' messages are ignored (not simulated)");
            }
        }
        if let Some(mss) = number("advmss").filter(|mss| segments.contains(mss)) {
            line(&mut self.linux, "route_advmss", mss, "advmss of the route");
        }
        let qdisc = interface.qdisc.as_deref().unwrap_or("unknown");
        let paces = if qdisc == "fq" { "paces; simulated without" } else { "simulated without fq" };
        self.note(&format!("{}: qdisc {qdisc} ({paces})", interface.name));
        for (name, state) in interface.offloads {
            let state = match state {
                Some(true) => "on",
                Some(false) => "off",
                None => "unknown: the device does not say (`ethtool -k` asks it too)",
            };
            self.note(&format!("{}: {name} {state} (the simulator has it on)", interface.name));
        }
    }

    fn timer(&mut self, host: &HostReading, route: Option<&Route>) {
        if let Some(millis) = route.and_then(|route| metric(route, "rto_min")) {
            self.time("min", millis, 1_000_000, "rto_min of the route");
        } else if let Some(micros) = self.read("net.ipv4.tcp_rto_min_us") {
            self.time("min", &micros, 1000, "net.ipv4.tcp_rto_min_us");
        }
        if let Some(millis) = self.read("net.ipv4.tcp_rto_max_ms") {
            self.time("max", &millis, 1_000_000, "net.ipv4.tcp_rto_max_ms");
        }
        if let Some(tick) = host.tick {
            line(&mut self.rto, "tick", format!("\"{tick}\""), "1 / CONFIG_HZ");
        }
    }

    /// A time of the timer: `count` units of so many nanoseconds.
    fn time(&mut self, key: &str, count: &str, unit_ns: u64, source: &str) {
        match count.parse::<u64>().ok().and_then(|count| count.checked_mul(unit_ns)) {
            Some(ns) => line(&mut self.rto, key, format!("\"{}\"", Time::from_nanos(ns)), source),
            None => self.note(&format!("{source} = {count} is no time; the base's value stands")),
        }
    }

    fn linux(&mut self, host: &HostReading) {
        for key in ["tcp_rmem", "tcp_wmem"] {
            let name = format!("net.ipv4.{key}");
            let Some(value) = self.read(&name) else { continue };
            let sizes: Vec<&str> = value.split_whitespace().collect();
            line(&mut self.linux, key, format!("[{}]", sizes.join(", ")), &name);
        }
        self.linux_switch("tcp_recovery", |value| {
            value.parse::<u32>().is_ok_and(|bits| bits & 1 == 1)
        });
        self.linux_switch("tcp_early_retrans", |value| matches!(value, "3" | "4"));
        self.linux_switch("tcp_frto", |value| value != "0");
        self.linux_switch("tcp_slow_start_after_idle", |value| value != "0");
        self.mtu_search("tcp_base_mss");
        self.mtu_search("tcp_mtu_probe_floor");
        match host.hystart {
            Some(hystart) => {
                line(&mut self.linux, "hystart", hystart, "module parameter of tcp_cubic");
            }
            None => {
                self.note("hystart: /sys/module/tcp_cubic cannot be read; the base's value stands");
            }
        }
        match host.tick {
            Some(tick) => {
                let hz = (1_000_000_000 + tick.as_nanos() / 2) / tick.as_nanos();
                if LinuxRules::TICK_RATES.iter().any(|known| u64::from(*known) == hz) {
                    line(&mut self.linux, "hz", hz, "CONFIG_HZ, by the coarse clock");
                } else {
                    self.note(&format!(
                        "hz: {hz} by the coarse clock is not simulated; the base's value stands"
                    ));
                }
            }
            None => self.note("hz: no coarse clock tells it; the base's value stands"),
        }
    }

    fn linux_switch(&mut self, key: &str, is_on: impl Fn(&str) -> bool) {
        let name = format!("net.ipv4.{key}");
        let Some(value) = self.read(&name) else { return };
        line(&mut self.linux, key, is_on(&value), &format!("{name} = {value}"));
    }

    fn unknown_sysctl(&mut self, name: &str, simulated: Option<&str>) {
        let note = match ((self.sysctl)(name), simulated) {
            (Err(error), _) => format!("{name}: {}", unreadable(&error)),
            (Ok(value), Some(simulated)) if value == simulated => {
                format!("{name} = {value} (as in the simulator)")
            }
            (Ok(value), Some(simulated)) => {
                format!("{name} = {value} (the simulator has {simulated})")
            }
            (Ok(value), None) => format!("{name} = {value} (not simulated)"),
        };
        self.note(&note);
    }

    fn finish(&self, about: &str) -> String {
        let Self { top, rto, linux, notes, .. } = self;
        let about = toml::Value::String(escaped(about).into_owned());
        format!(
            "about = {about}\nsources = [\"sysctls, route and interface, read by maxseg stacks from-host\"]\n\
             base = \"linux\"\n\n{top}\n[rto]\n{rto}\n[linux]\n{linux}\n# No key of a stack:\n{notes}"
        )
    }
}

/// `key = value`, with where it comes from.
fn line(to: &mut String, key: &str, value: impl std::fmt::Display, source: &str) {
    let _ = writeln!(to, "{:<36}  # {}", format!("{key} = {value}"), escaped(source));
}

fn metric<'r>(route: &'r Route, name: &str) -> Option<&'r str> {
    route.metrics.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// The bits of the route's features.
fn features(route: Option<&Route>) -> u32 {
    let bits = route.and_then(|route| metric(route, "features"));
    bits.and_then(|bits| bits.parse().ok()).unwrap_or(0)
}

/// Where the kernel shows the settings of TCP.
const SYSCTLS: &str = "/proc/sys/net/ipv4";

#[expect(clippy::wildcard_enum_match_arm, reason = "two kinds of error have advice of their own")]
fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        // A container may hide all of them, which says nothing of the kernel.
        io::ErrorKind::NotFound if !Path::new(SYSCTLS).is_dir() => {
            format!("cannot be read: there is no {SYSCTLS} here")
        }
        io::ErrorKind::NotFound => "this kernel or network namespace does not have it".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "this user may not read it: `sudo maxseg stacks from-host`".to_owned()
        }
        _ => format!("cannot be read ({error})"),
    }
}

#[cfg(test)]
mod tests;
