//! Connections that close while they are looked at, what the kernel keeps of closed ones, and all that have a port.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::super::kernel::skipped;
use super::super::namespace::Namespace;
use super::hosts::Hosts;
use super::{maxseg, stderr, stdout, unwrapped};

/// Carries a kilobyte over a connection that its client closes first: TIME-WAIT is left of it from the server's FIN on (RFC 9293 §3.6), which
/// the client reads as the end.
fn exchange(listener: &TcpListener) {
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 1000]).unwrap();
    server.read_exact(&mut [0; 1000]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
    drop(server);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
}

/// A namespace where a port of loopback is listened at.
fn served() -> Option<(Namespace, TcpListener, SocketAddr)> {
    let Some(namespace) = Namespace::new() else {
        skipped("a namespace of its own: this user may not make any");
        return None;
    };
    namespace.must("ip link set lo up");
    let listener = namespace.inside(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let at = listener.local_addr().unwrap();
    Some((namespace, listener, at))
}

#[test]
fn what_is_left_of_closed_connections_is_told_as_that() {
    let Some((namespace, listener, at)) = served() else { return };
    namespace.inside(|| exchange(&listener));
    drop(listener);
    let program = env!("CARGO_BIN_EXE_maxseg");
    let told = stdout(&namespace.run(&format!("{program} explain {at}")));
    assert!(told.starts_with("No connection that matches is open"), "{told}");
    assert!(unwrapped(&told).contains(&format!("to {at}, time-wait")), "{told}");
}

#[test]
fn connections_that_close_meanwhile_are_explained_in_place_of_what_is_left_of_them() {
    let Some((namespace, listener, at)) = served() else { return };
    let is_done = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            namespace.inside(|| {
                while !is_done.load(Ordering::Relaxed) {
                    exchange(&listener);
                }
            });
        });
        let program = env!("CARGO_BIN_EXE_maxseg");
        let command = format!("{program} explain {at} --interval 200ms --json");
        let output = namespace.run(&command);
        is_done.store(true, Ordering::Relaxed);
        output
    });
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let connections = document["connections"].as_array().unwrap();
    let is_closed: Vec<bool> = connections.iter().map(|one| one["state"] == "closed").collect();
    assert!(is_closed.contains(&true) && is_closed.is_sorted(), "the others first: {is_closed:?}");
    assert!(connections.iter().all(|one| one["why"].is_object()), "none that waits: {document}");
}

/// As ss(8) writes it: it was looked for as a file.
#[test]
fn a_port_alone_is_every_connection_that_has_it() {
    let Some(hosts) = Hosts::two() else { return };
    let (connected, _other) = (hosts.connect(), hosts.connect());
    let port = connected.server().port();
    for argument in [format!(":{port}"), format!("*:{port}")] {
        let document = hosts.explained(&argument);
        let found = document["connections"].as_array().unwrap();
        let ends = format!(
            "{}-{}",
            found[0]["local"].as_str().unwrap(),
            found[0]["remote"].as_str().unwrap()
        );
        assert_eq!((found.len(), ends), (1, connected.ends()), "{document}");
    }
    let none = hosts.maxseg(&["explain", ":1"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("no connection has port 1"), "{}", stderr(&none));
    let advice = maxseg(&["advise", &format!(":{port}")]);
    assert_eq!(advice.status.code(), Some(2));
    assert!(stderr(&advice).contains(&format!("maxseg explain :{port}")), "{}", stderr(&advice));
}
