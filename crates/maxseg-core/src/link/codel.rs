//! Controlled Delay (RFC 8289): by how long packets have waited, decided when they leave.

use crate::path::CodelSettings;
use crate::units::Time;

/// The state machine of RFC 8289 §5, asked for one packet after the other.
#[derive(Debug, Clone)]
pub(super) struct Codel {
    settings: CodelSettings,
    /// No drop while so few bytes wait: the largest packet.
    enough: u64,
    /// When the wait will have been above target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    /// The last packet was dropped: the next one decides when to drop again.
    dropped: bool,
    drop_next: Time,
    /// Drops since the dropping state began, and at the end of its first drop.
    count: u64,
    last_count: u64,
}

/// `CoDel`'s decision on the packet at the head of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Send it.
    Send,
    /// Mark it, and send it.
    Mark,
    /// Drop it, and ask for the next.
    Drop,
}

impl Codel {
    /// For a link whose largest packet has so many bytes on the wire.
    pub(super) fn new(settings: CodelSettings, largest: u64) -> Self {
        Self {
            settings,
            enough: largest,
            first_above: None,
            dropping: false,
            dropped: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// The same with other settings.
    pub(super) fn respec(self, settings: CodelSettings, largest: u64) -> Self {
        Self { settings, enough: largest, ..self }
    }

    /// Nothing waits.
    pub(super) fn on_empty(&mut self) {
        self.first_above = None;
        self.dropping = false;
        self.dropped = false;
    }

    /// A packet that has `waited` is to leave at `now`, with `behind` bytes after it.
    pub(super) fn judge(&mut self, now: Time, waited: Time, behind: u64, ect: bool) -> Decision {
        let may_drop = self.has_stood(now, waited, behind);
        if !self.dropping {
            return if may_drop { self.enter(now, ect) } else { Decision::Send };
        }
        let after_drop = std::mem::take(&mut self.dropped);
        if !may_drop {
            self.dropping = false;
            return Decision::Send;
        }
        if after_drop {
            self.drop_next = self.after(self.drop_next);
        }
        if now < self.drop_next {
            return Decision::Send;
        }
        self.count += 1;
        if ect {
            self.drop_next = self.after(self.drop_next);
            return Decision::Mark;
        }
        self.dropped = true;
        Decision::Drop
    }

    /// Whether packets have waited above target for a whole interval (`dodequeue`, §5.5).
    fn has_stood(&mut self, now: Time, waited: Time, behind: u64) -> bool {
        if waited < self.settings.target || behind <= self.enough {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(self.settings.interval));
                false
            }
            Some(then) => now >= then,
        }
    }

    /// Enter the dropping state with a first drop; near the last one, at its rate (§5.6).
    fn enter(&mut self, now: Time, ect: bool) -> Decision {
        let since = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < self.settings.interval.times(16);
        self.dropping = true;
        self.count = if since > 1 && recent { since } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.after(now);
        if ect { Decision::Mark } else { Decision::Drop }
    }

    /// The control law: interval ÷ √count later.
    fn after(&self, then: Time) -> Time {
        let seconds = self.settings.interval.as_secs_f64() / libm::sqrt(self.count as f64);
        then.saturating_add(Time::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet each millisecond, all of which waited 20 ms: when are they dropped?
    fn drops(ect: bool, until: u64) -> Vec<u64> {
        let mut codel = Codel::new(CodelSettings::default(), 1500);
        let waited = Time::from_millis(20);
        (0..until)
            .filter(|ms| {
                let verdict = codel.judge(Time::from_millis(*ms), waited, 15_000, ect);
                if verdict == Decision::Drop {
                    // The next in the queue takes its place at once.
                    codel.judge(Time::from_millis(*ms), waited, 13_500, ect);
                }
                verdict != Decision::Send
            })
            .collect()
    }

    #[test]
    fn drops_come_ever_faster() {
        // After an interval, then interval ÷ √count later each: 100, +100, +70.7, +57.7, +50, +44.7, +40.8.
        let want = [100, 200, 271, 329, 379, 424, 464];
        assert_eq!(drops(false, 500), want);
        assert_eq!(drops(true, 500), want);
    }

    #[test]
    fn a_short_wait_or_a_short_queue_is_let_alone() {
        let mut codel = Codel::new(CodelSettings::default(), 1500);
        for ms in 0..1000 {
            let now = Time::from_millis(ms);
            assert_eq!(codel.judge(now, Time::from_millis(4), 15_000, false), Decision::Send);
        }
        for ms in 1000..2000 {
            let now = Time::from_millis(ms);
            assert_eq!(codel.judge(now, Time::from_millis(40), 1500, false), Decision::Send);
        }
    }
}
