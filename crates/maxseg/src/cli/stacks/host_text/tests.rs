use super::*;
use maxseg_core::scenario::StackFile;

fn host(metrics: Vec<(&'static str, String)>) -> HostReading {
    let offloads = [("tso", Some(true)), ("gso", Some(false)), ("gro", None)];
    let qdisc = Some("fq".to_owned());
    let interface = Interface { name: "eth0".to_owned(), mtu: Some(9000), qdisc, offloads };
    HostReading {
        kernel: Some("6.12.1".to_owned()),
        tick: Some(Time::from_millis(1)),
        hystart: Some(false),
        route: Ok(Some(Route {
            is_v6: false,
            metrics,
            is_mtu_locked: true,
            interface: Ok(interface),
        })),
    }
}

/// A host whose every sysctl is `1`, but for those that hold more or else.
fn plain(name: &str) -> String {
    match name {
        "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" => "4096 5000 6000",
        "net.ipv4.tcp_congestion_control" => "reno",
        "net.ipv4.tcp_early_retrans" => "3",
        "net.ipv4.tcp_rto_min_us" => "5000",
        "net.ipv4.tcp_rto_max_ms" => "90000",
        _ => "1",
    }
    .to_owned()
}

fn has(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line.split("  # ").next().unwrap_or_default().trim_end() == wanted)
}

/// 0, 1 and 2 are three behaviours; sizes are those that the kernel goes by.
#[test]
fn when_and_from_what_size_the_host_probes_is_written() {
    for (value, written) in
        [("0", "false"), ("1", "true"), ("2", "\"always\""), ("3", "\"always\"")]
    {
        let sysctl = |name: &str| {
            Ok(match name {
                "net.ipv4.tcp_mtu_probing" => value.to_owned(),
                "net.ipv4.tcp_base_mss" => "-5".to_owned(),
                "net.ipv4.tcp_mtu_probe_floor" => "536".to_owned(),
                name => plain(name),
            })
        };
        let text = host_text(&host(vec![]), &sysctl, None);
        for wanted in
            [&format!("mtu_probing = {written}"), "tcp_base_mss = 48", "tcp_mtu_probe_floor = 536"]
        {
            assert!(has(&text, wanted), "{wanted}\n{text}");
        }
        StackFile::parse("host.toml", &text).unwrap();
    }
    let older = |name: &str| match name {
        "net.ipv4.tcp_mtu_probe_floor" => Err(io::ErrorKind::NotFound.into()),
        name => Ok(plain(name)),
    };
    let text = host_text(&host(vec![]), &older, None);
    assert!(text.contains("# net.ipv4.tcp_mtu_probe_floor: this kernel"), "{text}");
}

#[test]
fn sysctls_become_keys_and_the_route_goes_before_them() {
    let text = host_text(&host(vec![]), &|name| Ok(plain(name)), None);
    for wanted in [
        "congestion = \"reno\"",
        "mss = 8960",
        "ecn = true",
        "df = false",
        "min = \"5 ms\"",
        "max = \"90 s\"",
        "tick = \"1 ms\"",
        "tcp_rmem = [4096, 5000, 6000]",
        "tcp_early_retrans = true",
        "hystart = false",
        "hz = 1000",
        "# net.ipv4.tcp_reordering = 1 (the simulator has 3)",
        "# net.ipv4.tcp_dsack = 1 (as in the simulator)",
        "# eth0: qdisc fq (paces; simulated without)",
        "# eth0: gso off (the simulator has it on)",
    ] {
        assert!(has(&text, wanted), "{wanted}\n{text}");
    }
    StackFile::parse("host.toml", &text).unwrap();
    let discovers = |name: &str| match name {
        "net.ipv4.ip_no_pmtu_disc" => Ok("0".to_owned()),
        name => Ok(plain(name)),
    };
    assert!(has(&host_text(&host(vec![]), &discovers, None), "df = true"));
    // A kernel that was built with CONFIG_HZ=500.
    let other = HostReading { tick: Some(Time::from_millis(2)), ..host(vec![]) };
    let text = host_text(&other, &|name| Ok(plain(name)), None);
    let note = "# hz: 500 by the coarse clock is not simulated; the base's value stands";
    assert!(has(&text, note), "{text}");
    StackFile::parse("host.toml", &text).unwrap();
    let metrics = [
        ("congctl", "bbr"),
        ("initcwnd", "32"),
        ("advmss", "1300"),
        ("rto_min", "70"),
        ("quickack", "1"),
        ("window", "70000"),
        ("rtt", "30"),
        ("mtu", "1400"),
    ];
    let metrics = metrics.map(|(name, value)| (name, value.to_owned())).to_vec();
    let text = host_text(&host(metrics), &|name| Ok(plain(name)), None);
    for wanted in [
        "congestion = \"bbr\"",
        "initial_window = \"32 segments\"",
        "route_advmss = 1300",
        "min = \"70 ms\"",
        "delayed_ack = false",
        "window = \"70000 B\"",
        "# route: rtt 30 ms (not simulated)",
        "route_mtu = 1400",
    ] {
        assert!(has(&text, wanted), "{wanted}\n{text}");
    }
    assert!(text.contains("# route: its mtu is locked, so that DF is clear"), "{text}");
    StackFile::parse("host.toml", &text).unwrap();
}

#[test]
fn a_route_turns_ecn_on() {
    let with = |features: &str| {
        let metrics = vec![("features", features.to_owned())];
        let sysctl = |name: &str| match name {
            "net.ipv4.tcp_ecn" => Ok("2".to_owned()),
            name => Ok(plain(name)),
        };
        host_text(&host(metrics), &sysctl, None)
    };
    let (ecn, both, other) = (with("1"), with("17"), with("16"));
    assert!(has(&ecn, "ecn = true") && !ecn.contains("# route: features"), "{ecn}");
    assert!(has(&both, "ecn = true"), "{both}");
    assert!(has(&both, "# route: features tcp_usec_ts (not simulated)"), "{both}");
    assert!(has(&other, "ecn = false"), "{other}");
}

#[test]
fn a_host_that_tells_nothing_still_gives_a_stack() {
    let denied = |_: &str| Err(io::Error::from(io::ErrorKind::PermissionDenied));
    let nothing = HostReading { kernel: None, tick: None, hystart: None, route: Ok(None) };
    let text = host_text(&nothing, &denied, None);
    StackFile::parse("host.toml", &text).unwrap();
    assert!(text.contains("# net.ipv4.tcp_sack: this user may not read it"), "{text}");
    assert!(text.contains("there is no default route; --to ADDRESS takes another"), "{text}");
    let odd = |name: &str| match name {
        "net.ipv4.tcp_congestion_control" => Ok("dctcp".to_owned()),
        name => Ok(plain(name)),
    };
    let text = host_text(&nothing, &odd, None);
    assert!(text.contains("dctcp is not simulated"), "{text}");
    StackFile::parse("host.toml", &text).unwrap();
}
