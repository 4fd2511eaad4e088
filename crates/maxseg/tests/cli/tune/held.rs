//! What the kernel changes with an interface's MTU besides, and does not restore: routes of IPv6, IPv6's own MTU, and the bridge of a port.

use std::net::{TcpListener, TcpStream};

use super::super::kernel::{skipped, wait_until};
use super::super::namespace::Namespace;
use super::super::{stderr, stdout};
use super::host::Host;
use super::script::{run, way_back};
use super::stacked::mtu;

/// The host with addresses of IPv6; `None`, and said so, where there is none.
fn host() -> Option<Host> {
    let host = Host::new()?;
    if !host.shows("ip -6 route").contains("fe80::/64") {
        skipped("MTUs of IPv6: there is none");
        return None;
    }
    host.namespace.must("ip -6 addr add 2001:db8::1/64 dev va nodad");
    Some(host)
}

/// A bridge with addresses and routes, and a port of it without IPv6, as programs that manage links leave one.
fn with_bridge() -> Option<Host> {
    let host = host()?;
    let links = [
        "ip link add bridge type bridge",
        "ip link add part type veth peer name far",
        "sysctl -qw net.ipv6.conf.part.disable_ipv6=1",
        "ip link set part master bridge",
        "ip link set bridge up",
        "ip link set part up",
        "ip link set far up",
        "ip addr add 10.60.0.1/24 dev bridge",
        "ip -6 addr add 2001:db8:6::1/64 dev bridge nodad",
    ];
    let mtus = [
        "ip -6 route add 2001:db8:60::/48 dev bridge mtu 1480",
        "sysctl -qw net.ipv6.conf.bridge.mtu=1480",
    ];
    let all_work = |lines: &[&str]| lines.iter().all(|it| host.namespace.run(it).status.success());
    let has_bridge = all_work(&links) && {
        // The carrier makes IPv6's own MTU that of the bridge, and raises its routes (`addrconf_notify` in `net/ipv6/addrconf.c`).
        wait_until("the carrier", || {
            !host.shows("ip -6 route show dev bridge").contains("linkdown")
        });
        all_work(&mtus)
    };
    if !has_bridge {
        skipped("the port of a bridge: this kernel has none");
        return None;
    }
    Some(host)
}

/// Everything that an MTU moves, but for what changes by itself: whether addresses of a new link are in use elsewhere.
fn kernel(host: &Host) -> String {
    let routes = host.shows("ip -6 route");
    let routes: Vec<&str> = routes.lines().filter(|line| !line.starts_with("fe80")).collect();
    let own = host.shows("sysctl -a --pattern ^net.ipv6.conf.*[.]mtu");
    [&routes.join("\n"), &host.shows("ip route"), &host.shows("ip -o link"), &own[..]].concat()
}

/// Applied and undone, and by a script and its way back: what was before is there again, and both do the same.
fn assert_comes_back(host: &Host, wanted: &[&str]) {
    let before = kernel(host);
    host.apply(wanted, &[]);
    let set = kernel(host);
    assert_ne!(set, before, "{wanted:?}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(kernel(host), before, "{wanted:?}");
    let sets = wanted.iter().flat_map(|assignment| ["--set", assignment]);
    let arguments: Vec<&str> = ["apply", "--script"].into_iter().chain(sets).collect();
    let script = host.tune_ends(&arguments, 0);
    run(host, &script);
    assert_eq!(kernel(host), set, "{wanted:?}: {script}");
    run(host, &way_back(&script));
    assert_eq!(kernel(host), before, "{wanted:?}: {script}");
}

/// The kernel raises a route whose MTU equals IPv6's own one of the interface, whether the interface's goes up or down.
#[test]
fn a_route_of_the_mtu_of_ipv6_is_not_raised() {
    let Some(host) = host() else { return };
    host.namespace.must("ip -6 route add 2001:db8:1::/48 via 2001:db8::2 mtu 1450");
    host.namespace.must("sysctl -qw net.ipv6.conf.va.mtu=1450");
    let route = || host.shows("ip -6 route show 2001:db8:1::/48");
    for (wanted, shown) in [("9000", "1450"), ("1480", "1450"), ("1400", "1400"), ("1280", "1280")]
    {
        assert_comes_back(&host, &[&format!("interface.va.mtu={wanted}")]);
        host.apply(&[&format!("interface.va.mtu={wanted}")], &[]);
        assert!(route().contains(&format!("mtu {shown} ")), "{wanted}: {}", route());
        host.tune_ends(&["undo"], 0);
    }
}

#[test]
fn a_bridge_comes_back_with_its_port() {
    let Some(host) = with_bridge() else { return };
    for wanted in [1400, 1480, 2000, 1280] {
        assert_comes_back(&host, &[&format!("interface.part.mtu={wanted}")]);
    }
    for line in ["ip link add more type veth peer name end", "ip link set more master bridge"] {
        host.namespace.must(line);
    }
    for wanted in [[2000, 2000], [1400, 1300], [1400, 2000]] {
        let [part, more] = wanted;
        let more = format!("interface.more.mtu={more}");
        assert_comes_back(&host, &[&format!("interface.part.mtu={part}"), &more]);
    }
    host.namespace.must("ip link del more");
    let told = host.apply(&["interface.part.mtu=1400"], &[]);
    assert!(told.contains("sets the MTU of bridge, of which it is a port, to 1400"), "{told}");
    assert!(told.contains("route.2001:db8:60::/48.mtu: 1480 -> 1400"), "{told}");
    assert_eq!(["part", "bridge"].map(|name| mtu(&host, name)), [1400; 2]);
}

/// What the bridge has is judged where a port of it takes it along.
#[test]
fn a_port_takes_no_mtu_that_its_bridge_must_not_have() {
    let Some(host) = with_bridge() else { return };
    let told = host.refused(&["interface.part.mtu=1200"], &[]);
    assert!(told.contains("1200 is outside 1280"), "{told}");
    host.namespace.must("ip route add 10.61.0.0/16 dev bridge mtu 1480");
    let told = host.refused(&["interface.part.mtu=1400"], &[]);
    assert!(told.contains("1480 (10.61.0.0/16 dev bridge)"), "{told}");
    host.apply(&["interface.part.mtu=1400", "route.10.61.0.0/16.mtu=1400"], &[]);
    let told = host.tune_ends(&["undo", "2"], 1);
    assert!(told.contains("before change 3"), "the bridge is lower by now: {told}");
    host.tune_ends(&["undo"], 0);
    assert!(host.shows("ip route show 10.61.0.0/16").contains("mtu 1480"));
}

#[test]
fn a_port_carries_the_connections_of_its_bridge() {
    let Some((host, peer)) = with_bridge().zip(Namespace::new()) else { return };
    host.namespace.must(&format!("ip link set far netns {}", peer.0.id()));
    peer.must("ip addr add 10.60.0.2/24 dev far");
    peer.must("ip link set far up");
    let listener = peer.inside(|| TcpListener::bind(("10.60.0.2", 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let _open = host.namespace.inside(|| TcpStream::connect(address).unwrap());
    let told = host.apply(&["interface.part.mtu=1400"], &[]);
    assert!(told.contains("what goes through this interface: 1 is established"), "{told}");
}

/// Sysctls of IPv6 that somebody has set are those of a new interface once its MTU was below 1280.
#[test]
fn an_interface_keeps_its_sysctls_of_ipv6() {
    let Some(host) = host() else { return };
    for line in
        ["ip link add vc type veth peer name vd", "sysctl -qw net.ipv6.conf.vc.disable_ipv6=1"]
    {
        host.namespace.must(line);
    }
    let told = host.refused(&["interface.vc.mtu=1200"], &[]);
    assert!(told.contains("forgets the interface's sysctls of IPv6"), "{told}");
    assert!(told.contains("without a way back: ip link set dev vc mtu 1200"), "{told}");
    host.namespace.must("sysctl -qw net.ipv6.conf.vc.disable_ipv6=0");
    host.apply(&["interface.vc.mtu=1200"], &[]);
}

/// The usual container: IPv6's own MTU cannot be restored there.
#[test]
fn what_cannot_be_held_is_refused_before_and_left_whole() {
    let Some(host) = host() else { return };
    let read_only = |arguments: &str, code: i32| {
        let script = format!(
            "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys; exec {} tune {arguments}",
            env!("CARGO_BIN_EXE_maxseg")
        );
        let output =
            host.command("unshare").args(["--mount", "sh", "-ec", &script]).output().unwrap();
        let told = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {told}");
        told
    };
    read_only("apply --yes --set interface.va.mtu=1400", 0);
    read_only("undo", 0);
    host.namespace.must("sysctl -qw net.ipv6.conf.va.mtu=1450");
    let before = kernel(&host);
    for more in ["--yes", "--dry-run"] {
        let told = read_only(&format!("apply {more} --set interface.va.mtu=1400"), 1);
        assert!(told.contains("/proc/sys, where they are held, is read-only"), "{told}");
        assert_eq!(kernel(&host), before);
    }
    host.apply(&["interface.va.mtu=1400"], &[]);
    let set = kernel(&host);
    let told = read_only("undo", 1);
    assert!(told.contains("/proc/sys is mounted read-only"), "{told}");
    assert_eq!((kernel(&host), mtu(&host, "va")), (set, 1400), "nothing is half undone");
    host.tune_ends(&["undo"], 0);
    assert_eq!(kernel(&host), before);
}
