//! What was measured in a direction of a network, and what is.

use super::case::Case;
use super::counters::Counted;

/// One direction of a network: what was measured, and what the link counted.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) case: Case,
    pub(super) direction: String,
    pub(super) cause: String,
    pub(super) bottleneck_bps: f64,
    pub(super) baseline_s: f64,
    pub(super) late_p99_s: f64,
    pub(super) measured: Counted,
    pub(super) counted: Counted,
}

impl Row {
    /// The bars that it misses, with the numbers.
    pub(super) fn missed(&self) -> Vec<String> {
        /// Of the number itself.
        const SHARE: f64 = 0.02;
        /// Of the share that was sent again; and a share that is none.
        const RESENT_SHARE: f64 = 0.1;
        const RESENT_LEAST: f64 = 0.0005;
        /// Of the baseline.
        const POINTS: f64 = 0.02;
        const LEAST_S: f64 = 0.0002;
        /// Acknowledgements that wait for the receiver's timer make round trips longer, and none shorter.
        const fn is_near_delay(more: f64, has_late_acks: bool) -> bool {
            more >= -POINTS && (has_late_acks || more <= POINTS)
        }
        let (got, is) = (&self.measured, &self.counted);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() <= SHARE;
        let (unsent, lost) = (1.0 - got.efficiency, 1.0 - is.efficiency);
        let checks = [
            ("transfer time ratio", near(got.ratio, is.ratio), got.ratio, is.ratio),
            // Of what was sent again, not of all that was sent: of a hundredth that is lost, the efficiency tells little.
            (
                "sent again",
                (unsent - lost).abs() <= (RESENT_SHARE * lost).max(RESENT_LEAST),
                unsent,
                lost,
            ),
            (
                "buffer delay",
                is_near_delay(got.buffer_delay - is.buffer_delay, self.case.has_late_acks),
                got.buffer_delay,
                is.buffer_delay,
            ),
            (
                "bottleneck",
                near(self.bottleneck_bps, self.case.rate_bps),
                self.bottleneck_bps,
                self.case.rate_bps,
            ),
            (
                "baseline",
                (self.baseline_s - self.case.baseline_s()).abs() <= self.late_p99_s.max(LEAST_S),
                self.baseline_s,
                self.case.baseline_s(),
            ),
        ];
        let numbers = checks.into_iter().filter(|(_, is_met, ..)| !is_met);
        let numbers = numbers.map(|(what, _, got, is)| format!("{what} {got:.5}, is {is:.5}"));
        let cause = (self.cause != self.case.cause)
            .then(|| format!("cause {}, is {}", self.cause, self.case.cause));
        numbers
            .chain(cause)
            .map(|fault| format!("{} {}: {fault}", self.case.name, self.direction))
            .collect()
    }
}
