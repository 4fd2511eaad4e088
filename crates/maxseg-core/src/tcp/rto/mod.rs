//! The retransmission timeout: an estimate of the round trip, bounds, and back-off.

mod estimate;

pub use estimate::{Linux, Rfc6298};

use crate::settings::{RtoRule, RtoSettings};
use crate::units::Time;
use estimate::Ticks;

/// Computes the retransmission timeout from round-trip samples.
#[derive(Debug, Clone)]
pub struct Rto {
    settings: RtoSettings,
    estimate: Estimate,
    /// The estimate's timeout before bounds and back-off; the initial one before any sample.
    base: Time,
    back_off: u32,
    /// The timeout as it stands: asked for with every packet.
    current: Time,
}

#[derive(Debug, Clone)]
enum Estimate {
    Rfc6298(Rfc6298),
    Ticks(Ticks),
    Linux(Linux),
}

impl Rto {
    /// A timer without an estimate.
    pub fn new(settings: RtoSettings) -> Self {
        let estimate = match settings.rule {
            RtoRule::Rfc6298 { granularity } => Estimate::Rfc6298(Rfc6298::new(granularity)),
            RtoRule::Ticks { tick, phase } => Estimate::Ticks(Ticks::new(tick, phase)),
            RtoRule::Linux { tick } => Estimate::Linux(Linux::new(settings.min, tick)),
        };
        let base = settings.initial;
        let mut rto = Self { settings, estimate, base, back_off: 1, current: base };
        rto.settle();
        rto
    }

    /// Fold in the round trip of what was sent at `sent` and acknowledged at `now`. Ends the back-off.
    ///
    /// The caller must not pass samples of retransmitted segments (Karn, RFC 6298 §3).
    pub fn on_sample(&mut self, sent: Time, now: Time) {
        self.back_off = 1;
        self.base = match &mut self.estimate {
            Estimate::Rfc6298(estimate) => {
                estimate.on_sample(now - sent);
                Time::from_secs_f64(estimate.timeout())
            }
            Estimate::Ticks(estimate) => {
                estimate.on_sample(sent, now);
                estimate.timeout()
            }
            Estimate::Linux(estimate) => {
                estimate.on_sample(now - sent);
                estimate.timeout()
            }
        };
        self.settle();
    }

    /// The timer expired: double it, and forget an estimate that has proved wrong for long.
    pub fn on_timeout(&mut self) {
        if self.back_off < 64 || self.current() < self.settings.max {
            self.back_off = self.back_off.saturating_mul(2);
        }
        if self.settings.forget_after.is_some_and(|factor| self.back_off > factor) {
            match &mut self.estimate {
                Estimate::Rfc6298(estimate) => estimate.forget(),
                Estimate::Ticks(estimate) => estimate.forget(),
                Estimate::Linux(estimate) => estimate.forget(),
            }
        }
        self.settle();
    }

    /// New data was acknowledged where the stack takes that for a sign of life: the back-off ends
    /// without a sample.
    pub fn end_back_off(&mut self) {
        self.back_off = 1;
        self.settle();
    }

    /// The handshake needed its timer: data begins with at least 3 s (RFC 6298 §5.7).
    pub fn after_lost_syn(&mut self) {
        let obeys = match self.estimate {
            Estimate::Rfc6298(_) | Estimate::Linux(_) => true,
            Estimate::Ticks(_) => false,
        };
        if obeys && self.srtt().is_none() {
            self.base = self.base.max(Time::from_secs(3));
            self.back_off = 1;
            self.settle();
        }
    }

    /// The timeout as it stands: bounds applied, the lower one before the back-off.
    #[inline]
    pub fn current(&self) -> Time {
        self.current
    }

    fn settle(&mut self) {
        let floor = match &self.estimate {
            Estimate::Rfc6298(_) | Estimate::Linux(_) => Time::ZERO,
            Estimate::Ticks(estimate) => estimate.tick().times(2),
        };
        let timeout = self.base.max(self.settings.min).times(u64::from(self.back_off));
        self.current = timeout.min(self.settings.max).max(floor);
    }

    /// The timeout, doubled so many times more, up to the maximum.
    pub fn backed_off(&self, doublings: u32) -> Time {
        let factor = 1_u64.checked_shl(doublings.min(32)).unwrap_or(u64::MAX);
        self.current().times(factor).min(self.settings.max)
    }

    /// The smoothed round trip; `None` before the first sample.
    pub fn srtt(&self) -> Option<Time> {
        match &self.estimate {
            Estimate::Rfc6298(estimate) => estimate.srtt().map(Time::from_secs_f64),
            Estimate::Ticks(estimate) => estimate.srtt(),
            Estimate::Linux(estimate) => {
                let srtt = estimate.srtt_us();
                (srtt > 0).then(|| Time::from_nanos(srtt * 1000))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::stack;

    fn of_stack(name: &str) -> Rto {
        Rto::new(stack(name).unwrap().settings.complete().unwrap().rto)
    }

    fn samples(rto: &mut Rto, start_ms: u64, rtt_ms: &[u64]) {
        for rtt in rtt_ms {
            let sent = Time::from_millis(start_ms);
            rto.on_sample(sent, sent + Time::from_millis(*rtt));
        }
    }

    #[test]
    fn rfc_6298_from_the_first_sample() {
        let mut rto = of_stack("rfc");
        assert_eq!(rto.current(), Time::from_secs(1));
        samples(&mut rto, 0, &[2000]);
        assert_eq!(rto.current(), Time::from_secs(6)); // 2 s + 4 × 1 s
        samples(&mut rto, 0, &[2000]);
        assert_eq!(rto.current(), Time::from_secs(5)); // RTTVAR 0.75 s
        samples(&mut rto, 0, &[20; 60]);
        assert_eq!(rto.current(), Time::from_secs(1)); // the minimum
    }

    #[test]
    fn back_off_doubles_to_the_maximum_and_holds_until_a_sample() {
        let mut rto = of_stack("ns2-reno");
        samples(&mut rto, 0, &[450]);
        let doubled: Vec<u64> = (0..8)
            .map(|_| {
                rto.on_timeout();
                rto.current().as_nanos() / 1_000_000
            })
            .collect();
        // 45 ticks + 4 × 22.5 = 135 ticks.
        assert_eq!(doubled, [2_700, 5_400, 10_800, 21_600, 43_200, 60_000, 60_000, 60_000]);
        // After a factor of more than 8 the old estimate is gone: the new sample counts as a first.
        samples(&mut rto, 0, &[100]);
        assert_eq!(rto.current(), Time::from_millis(300));
    }

    #[test]
    fn four_rttvar_stops_decaying_at_three_ticks() {
        let mut rto = of_stack("ns2-reno");
        samples(&mut rto, 0, &[444; 200]);
        // 44 ticks of round trip, RTTVAR stuck at 3 quarters of a tick.
        assert_eq!(rto.current(), Time::from_millis(470));
    }

    #[test]
    fn a_coarse_clock_counts_ticks_not_time() {
        let mut rto = of_stack("ns2-reno");
        // This clock stands at 5.558807 ms of a tick when the run begins, so it ticks at 4.441193 ms:
        // 15 ms from just before that pass two ticks, from just after it one.
        rto.on_sample(Time::from_nanos(4_441_193), Time::from_nanos(19_441_193));
        assert_eq!(rto.srtt(), Some(Time::from_millis(10)));
        let mut rto = of_stack("ns2-reno");
        rto.on_sample(Time::from_nanos(4_441_192), Time::from_nanos(19_441_192));
        assert_eq!(rto.srtt(), Some(Time::from_millis(20)));
    }

    #[test]
    fn linux_bounds_what_is_added_not_the_sum() {
        let mut rto = Rto::new(RtoSettings {
            rule: RtoRule::Linux { tick: Time::from_millis(4) },
            min: Time::from_millis(200),
            ..stack("rfc").unwrap().settings.complete().unwrap().rto
        });
        assert_eq!(rto.current(), Time::from_secs(1));
        samples(&mut rto, 0, &[2; 50]);
        // 2 ms + 200 ms, in jiffies of 4 ms.
        assert_eq!(rto.current(), Time::from_millis(204));
        assert_eq!(rto.srtt(), Some(Time::from_millis(2)));
    }

    #[test]
    fn linux_keeps_the_first_deviation_for_the_whole_first_window() {
        let mut linux = Linux::new(Time::from_millis(200), Time::from_millis(4));
        let rttvar_us = [2000, 2500, 3000].map(|sample_ms| {
            linux.on_sample(Time::from_millis(sample_ms));
            linux.rttvar_us()
        });
        assert_eq!(rttvar_us, [4_000_000, 4_000_000, 3_890_625]);
    }

    #[test]
    fn a_lost_syn_leaves_three_seconds() {
        let mut rto = of_stack("rfc");
        rto.on_timeout();
        assert_eq!(rto.current(), Time::from_secs(2));
        rto.after_lost_syn();
        assert_eq!(rto.current(), Time::from_secs(3));
    }
}
