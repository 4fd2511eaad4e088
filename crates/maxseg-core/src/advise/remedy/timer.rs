//! The retransmission timer.

use super::loss::with_drops;
use super::{Facts, Host, Remedy, System, linux, loss, middlebox};
use crate::advise::Change;
use crate::advise::path::uses_sack;
use crate::diagnose::LossCause;
use crate::evidence::{Bin, DirectionStats};
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
        let wanted_ms = longest.as_millis_up() * 3 / 2;
        wanted_ms.div_ceil(STEP_MS).max(LINUX_MS / STEP_MS + 1) * STEP_MS
    })
}

pub(super) fn spurious(facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    let longest = longest_round_trip(facts);
    let rto_min = rto_min_ms(longest);
    let reason = longest.map_or_else(String::new, |longest| {
        format!(": its round trips reach {}", approx::time(longest.as_secs_f64()))
    });
    let mut remedy = Remedy::new(format!("raise the minimum RTO of {on} to {rto_min} ms{reason}"))
        .look_linux(on, format!("{}; {}", linux::show_tcp(to), linux::show_route(to)))
        .linux_route(on, to, &format!("rto_min {rto_min}ms"), None)
        .advises(Change::RtoMin(Time::from_millis(rto_min)))
        .look(System::FreeBsd, on, "sysctl net.inet.tcp.rexmit_min")
        .change(
            System::FreeBsd,
            on,
            format!(
                "sh -c '[ \"$(sysctl -n net.inet.tcp.rexmit_min)\" -ge {rto_min} ] || sysctl \
                     net.inet.tcp.rexmit_min={rto_min}'"
            ),
        );
    if !(facts.data.timestamps && facts.acks.timestamps) {
        remedy = remedy.linux(on, linux::raise("net.ipv4.tcp_timestamps", 1));
    }
    remedy.wanted(format!("a capture at {on} shows each timeout and the ACK that arrives after it")).note(
        "A higher minimum RTO acts on new connections, and delays the repair of a loss at the end of a transfer.",
    )
}

/// A retransmission or two by the timer were needless among others that were not, or at the end of an interruption.
pub(super) fn seldom_spurious(facts: &Facts<'_>) -> Remedy {
    Remedy::new(format!(
        "no change needed: a longer timer of {} would repair losses later, and most of its expiries were no mistake",
        facts.sender_host
    ))
}

pub(super) fn outage(facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    Remedy::new(format!("find out what interrupted the path between {on} and {to}"))
        .look_linux(on, format!("{}; {}", linux::show_tcp(to), linux::show_route(to)))
        .wanted("a capture at the other end shows which direction was interrupted")
        .note(
            "No setting of the retransmission timer shortens an interruption: route changes, handovers and links that go \
             down are to be looked for.",
        )
}

pub(super) fn late(facts: &Facts<'_>) -> Remedy {
    if let Some(remedy) = middlebox::of_sequence_numbers(facts) {
        return remedy;
    }
    // What was overtaken was not lost: no hop loses it.
    if facts.case.diagnosis.loss.cause == LossCause::Reordering {
        return loss::reordering(facts);
    }
    let (on, peer) = (&facts.sender_host, &facts.receiver_host);
    let has_sack = uses_sack(facts.case);
    let mut remedy = match has_sack {
        Some(true) => Remedy::new(
            "find the hop that loses packets: SACK is in use, and the timer still had to repair the losses",
        ),
        Some(false) => Remedy::new(format!(
            "enable loss detection without the timer (SACK, RACK-TLP) on {on}, and find the hop that loses packets"
        )),
        None => Remedy::new(format!(
            "find the hop that loses packets, and check that SACK and RACK-TLP are enabled on {on}: the handshake was not captured"
        )),
    };
    remedy = with_drops(remedy, facts);
    if has_sack != Some(true) {
        for (host, stats) in [(on, facts.data), (peer, facts.acks)] {
            remedy = with_sack(remedy, host, stats);
        }
        remedy = remedy.note(
            "SACK must be enabled on both ends (RFC 2018); tail loss probes are RFC 8985 §7.",
        );
    }
    remedy.what_if(Change::NoErrors)
}

/// Enables SACK on a host whose SYN does not permit it.
fn with_sack(remedy: Remedy, host: &Host, stats: &DirectionStats) -> Remedy {
    if stats.syn.is_some() && stats.sack_permitted {
        return remedy;
    }
    remedy
        .look_linux(host, "sysctl net.ipv4.tcp_sack net.ipv4.tcp_recovery")
        .linux(host, linux::raise("net.ipv4.tcp_sack", 1))
        .look(System::FreeBsd, host, "sysctl net.inet.tcp.sack.enable")
        .change(System::FreeBsd, host, "sysctl net.inet.tcp.sack.enable=1")
}
