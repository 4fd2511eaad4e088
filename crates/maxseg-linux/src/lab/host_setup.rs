//! A host's settings as Linux has them: sysctls of its namespace and metrics of its routes. They apply to every program
//! in the host, iperf3 or a shell included.

use std::path::Path;

use maxseg_core::settings::{
    InitialWindow, LinuxRules, RtoRule, Settings, SocketMemory, WindowScale, WindowSize, stack,
};
use maxseg_core::units::{Bytes, Time};
use netlink_packet_route::route::RouteMetric;

/// Sysctls and route metrics of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HostSetup {
    /// Keys under /proc/sys/net, with their values.
    pub(crate) sysctls: Vec<(&'static str, String)>,
    /// The same for keys that older kernels do not have.
    pub(crate) newer_sysctls: Vec<(&'static str, String)>,
    /// Metrics of every route to the other host.
    pub(crate) metrics: Vec<RouteMetric>,
}

/// `RTAX_RTO_MIN` (linux/rtnetlink.h): the kernel uses it only where the metric is locked.
const LOCK_RTO_MIN: u32 = 1 << 13;

/// What `net.ipv4.tcp_rto_max_ms` takes (`net/ipv4/sysctl_net_ipv4.c`): `TCP_RTO_MAX_MIN_SEC` to `TCP_RTO_MAX_SEC`.
const LEAST_RTO_MAX: Time = Time::from_secs(1);
const MOST_RTO_MAX: Time = Time::from_secs(120);
const NANOS_PER_MS: u64 = 1_000_000;

impl HostSetup {
    /// For `settings`, segments of `mss` from the peer, and an interface that has room for `fits`.
    pub(crate) fn of(settings: &Settings, mss: Bytes, fits: Bytes) -> Self {
        let flag = |on: bool| u32::from(on).to_string();
        let memory = SocketMemory::of(settings, mss);
        let sizes = |[least, first, most]: [u64; 3]| format!("{least} {first} {most}");
        let mut sysctls = vec![
            ("ipv4/tcp_sack", flag(settings.sack)),
            ("ipv4/tcp_timestamps", flag(settings.timestamps)),
            ("ipv4/tcp_window_scaling", flag(settings.window_scale != WindowScale::Off)),
            ("ipv4/tcp_ecn", flag(settings.ecn)),
            ("ipv4/tcp_mtu_probing", settings.mtu_probing.sysctl().to_string()),
            ("ipv4/ip_no_pmtu_disc", flag(!settings.df)),
            ("ipv4/tcp_rmem", sizes(memory.tcp_rmem)),
            ("ipv4/tcp_wmem", sizes(memory.tcp_wmem)),
            // A window that is asked for is not what the kernel finds best.
            ("ipv4/tcp_moderate_rcvbuf", flag(memory.clamp.is_none())),
        ];
        sysctls.extend(settings.linux.iter().flat_map(|rules| {
            [
                ("ipv4/tcp_recovery", flag(rules.tcp_recovery)),
                // 3: probes of the tail; 2: F-RTO with SACK (net/ipv4/tcp_ipv4.c, tcp_sk_init).
                ("ipv4/tcp_early_retrans", (3 * u32::from(rules.tcp_early_retrans)).to_string()),
                ("ipv4/tcp_frto", (2 * u32::from(rules.tcp_frto)).to_string()),
                ("ipv4/tcp_slow_start_after_idle", flag(rules.tcp_slow_start_after_idle)),
            ]
        }));
        let of_linux = settings.linux.as_ref();
        let base_mss = of_linux.and_then(|rules| rules.tcp_base_mss);
        sysctls.extend(base_mss.map(|mss| ("ipv4/tcp_base_mss", mss.to_string())));
        let rto_max = settings.rto.max.clamp(LEAST_RTO_MAX, MOST_RTO_MAX).as_nanos() / NANOS_PER_MS;
        let mut newer_sysctls = vec![("ipv4/tcp_rto_max_ms", rto_max.to_string())];
        let floor = of_linux.and_then(|rules| rules.tcp_mtu_probe_floor);
        newer_sysctls.extend(floor.map(|mss| ("ipv4/tcp_mtu_probe_floor", mss.to_string())));
        Self { sysctls, newer_sysctls, metrics: metrics(settings, memory.clamp, (mss, fits)) }
    }
}

/// The window that the routes clamp to. A program that knows nothing of clamps gets the largest that its shift
/// carries: of a power of two, one byte less has the smaller shift, and so carries no more than was asked for.
fn route_window(window: Bytes) -> u64 {
    let bytes = window.get();
    if bytes.is_power_of_two() { bytes - 1 } else { bytes }
}

fn metrics(
    settings: &Settings,
    window: Option<Bytes>,
    (mss, fits): (Bytes, Bytes),
) -> Vec<RouteMetric> {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let rto_min = settings.rto.min.as_nanos() / NANOS_PER_MS;
    let mut metrics =
        vec![RouteMetric::Lock(LOCK_RTO_MIN), RouteMetric::RtoMin(number(rto_min.max(1)))];
    metrics.extend(window.map(|window| RouteMetric::Window(number(route_window(window)))));
    let of_route = settings.linux.as_ref();
    if let Some(mtu) = of_route.and_then(|rules| rules.route_mtu) {
        metrics.push(RouteMetric::Mtu(number(mtu.bytes().get())));
    }
    let advmss = of_route.and_then(|rules| rules.route_advmss);
    if let Some(mss) = advmss.into_iter().chain(settings.mss).min() {
        // The kernel takes the metric as it is, be it larger than the interface's MTU.
        let most = if advmss.is_some() { mss.bytes() } else { mss.bytes().min(fits) };
        metrics.push(RouteMetric::Advmss(number(most.get())));
    }
    // The kernel counts in segments, ten of any size where it is not told.
    metrics.push(RouteMetric::InitCwnd(match settings.initial_window {
        InitialWindow::Segments(segments) => segments,
        whole @ InitialWindow::Rfc6928 => number(whole.bytes(mss).get() / mss.get().max(1)).max(1),
    }));
    if settings.delayed_ack.is_none() {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}

/// Keys of a host's settings that this kernel's TCP decides for itself, as far as they ask for something.
pub(crate) fn left_to_the_kernel(settings: &Settings) -> Vec<&'static str> {
    // What the stack `linux` brings along is what the kernel does.
    let of_linux = stack("linux").ok().and_then(|linux| linux.settings.complete().ok());
    let linux = of_linux.as_ref().filter(|_| settings.linux.is_some());
    let differs =
        |same: fn(&Settings, &Settings) -> bool| linux.is_none_or(|linux| !same(linux, settings));
    let rules = |of: fn(&LinuxRules) -> u32| {
        linux.is_some_and(|linux| linux.linux.as_ref().map(of) != settings.linux.as_ref().map(of))
    };
    let known = [
        ("recovery", differs(|a, b| a.recovery == b.recovery)),
        ("rto.initial", differs(|a, b| a.rto.initial == b.rto.initial)),
        ("rto.rule", linux.is_some() && tick_of(settings).is_none()),
        (
            "rto.tick",
            tick_of(settings)
                .is_some_and(|tick| linux.is_some_and(|linux| tick_of(linux) != Some(tick))),
        ),
        (
            "rto.forget_after",
            linux.is_some_and(|linux| linux.rto.forget_after != settings.rto.forget_after),
        ),
        ("initial_ssthresh", differs(|a, b| a.initial_ssthresh == b.initial_ssthresh)),
        ("limited_transmit", differs(|a, b| a.limited_transmit == b.limited_transmit)),
        (
            "delayed_ack",
            settings.delayed_ack.is_some() && differs(|a, b| a.delayed_ack == b.delayed_ack),
        ),
        ("window_scale", matches!(settings.window_scale, WindowScale::Shift(_))),
        ("packet_cost", settings.packet_cost.is_some()),
        ("ns2", settings.ns2.is_some()),
        ("off_subnet_mss", settings.off_subnet_mss.is_some()),
        ("freebsd", settings.freebsd.is_some()),
        ("handshake_ack", !settings.handshake_ack),
        ("recovery_burst", settings.recovery_burst.is_some()),
        ("linux.hystart", rules(|rules| u32::from(rules.hystart))),
        ("linux.hz", rules(|rules| rules.hz)),
    ];
    known.into_iter().filter(|(_, asks)| *asks).map(|(key, _)| key).collect()
}

/// The tick of Linux's rule; `None` of another rule.
fn tick_of(settings: &Settings) -> Option<Time> {
    match settings.rto.rule {
        RtoRule::Linux { tick } => Some(tick),
        RtoRule::Rfc6298 { .. } | RtoRule::Ticks { .. } => None,
    }
}

/// Values of a host's settings that this kernel takes another one for, with the reason.
pub(crate) fn bounded_by_the_kernel(settings: &Settings) -> Vec<String> {
    let has_rto_max = Path::new("/proc/sys/net/ipv4/tcp_rto_max_ms").exists();
    rto_max_bound(settings.rto.max, has_rto_max)
        .into_iter()
        .chain(rto_min_bound(settings))
        .collect()
}

fn rto_max_bound(asked: Time, has_sysctl: bool) -> Option<String> {
    let (used, reason) = if has_sysctl {
        let used = asked.clamp(LEAST_RTO_MAX, MOST_RTO_MAX);
        (used, format!("net.ipv4.tcp_rto_max_ms takes {LEAST_RTO_MAX} to {MOST_RTO_MAX}"))
    } else {
        (MOST_RTO_MAX, "this kernel has no net.ipv4.tcp_rto_max_ms (Linux 6.15)".to_owned())
    };
    (used != asked).then(|| format!("rto.max = {asked} is {used} here: {reason}"))
}

fn rto_min_bound(settings: &Settings) -> Option<String> {
    let asked = settings.rto.min;
    let used = Time::from_millis((asked.as_nanos() / NANOS_PER_MS).max(1));
    (used != asked)
        .then(|| format!("rto.min = {asked} is {used} here: a route's rto_min is in milliseconds"))
}

/// Whether the window holds no more than one full segment: Linux's receiver opens it only by whole
/// segments, and its sender waits for a second one.
pub(crate) fn is_one_segment(settings: &Settings, mss: Bytes) -> bool {
    match settings.window {
        WindowSize::Segments(n) => n < 2,
        WindowSize::Bytes(bytes) => bytes < Bytes::new(2 * mss.get()),
        WindowSize::Auto { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    #[test]
    fn the_initial_window_of_rfc_6928_has_fewer_segments_where_they_are_large() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[sender]\ninitial_window = \"rfc6928\"\n";
        let settings = Scenario::from_toml_over("rfc", "test", text).unwrap().sender;
        for (mss, segments) in [(536, 10), (1460, 10), (2000, 7), (8960, 2)] {
            let mss = Bytes::new(mss);
            let metrics = HostSetup::of(&settings, mss, mss).metrics;
            assert!(metrics.contains(&RouteMetric::InitCwnd(segments)), "{mss}: {metrics:?}");
        }
    }

    #[test]
    fn the_search_for_the_path_mtu_is_that_of_the_settings() {
        let sysctls = |sender: &str| {
            let text =
                format!("[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[sender]\n{sender}\n");
            let settings = Scenario::from_toml("test", &text).unwrap().sender;
            let mss = Bytes::new(1460);
            let HostSetup { mut sysctls, newer_sysctls, .. } = HostSetup::of(&settings, mss, mss);
            sysctls.extend(newer_sysctls);
            let is_of_search = |name: &str| name.contains("mtu_prob") || name.contains("base_mss");
            sysctls.retain(|(name, _)| is_of_search(name));
            sysctls
        };
        let set = |name: &'static str, value: &str| (name, value.to_owned());
        assert_eq!(sysctls(""), [set("ipv4/tcp_mtu_probing", "0")]);
        assert_eq!(sysctls("mtu_probing = true"), [set("ipv4/tcp_mtu_probing", "1")]);
        let keys =
            "mtu_probing = \"always\"\nlinux = { tcp_base_mss = 536, tcp_mtu_probe_floor = 200 }";
        assert_eq!(
            sysctls(keys),
            [
                set("ipv4/tcp_mtu_probing", "2"),
                set("ipv4/tcp_base_mss", "536"),
                set("ipv4/tcp_mtu_probe_floor", "200")
            ]
        );
    }

    #[test]
    fn a_timeout_that_the_kernel_does_not_take_is_told() {
        let told = |asked, has_sysctl| rto_max_bound(asked, has_sysctl).unwrap_or_default();
        assert_eq!(
            told(Time::from_millis(500), true),
            "rto.max = 500 ms is 1 s here: net.ipv4.tcp_rto_max_ms takes 1 s to 120 s"
        );
        assert!(told(Time::from_secs(200), true).starts_with("rto.max = 200 s is 120 s here"));
        assert!(told(Time::from_secs(64), false).starts_with("rto.max = 64 s is 120 s here: this"));
        assert_eq!(
            (told(Time::from_secs(64), true), told(MOST_RTO_MAX, false)),
            Default::default()
        );
    }

    #[test]
    fn a_key_of_the_timer_is_told_by_its_own_name() {
        let left = |rto: &str| {
            let text =
                format!("[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[sender.rto]\n{rto}\n");
            left_to_the_kernel(&Scenario::from_toml("test", &text).unwrap().sender)
        };
        assert_eq!(left("min = \"200 ms\""), Vec::<&str>::new());
        assert_eq!(left("tick = \"10 ms\""), ["rto.tick"]);
        assert_eq!(left("rule = \"rfc6298\"\ngranularity = \"1 ms\""), ["rto.rule"]);
        assert_eq!(left("forget_after = 8"), ["rto.forget_after"]);
        let text =
            "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[sender.rto]\nmin = \"500 us\"\n";
        let sender = Scenario::from_toml("test", text).unwrap().sender;
        assert_eq!(
            rto_min_bound(&sender).unwrap_or_default(),
            "rto.min = 500 us is 1 ms here: a route's rto_min is in milliseconds"
        );
    }
}
