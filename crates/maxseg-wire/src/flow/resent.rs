//! What was sent again, and whether it had to be.

use std::collections::VecDeque;

use maxseg_core::evidence::{Cause, Resent, Spurious};
use serde::{Deserialize, Serialize};

use super::vantage::is_later;

/// A retransmission.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Resend {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) at: u64,
    pub(super) frame: u64,
    pub(super) stamp: Option<u32>,
    pub(super) cause: Cause,
    /// How it is known to have been needless.
    pub(super) verdict: Option<Verdict>,
    /// Whether what acknowledged it has been seen: later ones tell nothing of it.
    pub(super) is_acknowledged: bool,
}

/// How a retransmission is known to have been needless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Verdict {
    Dsack,
    Timestamps,
    Acknowledged,
    /// The capture stands at the receiver, where the payload had arrived before.
    Arrived,
}

/// The retransmissions of a direction: all counted, the last ones kept until it is known whether they were
/// needed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Resends {
    recent: VecDeque<Resend>,
    /// A recovery lasts until this is acknowledged (RFC 6582 §3.2), and has one cause.
    recovery: Option<(i64, Cause)>,
    last_progress: u64,
    pub(super) by_cause: Resent,
    pub(super) spurious: Spurious,
    /// Timeouts that proved needless.
    pub(super) spurious_timeouts: u32,
}

impl Resends {
    const MOST: usize = 256;

    pub(super) fn push(&mut self, resend: Resend) {
        let count = match resend.cause {
            Cause::Rto => &mut self.by_cause.rto,
            Cause::Fast => &mut self.by_cause.fast,
            Cause::Sack => &mut self.by_cause.sack,
            Cause::TailProbe => &mut self.by_cause.tail_probe,
            Cause::Control => &mut self.by_cause.control,
            Cause::Unknown => &mut self.by_cause.unknown,
        };
        *count += 1;
        if let Some(verdict) = resend.verdict {
            self.count(resend.cause, verdict);
        }
        if self.recent.len() >= Self::MOST {
            self.recent.pop_front();
        }
        self.recent.push_back(resend);
    }

    fn count(&mut self, cause: Cause, verdict: Verdict) {
        self.spurious_timeouts += u32::from(cause == Cause::Rto);
        match verdict {
            Verdict::Dsack => self.spurious.dsack += 1,
            Verdict::Timestamps => self.spurious.timestamps += 1,
            Verdict::Acknowledged => self.spurious.acknowledged += 1,
            Verdict::Arrived => self.spurious.arrived += 1,
        }
    }

    /// All that are known to have been needless.
    pub(super) const fn needless(&self) -> u64 {
        let Spurious { dsack, timestamps, acknowledged, arrived } = self.spurious;
        dsack + timestamps + acknowledged + arrived
    }

    /// When an acknowledgement last brought something new.
    pub(super) const fn last_progress(&self) -> u64 {
        self.last_progress
    }

    /// Everything up to `until` is being repaired.
    pub(super) fn begin_recovery(&mut self, until: i64, cause: Cause) {
        self.recovery = Some((until, cause));
    }

    /// The cause of the recovery that a segment from `start` on is part of.
    pub(super) fn recovering(&self, start: i64) -> Option<Cause> {
        self.recovery.filter(|(until, _)| start < *until).map(|(_, cause)| cause)
    }

    /// The receiver had these bytes before. Gives the retransmission that this proves needless.
    pub(super) fn on_dsack(&mut self, left: i64, right: i64) -> Option<Resend> {
        let met = |resend: &&mut Resend| resend.start < right && left < resend.end;
        let resend =
            self.recent.iter_mut().rev().filter(met).find(|resend| resend.verdict.is_none());
        if let Some(resend) = resend {
            resend.verdict = Some(Verdict::Dsack);
            let found = *resend;
            self.count(found.cause, Verdict::Dsack);
            return Some(found);
        }
        // What another sign proved needless is proved so better now.
        let known = self
            .recent
            .iter_mut()
            .rev()
            .filter(met)
            .find(|resend| resend.verdict.is_some_and(|verdict| verdict != Verdict::Dsack))?;
        match known.verdict.replace(Verdict::Dsack) {
            Some(Verdict::Timestamps) => self.spurious.timestamps -= 1,
            Some(Verdict::Acknowledged) => self.spurious.acknowledged -= 1,
            Some(Verdict::Arrived) => self.spurious.arrived -= 1,
            Some(Verdict::Dsack) | None => {}
        }
        self.spurious.dsack += 1;
        None
    }

    /// Everything before `una` has arrived. Gives the retransmission that the echoed timestamp proves needless:
    /// it is older than the retransmission, so the first transmission had arrived (Eifel, RFC 3522 §3.2).
    pub(super) fn on_acknowledged(
        &mut self,
        una: i64,
        echo: Option<u32>,
        at: u64,
    ) -> Option<Resend> {
        self.last_progress = at;
        if self.recovery.is_some_and(|(until, _)| una >= until) {
            self.recovery = None;
        }
        let mut needless = None;
        let covered = |resend: &&mut Resend| !resend.is_acknowledged && resend.end <= una;
        for (index, resend) in self.recent.iter_mut().filter(covered).enumerate() {
            resend.is_acknowledged = true;
            // Only the first: what follows it is not acknowledged by the first transmission.
            let is_older =
                echo.zip(resend.stamp).is_some_and(|(echo, stamp)| is_later(stamp, echo));
            if index == 0 && is_older && resend.verdict.is_none() && resend.judged_by(at) {
                resend.verdict = Some(Verdict::Timestamps);
                needless = Some(*resend);
            }
        }
        if let Some(found) = needless {
            self.count(found.cause, Verdict::Timestamps);
        }
        needless
    }
}

impl Resend {
    /// An acknowledgement this long after it can still be of its first transmission.
    const fn judged_by(&self, at: u64) -> bool {
        at.saturating_sub(self.at) < 60_000_000_000
    }
}
