//! What was seen of a direction, as documents say it: `null` for what the capture cannot show.

use maxseg_core::advise::Case;
use maxseg_core::diagnose::ReasonCode;
use maxseg_core::evidence::{Direction, DirectionStats};
use serde_json::Value;

/// The retransmitted packets of a direction, as documents call them.
pub(super) const RETRANSMITTED: &str = "retransmitted_packets";

/// What its sender's packets tell: nothing of it is known where none was captured.
const OF_SENDER: &[&str] = &[
    "largest_segment_bytes",
    "unseen_bytes",
    "outstanding_bytes",
    "duplicate_acks",
    "dsack_acks",
    "zero_windows",
    "window_shut_times",
    "zero_window_probes",
    "window_full",
    "beyond_window",
    "beyond_timer",
    "keep_alives",
    "in_flight_max_bytes",
    "idle_s",
    "idle_restarts",
    "idle_restart_s",
    "longest_gap_s",
    "may_fragment_packets",
    "fragmented_packets",
    "congestion_marks",
];

/// What takes the other side's packets, which acknowledge.
const OF_RECEIVER: &[&str] = &[
    "acked_bytes",
    "unseen_bytes",
    "outstanding_bytes",
    "spurious_retransmissions",
    "spurious",
    "dsack_acks",
    "window_full",
    "in_flight_max_bytes",
    "idle_s",
    "idle_restarts",
    "idle_restart_s",
    "timeouts",
    "spurious_timeouts",
];

/// What is only known where repeated payload is: see `Diagnosis::retransmitted_packets`.
const OF_REPEATS: &[&str] = &[
    "retransmitted_bytes",
    "timeouts",
    "resent",
    "spurious_retransmissions",
    "spurious",
    "out_of_order_packets",
    "spurious_timeouts",
];

/// The numbers of a direction, with `null` for what is not known.
pub(super) fn seen(case: &Case<'_>, direction: Direction) -> Value {
    let [own, peer] = [direction, direction.other()].map(|it| case.evidence.stats(it));
    let Ok(mut value) = serde_json::to_value(own) else { return Value::Null };
    let is_one_way = case.diagnosis.quality.reason(ReasonCode::OneWay).is_some();
    let retransmitted = case.diagnosis.retransmitted_packets(case.evidence, direction);
    let unknown = [
        (is_one_way && own.is_missing_beside(peer), OF_SENDER),
        (is_one_way && peer.is_missing_beside(own), OF_RECEIVER),
        (retransmitted.is_none(), OF_REPEATS),
    ];
    for name in unknown.iter().filter(|(is_unknown, _)| *is_unknown).flat_map(|(_, names)| *names) {
        value[*name] = Value::Null;
    }
    let has_stamps = own.timestamps || own.uses_timestamps;
    value["sack_permitted"] = offer(own, own.sack_permitted);
    value["timestamps"] = offer(own, has_stamps);
    value[RETRANSMITTED] = retransmitted.into();
    value
}

/// Whether the SYN offers an option; unknown where the capture does not have the whole of it.
fn offer(stats: &DirectionStats, is_offered: bool) -> Value {
    let is_whole = stats.syn.is_some_and(|syn| !syn.is_cut);
    if is_offered || is_whole { is_offered.into() } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use maxseg_testkit::windowed;

    use super::*;

    #[test]
    fn what_the_capture_cannot_show_is_null_and_never_zero() {
        let mut evidence = windowed(0);
        let whole = seen(&Case::of(&evidence), Direction::Forward);
        for name in [OF_SENDER, OF_RECEIVER, OF_REPEATS].concat() {
            assert!(whole.get(name).is_some_and(|value| !value.is_null()), "{name}: {whole}");
        }
        evidence.marks.one_way = true;
        evidence.reverse = DirectionStats::default();
        let case = Case::of(&evidence);
        let data = seen(&case, Direction::Forward);
        assert!(OF_RECEIVER.iter().all(|name| data[*name].is_null()), "{data}");
        assert_eq!(data["packets"], evidence.forward.packets);
        assert_eq!(data[RETRANSMITTED], evidence.forward.retransmitted_packets);
        let acks = seen(&case, Direction::Reverse);
        assert!(OF_SENDER.iter().all(|name| acks[*name].is_null()), "{acks}");
        assert_eq!(acks["packets"], 0, "so many were captured");
        assert_eq!([&acks["sack_permitted"], &acks["timestamps"]], [&Value::Null; 2]);
    }

    #[test]
    fn options_of_a_syn_that_was_not_captured_are_unknown_unless_they_are_in_use() {
        let mut evidence = windowed(0);
        evidence.forward.syn = None;
        (evidence.forward.sack_permitted, evidence.forward.timestamps) = (false, false);
        evidence.forward.uses_timestamps = true;
        let late = seen(&Case::of(&evidence), Direction::Forward);
        assert_eq!((&late["sack_permitted"], &late["timestamps"]), (&Value::Null, &true.into()));
    }
}
