//! `maxseg advise` on a live connection and on a host, in network namespaces of the test's own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;

use nix::sys::socket::{setsockopt, sockopt};
use serde_json::Value;

use super::kernel::skipped;
use super::namespace::Namespace;
use super::{command, stderr};

/// The keys of the document and of a piece, as they are promised.
const PIECE: [&str; 13] = [
    "id", "change", "scope", "current", "proposed", "gain", "proof", "price", "reason", "risk",
    "source", "commands", "settings",
];

fn host() -> Option<Namespace> {
    let namespace = Namespace::new();
    match &namespace {
        Some(namespace) => namespace.must("ip link set lo up"),
        None => skipped("a connection in a network namespace takes root and unshare"),
    }
    namespace
}

fn advise(namespace: &Namespace, target: &str) -> Output {
    let state = tempfile::tempdir().unwrap();
    let mut command = command(&["advise", target, "--json", "-q"]);
    command.env("XDG_STATE_HOME", state.path());
    namespace.inside(|| command.output().unwrap())
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The document fits its schema; unknown says what would show it, and each piece has all its keys.
fn checked(document: &Value) {
    let schema = command(&["schema", "advise"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    if document["verdict"] == "unknown" {
        assert!(
            document["unknown"]["why"].is_string() && document["unknown"]["shown_by"].is_string()
        );
    }
    for piece in document["advice"].as_array().unwrap() {
        for key in PIECE {
            // What a connection has in use may be unknown.
            let has = piece.get(key).is_some_and(|value| key == "current" || !value.is_null());
            assert!(has, "{key} of {piece:#}");
        }
    }
}

/// Asks for advice about a connection over which as much is sent as its reader, whose buffer is of `receive_buffer` bytes, takes.
fn advised_while_sending(host: &Namespace, receive_buffer: Option<usize>) -> (String, Value) {
    let (mut sender, mut receiver) = host.inside(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        if let Some(bytes) = receive_buffer {
            setsockopt(&listener, sockopt::RcvBuf, &bytes).unwrap();
        }
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (sender, listener.accept().unwrap().0)
    });
    let ends = format!("{}-{}", sender.local_addr().unwrap(), sender.peer_addr().unwrap());
    let reading = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while receiver.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writing = std::thread::spawn(move || {
        let payload = vec![0; 1 << 14];
        // Until told to stop, as fast as it is read.
        while stopped.try_recv().is_err() {
            sender.write_all(&payload).unwrap();
        }
    });
    let answer = document(&advise(host, &ends));
    stop.send(()).unwrap();
    writing.join().unwrap();
    reading.join().unwrap();
    checked(&answer);
    (ends, answer)
}

#[test]
fn a_live_connection_is_advised_by_its_ends() {
    let Some(host) = host() else { return };
    let (ends, answer) = advised_while_sending(&host, None);
    assert_eq!(
        (&answer["source"]["kind"], &answer["source"]["target"]),
        (&"connection".into(), &ends.as_str().into())
    );
    assert_eq!(answer["hosts"][0]["here"], true);
    let gone = advise(&host, "127.0.0.1:1-127.0.0.1:2");
    assert_eq!(gone.status.code(), Some(1));
    assert!(stderr(&gone).contains("there is no connection"), "{}", stderr(&gone));
}

#[test]
fn between_two_programs_of_one_host_there_is_no_path() {
    let Some(host) = host() else { return };
    // To BBR the rate that the window lets through is that of the path.
    if !host.run("sysctl -qw net.ipv4.tcp_congestion_control=bbr").status.success() {
        skipped("BBR in a network namespace");
        return;
    }
    let (_, answer) = advised_while_sending(&host, Some(8192));
    // What the socket says of its limit may stand, but no gain that a simulated path would have.
    let said = [&answer["unknown"]["why"], &answer["notes"]].map(ToString::to_string).concat();
    assert!(said.contains("both ends are on this host"), "{answer:#}");
    let advice = answer["advice"].as_array().unwrap();
    assert!(advice.iter().all(|advice| advice["gain"]["goodput_pct"].is_null()), "{answer:#}");
}

#[test]
fn a_host_without_a_far_end_shows_no_rate() {
    let Some(host) = host() else { return };
    let listener = host.inside(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let target = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    let answer = document(&advise(&host, &target));
    checked(&answer);
    assert_eq!(
        (&answer["source"]["kind"], &answer["verdict"]),
        (&"host".into(), &"unknown".into())
    );
    assert!(answer["unknown"]["shown_by"].as_str().unwrap().contains("maxseg responder"));
}
