//! Options of running connections, set from outside by the socket's own process's descriptor, seen in what the kernel lists and
//! in what the connection does, and restored. Needs root: skipped aloud without.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod hosts;

use maxseg_core::tune::{SocketEnds, SocketOption, Value};
use maxseg_linux::tune::socket::{OptionReading, RunningSocket, SocketError, as_shown};

use hosts::{Connection, TwoHosts};

fn ends(connection: &Connection) -> SocketEnds {
    SocketEnds {
        local: connection.a.local_addr().unwrap(),
        remote: connection.a.peer_addr().unwrap(),
    }
}

/// Sets an option of A's end; what it was before, and what it is now.
fn set(
    hosts: &TwoHosts,
    connection: &Connection,
    option: SocketOption,
    value: &str,
) -> (OptionReading, String) {
    hosts.a.run(|| {
        let socket = RunningSocket::find(&ends(connection)).unwrap();
        let before = socket.read(option).unwrap();
        socket.write(option, &Value::of(value), None).unwrap();
        let after = socket.read(option).unwrap().value;
        (before, after.to_string())
    })
}

/// Restores it; what it is then.
fn restore(
    hosts: &TwoHosts,
    connection: &Connection,
    option: SocketOption,
    before: &OptionReading,
) {
    hosts.a.run(|| {
        let socket = RunningSocket::find_again(&ends(connection), &before.image).unwrap();
        socket.write(option, &before.value, Some(&before.image)).unwrap();
        assert_eq!(socket.read(option).unwrap(), *before, "{}", option.name());
    });
}

/// Whether this kernel has an option; aloud where it does not.
fn has(hosts: &TwoHosts, connection: &Connection, option: SocketOption) -> bool {
    let read = hosts.a.run(|| RunningSocket::find(&ends(connection)).unwrap().read(option).is_ok());
    if !read {
        println!("skipped: this kernel has no {}", option.name());
    }
    read
}

#[test]
fn every_option_is_set_and_restored() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    connection.talk(3);
    for (option, value) in [
        (SocketOption::Congestion, "reno"),
        (SocketOption::WindowClamp, "5000"),
        (SocketOption::ReceiveBuffer, "50000"),
        (SocketOption::SendBuffer, "60000"),
        (SocketOption::PacingRate, "1000000"),
        (SocketOption::NotsentLowat, "16384"),
        (SocketOption::RtoMin, "40000"),
        (SocketOption::RtoMax, "8000"),
        (SocketOption::DelayedAckMax, "40000"),
    ] {
        if !has(&hosts, &connection, option) {
            continue;
        }
        let (before, after) = set(&hosts, &connection, option, value);
        assert_eq!(after, value, "{}", option.name());
        assert_ne!(before.value.to_string(), value, "{}", option.name());
        connection.talk(2);
        restore(&hosts, &connection, option, &before);
    }
    assert_eq!(SocketOption::ALL.len(), 9, "each of them is in the list above");
}

#[test]
fn congestion_control_and_timers_show_at_once() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    connection.talk(5);
    let before = hosts.at_a(&connection);
    let other = if before.congestion == "reno" { "cubic" } else { "reno" };
    let (was, _) = set(&hosts, &connection, SocketOption::Congestion, other);
    assert_eq!(hosts.at_a(&connection).congestion, other);
    restore(&hosts, &connection, SocketOption::Congestion, &was);
    assert_eq!(hosts.at_a(&connection).congestion, before.congestion);
    if has(&hosts, &connection, SocketOption::RtoMin) {
        assert!(before.info.rto.as_millis() >= 200, "{:?}", before.info.rto);
        let (was, _) = set(&hosts, &connection, SocketOption::RtoMin, "20000");
        connection.talk(40);
        let lower = hosts.at_a(&connection).info.rto;
        assert!(lower.as_millis() < 200, "{lower:?}");
        restore(&hosts, &connection, SocketOption::RtoMin, &was);
        connection.talk(40);
        let stayed = hosts.at_a(&connection).info.rto;
        assert!(stayed.as_millis() < 200, "it rises only when round trips vary more: {stayed:?}");
    }
}

/// More than any first window, so that buffers have grown where they may.
const MUCH: usize = 32 << 20;

#[test]
fn a_buffer_that_a_program_has_set_grows_again() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    let options = [SocketOption::ReceiveBuffer, SocketOption::SendBuffer];
    for option in options {
        let (before, after) = set(&hosts, &connection, option, "40000");
        assert_eq!((before.value.to_string().as_str(), after.as_str()), ("auto", "40000"));
    }
    connection.send(MUCH);
    connection.send_back(MUCH);
    let memory = hosts.at_a(&connection).memory;
    assert_eq!((memory.receive_buffer, memory.send_buffer), (40_000, 40_000), "no autotuning");
    for option in options {
        let (before, after) = set(&hosts, &connection, option, "auto");
        assert_eq!((before.value.to_string().as_str(), after.as_str()), ("40000", "auto"));
    }
    connection.send(MUCH);
    connection.send_back(MUCH);
    let memory = hosts.at_a(&connection).memory;
    assert!(memory.send_buffer > 40_000, "{memory:?}");
    assert!(memory.receive_buffer > 40_000, "{memory:?}");
}

#[test]
fn a_window_clamp_bounds_what_the_peer_may_send() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    // The clamp follows a buffer that the kernel sizes (`tcp_rcv_space_adjust`): one that may still grow would lift it again.
    set(&hosts, &connection, SocketOption::ReceiveBuffer, "400000");
    connection.send_back(MUCH);
    let wide = hosts.at_b(&connection).info.snd_wnd;
    assert!(wide.is_none_or(|wide| wide > 20_000), "{wide:?}");
    let (before, _) = set(&hosts, &connection, SocketOption::WindowClamp, "8000");
    connection.send_back(MUCH);
    let narrow = hosts.at_b(&connection).info.snd_wnd;
    assert!(narrow.is_none_or(|narrow| narrow <= 8192), "the window's scale rounds: {narrow:?}");
    restore(&hosts, &connection, SocketOption::WindowClamp, &before);
}

#[test]
fn the_kernel_raises_a_window_clamp_of_a_connection_that_is_new() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    set(&hosts, &connection, SocketOption::WindowClamp, "20000");
    connection.send_back(MUCH);
    let socket = || RunningSocket::find(&ends(&connection)).unwrap();
    let clamp = hosts.a.run(|| socket().read(SocketOption::WindowClamp).unwrap().value);
    assert!(clamp.number() > Some(20_000), "{clamp}");
}

#[test]
fn a_pacing_rate_shows_in_the_rate_of_delivery() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    connection.send(MUCH);
    let (before, _) = set(&hosts, &connection, SocketOption::PacingRate, "2000000");
    connection.send(1 << 20);
    let info = hosts.at_a(&connection).info;
    assert!(info.pacing_rate <= Some(2_000_000), "{:?}", info.pacing_rate);
    assert_eq!(info.max_pacing_rate, Some(2_000_000));
    restore(&hosts, &connection, SocketOption::PacingRate, &before);
    connection.send(MUCH);
    assert!(hosts.at_a(&connection).info.pacing_rate > Some(2_000_000), "free again");
}

#[test]
fn a_segment_size_that_is_set_on_a_running_connection_has_no_effect() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    connection.talk(3);
    let before = hosts.at_a(&connection).info.snd_mss;
    nix::sys::socket::setsockopt(&connection.a, nix::sys::socket::sockopt::TcpMaxSeg, &600)
        .unwrap();
    connection.send(20_000);
    assert_eq!(hosts.at_a(&connection).info.snd_mss, before, "accepted, and nothing else");
}

#[test]
fn the_largest_timeout_of_the_host_is_that_of_new_connections() {
    let Some(hosts) = TwoHosts::new() else { return };
    let running = hosts.connect();
    if !has(&hosts, &running, SocketOption::RtoMax) {
        return;
    }
    hosts.a.sysctl("net.ipv4.tcp_rto_max_ms", "5000").unwrap();
    let new = hosts.connect();
    let rto_max = |connection: &Connection| {
        hosts.a.run(|| {
            RunningSocket::find(&ends(connection))
                .unwrap()
                .read(SocketOption::RtoMax)
                .unwrap()
                .value
        })
    };
    assert_eq!((rto_max(&running), rto_max(&new)), (Value::of("120000"), Value::of("5000")));
}

#[test]
fn a_later_connection_between_the_same_ports_is_not_touched() {
    let Some(hosts) = TwoHosts::new() else { return };
    let first = hosts.connect();
    let ends = ends(&first);
    let read = |option| hosts.a.run(|| RunningSocket::find(&ends).unwrap().read(option).unwrap());
    let before = read(SocketOption::NotsentLowat);
    // So that the same ports are free at once.
    first.reset();
    let gone = hosts.a.run(|| RunningSocket::find_again(&ends, &before.image));
    assert!(matches!(gone, Err(SocketError::NoConnection(_))), "{gone:?}");
    let listener = hosts.b.run(|| {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&ends.remote.into()).unwrap();
        socket.listen(1).unwrap();
        socket
    });
    let _again = hosts.a.run(|| {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&ends.local.into()).unwrap();
        socket.connect(&ends.remote.into()).unwrap();
        socket
    });
    // What is not accepted is reset with the listener.
    let _accepted = listener.accept().unwrap();
    let another = hosts.a.run(|| RunningSocket::find_again(&ends, &before.image));
    assert!(matches!(another, Err(SocketError::Another(_))), "{another:?}");
}

#[test]
fn what_the_kernel_refuses_is_said() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    hosts.a.run(|| {
        let socket = RunningSocket::find(&ends(&connection)).unwrap();
        for (option, value, says) in [
            (SocketOption::Congestion, "no-such", "the kernel refuses no-such as congestion"),
            (SocketOption::RtoMax, "999", "the kernel refuses 999 as rto_max"),
            (
                SocketOption::PacingRate,
                "fast",
                "pacing_rate takes a number or `unlimited`, not fast",
            ),
            (SocketOption::SendBuffer, "big", "sndbuf takes a number or `auto`, not big"),
            (SocketOption::NotsentLowat, "", "notsent_lowat takes a number, not "),
        ] {
            let before = socket.read(option);
            let error = socket.write(option, &Value::of(value), None).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert!(error.hint().contains(&format!("socket.{}", option.name())));
            assert_eq!(socket.read(option).ok(), before.ok(), "nothing has changed");
        }
    });
    let mut nowhere = ends(&connection);
    nowhere.remote.set_port(1);
    let none = hosts.a.run(|| RunningSocket::find(&nowhere)).unwrap_err();
    assert!(none.to_string().contains("there is no connection"), "{none}");
}

#[test]
fn times_are_told_as_the_kernel_rounds_them() {
    let Some(hosts) = TwoHosts::new() else { return };
    let connection = hosts.connect();
    for (option, value) in [
        (SocketOption::RtoMin, "41234"),
        (SocketOption::RtoMax, "7001"),
        (SocketOption::DelayedAckMax, "30001"),
        (SocketOption::SendBuffer, "50001"),
    ] {
        if has(&hosts, &connection, option) {
            let (_, after) = set(&hosts, &connection, option, value);
            assert_eq!(after, as_shown(option, &Value::of(value)).to_string(), "{}", option.name());
        }
    }
}
