//! The limit of a connection as a whole: which, why it is unknown, how sure it is.

use super::pace::Pace;
use crate::evidence::{Direction, Evidence};
use crate::outcome::{LimitShare, LimitedBy};

/// The limit with the largest share, as far as the evidence shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) limited_by: LimitedBy,
    pub(super) unknown_because: Option<String>,
    pub(super) confidence: f64,
}

/// The highest confidence is 1 less one in so many: an estimate.
const ONE_WRONG_OF: f64 = 20.0;
/// The confidence where the two largest shares are equal.
const EVEN: f64 = 0.5;
/// The capture is at the sender where the path behind it has so much of the round trip.
const AT_SENDER: f64 = 0.95;
/// Each fault of the capture takes a quarter of the confidence.
const FAULT: f64 = 0.75;

impl Verdict {
    pub(super) fn of(evidence: &Evidence, direction: Direction, shares: &[LimitShare]) -> Self {
        match shares.first() {
            Some(largest) if largest.kind != LimitedBy::Unknown => Self {
                limited_by: largest.kind,
                unknown_because: None,
                confidence: confidence(evidence, largest.share, shares.get(1)),
            },
            _ => Self::unknown(why_unknown(evidence, direction)),
        }
    }

    /// The limit is unknown, for this reason: a clause.
    pub(super) fn unknown(because: String) -> Self {
        Self { limited_by: LimitedBy::Unknown, unknown_because: Some(because), confidence: 0.0 }
    }
}

/// How sure the largest limit is: by how far it leads, and by what the capture lacks.
fn confidence(evidence: &Evidence, share: f64, second: Option<&LimitShare>) -> f64 {
    let lead = share - second.map_or(0.0, |limit| limit.share);
    let most = 1.0 - 1.0 / ONE_WRONG_OF;
    let marks = &evidence.marks;
    let faults = [marks.one_way, marks.mid_stream, marks.capture_lost, marks.offloaded];
    let discount = faults.into_iter().filter(|fault| *fault).map(|_| FAULT).product::<f64>();
    (EVEN + (most - EVEN) * lead.clamp(0.0, 1.0)) * discount
}

/// What is missing, and what would show it.
fn why_unknown(evidence: &Evidence, direction: Direction) -> String {
    let data = evidence.stats(direction);
    let sender = evidence.sender(direction);
    if evidence.marks.one_way {
        "only one direction was captured; a capture of both shows it".to_owned()
    } else if data.acked_bytes == 0 {
        format!("no payload of {sender} was acknowledged, so there is no transfer to judge")
    } else if evidence.marks.mid_stream {
        "the handshake was not captured, and with it the window scale; a capture from the SYN on shows it".to_owned()
    } else if data.path_rtt_min_s.is_none() {
        format!("no round trip could be measured; a capture at {sender} shows them")
    } else if Pace::of(data, evidence.stats(direction.other())).is_spaced {
        format!(
            "the sender, a shaper or a slow reverse path of the acknowledgements spaces the segments; a capture at \
             {sender} shows which"
        )
    } else {
        let at_sender = data.path_rtt_min_s.zip(data.rtt_min_s);
        if at_sender.is_some_and(|(path, behind)| behind >= AT_SENDER * path) {
            format!("no limit leaves a sign in this capture; `ss -ti` on {sender} shows it")
        } else {
            format!(
                "no limit leaves a sign in this capture; a capture at {sender}, or `ss -ti` there, shows it"
            )
        }
    }
}
