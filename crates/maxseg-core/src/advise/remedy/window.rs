//! Windows and buffers.

use std::net::IpAddr;

use super::{Facts, Remedy, System};
use crate::advise::Change;
use crate::units::Bytes;
use crate::window::{FIELD, LARGEST_SHIFT};

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

/// The buffer for a window: Linux reserves half of it for overhead (`tcp_adv_win_scale` 1).
fn buffer(window: Bytes) -> u64 {
    2 * window.get()
}

/// The names of a buffer's limits in each operating system.
struct Names {
    /// Linux: minimum, default and maximum of autotuning.
    linux_sizes: &'static str,
    /// Linux: minimum and default, unchanged.
    linux_first: &'static str,
    /// Linux: the maximum that a program may request.
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

/// The commands that raise a buffer's limits to `bytes`, after one that shows them: a larger limit stays.
fn with_buffer(remedy: Remedy, names: &Names, on: IpAddr, bytes: u64) -> Remedy {
    let Names { linux_sizes, linux_first, linux_asked, free_bsd, mac_os } = names;
    remedy
        .linux(on, format!("sysctl {linux_sizes} {linux_asked}"))
        .linux(on, format!("sysctl -w {linux_sizes}=\"{linux_first} {bytes}\""))
        .only_where(format!(
            "the third number of {linux_sizes} is below {bytes}; keep its first two"
        ))
        .linux(on, format!("sysctl -w {linux_asked}={bytes}"))
        .only_where(format!("{linux_asked} is below {bytes}"))
        .command(
            System::FreeBsd,
            on,
            format!("sysctl {free_bsd}={bytes} kern.ipc.maxsockbuf={bytes}"),
        )
        .only_where(format!("both are below {bytes}"))
        .command(
            System::MacOs,
            on,
            format!("sysctl -w kern.ipc.maxsockbuf={bytes} {mac_os}={bytes}"),
        )
        .only_where(format!("both are below {bytes}"))
}

pub(super) fn receive(facts: &Facts<'_>) -> Remedy {
    let acks = facts.acks;
    if acks.zero_windows > 0 {
        return slow_reader(facts);
    }
    let (on, sender) = (facts.receiver, facts.sender);
    let largest = acks.window_max_bytes.unwrap_or(65_535);
    let window = wanted(facts, largest);
    let is_unscaled = facts.case.evidence.handshake.syn && acks.window_scale.is_none();
    let mut remedy = Remedy::new(format!("let {on} offer a receive window of {window}"));
    if is_unscaled {
        // Both SYNs must offer it (RFC 7323 §2.2).
        remedy.change =
            format!("enable window scaling, so that {on} can offer a window of {window}");
        remedy = remedy
            .linux(format!("{on} and {sender}"), "sysctl -w net.ipv4.tcp_window_scaling=1")
            .note(
                "Without the window scale option in both SYNs no window exceeds 65 535 bytes (RFC 7323). If both hosts \
                 have it enabled, a middlebox strips the option.",
            );
    } else if is_first_buffer(facts) {
        return first_buffer(facts, window).what_if(Change::Window(window));
    } else if is_constant(facts) {
        remedy = remedy.note(format!(
            "The window never grew: a program that sets SO_RCVBUF disables autotuning. Remove that from the program \
             on {on}, or raise it to {window} and net.core.rmem_max with it. The command alone suffices where tcp_rmem \
             is the limit."
        ));
    }
    with_buffer(remedy, &RECEIVE, on, buffer(window))
        .command(System::Windows, on, "netsh int tcp set global autotuninglevel=normal")
        .what_if(Change::Window(window))
}

/// Whether the window stayed at the first buffer's, although its scale, which follows the largest buffer, allows
/// far more.
fn is_first_buffer(facts: &Facts<'_>) -> bool {
    let acks = facts.acks;
    let allowed = acks.window_scale.map(|scale| FIELD << scale.min(LARGEST_SHIFT));
    let windows = acks.window_min_bytes.zip(acks.window_max_bytes);
    let (Some(allowed), Some((least, most))) = (allowed, windows) else { return false };
    // What has arrived and is not read yet takes half of a small buffer.
    2 * least >= most && most.saturating_mul(SCALE_OVER_FIRST) < allowed
}

/// The largest buffer is more than so many times the first where autotuning has room.
const SCALE_OVER_FIRST: u64 = 8;

/// Autotuning did not raise the window above that of the first buffer.
fn first_buffer(facts: &Facts<'_>, window: Bytes) -> Remedy {
    let on = facts.receiver;
    let largest = facts.acks.window_max_bytes.unwrap_or(0);
    let bytes = buffer(window).max(131_072);
    Remedy::new(format!(
        "raise the first receive buffer of {on} (the middle number of tcp_rmem): its window never grew above {largest} bytes, \
         although the program read at once"
    ))
    .linux(on, "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_moderate_rcvbuf")
    .linux(
        on,
        format!(
            "sysctl -w net.ipv4.tcp_rmem=\"$(sysctl -n net.ipv4.tcp_rmem | awk '{{if ($2 < {bytes}) $2 = {bytes}; \
             if ($3 < $2) $3 = $2; print}}')\""
        ),
    )
    .only_where("tcp_moderate_rcvbuf is 1 and the program does not set SO_RCVBUF")
    .note(
        "The window scale allows far more: autotuning had room and did not use it. Other causes are tcp_moderate_rcvbuf=0, \
         and a program that sets SO_RCVBUF after the handshake.",
    )
}

/// Whether the window was about constant.
fn is_constant(facts: &Facts<'_>) -> bool {
    let acks = facts.acks;
    match (acks.window_min_bytes, acks.window_max_bytes) {
        (Some(least), Some(most)) => acks.window_scale == Some(0) || least.saturating_mul(2) > most,
        _ => false,
    }
}

pub(super) fn slow_reader(facts: &Facts<'_>) -> Remedy {
    let on = facts.receiver;
    let port = facts.case.evidence.receiver(facts.direction).port();
    Remedy::new(format!(
        "examine the receiving application on {on}: it reads more slowly than the path delivers"
    ))
    .linux(
        on,
        format!("ss -tnmi 'sport = :{port}'; top -H -p \"$(pgrep -d, PROGRAM)\"; iostat -x 1"),
    )
    .note("Recv-Q above zero in `ss` is unread data. A larger buffer only delays the zero window.")
    .what_if(Change::ReadsAtOnce)
}

/// The window shut and did not open again.
pub(super) fn dead_reader(facts: &Facts<'_>) -> Remedy {
    let on = facts.receiver;
    let port = facts.case.evidence.receiver(facts.direction).port();
    Remedy::new(format!("find out why the program on {on} does not read: it hangs, or waits for something else"))
        .linux(on, format!("ss -tnmp 'sport = :{port}'"))
        .note("Recv-Q above zero in `ss` is unread data. No window or buffer opens a window that is never read.")
}

pub(super) fn send_buffer(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let now = facts.data.in_flight_max_bytes;
    let buffer_now = wanted(facts, now);
    // Per-segment overhead takes about as much of the buffer as the payload.
    let bytes = buffer(buffer_now);
    let remedy = Remedy::new(format!(
        "raise the send buffer of {on}, so that {buffer_now} can be in flight (SO_SNDBUF of its program, or tcp_wmem)"
    ));
    with_buffer(remedy, &SEND, on, bytes)
        .note("A program that sets SO_SNDBUF disables autotuning: change it in the program then.")
        .what_if(Change::SendBuffer(buffer_now))
}
