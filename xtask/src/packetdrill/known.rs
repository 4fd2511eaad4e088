//! Scripts that 6.12 would fail as the stack does, or whose rule the stack has not: why, by name.

/// Why a script fails, by its path, where that is known.
pub fn known(path: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(end, _)| path.ends_with(end)).map(|(_, why)| *why)
}

const KNOWN: [(&str, &str); 3] = [
    (
        "fr-4pkt-fack-last-mss.pkt",
        "timers of earlier kernels: two ticks more instead of 2 ms (`TCP_TIMEOUT_MIN`, now `TCP_TIMEOUT_MIN_US`), at \
         250 ticks a second",
    ),
    (
        "cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt",
        "6.12 lets one segment more go for an acknowledgement that advances (`tcp_cwnd_reduction`)",
    ),
    (
        "shutdown-rdwr-write-queue-close.pkt",
        "6.12 holds a FIN back where the window is full (`tcp_cwnd_test`)",
    ),
];
