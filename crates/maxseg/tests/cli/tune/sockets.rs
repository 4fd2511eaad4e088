//! Connections by their ends, as `maxseg connections` prints them, and options that set each other.

use std::net::{Ipv6Addr, SocketAddrV6, TcpListener, TcpStream};

use super::super::kernel::{skipped, wait_until};
use super::host::Host;

/// A link-local address of `va` that may be used at once, with the number of the interface.
fn link_local(host: &Host) -> Option<SocketAddrV6> {
    let added = host.namespace.run("ip addr add fe80::77/64 dev va nodad");
    let shown = host.shows("ip -o link show va");
    let index = shown.split(':').next()?.parse().ok()?;
    let address: Ipv6Addr = "fe80::77".parse().ok()?;
    added.status.success().then(|| SocketAddrV6::new(address, 0, 0, index))
}

#[test]
fn a_zone_is_the_name_of_an_interface() {
    let Some(host) = Host::new() else { return };
    let Some(end) = link_local(&host) else {
        return skipped("a link-local connection: no IPv6");
    };
    let (a, _b) = host.namespace.inside(|| {
        let listener = TcpListener::bind(end).unwrap();
        let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (a, listener.accept().unwrap().0)
    });
    let [local, remote] = [a.local_addr(), a.peer_addr()].map(|end| end.unwrap().port());
    let ends = |zone: &str| format!("[{0}%{zone}]:{local}-[{0}%{zone}]:{remote}", end.ip());
    let set = |zone: &str, code| {
        let ends = ends(zone);
        let arguments = ["apply", "--yes", "--connection", &ends, "--set", "notsent_lowat=4096"];
        host.tune_ends(&arguments, code)
    };
    set("va", 0);
    let told = set("lo", 1);
    assert!(told.contains("there is no connection"), "another interface: {told}");
    let told = set("vx", 1);
    assert!(told.contains("the interface vx does not exist here"), "{told}");
}

/// A connection inside the host, by its ends.
fn connected(host: &Host) -> (TcpStream, TcpStream, String) {
    host.namespace.inside(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let ends = format!("{}-{}", a.local_addr().unwrap(), a.peer_addr().unwrap());
        (a, listener.accept().unwrap().0, ends)
    })
}

/// The kernel goes on holding the window at the clamp, so that a larger buffer raises it (`tcp_grow_window`).
#[test]
fn a_buffer_that_raises_the_clamp_is_no_other_program() {
    let Some(host) = Host::new() else { return };
    let (_a, _b, ends) = connected(&host);
    for option in ["window_clamp=50000", "rcvbuf=100000"] {
        host.tune_ends(&["apply", "--yes", "--connection", &ends, "--set", option], 0);
    }
    assert_eq!(host.states(), ["superseded", "set"]);
    host.tune_ends(&["undo", "2", "--yes"], 0);
    assert_eq!(host.states(), ["set", "undone"]);
    host.tune_ends(&["undo", "--yes"], 0);
    assert_eq!(host.states(), ["undone", "undone"]);
}

/// Undoing a receive buffer restores the window clamp that was there with it, and would overwrite what was set since.
#[test]
fn a_clamp_that_was_set_after_the_buffer_outlasts_it() {
    let Some(host) = Host::new() else { return };
    let (_a, _b, ends) = connected(&host);
    let set = |option: &str, more: &[&str]| {
        let arguments = ["apply", "--yes", "--connection", &ends, "--set", option];
        host.tune_ends(&[&arguments, more].concat(), 0);
    };
    set("rcvbuf=400000", &[]);
    set("window_clamp=30000", &[]);
    let told = host.tune_ends(&["undo", "1", "--yes"], 1);
    assert!(told.contains("change 1 cannot be undone before change 2"), "{told}");
    assert_eq!(host.states(), ["set", "set"]);
    host.tune_ends(&["undo", "1", "2", "--yes"], 0);
    assert_eq!(host.states(), ["undone", "undone"]);
    // What ends by itself does not wait for the clamp, and leaves it alone.
    set("rcvbuf=400000", &["--for", "1s"]);
    set("window_clamp=30000", &[]);
    wait_until("it is undone", || host.states()[2] == "undone");
    assert_eq!(host.states()[2..], ["undone", "set"]);
}
