//! What the commands of a script set: `defaults.sh`, sysctls, queues.

use anyhow::Result;
use maxseg_core::framing::{Headers, IpVersion};
use maxseg_core::tcp::linux::{Algorithm, Host};
use maxseg_core::units::{Mss, Mtu, Time};

use super::verdict::{NotRun, Stop};
use crate::sysctls;

/// Sysctls that scripts may set. The scripts that set others ask for rules that the socket has not.
const UNDERSTOOD: [&str; 12] = [
    "tcp_mtu_probing",
    "tcp_base_mss",
    "tcp_mtu_probe_floor",
    "tcp_min_tso_segs",
    "tcp_tso_win_divisor",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_early_retrans",
    "tcp_slow_start_after_idle",
    "tcp_timestamps",
    "tcp_ecn",
    "tcp_sack",
];

/// The host under test and its first link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) host: Host,
    /// The queue takes no packet (`pfifo limit 0`).
    pub(super) refuses: bool,
    /// The MTU of a route that has changed, which the socket does not know yet.
    route: Option<RouteMtu>,
}

/// An MTU that a socket learns when it sends: its packet is routed anew (`__sk_dst_check` in `ip_queue_xmit`, `net/ipv4/ip_output.c`), and what
/// is written after that is cut by it (`tcp_current_mss`).
#[derive(Debug, Clone, Copy)]
struct RouteMtu {
    mtu: Mtu,
    is_used: bool,
}

impl Settings {
    /// A kernel with a thousand ticks a second: the scripts' tolerances are for one.
    pub(super) fn new(is_v6: bool) -> Self {
        let ip = if is_v6 { IpVersion::V6 } else { IpVersion::V4 };
        Self {
            host: Host {
                headers: Headers::plain(ip).bytes().get(),
                hz: 1000,
                hystart_rounds_need_window: true,
                up_before: Time::from_secs(2),
                ..Host::default()
            },
            refuses: false,
            route: None,
        }
    }

    /// A packet has gone.
    pub(super) fn note_sent(&mut self) {
        if let Some(route) = &mut self.route {
            route.is_used = true;
        }
    }

    /// The MTU that what is written now goes by, where that is another than before.
    pub(super) fn take_route_mtu(&mut self) -> Option<Mtu> {
        self.route.take_if(|route| route.is_used).map(|route| route.mtu)
    }

    /// Runs what a shell would be given, as far as it sets something.
    pub(super) fn command(&mut self, text: &str) -> Result<(), Stop> {
        let text = text.replace("\\\n", " ");
        for line in text.split(['\n', ';']) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some((program, arguments)) = words.split_first() {
                self.program(program, arguments)?;
            }
        }
        Ok(())
    }

    fn program(&mut self, program: &str, arguments: &[&str]) -> Result<(), Stop> {
        let name = program.rsplit('/').next().unwrap_or_default();
        match (name, arguments) {
            ("defaults.sh", _) => self.defaults(),
            ("set_sysctls.py", settings) => {
                for setting in settings {
                    self.sysctl(setting.trim_start_matches("/proc/sys/"))?;
                }
            }
            ("sysctl", settings) => {
                for setting in settings.iter().filter(|word| !word.starts_with('-')) {
                    self.sysctl(setting)?;
                }
            }
            ("ip", ["-6", "route", "change", route @ ..] | ["route", "change", route @ ..]) => {
                self.change_route(route)?;
            }
            ("tc", ["qdisc", .., "pfifo", "limit", "0"]) => self.refuses = true,
            ("echo", ["3", ">", file]) if file.ends_with("/hystart_detect") => {}
            // Segments leave one by one in any case.
            ("ethtool", _) => {}
            ("tc", ["qdisc", "delete", ..]) => self.refuses = false,
            ("tc", ["qdisc", .., "fq"]) => self.host.fq = true,
            _ if name.starts_with("sysctl_restore_") => {}
            _ => return Err(NotRun::Rule(line_of(name, arguments)).into()),
        }
        Ok(())
    }

    /// `ip route change PREFIX via GATEWAY dev NAME advmss N mtu lock N initcwnd N`: a connection that stands keeps the rest, and goes by another
    /// MTU once it has sent.
    fn change_route(&mut self, route: &[&str]) -> Result<(), Stop> {
        let not_here = || Stop::from(NotRun::Rule(format!("ip route change {}", route.join(" "))));
        let mut words = route.iter().skip(1);
        while let Some(word) = words.next() {
            let mut number = || -> Option<u64> {
                words.by_ref().find(|word| **word != "lock").and_then(|word| word.parse().ok())
            };
            match *word {
                "via" | "dev" => {
                    words.next();
                }
                "advmss" => {
                    let mss = number().and_then(|mss| Mss::new(mss).ok());
                    self.host.route_advmss = Some(mss.ok_or_else(not_here)?);
                }
                "mtu" => {
                    let mtu = number().and_then(|mtu| Mtu::new(mtu).ok()).ok_or_else(not_here)?;
                    self.host.mtu = mtu.bytes().get();
                    self.route = Some(RouteMtu { mtu, is_used: false });
                }
                "initcwnd" => self.host.initcwnd = number().ok_or_else(not_here)?,
                _ => return Err(not_here()),
            }
        }
        Ok(())
    }

    /// What `common/defaults.sh` sets that the kernel has not anyway.
    fn defaults(&mut self) {
        self.host.tcp_rmem = [4096, 540_000, 15_728_640];
        self.host.tcp_wmem = [4096, 262_144, 4_194_304];
        self.host.tcp_slow_start_after_idle = false;
    }

    /// `net.ipv4.tcp_sack=1`, with slashes or dots.
    fn sysctl(&mut self, setting: &str) -> Result<(), Stop> {
        let not_here = || Stop::from(NotRun::Rule(setting.to_owned()));
        let (path, value) = setting.split_once('=').ok_or_else(not_here)?;
        let name = path.rsplit(['.', '/']).next().unwrap_or_default();
        if name == "tcp_congestion_control" {
            let Algorithm::Cubic { .. } = self.host.congestion else { return Err(not_here()) };
            return if value == "cubic" { Ok(()) } else { Err(not_here()) };
        }
        if !UNDERSTOOD.contains(&name) {
            return Err(not_here());
        }
        sysctls::set(&mut self.host, name, value).map_err(|_| not_here())
    }
}

fn line_of(name: &str, arguments: &[&str]) -> String {
    format!("{name} {}", arguments.first().unwrap_or(&""))
}
