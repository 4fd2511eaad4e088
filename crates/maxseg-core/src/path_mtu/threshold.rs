//! Chances that losses look like a limit.

/// The most that the chance of a wrong answer may be, where losses are independent.
pub const MOST_ERROR: f64 = 1e-4;

/// Answers that were waited for, and those of them that did not come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LossEstimate {
    /// Packets that were sent and should have been answered.
    pub sent: u32,
    /// Those of them that were not.
    pub lost: u32,
}

/// Losses are never taken to be rarer than this: few packets show little, and large packets may be lost more often than small ones.
const LEAST_CHANCE: f64 = 0.05;
/// Nor more frequent than this: silence would mean nothing any more.
const MOST_CHANCE: f64 = 0.5;

impl LossEstimate {
    /// Counts a packet.
    pub fn count(&mut self, is_answered: bool) {
        self.sent += 1;
        self.lost += u32::from(!is_answered);
    }

    /// The chance that a packet, or its answer, is lost; rather too high than too low: the mean of the Beta distribution after
    /// one packet was lost and none arrived before.
    pub fn chance(self) -> f64 {
        let mean = (f64::from(self.lost) + 1.0) / (f64::from(self.sent) + 1.0);
        mean.clamp(LEAST_CHANCE, MOST_CHANCE)
    }
}
