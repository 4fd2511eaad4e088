//! A host that cannot send: the kernel tries again by the timer of window probes, whatever the window is.
//!
//! Where nothing is in flight and something waits, the kernel sets that timer (`tcp_check_probe_timer` in `net/ipv4/tcp_output.c`): the window
//! is closed, or no segment could be handed down (a firewall's rule, no route, an interface that is down, a full queue). At the timer it sends what waits if the window has room (`tcp_write_wakeup`), and counts
//! the attempt (`tcpi_probes`) where that failed too: else something is in flight, and the count is zero (`tcp_send_probe0`).
//! Keep-alives are counted there as well, of a connection without anything to send (`tcp_keepalive_timer`).

use crate::evidence::SocketState;

/// Whether sending fails in this host itself, a time or more in a row: what waits fits the peer's window, and does not leave.
pub fn sends_in_vain(state: &SocketState) -> bool {
    let unsent = state.unsent_bytes.unwrap_or(0);
    let needs = unsent.min(state.mss_bytes);
    state.window_probes > 0
        && needs > 0
        && state.unacked_segments == 0
        && state.window_bytes.is_some_and(|window| window >= needs)
}

/// Whether the probes are keep-alives: nothing waits to be sent.
pub(super) fn probes_are_keep_alives(state: &SocketState) -> bool {
    state.window_probes > 0 && state.unsent_bytes == Some(0) && state.unacked_segments == 0
}
