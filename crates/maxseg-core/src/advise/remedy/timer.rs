//! The retransmission timer.

use super::loss::SHOW_DROPS;
use super::{Facts, Remedy, System};
use crate::advise::Change;
use crate::evidence::Bin;
use crate::units::{Time, approx};

/// Linux's minimum retransmission timeout (`TCP_RTO_MIN`).
const LINUX_RTO_MIN: Time = Time::from_millis(200);
/// The minimum is rounded up to a multiple of this.
const STEP: Time = Time::from_millis(100);

/// The longest mean round trip of an interval.
fn longest_round_trip(facts: &Facts<'_>) -> Option<Time> {
    facts.data.bins.as_slice().iter().filter_map(Bin::rtt_mean).max()
}

/// The minimum retransmission timeout that prevents spurious timeouts, in milliseconds: 1.5 times the longest round
/// trip, above Linux's minimum; twice that minimum where no round trip was measured.
fn rto_min_ms(longest: Option<Time>) -> u64 {
    const STEP_MS: u64 = STEP.as_nanos() / 1_000_000;
    const LINUX_MS: u64 = LINUX_RTO_MIN.as_nanos() / 1_000_000;
    longest.map_or(2 * LINUX_MS, |longest| {
        let wanted_ms = longest.as_nanos().div_ceil(1_000_000) * 3 / 2;
        wanted_ms.div_ceil(STEP_MS).max(LINUX_MS / STEP_MS + 1) * STEP_MS
    })
}

pub(super) fn spurious(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let longest = longest_round_trip(facts);
    let rto_min = rto_min_ms(longest);
    let reason = longest.map_or_else(String::new, |longest| {
        format!(": its round trips reach {}", approx::time(longest.as_secs_f64()))
    });
    Remedy::new(format!("raise the minimum RTO of {on} to {rto_min} ms{reason}"))
        .linux(on, format!("ip route change ROUTE rto_min {rto_min}ms"))
        .linux(on, "sysctl -w net.ipv4.tcp_frto=2 net.ipv4.tcp_timestamps=1 net.ipv4.tcp_dsack=1")
        .command(System::FreeBsd, on, format!("sysctl net.inet.tcp.rexmit_min={rto_min}"))
        .note(
            "The second command lets the sender detect a spurious timeout and undo its effect (RFC 5682, RFC 4015). \
             A higher minimum RTO delays the repair of a loss at the end of a transfer.",
        )
}

pub(super) fn late(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    Remedy::new(format!(
        "enable loss detection without the timer (SACK, RACK-TLP) on {on}, and find the hop that loses packets"
    ))
    .linux(on, "sysctl -w net.ipv4.tcp_sack=1 net.ipv4.tcp_recovery=1 net.ipv4.tcp_early_retrans=3")
    .linux("each hop", SHOW_DROPS)
    .command(
        System::FreeBsd,
        on,
        "sysctl net.inet.tcp.sack.enable=1 net.inet.tcp.functions_default=rack",
    )
    .note("SACK must be enabled on both ends (RFC 2018); tail loss probes are RFC 8985 §7.")
    .what_if(Change::NoErrors)
}
