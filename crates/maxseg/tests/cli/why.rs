//! `maxseg explain HOST` between network namespaces of the test's own: for each bound, the one that holds is removed and the next
//! holds. Namespaces take root; without it, or without `ip`, the tests say that they are skipped.

mod closed;
mod hosts;

use serde_json::Value;

use super::kernel::{skipped, wait_until};
use super::namespace::Namespace;
use super::{maxseg, stderr, stdout, unwrapped};
use hosts::{Connected, Hosts};

/// A connection's explanation.
fn why(hosts: &Hosts, connected: &Connected) -> Value {
    let document = hosts.explained(&connected.ends());
    let why = document["connections"][0]["why"].clone();
    assert!(why.is_object(), "{document}");
    why
}

/// The number of a chain, and the bound that holds.
fn holds(chain: &Value) -> (u64, String) {
    let links = chain["chain"].as_array().unwrap();
    let winners: Vec<&Value> = links.iter().filter(|link| link["wins"] == true).collect();
    assert!(winners.len() <= 1, "{chain:#}");
    let source = winners.first().map_or("none", |link| link["source"].as_str().unwrap());
    (chain["effective_bytes"].as_u64().unwrap(), source.to_owned())
}

fn link<'c>(chain: &'c Value, source: &str) -> &'c Value {
    let links = chain["chain"].as_array().unwrap();
    links.iter().find(|link| link["source"] == source).unwrap_or(&Value::Null)
}

/// The segments of a new connection, and the bound that holds.
fn segments(hosts: &Hosts) -> (u64, String) {
    holds(&why(hosts, &hosts.connect())["mss"])
}

fn is(size: u64, source: &str) -> (u64, String) {
    (size, source.to_owned())
}

#[test]
fn each_mtu_holds_until_it_is_removed() {
    let Some(hosts) = Hosts::two() else { return };
    assert_eq!(segments(&hosts), is(1448, "interface-mtu"));
    hosts.route("mtu 1400 advmss 1200");
    let connected = hosts.connect();
    let explained = why(&hosts, &connected);
    assert_eq!(holds(&explained["mss"]), is(1348, "route-mtu"));
    assert_eq!(link(&explained["mss"], "interface-mtu")["allows_bytes"], 1448, "the runner-up");
    assert_eq!(holds(&explained["advertised_mss"]), is(1200, "route-advmss"));
    assert_eq!(explained["path"]["route"]["metrics"]["advmss"], "1200");
    let steps = explained["mss"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["value_bytes"], 1348, "the kernel's rule gives it");
    hosts.route("");
    // The runner-up takes effect on the connection that there is: a segment finds the new route, the next one goes by it.
    connected.send(2000);
    connected.send(2000);
    assert_eq!(holds(&why(&hosts, &connected)["mss"]), is(1448, "interface-mtu"));
    hosts.a("ip link set va mtu 1300");
    assert_eq!(segments(&hosts), is(1248, "interface-mtu"));
}

#[test]
fn a_route_has_the_table_that_a_rule_leads_to() {
    let Some(hosts) = Hosts::two() else { return };
    let connected = hosts.connect();
    assert_eq!(why(&hosts, &connected)["path"]["route"]["table"], 254);
    hosts.a("ip route add 10.9.0.0/24 dev va table 77 mtu 1300");
    hosts.a("ip rule add to 10.9.0.0/24 table 77");
    let route = &why(&hosts, &connected)["path"]["route"];
    assert_eq!(
        (&route["table"], &route["metrics"]["mtu"]),
        (&77.into(), &"1300".into()),
        "{route}"
    );
}

#[test]
fn a_learnt_mtu_holds_until_it_is_forgotten() {
    let Some(hosts) = Hosts::with_router() else { return };
    hosts.router("ip link set rb mtu 1300");
    let connected = hosts.connect();
    connected.send(20_000);
    let explained = why(&hosts, &connected);
    assert_eq!(holds(&explained["mss"]), is(1248, "path-mtu"));
    let route = &explained["path"]["route"];
    assert_eq!(route["learnt_mtu_bytes"], 1300);
    assert!(route["learnt_expires_s"].as_f64().unwrap() > 60.0, "{route}");
    hosts.router("ip link set rb mtu 1500");
    hosts.a("ip route flush cache");
    assert_eq!(segments(&hosts), is(1448, "interface-mtu"));
}

#[test]
fn what_a_socket_hides_is_one_group_with_its_bound() {
    let Some(mut hosts) = Hosts::with_router() else { return };
    let group = ["peer-option", "path-clamp", "user-mss"];
    let grouped = |hosts: &Hosts, mss: u64| {
        let explained = why(hosts, &hosts.connect());
        assert_eq!(holds(&explained["mss"]), is(mss - 12, "mss-clamp"));
        let link = link(&explained["mss"], "mss-clamp");
        assert_eq!((&link["value_bytes"], &link["at_least"]), (&mss.into(), &false.into()));
        assert_eq!(link["one_of"], serde_json::json!(group), "none is picked");
        let capture = explained["next_syn"].as_str().unwrap();
        assert!(capture.contains("maxseg capture --interface any --host 10.9.2.2 --port"));
    };
    // Each of the three alone, then two at once, then the runner-up.
    hosts.b("ip route replace default via 10.9.2.1 advmss 1000");
    grouped(&hosts, 1000);
    hosts.user_mss = Some(900);
    grouped(&hosts, 900);
    hosts.user_mss = Some(1000);
    grouped(&hosts, 1000);
    hosts.b("ip route replace default via 10.9.2.1");
    hosts.user_mss = Some(900);
    grouped(&hosts, 900);
    hosts.user_mss = None;
    assert_eq!(segments(&hosts), is(1448, "interface-mtu"));
    if !hosts.has("nft") {
        return skipped("a clamp on the way: nft is not installed");
    }
    hosts.router("nft add table ip t");
    hosts.router("nft add chain ip t f { type filter hook forward priority 0 ; }");
    hosts.router("nft add rule ip t f tcp flags syn tcp option maxseg size set 1100");
    grouped(&hosts, 1100);
    hosts.user_mss = Some(1100);
    grouped(&hosts, 1100);
    hosts.router("nft flush ruleset");
    hosts.user_mss = None;
    assert_eq!(segments(&hosts), is(1448, "interface-mtu"));
}

#[test]
fn half_of_a_small_window_holds_until_the_window_is_larger() {
    let Some(hosts) = Hosts::two() else { return };
    hosts.b("ip route replace 10.9.0.0/24 dev vb src 10.9.0.2 window 1460");
    let (mss, source) = segments(&hosts);
    assert_eq!(source, "peer-window");
    assert!(mss <= 730, "{mss}");
    hosts.b("ip route replace 10.9.0.0/24 dev vb src 10.9.0.2");
    assert_eq!(segments(&hosts), is(1448, "interface-mtu"));
}

#[test]
fn each_bound_of_the_window_holds_until_it_is_removed() {
    let Some(mut hosts) = Hosts::two() else { return };
    let window = |hosts: &Hosts| holds(&why(hosts, &hosts.connect())["window"]).1;
    assert_eq!(window(&hosts), "autotuning");
    hosts.receive_buffer = Some(100_000);
    assert_eq!(window(&hosts), "socket-buffer");
    hosts.route("window 8760");
    let connected = hosts.connect();
    let explained = why(&hosts, &connected);
    assert_eq!(holds(&explained["window"]), is(8760, "route-window"));
    assert_eq!(link(&explained["window"], "window-clamp")["value_bytes"], 8760);
    hosts.route("");
    assert_eq!(holds(&why(&hosts, &connected)["window"]), is(8760, "window-clamp"));
    assert_eq!(window(&hosts), "socket-buffer");
    hosts.receive_buffer = None;
    hosts.a("sysctl -qw net.ipv4.tcp_rmem=4096\\ 131072\\ 131072");
    assert_eq!(window(&hosts), "tcp-rmem");
    let connected = hosts.connect();
    connected.receive_unread(300_000);
    let explained = why(&hosts, &connected);
    assert_eq!(holds(&explained["window"]).1, "unread-data", "{:#}", explained["window"]);
    hosts.a("sysctl -qw net.ipv4.tcp_window_scaling=0");
    let connected = hosts.connect();
    connected.receive(300_000);
    let scale = link(&why(&hosts, &connected)["window"], "window-scale").clone();
    assert_eq!(scale["value_bytes"], 65_535);
    assert!(scale["note"].as_str().unwrap().contains("no window scale option"), "{scale}");
}

/// FreeBSD's PR 6032: a route's metric wins over the receive buffer that the program asked for.
#[test]
fn a_route_that_holds_a_large_buffer_is_told_and_its_remedy_acts() {
    let Some(mut hosts) = Hosts::two() else { return };
    hosts.receive_buffer = Some(1 << 20);
    hosts.route("window 8760");
    let connected = hosts.connect();
    let explained = why(&hosts, &connected);
    assert_eq!(explained["findings"][0]["code"], "window-clamped", "{explained:#}");
    connected.receive(300_000);
    // The clamp is forgotten with the first full segment, the window scale stays.
    let explained = why(&hosts, &connected);
    assert_eq!(holds(&explained["window"]), is(65_535, "window-scale"));
    let finding = explained["findings"][0]["text"].as_str().unwrap();
    assert!(finding.contains("`window 8760`") && finding.contains("PR 6032"), "{finding}");
    let sentence = explained["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("The route's `window` keeps"), "{sentence}");
    let commands = explained["commands"].as_array().unwrap();
    for command in commands {
        hosts.a_shell(command["line"].as_str().unwrap());
    }
    let explained = why(&hosts, &hosts.connect());
    assert_eq!(explained["path"]["route"]["metrics"].get("window"), None, "{explained:#}");
    assert_ne!(explained["findings"][0]["code"], "window-clamped");
}

#[test]
fn clamps_of_every_kind_are_listed_and_unknown_to_an_ordinary_user() {
    let Some(hosts) = Hosts::two() else { return };
    if !hosts.has("nft") || !hosts.has("iptables") {
        return skipped("clamps: nft or iptables is not installed");
    }
    let connected = hosts.connect();
    let clamps = |hosts: &Hosts| why(hosts, &connected)["path"]["clamps"].clone();
    assert_eq!(clamps(&hosts), serde_json::json!([]));
    hosts.a("nft add table inet t");
    hosts.a("nft add chain inet t out { type filter hook output priority 0 ; }");
    hosts.a("nft add rule inet t out tcp flags syn tcp option maxseg size set 1200");
    hosts
        .a("iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1100");
    let clamp = |by: &str, family: &str, chain: &str, hook: &str, mss: u32| serde_json::json!({ "by": by, "family": family, "chain": chain, "hook": hook, "mss_bytes": mss });
    let mut want = vec![clamp("nft", "inet", "t out", "output", 1200)];
    want.push(clamp("iptables", "ip", "mangle FORWARD", "forward", 1100));
    assert_eq!(clamps(&hosts), serde_json::json!(want));
    if hosts.has("iptables-legacy") {
        let rule = "-p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1000";
        if hosts.try_a(&format!("iptables-legacy -t mangle -A OUTPUT {rule}")) {
            want.push(clamp("iptables", "ip", "mangle OUTPUT", "output", 1000));
            assert_eq!(clamps(&hosts), serde_json::json!(want));
        } else {
            skipped("rules of iptables-legacy: this kernel has no legacy tables");
        }
    }
    let Some(document) = hosts.explained_to_nobody(&connected.ends()) else {
        return skipped("an ordinary user: there is no setpriv");
    };
    let connection = &document["connections"][0];
    assert_eq!(connection["clamp_bytes"], Value::Null);
    assert!(connection["clamp_unread_because"].is_string(), "{connection:#}");
    let path = &connection["why"]["path"];
    assert_eq!(path["clamps"], Value::Null, "unknown, and not none");
    assert!(path["clamps_unknown_because"].as_str().unwrap().contains("root may"), "{path:#}");
    assert_eq!(holds(&connection["why"]["mss"]), is(1448, "interface-mtu"));
}

#[test]
fn hosts_processes_and_ends_name_connections() {
    let Some(hosts) = Hosts::two() else { return };
    let connected = hosts.connect();
    let (ends, pid) = (connected.ends(), std::process::id().to_string());
    let server = connected.server().to_string();
    for argument in [ends.as_str(), "10.9.0.2", &server, &pid] {
        let document = hosts.explained(argument);
        let connections = document["connections"].as_array().unwrap();
        assert_eq!(connections.len(), 1, "{argument}: {document:#}");
        assert_eq!(connections[0]["remote"], server.as_str());
        let schema: Value = serde_json::from_slice(&maxseg(&["schema", "why"]).stdout).unwrap();
        jsonschema::validate(&schema, &document).unwrap();
    }
    let text = stdout(&hosts.maxseg(&["why", "10.9.0.2"]));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80 || line.starts_with("    ")),
        "{text}"
    );
    assert!(text.contains("holds") && text.contains("Receive window of this host"), "{text}");
    for (argument, says) in [
        ("10.9.0.3", "there is no connection to 10.9.0.3"),
        ("10.9.0.2:1", "there is no connection to port 1 of 10.9.0.2"),
        ("10.9.0.1:1-10.9.0.2:2", "there is no connection 10.9.0.1:1-10.9.0.2:2"),
        ("4294967295", "there is no process 4294967295"),
    ] {
        let output = hosts.maxseg(&["explain", argument]);
        assert_eq!(output.status.code(), Some(1), "{argument}");
        let text = unwrapped(&stderr(&output));
        assert!(text.contains(says) && text.contains("hint: "), "{argument}: {text}");
    }
}

/// The kernel's list has no clamp: it is read from the socket itself.
#[test]
fn a_list_of_connections_has_their_clamps() {
    let Some(mut hosts) = Hosts::two() else { return };
    hosts.route("window 8760");
    hosts.receive_buffer = Some(100_000);
    let connected = hosts.connect();
    let listed = hosts.listed();
    let row = listed["connections"].as_array().unwrap();
    let row =
        row.iter().find(|row| row["remote"] == connected.server().to_string().as_str()).unwrap();
    assert_eq!((&row["clamp_bytes"], &row["rcvbuf_is_set"]), (&8760.into(), &true.into()));
    assert_eq!((&row["rcvbuf_bytes"], &row["sndbuf_is_set"]), (&200_000.into(), &false.into()));
    assert_eq!(row["clamp_unread_because"], Value::Null);
}

#[test]
fn a_black_hole_is_named_and_tested_for() {
    let Some(hosts) = Hosts::with_router() else { return };
    if !hosts.has("nft") {
        return skipped("a live black hole: nft is not installed");
    }
    hosts.router("ip link set rb mtu 1300");
    hosts.router("nft add table inet t");
    hosts.router("nft add chain inet t o { type filter hook output priority 0 ; }");
    hosts.router("nft add rule inet t o icmp type destination-unreachable drop");
    let connected = hosts.connect();
    // Three full segments and a small one, which arrives.
    connected.write(3 * 1448 + 500);
    let mut document = Value::Null;
    wait_until("two timeouts", || {
        document = hosts.explained(&connected.ends());
        document["connections"][0]["limited_by"] == "path-mtu"
    });
    let why = &document["connections"][0]["why"];
    assert!(
        why["sentence"].as_str().unwrap().contains("a path MTU black hole is likely"),
        "{why:#}"
    );
    let line = why["commands"][0]["line"].as_str().unwrap();
    assert!(line.contains("maxseg path 10.9.2.2"), "{line}");
    assert_eq!(why["findings"][1]["code"], "black-hole", "{why:#}");
    assert_eq!(why["path"]["route"]["learnt_mtu_bytes"], Value::Null);
    // Without anything small behind them nothing tells a black hole from a peer that has gone.
    let silent = hosts.connect();
    silent.write(2 * 1448);
    wait_until("two timeouts", || {
        document = hosts.explained(&silent.ends());
        document["connections"][0]["why"]["findings"][1]["code"] == "black-hole"
    });
    assert_eq!(document["connections"][0]["limited_by"], "rto", "possible, and no more");
}

#[test]
fn a_listener_is_shown_for_addresses_of_its_host_alone() {
    let Some(namespace) = Namespace::new() else {
        return skipped("this user may not make a network namespace");
    };
    namespace.must("ip link set lo up");
    namespace.must("sysctl -qw net.ipv4.ip_nonlocal_bind=1");
    let listener = namespace.inside(|| std::net::TcpListener::bind("0.0.0.0:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    let explained = |address: &str| {
        let program = env!("CARGO_BIN_EXE_maxseg");
        namespace.run(&format!("{program} explain {address}:{port} --interval 20ms"))
    };
    let own = explained("127.0.0.2");
    assert!(own.status.success() && stdout(&own).contains(&port.to_string()), "{}", stderr(&own));
    let foreign = explained("192.0.2.1");
    assert_eq!(foreign.status.code(), Some(1), "{}", stdout(&foreign));
    let ends = explained(&format!("127.0.0.2:{port}-192.0.2.1"));
    let told = unwrapped(&stderr(&ends));
    assert!(ends.status.code() == Some(1) && told.contains("there is no connection"), "{told}");
    assert!(told.contains(&format!("maxseg explain 127.0.0.2:{port}")), "{told}");
}

#[test]
fn a_zone_is_the_interface_of_a_connection() {
    let Some(namespace) = Namespace::new() else {
        return skipped("this user may not make a network namespace");
    };
    namespace.must("ip link set lo up");
    namespace.must("ip link add d0 type veth peer name d1");
    namespace.must("ip link set d0 up");
    namespace.must("ip link set d1 up");
    namespace.must("ip addr add fe80::9/64 dev d0 nodad");
    let (port, _ends) = namespace.inside(|| {
        let listener = std::net::TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let index = nix::net::if_::if_nametoindex("d0").unwrap();
        let to = std::net::SocketAddrV6::new("fe80::9".parse().unwrap(), port, 0, index);
        let client = std::net::TcpStream::connect(to).unwrap();
        (port, (listener, client))
    });
    let explained = |zone: &str| {
        let program = env!("CARGO_BIN_EXE_maxseg");
        namespace.run(&format!("{program} explain [fe80::9%{zone}]:{port} --interval 20ms"))
    };
    let own = explained("d0");
    assert!(own.status.success() && stdout(&own).contains("fe80::9"), "{}", stderr(&own));
    let other = stdout(&explained("lo"));
    assert!(!other.contains("fe80::9"), "{other}");
    let unknown = explained("d9");
    assert!(stderr(&unknown).contains("there is no interface d9"), "{}", stderr(&unknown));
    assert_eq!(unknown.status.code(), Some(1));
}

#[test]
fn a_full_accept_queue_is_told_of_the_process_and_of_the_port() {
    let Some(hosts) = Hosts::two() else { return };
    let (_listener, waiting) = hosts.full_listener();
    let address = waiting[0].peer_addr().unwrap();
    for name in [std::process::id().to_string(), address.to_string()] {
        let document = hosts.explained(&name);
        let listeners = document["listeners"].as_array().unwrap();
        let listener = listeners.iter().find(|one| one["local"] == address.to_string());
        let listener = listener.unwrap_or_else(|| panic!("{name}: {document:#}"));
        assert_eq!((&listener["queued"], &listener["limit"]), (&2.into(), &1.into()));
        let sentence = listener["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("The accept queue of 10.9.0.1:"), "{sentence}");
        assert!(sentence.contains("is full: 2 connections wait"), "{sentence}");
    }
    let text = stdout(&hosts.maxseg(&["explain", &address.to_string()]));
    assert!(text.starts_with("The accept queue of"), "{text}");
}
