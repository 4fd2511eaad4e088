//! Timers, late losses, packets that overtake.

use maxseg_core::advise::Change;
use maxseg_core::units::approx;

use super::{Facts, Remedy, System};

/// What a spurious timeout waited is too short by: the timer's floor should lie above the longest round trip.
fn longest_round_trip(facts: &Facts<'_>) -> Option<f64> {
    let bins = facts.case.data().bins.as_slice();
    let longest = bins.iter().filter_map(maxseg_core::evidence::Bin::rtt_mean).max()?;
    Some(longest.as_secs_f64())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and times are not negative"
)]
fn millis(seconds: f64) -> u64 {
    (1000.0 * seconds).ceil() as u64
}

/// Linux's own floor of the retransmission timer (`TCP_RTO_MIN`).
const LINUX_FLOOR_MS: u64 = 200;

pub(super) fn spurious(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let longest = longest_round_trip(facts);
    // In steps of 100 ms, above the longest and above what it is.
    let floor = longest.map_or(2 * LINUX_FLOOR_MS, |longest| {
        (millis(longest) * 3 / 2).div_ceil(100).max(LINUX_FLOOR_MS / 100 + 1) * 100
    });
    let because = longest.map_or_else(String::new, |longest| {
        format!(": its round trips reach {}", approx::time(longest))
    });
    Remedy::new(format!("raise the least retransmission timeout of {on} to {floor} ms{because}"))
        .linux(on, format!("ip route change ROUTE rto_min {floor}ms"))
        .linux(on, "sysctl -w net.ipv4.tcp_frto=2 net.ipv4.tcp_timestamps=1 net.ipv4.tcp_dsack=1")
        .command(System::FreeBsd, on, format!("sysctl net.inet.tcp.rexmit_min={floor}"))
        .note(
            "The second command lets the sender notice that a timeout was needless and take it back (RFC 5682, \
             RFC 4015). A higher floor makes true losses at the end of a transfer wait longer.",
        )
}

pub(super) fn late(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    Remedy::new(format!(
        "let {on} notice losses without the timer, and find where packets are lost"
    ))
    .linux(on, "sysctl -w net.ipv4.tcp_sack=1 net.ipv4.tcp_recovery=1 net.ipv4.tcp_early_retrans=3")
    .linux("each hop", "ip -s link; ethtool -S DEVICE | grep -iE 'err|drop|crc'; tc -s qdisc")
    .command(
        System::FreeBsd,
        on,
        "sysctl net.inet.tcp.sack.enable=1 net.inet.tcp.functions_default=rack",
    )
    .note(
        "Selective acknowledgements must be on at both ends (RFC 2018); tail probes are RFC 8985.",
    )
    .what_if(Change::NoErrors)
}

pub(super) fn reordering(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    Remedy::new(format!("let {on} bear packets that overtake, or keep a connection on one path"))
        .linux(on, "sysctl -w net.ipv4.tcp_recovery=1 net.ipv4.tcp_max_reordering=300")
        .note("Links that spread the packets of one connection over several ways are the usual reason.")
}
