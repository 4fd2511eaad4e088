//! What a sender sends for each duplicate ACK in the first round trip of a recovery.
//!
//! It reduces its window in proportion to what is delivered (RFC 9937 §6): with Reno it sends one segment for two, with CUBIC seven for
//! ten (`tcp_cwnd_reduction` in `net/ipv4/tcp_input.c`). BBR keeps sending one for each (`packet_conservation` in
//! `net/ipv4/tcp_bbr.c`). Without SACK all of them are counted anywhere, and one recovery of many segments names an algorithm.

use super::CongestionAlgorithm::{self, Bbr, Cubic, Reno};
use super::weights::{Weights, normal};
use super::{CUBIC_LEAVES, RENO_LEAVES};
use crate::evidence::{DirectionStats, RecoveryRound};
use crate::outcome::LimitedBy;
use crate::stats::median;
use crate::units::approx;

/// What is sent is known to so many segments, and where acknowledgements are lost or joined to this share of the duplicates.
const SEGMENTS_OFF: f64 = 0.6;
const SHARE_OFF: f64 = 0.03;
/// So often BBR sends one for each; otherwise its pace, or its window, has it send any share.
const CONSERVES: f64 = 0.6;
/// What no rule explains.
const OTHER: f64 = 0.05;
/// So many deviations below what a rule makes of it something else held the sender back.
const FAR: f64 = 3.0;
/// One round trip speaks against an algorithm by this at most, and all together count as if they were so many.
const MOST_OF_ONE: f64 = 3.0;
/// By less against those that reduce where a window, a buffer or a program may have held the flight below what the loss left of the congestion window: any
/// sender sends one for each then (RFC 9937 §6).
const MOST_BELOW_WINDOW: f64 = 1.0;
const MOST_ROUNDS: f64 = 6.0;

/// What the first round trips of recoveries show.
#[derive(Debug, Clone, Default)]
pub(super) struct RecoveryClues {
    weights: Weights,
    /// What was sent in each for a segment that was delivered.
    shares: Vec<f64>,
}

impl RecoveryClues {
    /// `has_ack_path`: a narrow link of the acknowledgements drops some.
    pub(super) fn of(
        data: &DirectionStats,
        limit: LimitedBy,
        is_at_sender: bool,
        has_ack_path: bool,
    ) -> Self {
        let mut all = Self::default();
        let is_held = matches!(limit, LimitedBy::Paced | LimitedBy::Application);
        if is_held || has_ack_path && !is_at_sender {
            return all;
        }
        let segment = f64::from(data.full_segment());
        for round in data.epochs.rounds() {
            all.add(round, segment, limit);
        }
        all
    }

    /// How many were looked at.
    pub(super) const fn count(&self) -> usize {
        self.shares.len()
    }

    /// Adds what they show to what else is known.
    pub(super) fn join_to(&self, weights: &mut Weights) {
        weights.join(&self.weights, (MOST_ROUNDS / (self.count() as f64).max(1.0)).min(1.0));
    }

    fn add(&mut self, round: &RecoveryRound, segment: f64, limit: LimitedBy) {
        let has_full_buffer = limit == LimitedBy::SendBuffer;
        let is_of_path =
            matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion | LimitedBy::Rto);
        // The last of the duplicates that released the first retransmission counts, and so does that.
        let delivered = f64::from(round.duplicates) + 1.0;
        let sent = round.sent as f64 / segment + 1.0;
        let off = libm::hypot(SEGMENTS_OFF, SHARE_OFF * delivered);
        let is_held = |share: f64| sent < share * delivered - FAR * off;
        // What a buffer may hold back tells nothing.
        if is_held(RENO_LEAVES) || has_full_buffer && is_held(CUBIC_LEAVES) {
            return;
        }
        let other = OTHER / delivered;
        let by = |share: f64| normal(sent, share * delivered, off) + other;
        let by_bbr = CONSERVES * by(1.0) + (1.0 - CONSERVES) / delivered;
        let (by_reno, by_cubic) = (by(RENO_LEAVES), by(CUBIC_LEAVES));
        let may_be_below = !is_of_path && by_bbr > by_reno.max(by_cubic);
        let most = if may_be_below { MOST_BELOW_WINDOW } else { MOST_OF_ONE };
        self.weights.add([by_reno, by_cubic, by_bbr], most);
        self.shares.push(sent / delivered);
    }

    /// What they show for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let speaks = matches!(name, Reno | Cubic | Bbr) && self.weights.best().0 == name;
        let share = median(self.shares.clone()).filter(|_| speaks)?;
        let share = approx::whole_percent(share.min(1.0));
        Some(format!("it sent {share} of what duplicate ACKs told to have arrived after losses"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::CongestionEpochs;

    fn found(rounds: &[(u32, u64)], limit: LimitedBy, has_ack_path: bool) -> RecoveryClues {
        let mut epochs = CongestionEpochs::default();
        for (duplicates, segments) in rounds {
            epochs.push_round(RecoveryRound { duplicates: *duplicates, sent: segments * 1000 });
        }
        let data =
            DirectionStats { mss_used_bytes: Some(1000), epochs, ..DirectionStats::default() };
        RecoveryClues::of(&data, limit, false, has_ack_path)
    }

    /// For 59 that were delivered Reno sends 30, CUBIC 42, with the retransmission among them.
    #[test]
    fn what_is_sent_for_what_was_delivered_names_the_algorithm() {
        for (segments, name) in [(29, Reno), (41, Cubic), (58, Bbr)] {
            let clues = found(&[(58, segments)], LimitedBy::Bandwidth, false);
            let (best, probability) = clues.weights.best();
            assert_eq!(best, name);
            assert!(probability > 0.7, "{probability}");
            assert!(clues.sentence(name).is_some());
        }
        // Few tell less.
        assert!(found(&[(6, 3)], LimitedBy::Congestion, false).weights.best().1 < 0.9);
    }

    #[test]
    fn what_else_holds_a_sender_back_is_no_share() {
        // A program or a pace, a buffer, duplicates that were lost on their way.
        assert_eq!(found(&[(58, 29)], LimitedBy::Application, false).count(), 0);
        assert_eq!(found(&[(58, 0)], LimitedBy::Congestion, false).count(), 0);
        assert_eq!(found(&[(58, 29)], LimitedBy::SendBuffer, false).count(), 0);
        assert_eq!(found(&[(58, 41)], LimitedBy::SendBuffer, false).count(), 1);
        assert_eq!(found(&[(58, 29)], LimitedBy::Bandwidth, true).count(), 0);
        // A flight below what the loss left of the window is kept by any sender.
        let (name, probability) = found(&[(39, 39)], LimitedBy::Unknown, false).weights.best();
        assert!(name == Bbr && probability < 0.7, "{name:?} {probability}");
    }
}
