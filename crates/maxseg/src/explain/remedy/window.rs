//! Windows and buffers.

use std::net::IpAddr;

use maxseg_core::advise::Change;
use maxseg_core::units::Bytes;

use super::{Facts, Remedy, System};

/// The window where nothing shows how much the path holds: four times the one that limits.
fn wanted(facts: &Facts<'_>, now: u64) -> Bytes {
    let bold = Bytes::new((4 * now).next_power_of_two().clamp(1 << 16, 1 << 29));
    match facts.covering {
        Some(covering) if facts.path.is_some_and(|path| path.rate_is_seen) => covering,
        // What the connection reached is a bound from below: the path may hold more.
        Some(covering) => covering.max(bold),
        None => bold,
    }
}

/// Linux gives half of a socket's buffer to the window (`tcp_adv_win_scale` 1), the rest is for its bookkeeping.
fn buffer(window: Bytes) -> u64 {
    2 * window.get()
}

/// What the systems call the bounds of a kind of buffer.
struct Names {
    /// Linux: least, first and largest size, set by the kernel itself.
    linux_sizes: &'static str,
    /// Linux's own least and first size.
    linux_first: &'static str,
    /// Linux: the most that a program may ask for.
    linux_asked: &'static str,
    free_bsd: &'static str,
    mac_os: &'static str,
}

const RECEIVE: Names = Names {
    linux_sizes: "net.ipv4.tcp_rmem",
    linux_first: "4096 131072",
    linux_asked: "net.core.rmem_max",
    free_bsd: "net.inet.tcp.recvbuf_max",
    mac_os: "net.inet.tcp.autorcvbufmax",
};

const SEND: Names = Names {
    linux_sizes: "net.ipv4.tcp_wmem",
    linux_first: "4096 16384",
    linux_asked: "net.core.wmem_max",
    free_bsd: "net.inet.tcp.sendbuf_max",
    mac_os: "net.inet.tcp.autosndbufmax",
};

/// The commands that raise a buffer's bounds to so many bytes, after a look at what they are: a host may have more
/// already, and would be left with less.
fn with_buffer(remedy: Remedy, names: &Names, on: IpAddr, bytes: u64) -> Remedy {
    let Names { linux_sizes, linux_first, linux_asked, free_bsd, mac_os } = names;
    remedy
        .linux(on, format!("sysctl {linux_sizes} {linux_asked}"))
        .linux(on, format!("sysctl -w {linux_sizes}=\"{linux_first} {bytes}\""))
        .only_where(format!(
            "the third number of {linux_sizes} is smaller than {bytes}; its first two stay as they are there"
        ))
        .linux(on, format!("sysctl -w {linux_asked}={bytes}"))
        .only_where(format!("{linux_asked} is smaller than {bytes}"))
        .command(System::FreeBsd, on, format!("sysctl {free_bsd}={bytes} kern.ipc.maxsockbuf={bytes}"))
        .only_where(format!("both are smaller than {bytes}"))
        .command(System::MacOs, on, format!("sysctl -w kern.ipc.maxsockbuf={bytes} {mac_os}={bytes}"))
        .only_where(format!("both are smaller than {bytes}"))
}

pub(super) fn receive(facts: &Facts<'_>) -> Remedy {
    let acks = facts.case.acks();
    if acks.zero_windows > 0 {
        return slow_reader(facts);
    }
    let (on, sender) = (facts.receiver, facts.sender);
    let largest = acks.window_max_bytes.unwrap_or(65_535);
    let window = wanted(facts, largest);
    let is_unscaled = facts.case.evidence.handshake.syn && acks.window_scale.is_none();
    let mut remedy = Remedy::new(format!("let {on} offer a window of {window}"));
    if is_unscaled {
        // Both SYNs must offer it (RFC 7323 §2.2).
        remedy.change =
            format!("turn window scaling on, so that {on} can offer a window of {window}");
        remedy = remedy
            .linux(format!("{on} and {sender}"), "sysctl -w net.ipv4.tcp_window_scaling=1")
            .note(
                "Without window scaling in both SYNs no window can exceed 65 535 bytes (RFC 7323). If both hosts \
                 have it on, a firewall on the way takes the option out.",
            );
    } else if is_constant(facts) {
        remedy = remedy.note(format!(
            "The window never grew, as where the program itself asks for a buffer (SO_RCVBUF), which turns the \
             kernel's own tuning off: take that out of the program on {on}, or let it ask for {window} after raising \
             net.core.rmem_max. The command alone helps where tcp_rmem is what keeps it small."
        ));
    }
    with_buffer(remedy, &RECEIVE, on, buffer(window))
        .command(System::Windows, on, "netsh int tcp set global autotuninglevel=normal")
        .what_if(Change::Window(window))
}

/// Whether the window hardly changed.
fn is_constant(facts: &Facts<'_>) -> bool {
    let acks = facts.case.acks();
    match (acks.window_min_bytes, acks.window_max_bytes) {
        (Some(least), Some(most)) => acks.window_scale == Some(0) || least.saturating_mul(2) > most,
        _ => false,
    }
}

pub(super) fn slow_reader(facts: &Facts<'_>) -> Remedy {
    let on = facts.receiver;
    let port = facts.case.evidence.receiver(facts.case.diagnosis.way).port();
    Remedy::new(format!(
        "look at the program that reads on {on}: its window shut because it takes data more slowly than the path brings it"
    ))
    .linux(on, format!("ss -tnmi 'sport = :{port}'; top -H -p \"$(pgrep -d, PROGRAM)\"; iostat -x 1"))
    .note("Recv-Q above zero in `ss` is data that the program has not read. A larger buffer only puts the moment off at which it is full.")
    .what_if(Change::ReadsAtOnce)
}

pub(super) fn send_buffer(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let now = facts.case.data().in_flight_max_bytes;
    let buffer_now = wanted(facts, now);
    // A segment's bookkeeping takes about as much of the buffer as its payload.
    let bytes = buffer(buffer_now);
    let remedy =
        Remedy::new(format!("let {on} keep {buffer_now} in flight: give it a larger send buffer"));
    with_buffer(remedy, &SEND, on, bytes)
        .note("A program that sets SO_SNDBUF turns the kernel's own tuning off: then the change belongs into the program.")
        .what_if(Change::SendBuffer(buffer_now))
}
