//! Windows and buffers.

use std::net::SocketAddr;

use super::{Facts, Host, Remedy, System, linux, middlebox};
use crate::advise::Change;
use crate::diagnose::smaller_window;
use crate::evidence::DirectionStats;
use crate::units::Bytes;
use crate::window::{FIELD, LARGEST_SHIFT, MEMORY_PER_PAYLOAD, is_near_field};

/// The window that covers the path; at least four times the limiting one where the rate of the path is a lower bound or
/// unknown.
fn wanted(facts: &Facts<'_>, now: u64) -> Bytes {
    let bold = Bytes::new((4 * now).next_power_of_two().clamp(1 << 16, 1 << 29));
    match facts.covering {
        Some(covering) if facts.path.is_some_and(|path| path.rate_is_seen) => covering,
        // The covering window is a lower bound, too.
        Some(covering) => covering.max(bold),
        None => bold,
    }
}

/// The buffer for so much in flight.
fn buffer(window: Bytes) -> u64 {
    MEMORY_PER_PAYLOAD * window.get()
}

/// The names of a buffer's limits in each operating system.
struct Names {
    /// Linux: minimum, default and maximum of autotuning.
    linux_sizes: &'static str,
    /// Linux: the maximum that a program may request.
    linux_asked: &'static str,
    free_bsd: &'static str,
    mac_os: &'static str,
}

const RECEIVE: Names = Names {
    linux_sizes: "net.ipv4.tcp_rmem",
    linux_asked: "net.core.rmem_max",
    free_bsd: "net.inet.tcp.recvbuf_max",
    mac_os: "net.inet.tcp.autorcvbufmax",
};

const SEND: Names = Names {
    linux_sizes: "net.ipv4.tcp_wmem",
    linux_asked: "net.core.wmem_max",
    free_bsd: "net.inet.tcp.sendbuf_max",
    mac_os: "net.inet.tcp.autosndbufmax",
};

/// The commands that show a buffer's limits, and those that raise them to `bytes`: a larger limit stays.
fn with_buffer(remedy: Remedy, names: &Names, on: &Host, bytes: u64) -> Remedy {
    let Names { linux_sizes, linux_asked, free_bsd, mac_os } = names;
    // BSD's limit of a socket buffer counts overhead as well: twice the buffer has room for it.
    let (socket, socket_limit) = ("kern.ipc.maxsockbuf", 2 * bytes);
    let raise_bsd = |set: &str, key: &str| {
        format!(
            "sh -c '[ \"$(sysctl -n {socket})\" -ge {socket_limit} ] || {set} {socket}={socket_limit}; \
             [ \"$(sysctl -n {key})\" -ge {bytes} ] || {set} {key}={bytes}'"
        )
    };
    remedy
        .look_linux(on, format!("sysctl {linux_sizes} {linux_asked}"))
        .linux(on, linux::raise_third(linux_sizes, bytes))
        .linux(on, linux::raise(linux_asked, bytes))
        .look(System::FreeBsd, on, format!("sysctl {free_bsd} {socket}"))
        .change(System::FreeBsd, on, raise_bsd("sysctl", free_bsd))
        .look(System::MacOs, on, format!("sysctl {mac_os} {socket}"))
        .change(System::MacOs, on, raise_bsd("sysctl -w", mac_os))
}

pub(super) fn receive(facts: &Facts<'_>) -> Remedy {
    let acks = facts.acks;
    let smaller = smaller_window(facts.data, acks);
    let has_shrunk = smaller.is_some();
    if acks.has_slow_reader() && !has_shrunk {
        return slow_reader(facts);
    }
    let on = &facts.receiver_host;
    let largest = smaller.or(acks.window_max_bytes).unwrap_or(65_535);
    let window = wanted(facts, largest);
    if let Some(remedy) = middlebox::of_window(facts, window) {
        return remedy;
    }
    let evidence = facts.case.evidence;
    let is_unscaled =
        evidence.has_syn_options() && acks.window_scale.is_none() && is_near_field(largest);
    let mut remedy = Remedy::new(format!("let {on} offer a receive window of {window}"));
    if is_unscaled {
        let lacks = without_scale(facts).unwrap_or(on);
        remedy.change = format!(
            "enable window scaling on {lacks}, whose SYN has none here, or find the middlebox that removes it, so that {on} can offer a \
             window of {window}"
        );
        remedy = with_scaling(remedy, facts).note(
            "Without the window scale option in both SYNs no window exceeds 65 535 bytes (RFC 7323). If both hosts \
             have it enabled, a middlebox strips the option, or the program has set a small SO_RCVBUF.",
        );
    } else if !has_shrunk && is_first_buffer(facts) {
        return first_buffer(facts, window).what_if(Change::Window(window));
    } else if has_shrunk || is_constant(facts) {
        let port = facts.case.evidence.receiver(facts.direction).port();
        let is_held_by_scale = acks.window_scale == Some(0);
        let why = if has_shrunk {
            format!("it became {largest} bytes once, and stayed so")
        } else if is_held_by_scale {
            "its scale of 0 allows no more than 65 535 bytes".to_owned()
        } else {
            "it never grew".to_owned()
        };
        // The window of a route, and a small tcp_rmem, are there from the beginning.
        let by = match (has_shrunk, on.may_be_linux()) {
            (true, true) => "its program sets SO_RCVBUF, or TCP_WINDOW_CLAMP, once it is connected",
            (true, false) => "its program sets SO_RCVBUF once it is connected",
            (false, true) => {
                "its program sets SO_RCVBUF, its route has `window`, or its tcp_rmem is small"
            }
            (false, false) => "its program sets SO_RCVBUF, or its largest receive buffer is small",
        };
        // Where the limit of autotuning is large, raising it does nothing: what acts comes first.
        let to = facts.sender;
        remedy.change = format!("let {on} offer a receive window of {window}: {why}, so {by}");
        remedy = remedy.look_linux(on, format!("{}; {}", show_socket(port), linux::show_route(to)));
        // No buffer changes the scale of a connection that runs.
        if !is_held_by_scale {
            remedy = remedy.linux(on, on_running(facts)).only_where(
                "the connection runs, and maxseg is on that host: its own socket is set",
            );
        }
        remedy = remedy
            .linux(on, linux::without_attribute(to.into(), to, "window"))
            .only_where("the route has `window`: it holds every new connection's")
            .note(note_on_buffer(on, window));
    }
    with_buffer(remedy, &RECEIVE, on, buffer(window))
        .wanted(format!("a capture at {on} shows its SYN and the window that leaves it"))
        .look(System::Windows, on, "netsh int tcp show global")
        .change(System::Windows, on, "netsh int tcp set global autotuninglevel=normal")
        .only_where("the receive window auto-tuning level is not `normal`")
        .tries(Change::Window(window))
}

/// What a buffer that a program sets does to autotuning, in words of the host's system.
fn note_on_buffer(on: &Host, window: Bytes) -> String {
    let remove = format!(
        "A program that sets SO_RCVBUF disables autotuning: remove that from the program on {on}, or raise it to {window}"
    );
    if on.may_be_linux() {
        format!(
            "{remove} and net.core.rmem_max as well. The limit of autotuning, tcp_rmem, matters only where neither is so."
        )
    } else {
        format!("{remove}.")
    }
}

/// Whether the window stayed at the first buffer's, although its scale, which follows the largest buffer, allows
/// far more.
fn is_first_buffer(facts: &Facts<'_>) -> bool {
    let acks = facts.acks;
    // A scale of 0 follows a small buffer.
    let scale = acks.window_scale.filter(|scale| *scale > 0);
    let allowed = scale.map(|scale| FIELD << scale.min(LARGEST_SHIFT));
    let windows = acks.window_min_bytes.zip(acks.window_max_bytes);
    let (Some(allowed), Some((least, most))) = (allowed, windows) else { return false };
    // What has arrived and is not read yet takes half of a small buffer.
    2 * least >= most && most.saturating_mul(SCALE_OVER_FIRST) < allowed
}

/// The largest buffer is more than so many times the first where autotuning has room.
const SCALE_OVER_FIRST: u64 = 8;

/// Linux's own first buffer (`tcp_rmem`'s second number).
pub(super) const LINUX_FIRST_BUFFER: u64 = 131_072;

/// Autotuning did not raise the window above that of the first buffer.
fn first_buffer(facts: &Facts<'_>, window: Bytes) -> Remedy {
    let on = &facts.receiver_host;
    let largest = facts.acks.window_max_bytes.unwrap_or(0);
    let first = buffer(window).max(LINUX_FIRST_BUFFER);
    let port = facts.case.evidence.receiver(facts.direction).port();
    Remedy::new(format!(
        "raise the first receive buffer of {on} (the middle number of tcp_rmem): its window never grew above {largest} bytes, \
         although the program read at once"
    ))
    .look_linux(on, "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_moderate_rcvbuf")
    .look_linux(on, show_socket(port))
    .advises(Change::FirstReceiveBuffer(Bytes::new(first)))
    .linux(on, linux::raise_second(RECEIVE.linux_sizes, first))
    .only_where("tcp_moderate_rcvbuf is 1 and the program does not set SO_RCVBUF")
    .wanted(format!("a capture at {on} shows its SYN and the window that leaves it"))
    .note(
        "The window scale allows far more, as it follows net.core.rmem_max too. Other causes are a small third number of tcp_rmem, \
         which the command raises as well, tcp_moderate_rcvbuf=0, and a program that sets SO_RCVBUF after the handshake.",
    )
}

/// The host that leaves the window scale out: both SYNs must offer it, and an answer may only where the SYN did (RFC 7323 §2.2). That of
/// a server tells nothing where its client does not ask.
fn without_scale<'a>(facts: &'a Facts<'_>) -> Option<&'a Host> {
    let evidence = facts.case.evidence;
    let ends = [(&facts.client_host, &evidence.forward), (&facts.server_host, &evidence.reverse)];
    let lacks = |stats: &DirectionStats| stats.syn.is_none_or(|syn| syn.window_scale.is_none());
    ends.into_iter().find(|(_, stats)| lacks(stats)).map(|(host, _)| host)
}

fn with_scaling(remedy: Remedy, facts: &Facts<'_>) -> Remedy {
    let key = "net.ipv4.tcp_window_scaling";
    let Some(host) = without_scale(facts) else { return remedy };
    remedy
        .look_linux(host, format!("sysctl {key}"))
        .linux(host, linux::raise(key, 1))
        .look(System::FreeBsd, host, "sysctl net.inet.tcp.rfc1323")
        .change(System::FreeBsd, host, "sysctl net.inet.tcp.rfc1323=1")
}

/// Lets the receive buffer of the running connection's socket grow again, which acts at once.
fn on_running(facts: &Facts<'_>) -> String {
    let evidence = facts.case.evidence;
    let ends = [evidence.receiver(facts.direction), evidence.sender(facts.direction)];
    let [own, peer] = ends.map(|end| SocketAddr::new(end.ip().to_canonical(), end.port()));
    linux::autotuned(&format!("'{own}-{peer}'"))
}

/// Whether the window was about constant.
fn is_constant(facts: &Facts<'_>) -> bool {
    let acks = facts.acks;
    match (acks.window_min_bytes, acks.window_max_bytes) {
        (Some(least), Some(most)) => acks.window_scale == Some(0) || least.saturating_mul(2) > most,
        _ => false,
    }
}

/// The command that shows a socket's queues and the program, by its own port.
fn show_socket(port: u16) -> String {
    format!("ss -tanmip 'sport = :{port}'")
}

pub(super) fn slow_reader(facts: &Facts<'_>) -> Remedy {
    let on = &facts.receiver_host;
    let port = facts.case.evidence.receiver(facts.direction).port();
    Remedy::new(format!(
        "examine the receiving application on {on}: it reads more slowly than the path delivers"
    ))
    .look_linux(on, show_socket(port))
    .look_linux(on, "top -b -H -n 1 | head -n 20; iostat -x 1 2")
    .look(System::FreeBsd, on, "netstat -x -p tcp; top -b 20")
    .look(System::MacOs, on, "netstat -n -p tcp; top -l 1 -n 20")
    .look(System::Windows, on, format!("netstat -ano | findstr :{port}"))
    .wanted(format!("a capture at {on} shows the window that leaves the host"))
    .note(
        "Unread data of the socket (Recv-Q) above zero shows it. A larger buffer only fills later.",
    )
    .tries(Change::ReadsAtOnce)
}

/// The window shut and did not open again.
pub(super) fn dead_reader(facts: &Facts<'_>) -> Remedy {
    let on = &facts.receiver_host;
    let port = facts.case.evidence.receiver(facts.direction).port();
    Remedy::new(format!(
        "find out why the program on {on} does not read: it hangs, or waits for something else"
    ))
    .look_linux(on, show_socket(port))
    .look(System::FreeBsd, on, "netstat -x -p tcp")
    .look(System::MacOs, on, "netstat -n -p tcp")
    .look(System::Windows, on, format!("netstat -ano | findstr :{port}"))
    .note("Unread data of a socket (Recv-Q) above zero shows it. No window or buffer opens a window that is never read.")
}

/// A send buffer that may be the limit, as a program may be that writes too late.
pub(super) fn maybe_send_buffer(facts: &Facts<'_>) -> Remedy {
    let on = &facts.sender_host;
    let remedy = send_buffer(facts);
    let condition = on.shows_full_buffer();
    let change = format!("if {condition}, {}", remedy.change);
    Remedy { change, ..remedy }.changes_only_where(&condition)
}

/// A send buffer that is too small, whatever else limits.
pub(super) fn send_buffer_as_well(facts: &Facts<'_>) -> Remedy {
    let remedy = send_buffer(facts);
    let change = format!("{}: its program waits for room while the link is idle", remedy.change);
    Remedy { change, ..remedy }
}

pub(super) fn send_buffer(facts: &Facts<'_>) -> Remedy {
    let on = &facts.sender_host;
    let now = facts.data.in_flight_max_bytes;
    let buffer_now = wanted(facts, now);
    let bytes = buffer(buffer_now);
    let remedy = Remedy::new(format!(
        "raise the send buffer of {on}, so that {buffer_now} can be in flight (SO_SNDBUF of its program, or tcp_wmem)"
    ));
    with_buffer(remedy, &SEND, on, bytes)
        .wanted(format!("a capture at {on} shows whether segments wait for acknowledgements while the window has room"))
        .note("A program that sets SO_SNDBUF disables autotuning: change it in the program then.")
        .tries(Change::SendBuffer(buffer_now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_linux_are_named_where_the_host_may_be_linux() {
        let note = |system| note_on_buffer(&Host::of_system("10.0.0.2", system), Bytes::new(65536));
        for system in [System::Linux, System::Unknown] {
            assert!(note(system).contains("net.core.rmem_max"), "{system:?}");
        }
        let expected = "A program that sets SO_RCVBUF disables autotuning: remove that from the program on 10.0.0.2, or raise it to 64 KiB.";
        assert_eq!(note(System::Windows), expected);
    }
}
