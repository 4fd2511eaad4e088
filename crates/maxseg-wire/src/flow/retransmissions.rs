//! Retransmissions, and which of them were spurious.

use std::collections::VecDeque;

use maxseg_core::evidence::{Cause, Resent, Spurious};
use serde::{Deserialize, Serialize};

use super::vantage::is_later;

/// A retransmission.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Retransmission {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) at: u64,
    pub(super) frame: u64,
    pub(super) stamp: Option<u32>,
    pub(super) cause: Cause,
    /// Whether it is the first after an expiry of the retransmission timer.
    pub(super) begins_timeout: bool,
    /// By what it is known to be spurious.
    pub(super) proof: Option<SpuriousProof>,
    /// Whether an acknowledgement has covered it; later ones prove nothing about it.
    pub(super) is_acknowledged: bool,
}

/// By what a retransmission is known to be spurious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SpuriousProof {
    Dsack,
    Timestamps,
    /// Its acknowledgement came sooner than any round trip after it.
    EarlyAck,
    Acknowledged,
    /// The capture point is at the receiver, where the payload had arrived before.
    Arrived,
}

/// The retransmissions of a direction: all are counted, and the last 256 kept, because a later acknowledgement may
/// prove one spurious.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Retransmissions {
    recent: VecDeque<Retransmission>,
    /// All before this place have been acknowledged.
    #[serde(skip)]
    acknowledged: usize,
    /// A recovery lasts until this is acknowledged (RFC 6582 §3.2), and has one cause.
    recovery: Option<(i64, Cause)>,
    last_progress: u64,
    pub(super) by_cause: Resent,
    pub(super) spurious: Spurious,
    /// Retransmissions by timeout that proved spurious, and expiries of the timer that did.
    pub(super) spurious_timeouts: u32,
    pub(super) spurious_expiries: u32,
}

impl Retransmissions {
    const MOST: usize = 256;

    pub(super) fn push(&mut self, retransmission: Retransmission) {
        let count = match retransmission.cause {
            Cause::Rto => &mut self.by_cause.rto,
            Cause::Fast => &mut self.by_cause.fast,
            Cause::Sack => &mut self.by_cause.sack,
            Cause::TailProbe => &mut self.by_cause.tail_probe,
            Cause::Control => &mut self.by_cause.control,
            Cause::TooLarge => &mut self.by_cause.too_large,
            Cause::Unknown => &mut self.by_cause.unknown,
        };
        *count += 1;
        if let Some(proof) = retransmission.proof {
            self.count(&retransmission, proof);
        }
        if self.recent.len() >= Self::MOST {
            self.recent.pop_front();
            self.acknowledged = self.acknowledged.saturating_sub(1);
        }
        self.recent.push_back(retransmission);
    }

    fn count(&mut self, found: &Retransmission, proof: SpuriousProof) {
        self.spurious_timeouts += u32::from(found.cause == Cause::Rto);
        self.spurious_expiries += u32::from(found.begins_timeout);
        *self.by_proof(proof) += 1;
    }

    const fn by_proof(&mut self, proof: SpuriousProof) -> &mut u64 {
        match proof {
            SpuriousProof::Dsack => &mut self.spurious.dsack,
            SpuriousProof::Timestamps => &mut self.spurious.timestamps,
            SpuriousProof::EarlyAck => &mut self.spurious.early_ack,
            SpuriousProof::Acknowledged => &mut self.spurious.acknowledged,
            SpuriousProof::Arrived => &mut self.spurious.arrived,
        }
    }

    /// Spurious retransmissions, by any proof.
    pub(super) const fn spurious_total(&self) -> u64 {
        let Spurious { dsack, timestamps, early_ack, acknowledged, arrived } = self.spurious;
        dsack + timestamps + early_ack + acknowledged + arrived
    }

    /// How often the timer's expiries have sent what begins at `start` again, one after the other.
    pub(super) fn expiries_of(&self, start: i64) -> usize {
        let again = self.recent.iter().rev();
        again.take_while(|it| it.start == start && it.cause == Cause::Rto).count()
    }

    /// When an acknowledgement last covered new data.
    pub(super) const fn last_progress(&self) -> u64 {
        self.last_progress
    }

    /// Begins a loss recovery that lasts until `until` is acknowledged.
    pub(super) fn begin_recovery(&mut self, until: i64, cause: Cause) {
        self.recovery = Some((until, cause));
    }

    /// What became of a recovery, and of what was sent again, is not known: the capture has a hole.
    pub(super) fn end_recovery(&mut self) {
        self.recovery = None;
        self.recent.clear();
        self.acknowledged = 0;
    }

    /// The cause of the recovery that a segment beginning at `start` is part of.
    pub(super) fn recovering(&self, start: i64) -> Option<Cause> {
        self.recovery.filter(|(until, _)| start < *until).map(|(_, cause)| cause)
    }

    /// A D-SACK of these bytes: the receiver had them before. Gives the retransmission that this proves spurious.
    pub(super) fn on_dsack(&mut self, left: i64, right: i64) -> Option<Retransmission> {
        let met = |retransmission: &&mut Retransmission| {
            retransmission.start < right && left < retransmission.end
        };
        let retransmission = self
            .recent
            .iter_mut()
            .rev()
            .filter(met)
            .find(|retransmission| retransmission.proof.is_none());
        if let Some(retransmission) = retransmission {
            retransmission.proof = Some(SpuriousProof::Dsack);
            let found = *retransmission;
            self.count(&found, SpuriousProof::Dsack);
            return Some(found);
        }
        // A D-SACK is better proof than the one that was found before.
        let known = self.recent.iter_mut().rev().filter(met).find(|retransmission| {
            retransmission.proof.is_some_and(|proof| proof != SpuriousProof::Dsack)
        })?;
        let before = known.proof.replace(SpuriousProof::Dsack)?;
        *self.by_proof(before) -= 1;
        self.spurious.dsack += 1;
        None
    }

    /// Everything before `una` has arrived. Gives the retransmission that the echoed timestamp proves spurious: it is
    /// older than the retransmission, so the first transmission had arrived (Eifel, RFC 3522 §3.2). Without timestamps
    /// time proves it: an acknowledgement that comes sooner after the retransmission than `soonest` was not brought
    /// about by it. `soonest` is 0 where no round trip is known.
    pub(super) fn on_acknowledged(
        &mut self,
        una: i64,
        echo: Option<u32>,
        at: u64,
        soonest: u64,
    ) -> Option<Retransmission> {
        self.last_progress = at;
        if self.recovery.is_some_and(|(until, _)| una >= until) {
            self.recovery = None;
        }
        let mut spurious = None;
        let covered = |retransmission: &&mut Retransmission| {
            !retransmission.is_acknowledged && retransmission.end <= una
        };
        let rest = self.recent.range_mut(self.acknowledged..);
        for (index, retransmission) in rest.filter(covered).enumerate() {
            retransmission.is_acknowledged = true;
            // Only the first: the first transmission does not acknowledge what follows it.
            let proof = match echo.zip(retransmission.stamp) {
                Some((echo, stamp)) => is_later(stamp, echo).then_some(SpuriousProof::Timestamps),
                None => retransmission.is_too_young(at, soonest).then_some(SpuriousProof::EarlyAck),
            };
            if index == 0
                && proof.is_some()
                && retransmission.proof.is_none()
                && retransmission.judged_by(at)
            {
                retransmission.proof = proof;
                spurious = Some(*retransmission);
            }
        }
        while self.recent.get(self.acknowledged).is_some_and(|it| it.is_acknowledged) {
            self.acknowledged += 1;
        }
        if let Some(found) = spurious
            && let Some(proof) = found.proof
        {
            self.count(&found, proof);
        }
        spurious
    }
}

impl Retransmission {
    /// Whether an acknowledgement at `at` can still be of its first transmission: within 60 s.
    const fn judged_by(&self, at: u64) -> bool {
        at.saturating_sub(self.at) < 60_000_000_000
    }

    /// Whether it cannot have brought about an acknowledgement at `at`: it was sent less than `soonest` before.
    const fn is_too_young(&self, at: u64, soonest: u64) -> bool {
        at.saturating_sub(self.at) < soonest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(start: i64, at: u64, stamp: Option<u32>) -> Retransmission {
        Retransmission {
            start,
            end: start + 100,
            at,
            frame: 1,
            stamp,
            cause: Cause::Fast,
            begins_timeout: false,
            proof: None,
            is_acknowledged: false,
        }
    }

    /// The round trip is 40 ms, and no acknowledgement comes within 32 ms of what it answers.
    #[test]
    fn an_acknowledgement_that_comes_too_soon_is_of_the_first_transmission() {
        for (after, stamp, expected) in [(10, None, 1), (40, None, 0), (10, Some(5), 0)] {
            let mut all = Retransmissions::default();
            all.push(again(0, 1_000_000_000, stamp));
            let at = 1_000_000_000 + after * 1_000_000;
            all.on_acknowledged(100, stamp, at, 32_000_000);
            assert_eq!(all.spurious_total(), expected, "{after} ms, {stamp:?}");
        }
    }

    /// Without a round trip time proves nothing; of several that are covered, only the first can be judged.
    #[test]
    fn time_proves_one_at_most() {
        for (soonest, expected) in [(0, 0), (32_000_000, 1)] {
            let mut all = Retransmissions::default();
            all.push(again(0, 1_000_000_000, None));
            all.push(again(100, 1_001_000_000, None));
            all.on_acknowledged(200, None, 1_010_000_000, soonest);
            assert_eq!(all.spurious_total(), expected);
        }
    }
}
