//! Why segments were lost, as far as the path at each loss shows it.
//!
//! A full queue delays what leaves just before the packet that it drops, and it takes more than a bandwidth-delay product
//! in flight to fill one. A policer drops without delay, and passes one rate between losses. Errors strike at any flight,
//! after any number.

mod policing;
mod recoveries;
mod view;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::policing::{policed_rate, rate_of_possible_policer};
use self::view::View;
use super::finding::{counted, were};
use crate::evidence::{Beside, DirectionStats};
use crate::outcome::LimitedBy;

/// Why segments were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    /// A queue was full.
    Queue,
    /// Bit errors, or drops that do not depend on the load.
    Errors,
    /// A policer: drops above a rate, without a queue (RFC 2475 §2.3.3.4).
    Policer,
    /// Nothing was lost: packets that were overtaken looked like it.
    Reordering,
    /// Nothing was lost: everything that was sent again had arrived.
    Needless,
    /// Nothing was sent again.
    None,
    /// The evidence does not show it.
    Unknown,
}

/// The cause of the losses of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loss {
    /// The most likely cause.
    pub cause: LossCause,
    /// An estimate from 0 to 1 of how sure it is.
    pub confidence: f64,
    /// What shows it, or what is missing; a clause without a full stop.
    pub evidence: String,
}

/// The most that is claimed of errors where neither SACK nor timestamps tell what arrived.
const WITHOUT_OPTIONS: f64 = 0.5;
/// A larger share of lost packets, of at least so many, keeps any congestion window small.
const MUCH_LOSS: f64 = 0.04;
const LEAST_LOSSES: f64 = 10.0;

impl Loss {
    fn new(cause: LossCause, confidence: f64, evidence: String) -> Self {
        Self { cause, confidence, evidence }
    }

    /// Nothing is said of losses, for this reason.
    pub(super) fn unknown(why: String) -> Self {
        Self::new(LossCause::Unknown, 0.0, why)
    }

    /// Looks at a direction, whose transfer is limited by `limit`; `sees_round_trips` where those of the whole path are
    /// measured. `beside` is what others sent on the same path.
    pub(super) fn of(
        data: &DirectionStats,
        limit: LimitedBy,
        sees_round_trips: bool,
        beside: Option<Beside>,
    ) -> Self {
        if data.data_packets == 0 && data.acked_bytes > 0 {
            let why = "the data were not captured, only their acknowledgements";
            return Self::new(LossCause::Unknown, 0.0, why.to_owned());
        }
        let again = data.resent_data();
        let needed = data.needed_retransmissions();
        if again == 0 {
            return Self::new(LossCause::None, 0.95, "no segment was sent again".to_owned());
        }
        // Without SACK and timestamps not every spurious retransmission can be proved.
        let provable = if data.sack_permitted || data.timestamps { 20 } else { 10 };
        if needed * provable <= again {
            return Self::without_loss(data, again);
        }
        if let Some(hole) = data.black_hole {
            let why = if hole.is_by_size() {
                "what was lost was larger than the path MTU"
            } else {
                "nothing arrived any more, whatever its size"
            };
            return Self::new(LossCause::Unknown, 0.0, why.to_owned());
        }
        let view = View::of(data, limit, sees_round_trips, beside);
        let mut found = view.judge();
        // Without SACK and timestamps, what was overtaken or late looks lost.
        if let Some(found) = &mut found
            && found.cause == LossCause::Errors
            && !data.sack_permitted
            && !data.timestamps
        {
            found.confidence = found.confidence.min(WITHOUT_OPTIONS);
        }
        found.unwrap_or_else(|| {
            let wanted = if sees_round_trips {
                "the losses are too few, or fit several causes"
            } else {
                "round trips are not seen here; a capture at the sender shows them at each loss"
            };
            Self::new(LossCause::Unknown, 0.0, wanted.to_owned())
        })
    }

    fn without_loss(data: &DirectionStats, again: u64) -> Self {
        let count = data.spurious_retransmissions;
        let all = counted(again, "retransmission");
        let text = format!("{count} of {all} {} spurious", were(count));
        // Timers and probes send again what is late; what is overtaken looks like a gap.
        if data.out_of_order_packets > again || data.resent.fast + data.resent.sack > again / 2 {
            Self::new(LossCause::Reordering, 0.9, format!("{text}: packets were overtaken"))
        } else {
            Self::new(LossCause::Needless, 0.9, text)
        }
    }

    /// Whether the sender may have reduced its congestion window: not where all that it sent again had arrived, and a
    /// timer or probe sent it.
    pub(super) const fn reduces_window(data: &DirectionStats) -> bool {
        let is_needless = data.needed_retransmissions() == 0 && data.resent_data() > 0;
        !is_needless || data.resent.fast + data.resent.sack > 0
    }
}

/// Whether so much is lost that it limits a sender whatever its windows are.
pub(super) fn loses_much(data: &DirectionStats) -> bool {
    let lost = data.needed_retransmissions() as f64;
    lost >= LEAST_LOSSES && lost > MUCH_LOSS * data.data_packets_once() as f64
}

#[cfg(test)]
mod tests;
