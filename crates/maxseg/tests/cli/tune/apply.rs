//! Each kind of target is applied, is what `ip` and `sysctl` show, and is undone.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use super::super::kernel::{NOBODY, skipped, wait_until};
use super::host::{Far, Host};

/// Each with a line of `ip` or `sysctl`, and what that prints then.
const ALL: [(&str, &str, &str); 12] = [
    ("route.default.mtu=1400", "ip route show default", "mtu 1400"),
    ("route.default.initcwnd=20", "ip route show default", "initcwnd 20"),
    ("route.10.5.0.0/16.mtu=1300", "ip route show 10.5.0.0/16", "mtu 1300"),
    ("route.10.5.0.0/16.quickack=1", "ip route show 10.5.0.0/16", "quickack 1"),
    ("route.10.7.0.0/16.advmss=1000", "ip route show proto 109", "10.7.0.0/16 via 10.9.0.2"),
    ("route.10.7.0.0/16.window=60000", "ip route show 10.7.0.0/16", "window 60000 advmss 1000"),
    ("route.10.5.7.8.initrwnd=30", "ip route show 10.5.7.8", "nexthop via 10.9.0.4"),
    ("route.10.9.0.0/24.rto_min=300", "ip route show 10.9.0.0/24", "rto_min lock 300ms"),
    ("route.10.9.0.0/24.congctl=reno", "ip route show 10.9.0.0/24", "congctl reno"),
    ("interface.va.mtu=1450", "ip link show va", "mtu 1450"),
    ("sysctl.net.ipv4.tcp_rmem=4096  131072\t3000000", "sysctl net.ipv4.tcp_rmem", "3000000"),
    ("sysctl.net.ipv4.tcp_sack=0", "sysctl net.ipv4.tcp_sack", "= 0"),
];

#[test]
fn each_kind_is_set_and_restored() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let told = host.apply(&ALL.map(|(assignment, ..)| assignment), &["--why", "because"]);
    assert!(told.contains("route.default.initcwnd: 12 -> 20"), "{told}");
    assert!(told.contains("route.10.7.0.0/16.advmss: absent -> 1000"), "{told}");
    for (assignment, line, shown) in ALL {
        let shows = host.shows(line);
        assert!(shows.contains(shown), "{assignment}: {shows}");
    }
    let (entries, code) = host.status(&[]);
    assert_eq!((entries.len(), code), (ALL.len(), 0));
    for (entry, (assignment, ..)) in entries.iter().zip(ALL) {
        let (target, _) = assignment.split_once('=').unwrap();
        assert_eq!(entry["tunable"], target);
        assert_eq!((&entry["state"], &entry["why"]), (&"set".into(), &"because".into()));
        assert_eq!(entry["now"], entry["after"]);
        for key in ["id", "scope", "before", "set_by", "set_at"] {
            assert!(!entry[key].is_null(), "{key} of {entry}");
        }
        assert!(entry["expires"].is_null() && entry["effect"].is_null());
    }
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
    assert!(host.states().iter().all(|state| state == "undone"));
}

#[test]
fn a_route_that_a_rule_leads_past_is_told() {
    let Some(host) = Host::new() else { return };
    let set = ["route.10.5.0.0/16.mtu=1300"];
    let told = host.apply(&set, &["--dry-run"]);
    assert!(!told.contains("ip rule"), "{told}");
    host.namespace.must("ip route add 10.5.0.0/16 via 10.9.0.5 mtu 1350 table 77");
    host.namespace.must("ip rule add to 10.5.0.0/16 table 77");
    let told = host.apply(&set, &["--dry-run"]);
    assert!(
        told.contains("warning: a rule (`ip rule`) has packets to 10.5.0.1 go by table 77"),
        "{told}"
    );
    let told = host.apply(&["route.10.7.0.0/16.mtu=1300"], &["--dry-run"]);
    assert!(!told.contains("ip rule"), "another destination: {told}");
}

#[test]
fn a_route_that_went_with_its_interface_was_changed_by_no_program() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.10.9.0.0/24.mtu=1300"], &[]);
    host.namespace.must("ip link set va down");
    let told = host.tune_ends(&["status"], 3);
    assert!(told.contains("the kernel removed the route when its interface was brought"), "{told}");
    host.namespace.must("ip link del va");
    let told = host.tune_ends(&["status"], 3);
    assert!(told.contains("the kernel removed the route with its interface"), "{told}");
}

#[test]
fn routes_of_ipv6_are_restored_as_well() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip addr add 2001:db8:1::1/64 dev va nodad",
        "ip -6 route add 2001:db8:5::/48 via 2001:db8:1::2",
        "ip -6 route add 2001:db8:6::/48 nexthop via 2001:db8:1::2 nexthop via 2001:db8:1::3",
        "ip -6 route add default via 2001:db8:1::9",
        "ip route add 10.11.0.0/16 via inet6 2001:db8:1::2 dev va",
    ] {
        host.namespace.must(line);
    }
    let before = host.kernel();
    let wanted = [
        "route.2001:db8:5::/48.mtu=1300",
        "route.2001:db8:6::/48.mtu=1400",
        "route.2001:db8:1::/64.advmss=1300",
        "route.::/0.initcwnd=20",
        "route.2001:db8:6:1::/64.mtu=1280",
        "route.2001:db8:7::1.mtu=1290",
        "route.10.11.0.0/16.mtu=1300",
        "route.10.11.1.0/24.mtu=1280",
    ];
    host.apply(&wanted, &[]);
    let shows = host.shows("ip -6 route show proto 109");
    assert!(shows.contains("2001:db8:7::1 via 2001:db8:1::9"), "{shows}");
    assert!(shows.contains("2001:db8:6:1::/64") && shows.contains("2001:db8:1::3"), "{shows}");
    assert!(host.states().iter().all(|state| state == "set"));
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
}

#[test]
fn nothing_is_changed_without_a_yes() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let wanted = ["apply", "--set", "route.default.mtu=1400"];
    let told = host.tune_ends(&wanted, 2);
    assert!(told.contains("unset -> 1400") && told.contains("hint: add --yes"), "{told}");
    host.tune_ends(&[&wanted[..], &["--dry-run"]].concat(), 0);
    let document = host.tune(&[&wanted[..], &["--dry-run", "--json"]].concat());
    let document: Value = serde_json::from_slice(&document.stdout).unwrap();
    assert_eq!((&document["applied"], &document["plan"]), (&false.into(), &Value::Null));
    let step = &document["steps"][0];
    assert_eq!((&step["before"], &step["after"]), (&"unset".into(), &"1400".into()));
    assert_eq!((&step["scope"], &step["acts"]), (&"route".into(), &"live".into()));
    assert_eq!(host.kernel(), before);
    assert!(!host.journal().exists(), "a plan alone leaves no trace");
}

#[test]
fn what_is_so_already_is_left_alone() {
    let Some(host) = Host::new() else { return };
    let told = host.apply(&["route.default.initcwnd=12", "route.10.7.0.0/16.mtu=unset"], &[]);
    assert!(told.contains("route.default.initcwnd: has this value already"), "{told}");
    assert_eq!(host.states(), [""; 0]);
}

#[test]
fn a_plan_is_made_as_a_whole_or_not_at_all() {
    let Some(host) = Host::new() else { return };
    let wanted = [
        "sysctl.net.ipv4.tcp_sack=0",
        "route.10.7.0.0/16.mtu=1300",
        "route.default.mtu=1400",
        "sysctl.net.ipv4.icmp_ratemask=none",
    ];
    let told = host.refused(&wanted, &[]);
    assert!(told.contains("the kernel refuses sysctl.net.ipv4.icmp_ratemask = none"), "{told}");
    assert_eq!(host.states(), ["undone"; 4]);
}

#[test]
fn a_new_segment_size_is_seen_on_live_traffic() {
    let Some(far) = Far::new() else { return };
    let (mut client, _server) = far.connect();
    let told = far.host.apply(&["route.10.20.2.0/24.mtu=1300"], &[]);
    assert!(told.contains("1 is established"), "{told}");
    assert!(told.contains("seen on 0 of 1 connections") && told.contains("not yet seen"), "{told}");
    client.write_all(&[0; 1000]).unwrap();
    // What is sent meets the new MTU; then the list of sockets has it.
    let path_mtu = |mtu: &str| {
        let shows = far.host.shows("ss -tin");
        shows.contains(&format!("pmtu:{mtu}"))
    };
    wait_until("the new path MTU", || path_mtu("1300"));
    let told = far.host.tune_ends(&["undo"], 0);
    assert!(told.contains("route.10.20.2.0/24.mtu: 1300 -> unset"), "{told}");
    wait_until("the old path MTU", || {
        client.write_all(&[0; 1000]).unwrap();
        path_mtu("1500")
    });
}

/// What `maxseg advise` keeps: an MTU for 10.5.0.7.
fn advice(mtu: &str) -> Value {
    let read = |file| std::fs::read_to_string(file).unwrap().trim().to_owned();
    serde_json::json!({
        "host": read("/proc/sys/kernel/hostname"),
        "boot_id": read("/proc/sys/kernel/random/boot_id"),
        "hosts": [{"address": "10.9.0.1", "here": true}, {"address": "10.5.0.7", "here": false}],
        "advice": [{
            "id": "mtu-a",
            "reason": "the path has 1400",
            "settings": [
                {"target": "route.10.5.0.7.mtu", "value": mtu, "on": "10.9.0.1", "here": true}
            ]
        }]
    })
}

/// Advice of a user, newer than root's, as `sudo` sees it: with its own home, and without the user's environment.
#[test]
fn sudo_takes_the_later_advice_of_root_and_user() {
    let Some(host) = Host::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (root, home) = (at.join("root"), at.join("home/.local/state/maxseg"));
    for (folder, mtu) in [(root.join("maxseg"), "1400"), (home.clone(), "1350")] {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("advice.json"), advice(mtu).to_string()).unwrap();
    }
    let older = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let kept = std::fs::File::options().write(true).open(root.join("maxseg/advice.json")).unwrap();
    kept.set_modified(older).unwrap();
    std::fs::write(
        at.join("passwd"),
        format!(
            "root:x:0:0::/root:/bin/sh\nann:x:{NOBODY}:{NOBODY}::{}/home:/bin/sh\n",
            at.display()
        ),
    )
    .unwrap();
    let plan = |owner: u32| {
        std::os::unix::fs::chown(home.join("advice.json"), Some(owner), None).unwrap();
        let script = format!(
            "mount --bind {at}/passwd /etc/passwd; mount --bind {at}/root /var/lib; \
             exec {} tune apply mtu-a --dry-run",
            env!("CARGO_BIN_EXE_maxseg"),
            at = at.display()
        );
        let mut command = host.command("unshare");
        command.env_remove("XDG_STATE_HOME").env("SUDO_UID", NOBODY.to_string());
        let output = command.args(["--mount", "sh", "-ec", &script]).output().unwrap();
        assert!(output.status.success(), "{}", super::super::stderr(&output));
        format!("{}{}", super::super::stdout(&output), super::super::stderr(&output))
    };
    let told = plan(NOBODY);
    assert!(told.contains("-> 1350") && told.contains("the advice is that of"), "{told}");
    let told = plan(0);
    assert!(told.contains("-> 1400"), "what is not the user's own is left: {told}");
}

#[test]
fn advice_is_applied_by_its_name() {
    let Some(host) = Host::new() else { return };
    let told = host.refused(&[], &["mtu-a"]);
    assert!(told.contains("there is no advice `mtu-a`"), "{told}");
    let document = advice("1400");
    std::fs::create_dir_all(host.folder()).unwrap();
    std::fs::set_permissions(host.folder(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    std::fs::write(host.folder().join("advice.json"), document.to_string()).unwrap();
    host.tune_ends(&["apply", "mtu-a", "--yes"], 0);
    assert!(host.shows("ip route show 10.5.0.7").contains("mtu 1400"));
    assert_eq!(host.status(&[]).0[0]["why"], "mtu-a: the path has 1400");
    host.tune_ends(&["undo"], 0);
    host.namespace.must("ip addr add 10.99.0.1/24 dev vb");
    host.namespace.must("ip route replace 10.5.0.0/16 via 10.99.0.2");
    let told = host.refused(&[], &["mtu-a"]);
    assert!(told.contains("the path to 10.5.0.7 has changed"), "{told}");
}

/// What a program may ask for is read-only in a network namespace of its own, and the limit of autotuning is not.
#[test]
fn advice_about_a_buffer_is_applied_where_its_limit_is_the_hosts() {
    let Some(host) = Host::new() else { return };
    let setting = |target: &str, value: &str| serde_json::json!({"target": target, "value": value, "on": "10.9.0.1", "here": true});
    let mut document = advice("1400");
    document["advice"][0]["settings"] = serde_json::json!([
        setting("sysctl.net.ipv4.tcp_wmem", "- - >=1073741824"),
        setting("sysctl.net.core.wmem_max", ">=1073741824"),
    ]);
    std::fs::create_dir_all(host.folder()).unwrap();
    std::fs::set_permissions(host.folder(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    std::fs::write(host.folder().join("advice.json"), document.to_string()).unwrap();
    let told = host.tune_ends(&["apply", "mtu-a", "--yes"], 0);
    assert!(host.shows("sysctl -n net.ipv4.tcp_wmem").trim().ends_with("1073741824"));
    if host.namespace.run("sysctl -n net.core.wmem_max").status.success() {
        assert!(told.contains("sysctl.net.core.wmem_max stays"), "{told}");
    }
}

#[test]
fn the_loopback_interface_takes_the_mtu_that_it_comes_with() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip link set lo mtu 16384");
    host.apply(&["interface.lo.mtu=65536"], &[]);
    assert!(host.shows("ip link show lo").contains("mtu 65536"));
    host.tune_ends(&["undo"], 0);
}

/// What the kernel writes otherwise than it was given.
#[test]
fn sysctls_take_other_spellings() {
    let Some(host) = Host::new() else { return };
    let ports = "net.ipv4.ip_local_reserved_ports";
    host.apply(&[&format!("sysctl.{ports}=9000,8081,8080"), "sysctl.net.ipv4.tcp_sack=00"], &[]);
    assert_eq!(host.shows(&format!("sysctl -n {ports}")), "8080-8081,9000\n");
    assert_eq!(host.states(), ["set", "set"]);
    host.tune_ends(&["undo"], 0);
    assert_eq!(host.shows(&format!("sysctl -n {ports}")), "\n");
    assert_eq!(host.shows("sysctl -n net.ipv4.tcp_sack"), "1\n");
}

#[test]
fn the_lock_of_a_congestion_control_is_restored() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip route add 10.77.0.0/16 via 10.9.0.2 congctl lock reno");
    let before = host.kernel();
    let told = host.apply(&["route.10.77.0.0/16.congctl=cubic"], &[]);
    assert!(told.contains("lock reno -> cubic"), "{told}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(host.kernel(), before);
    host.apply(&["route.10.77.0.0/16.congctl=lock cubic"], &[]);
    assert!(host.shows("ip route show 10.77.0.0/16").contains("congctl lock cubic"));
}

/// Time passes while the question waits for its answer.
#[test]
fn a_route_is_not_made_of_one_that_moved_while_the_question_waited() {
    let Some(host) = Host::new() else { return };
    let program = env!("CARGO_BIN_EXE_maxseg");
    let line = format!("{program} tune apply --set route.198.51.100.0/24.mtu=1400");
    // It gives the program a terminal.
    let mut command = host.command("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut asked) = command.spawn() else {
        return skipped("a question on a terminal: script(1) is not installed");
    };
    let mut told = Vec::new();
    let mut output = asked.stdout.take().unwrap();
    while !String::from_utf8_lossy(&told).contains("[y/N]") {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        told.extend(byte);
    }
    host.namespace.must("ip route replace default via 10.9.0.4 initcwnd 12");
    let before = host.kernel();
    asked.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let _ = output.read_to_end(&mut told);
    let told = String::from_utf8_lossy(&told);
    assert_eq!(asked.wait().unwrap().code(), Some(1), "{told}");
    assert!(told.contains("leads via 10.9.0.4 dev va now, and led via 10.9.0.2"), "{told}");
    assert_eq!(host.kernel(), before);
}
