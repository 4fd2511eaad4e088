//! The limit of a connection as a whole: which, why it is unknown, how sure it is.

use std::cell::LazyCell;

use super::ack_path::AckPath;
use super::data_queue;
use super::finding::counted;
use super::host_system::HostSystem;
use super::joined::acks_may_wait;
use super::messages::{asks, messages_meanwhile, out_of_data};
use super::outweigh::is_loss;
use super::pace::Pace;
use super::pauses::pauses_after_writes;
use super::send_buffer::{lets_flight_drain, may_be_late, waits_for_room};
use super::trip_view::{is_at_sender, sees_round_trips};
use super::windows::{full_share, losses_take};
use crate::evidence::{Direction, Evidence};
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::approx;

/// The limit with the largest share, as far as the evidence shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) limited_by: LimitedBy,
    pub(super) unknown_because: Option<String>,
    pub(super) confidence: f64,
}

/// A limit that holds for less of the time than this, and leads another, or what is unknown, by less than this, is not the limit
/// of the connection.
const MOSTLY: f64 = 0.6;
const LEAD: f64 = 0.1;
/// Waits for the timer are seen, and lead by less.
const LEAD_OF_TIMER: f64 = 0.03;
/// Losses in a dialogue make its turns longer, and its pauses are no congestion window's: either leads by more.
const LEAD_OF_PROGRAM: f64 = 0.3;
/// The confidence of a limit that holds all the time, in a capture without faults; where it leads by a third, and where by
/// nothing: between them it grows evenly. Calibrated on the lab's tuning runs (docs/validation-explain.md).
const MOST: f64 = 0.99;
const LEADING: f64 = 0.92;
const EVEN: f64 = 0.76;
const THIRD: f64 = 1.0 / 3.0;
/// A receive window that is full for less of the time than this is not what limits.
const OFTEN_FULL: f64 = 0.1;
/// Without SACK what waits behind losses matters from one in so many segments on.
const SEGMENTS_LOST: u64 = 1000;
/// What is left of it for losses and for a send buffer: what is not seen of the sender may look like either.
pub(super) const INFERRED: f64 = 0.98;
/// What is left of it for losses where the receive window is full at times as well: either may be worth more than the other.
const BESIDE_WINDOW: f64 = 0.95;
/// What is left of it without the other direction, and for each other fault of the capture.
const ONE_WAY: f64 = 0.97;
const FAULT: f64 = 0.97;

impl Verdict {
    pub(super) fn of(evidence: &Evidence, direction: Direction, shares: &[LimitShare]) -> Self {
        if let Some(because) = mixed(shares, "a longer capture") {
            return Self::unknown(because);
        }
        match shares.first() {
            Some(largest) if largest.kind != LimitedBy::Unknown => Self {
                limited_by: largest.kind,
                unknown_because: None,
                confidence: confidence(evidence, direction, largest, shares.get(1)),
            },
            _ => Self::unknown(why_unknown(evidence, direction)),
        }
    }

    /// The limit is unknown, for this reason: a clause.
    pub(super) fn unknown(because: String) -> Self {
        Self { limited_by: LimitedBy::Unknown, unknown_because: Some(because), confidence: 0.0 }
    }
}

/// Why no single limit can be named, where two share the time, and what shows which lasts. Losses, and the timer that some of them wait
/// for, are one; so are a program that pauses and one that writes at a rate: it sends what it has.
pub(super) fn mixed(shares: &[LimitShare], shown_by: &str) -> Option<String> {
    let [first, others @ ..] = shares else { return None };
    let is_program = |kind| matches!(kind, LimitedBy::Application | LimitedBy::Paced);
    let are_one = |a, b| is_loss(a) && is_loss(b) || is_program(a) && is_program(b);
    let second = others.iter().find(|other| !are_one(first.kind, other.kind))?;
    let is_named = first.kind != LimitedBy::Unknown;
    let has_timer = [first.kind, second.kind].contains(&LimitedBy::Rto);
    let has_program = first.kind == LimitedBy::Application || second.kind == LimitedBy::Application;
    let after_losses = second.kind == LimitedBy::Unknown
        && is_program(first.kind)
        && others.iter().any(|other| is_loss(other.kind) && other.share >= LEAD);
    let lead = if after_losses || has_program && (is_loss(first.kind) || is_loss(second.kind)) {
        LEAD_OF_PROGRAM
    } else if has_timer {
        LEAD_OF_TIMER
    } else {
        LEAD
    };
    (is_named && first.share < MOSTLY && first.share - second.share < lead).then(|| {
        let [first_share, second_share] =
            [first, second].map(|limit| approx::whole_percent(limit.share));
        if second.kind == LimitedBy::Unknown {
            return format!(
                "{} held for {first_share} of the time, and what limited {second_share} of it is unknown; {shown_by} shows which lasts",
                first.kind
            );
        }
        format!(
            "two limits share the time, {} {first_share} and {} {second_share}, neither for {} of it; {shown_by} shows which lasts",
            first.kind,
            second.kind,
            approx::whole_percent(MOSTLY)
        )
    })
}

/// How sure the largest limit is: by how far it leads, and by what the capture lacks.
fn confidence(
    evidence: &Evidence,
    direction: Direction,
    first: &LimitShare,
    second: Option<&LimitShare>,
) -> f64 {
    let lead = first.share - second.map_or(0.0, |limit| limit.share);
    let marks = &evidence.marks;
    let faults = [marks.mid_stream, marks.capture_lost, marks.offloaded];
    let discount = faults.into_iter().filter(|fault| *fault).map(|_| FAULT).product::<f64>();
    let is_inferred = matches!(first.kind, LimitedBy::Congestion | LimitedBy::SendBuffer);
    let inferred = if is_inferred { INFERRED } else { 1.0 };
    let has_full_window =
        first.kind == LimitedBy::Congestion && full_share(evidence.stats(direction)) >= OFTEN_FULL;
    let beside = if has_full_window { BESIDE_WINDOW } else { 1.0 };
    let one_way = if marks.one_way { ONE_WAY } else { 1.0 };
    sureness(lead, EVEN) * discount * one_way * inferred * beside
}

/// How sure the largest of some shares is of which all is seen, by how far it leads; by nothing, it is as sure as `even`.
pub(super) fn sureness(lead: f64, even: f64) -> f64 {
    if lead < THIRD {
        even + (LEADING - even) * lead.max(0.0) / THIRD
    } else {
        LEADING + (MOST - LEADING) * (lead.min(1.0) - THIRD) / (1.0 - THIRD)
    }
}

/// What is missing, and what would show it.
fn why_unknown(evidence: &Evidence, direction: Direction) -> String {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let sender = evidence.sender(direction);
    let host = sender.ip().to_canonical();
    let state = || HostSystem::of_sender(evidence, direction).name.sender_state(&host.to_string());
    let pace = LazyCell::new(|| Pace::of(data, acks));
    if evidence.marks.one_way {
        "only one direction was captured; a capture of both shows it".to_owned()
    } else if data.acked_bytes == 0 {
        format!("no payload of {sender} was acknowledged, so there is no transfer to judge")
    } else if evidence.marks.mid_stream {
        "the handshake was not captured, and with it the window scale; a capture from the SYN on shows it".to_owned()
    } else if waits_for_room(data) && pace.waits_for_room {
        format!(
            "the sender's program waits for room in its send buffer, and the link is full for much of the time: either may be what \
             limits; {} shows for how long it waits",
            state()
        )
    } else if losses_take(data, acks) && full_share(data) >= OFTEN_FULL {
        "the receive window is full while nothing is lost, and losses leave a good part of it unused: either may be what limits; \
         a longer capture shows which lasts"
            .to_owned()
    } else if data.needed_retransmissions() > 0
        && acks_may_wait(evidence, direction)
        && AckPath::of(data, acks).is_some()
        && !pace.may_be_buffered
    {
        if data.spurious_retransmissions > data.needed_retransmissions() {
            return format!(
                "{} of {} were needless: packets that are overtaken look like losses to the sender, and like a queue in the round trips; a \
                 capture at {} shows their order",
                data.spurious_retransmissions,
                counted(data.resent_data(), "retransmission"),
                evidence.receiver(direction).ip().to_canonical()
            );
        }
        let both = "the link of the acknowledgements is full, and segments of the data are lost as well: either may be what limits";
        if evidence.joined.is_some() {
            format!("{both}; a transfer without the losses shows it")
        } else {
            format!("{both}; captures at both hosts, joined, show where packets wait")
        }
    } else if asks(data, acks) && pace.may_wait_for_messages {
        format!(
            "{sender} may wait for messages of {}'s program, {} of which came meanwhile, as for a window of the programs' own (SSH, HTTP/2) \
             or for requests: their settings and logs show it",
            evidence.receiver(direction).ip().to_canonical(),
            messages_meanwhile(data, acks)
        )
    } else if pace.is_dialogue && asks(data, acks) {
        while_replies_come(evidence, direction, &state())
    } else if pace.leaves_window_unused && !sees_round_trips(data, acks) {
        format!(
            "round trips of the whole path are not seen here, and with them how much the sender has in flight: its losses, its send buffer, its \
             program or a full link may limit it; a capture at {host} shows which"
        )
    } else if pace.leaves_window_unused || may_be_late(data, acks) || lets_flight_drain(data) {
        let besides = if data.needed_retransmissions() > 0 { "besides its losses " } else { "" };
        format!(
            "{besides}the sender uses less of its congestion window than acknowledgements open, as with a small \
             send buffer or a program that is late: {} shows which",
            state()
        )
    } else if pauses_after_writes(data) {
        format!(
            "the sender pauses behind short segments while acknowledgements come, as a program that has no more to send, or whose writes \
             find no room in a small send buffer: {} shows which",
            state()
        )
    } else if !data.sack_permitted
        && data.needed_retransmissions() * SEGMENTS_LOST > data.data_packets
    {
        "without SACK what arrives behind a loss waits until the loss is repaired, and fills the link meanwhile: a transfer \
         with SACK on both hosts shows whether the link or the losses limit"
            .to_owned()
    } else if data.path_rtt_min_s.is_none() {
        format!("no round trip could be measured; a capture at {host} shows them")
    } else if full_share(data) >= OFTEN_FULL && data_queue::is_of_others(data, acks) {
        "packets wait in a queue that this connection does not fill, and its receive window is full: either may be what \
         limits it; a capture while the path carries nothing else shows which"
            .to_owned()
    } else if pace.is_level {
        format!(
            "what is in flight stays at about {}, below an ample window: a congestion window that is held (`cwnd` of its route, a small \
             stack), its send buffer or its program may limit it; {} shows which",
            approx::digits(data.in_flight_max_bytes as f64 / 1e3) + " kB",
            state()
        )
    } else if pace.is_spaced {
        format!(
            "the sender, a shaper or a slow reverse path of the acknowledgements spaces the segments; a capture at \
             {host} shows which"
        )
    } else if is_at_sender(data) {
        format!("no limit leaves a sign in this capture; {} shows it", state())
    } else {
        format!(
            "no limit leaves a sign in this capture; a capture at {host}, or {}, shows it",
            state()
        )
    }
}

/// Of a sender that answers one request after the other.
fn while_replies_come(evidence: &Evidence, direction: Direction, state: &str) -> String {
    format!(
        "{} answers requests, and has none to answer for {} of the time; what limits its replies leaves no sign in this capture; {state} \
         shows it",
        evidence.sender(direction),
        approx::whole_percent(out_of_data(evidence.stats(direction))),
    )
}

#[cfg(test)]
mod tests {
    use LimitedBy::{Application, Bandwidth, Congestion, Paced, Rto, Unknown};

    use super::*;

    #[test]
    fn neither_of_two_limits_that_share_the_time_is_named() {
        let mixed = |shares: [(LimitedBy, f64); 2]| {
            mixed(&shares.map(|(kind, share)| LimitShare { kind, share }), "a look").is_some()
        };
        assert!(mixed([(Bandwidth, 0.5), (Application, 0.49)]));
        assert!(mixed([(Congestion, 0.51), (Bandwidth, 0.47)]));
        assert!(!mixed([(Bandwidth, 0.56), (Application, 0.44)]), "it leads");
        assert!(mixed([(Bandwidth, 0.5), (Unknown, 0.45)]), "as much is unknown");
        assert!(!mixed([(Congestion, 0.5), (Rto, 0.49)]), "losses are one");
        assert!(!mixed([(Paced, 0.5), (Application, 0.47)]), "a program's writes are one");
        assert!(mixed([(Congestion, 0.57), (Application, 0.28)]), "a program pauses meanwhile");
        let of_losses = [(Application, 0.46), (Unknown, 0.35), (Congestion, 0.19)];
        let shares = of_losses.map(|(kind, share)| LimitShare { kind, share });
        assert!(super::mixed(&shares, "a look").is_some(), "what is unknown may be of losses");
    }
}
