//! Connections that close while they are looked at, what the kernel keeps of closed ones, and all that have a port.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::super::kernel::{is_installed, skipped};
use super::super::namespace::Namespace;
use super::hosts::Hosts;
use super::{maxseg, stderr, stdout, unwrapped};

/// Carries a kilobyte over a connection that its client closes first: TIME-WAIT is left of it.
fn exchange(listener: &TcpListener) {
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 1000]).unwrap();
    server.read_exact(&mut [0; 1000]).unwrap();
    drop(client);
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
}

/// The same in a process of its own, to the end of the client's side, which prints the server's address. What another test starts at that moment
/// has the sockets of this process until it runs its program: they would be freed while they are looked at.
const EXCHANGE: &str = "
import socket
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.sendall(bytes(1000))
server.recv(1000, socket.MSG_WAITALL)
client.shutdown(socket.SHUT_WR)
server.recv(1)
server.close()
client.recv(1)
print('%s:%d' % listener.getsockname())
";

/// A namespace whose loopback is up.
fn on_loopback() -> Option<Namespace> {
    let namespace = Namespace::new();
    match &namespace {
        Some(namespace) => namespace.must("ip link set lo up"),
        None => skipped("a namespace of its own: this user may not make any"),
    }
    namespace
}

/// A namespace where a port of loopback is listened at.
fn served() -> Option<(Namespace, TcpListener, SocketAddr)> {
    let namespace = on_loopback()?;
    let listener = namespace.inside(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let at = listener.local_addr().unwrap();
    Some((namespace, listener, at))
}

#[test]
fn what_is_left_of_closed_connections_is_told_as_that() {
    if !is_installed("python3", "python3") {
        return;
    }
    let Some(namespace) = on_loopback() else { return };
    let mut python = Command::new("nsenter");
    python.args(["-t", &namespace.0.id().to_string(), "-n", "python3", "-c", EXCHANGE]);
    let at = stdout(&python.output().unwrap());
    let at = at.trim();
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
