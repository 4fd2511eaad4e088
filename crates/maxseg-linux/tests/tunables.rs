//! The catalogue of tunables against the kernel that runs: its sysctls, their ranges and defaults, and whether they act on
//! running connections. Needs root: skipped aloud without.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod hosts;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Duration;

use maxseg_core::tunables::{ActsBy, ChildNamespace, Tunable, tunables};
use maxseg_linux::observe::host::sysctl;

use hosts::{Host, TwoHosts};

/// Whether this kernel is as old as to lack it.
fn is_later_than_this_kernel(tunable: &Tunable) -> bool {
    let number = |text: &str| -> Vec<u32> {
        text.split(|c: char| !c.is_ascii_digit()).take(2).filter_map(|n| n.parse().ok()).collect()
    };
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    tunable.since.as_deref().is_some_and(|since| number(since) > number(&release))
}

/// The sysctls of the catalogue that this kernel should have.
fn sysctls() -> impl Iterator<Item = (&'static str, &'static Tunable)> {
    tunables().iter().filter_map(|tunable| {
        let name = tunable.sysctl()?;
        if is_later_than_this_kernel(tunable) {
            println!("skipped: {name} is of Linux {}", tunable.since.as_deref().unwrap());
            return None;
        }
        Some((name, tunable))
    })
}

#[test]
fn every_sysctl_is_where_the_catalogue_says() {
    let Some(host) = Host::new() else { return };
    for (name, tunable) in sysctls() {
        let here = host.run(|| sysctl(name));
        match tunable.child_namespace {
            ChildNamespace::Own => {
                let value = here.unwrap_or_else(|error| panic!("{name}: {error}"));
                host.sysctl(name, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
                tunable.check(&value).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            // Older kernels do not show them there at all.
            ChildNamespace::ReadOnly => {
                if let Ok(value) = here {
                    host.sysctl(name, &value).expect_err(name);
                }
            }
            ChildNamespace::Absent => {
                assert_eq!(here.unwrap_err().kind(), io::ErrorKind::NotFound, "{name}");
            }
        }
        if tunable.child_namespace != ChildNamespace::Own && is_first_namespace() {
            let value = sysctl(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            tunable.check(&value).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// Whether this process is in the machine's own network namespace, which has them all.
fn is_first_namespace() -> bool {
    let is_there = sysctl("net.ipv4.tcp_mem").is_ok();
    if !is_there {
        println!("skipped: the machine's own sysctls, outside of its first network namespace");
    }
    is_there
}

/// A new namespace has the kernel's defaults, or what the machine passes on to it.
#[test]
fn defaults_are_those_of_a_new_namespace() {
    let Some(host) = Host::new() else { return };
    for (name, tunable) in sysctls() {
        let Some(default) = &tunable.default else { continue };
        if tunable.child_namespace == ChildNamespace::Absent {
            continue;
        }
        let Ok(value) = host.run(|| sysctl(name)) else { continue };
        if tunable.is_default(&value) == Some(true) {
            continue;
        }
        let passed_on = sysctl(name).is_ok_and(|machine| machine == value);
        assert!(passed_on, "{name} is {value} in a new namespace, not {default}");
        println!("skipped: the default of {name}: this machine has {value}");
    }
}

#[test]
fn ranges_are_the_kernel_s() {
    let Some(host) = Host::new() else { return };
    let mut tried = 0;
    for (name, tunable) in sysctls() {
        let (Some(min), Some(max)) = (tunable.range.min, tunable.range.max) else { continue };
        if tunable.child_namespace != ChildNamespace::Own {
            continue;
        }
        let before = host.run(|| sysctl(name)).unwrap();
        let of = |number: i64| vec![number.to_string(); tunable.items.len().max(1)].join(" ");
        for inside in [of(min), of(max)] {
            host.sysctl(name, &inside).unwrap_or_else(|error| panic!("{name} {inside}: {error}"));
            assert_eq!(host.run(|| sysctl(name)).unwrap(), inside, "{name}");
        }
        if tunable.enforced {
            for outside in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
                // Unsigned sysctls read a negative number as none at all.
                let refused = host.sysctl(name, &of(outside));
                let is_kept = host.run(|| sysctl(name)).unwrap() != of(outside);
                assert!(refused.is_err() && is_kept, "{name} takes {outside}");
            }
        }
        host.sysctl(name, &before).unwrap();
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
}

/// What the tests below and those of sockets and clamps measure: a claim of the catalogue needs its test.
const MEASURED: [&str; 23] = [
    "clamp",
    "interface.mtu",
    "route.advmss",
    "route.congctl",
    "route.initcwnd",
    "route.mtu",
    "route.rto_min",
    "route.window",
    "socket.congestion",
    "socket.delack_max",
    "socket.mss",
    "socket.notsent_lowat",
    "socket.pacing_rate",
    "socket.rcvbuf",
    "socket.rto_max",
    "socket.rto_min",
    "socket.sndbuf",
    "socket.window_clamp",
    "sysctl.net.ipv4.tcp_congestion_control",
    "sysctl.net.ipv4.tcp_rmem",
    "sysctl.net.ipv4.tcp_rto_max_ms",
    "sysctl.net.ipv4.tcp_rto_min_us",
    "sysctl.net.ipv4.tcp_wmem",
];

#[test]
fn what_is_called_measured_has_a_test() {
    let claimed: BTreeSet<&str> = tunables()
        .iter()
        .filter(|tunable| tunable.acts_by == ActsBy::Measured)
        .map(|tunable| tunable.name.as_str())
        .collect();
    let tested: BTreeSet<&str> = MEASURED.into_iter().collect();
    assert_eq!(claimed, tested);
}

#[test]
fn an_mtu_acts_live_and_an_announced_mss_does_not() {
    let Some(hosts) = TwoHosts::new() else { return };
    let running = hosts.connect();
    let sizes =
        |connection| (hosts.at_a(connection).info.snd_mss, hosts.at_b(connection).info.snd_mss);
    running.send(20_000);
    assert_eq!(sizes(&running), (1448, 1448));
    hosts.route("mtu 1000");
    // The first send finds the new route, and the next one shows it.
    running.send(2000);
    running.send(2000);
    assert_eq!(sizes(&running), (948, 1448));
    hosts.route("advmss 900");
    running.talk(3);
    assert_eq!(sizes(&running), (1448, 1448), "of a running connection nothing is announced");
    let new = hosts.connect();
    new.talk(1);
    assert_eq!(sizes(&new).1, 888, "900 less the timestamps");
    hosts.route("");
    hosts.a.must("ip link set va mtu 1300");
    running.send(2000);
    running.send(2000);
    assert_eq!(sizes(&running).0, 1248);
}

#[test]
fn metrics_of_a_route_act_on_new_connections() {
    let Some(hosts) = TwoHosts::new() else { return };
    let running = hosts.connect();
    running.talk(3);
    let before = hosts.at_a(&running);
    let other = if before.congestion == "reno" { "cubic" } else { "reno" };
    hosts.route(&format!("window 8000 initcwnd 40 congctl {other}"));
    running.talk(3);
    let after = hosts.at_a(&running);
    assert_eq!(after.congestion, before.congestion);
    let grown = before.info.snd_cwnd..before.info.snd_cwnd + 10;
    assert!(
        grown.contains(&after.info.snd_cwnd),
        "a segment a round trip: {}",
        after.info.snd_cwnd
    );
    assert!(after.info.rcv_ssthresh >= before.info.rcv_ssthresh, "the window stays");
    let new = hosts.at_a(&hosts.connect());
    assert_eq!((new.congestion.as_str(), new.info.snd_cwnd), (other, 40));
    assert!(new.info.rcv_ssthresh <= 8000, "{}", new.info.rcv_ssthresh);
}

#[test]
fn the_least_timeout_of_a_route_acts_live_downward_alone() {
    let Some(hosts) = TwoHosts::new() else { return };
    let (low, high) = (Duration::from_millis(100), Duration::from_millis(900));
    hosts.route("rto_min 900ms");
    let running = hosts.connect();
    running.talk(5);
    assert!(hosts.at_a(&running).info.rto >= high);
    hosts.route("rto_min 20ms");
    running.talk(80);
    assert!(hosts.at_a(&running).info.rto < low, "{:?}", hosts.at_a(&running).info.rto);
    hosts.route("rto_min 900ms");
    running.talk(80);
    let stayed = hosts.at_a(&running).info.rto;
    assert!(stayed < high, "{stayed:?}");
}

/// More than any first window, so that buffers have grown where they may.
const MUCH: usize = 64 << 20;

#[test]
fn the_receive_buffer_s_limit_acts_on_new_connections_and_the_send_buffer_s_live_upward() {
    // Of a running connection the receive buffer grows now and then: `tcp_rcv_space_adjust` reads the maximum as it is.
    let Some(hosts) = TwoHosts::new() else { return };
    for (name, small) in [("tcp_rmem", "4096 65536 65536"), ("tcp_wmem", "4096 16384 65536")] {
        hosts.a.sysctl(&format!("net.ipv4.{name}"), small).unwrap();
    }
    let (reads, writes) = (hosts.connect(), hosts.connect());
    reads.send_back(MUCH);
    writes.send(MUCH);
    assert_eq!(hosts.at_a(&reads).memory.receive_buffer, 65_536);
    assert!(hosts.at_a(&writes).memory.send_buffer <= 65_536);
    for (name, large) in [("tcp_rmem", "4096 65536 8388608"), ("tcp_wmem", "4096 16384 4194304")] {
        hosts.a.sysctl(&format!("net.ipv4.{name}"), large).unwrap();
    }
    reads.send_back(MUCH);
    writes.send(MUCH);
    let grown = hosts.at_a(&writes).memory.send_buffer;
    assert!(grown > 65_536, "the new limit");
    hosts.a.sysctl("net.ipv4.tcp_wmem", "4096 16384 65536").unwrap();
    assert_eq!(hosts.at_a(&writes).memory.send_buffer, grown, "a lower limit takes nothing away");
    let new = hosts.connect();
    new.send_back(MUCH);
    assert!(hosts.at_a(&new).memory.receive_buffer > 65_536);
}

#[test]
fn timers_and_congestion_control_of_the_host_act_on_new_connections() {
    let Some(hosts) = TwoHosts::new() else { return };
    let running = hosts.connect();
    running.talk(3);
    let before = hosts.at_a(&running);
    let other = if before.congestion == "reno" { "cubic" } else { "reno" };
    hosts.a.sysctl("net.ipv4.tcp_congestion_control", other).unwrap();
    let has_rto_min = hosts.a.sysctl("net.ipv4.tcp_rto_min_us", "800000").is_ok();
    // Many round trips: a late one on a busy machine raises the timeout until its share in the averages is gone.
    running.talk(60);
    let after = hosts.at_a(&running);
    assert_eq!(after.congestion, before.congestion);
    let new = hosts.connect();
    new.talk(3);
    assert_eq!(hosts.at_a(&new).congestion, other);
    if !has_rto_min {
        println!("skipped: net.ipv4.tcp_rto_min_us is of Linux 6.11");
        return;
    }
    let (low, high) = (Duration::from_millis(500), Duration::from_millis(800));
    assert!(after.info.rto < low, "{:?}", after.info.rto);
    assert!(hosts.at_a(&new).info.rto >= high);
}
