//! Estimates of the round trip: what a timeout is before bounds and back-off.

use crate::units::Time;

/// RFC 6298 §2. In floating point because quarters and eighths of nanoseconds add up.
#[derive(Debug, Clone, Copy)]
pub struct Rfc6298 {
    granularity: f64,
    /// In nanoseconds; `None` before the first sample.
    srtt: Option<f64>,
    rttvar: f64,
}

impl Rfc6298 {
    /// No estimate yet, by a clock of this granularity (G).
    pub fn new(granularity: Time) -> Self {
        Self { granularity: granularity.as_nanos() as f64, srtt: None, rttvar: 0.0 }
    }

    /// Fold in one round trip.
    pub fn on_sample(&mut self, round_trip: Time) {
        let r = round_trip.as_nanos() as f64;
        self.srtt = Some(match self.srtt {
            None => {
                self.rttvar = r / 2.0; // §2.2
                r
            }
            Some(before) => {
                // §2.3: RTTVAR first, from the old SRTT.
                self.rttvar = 0.75 * self.rttvar + 0.25 * (before - r).abs();
                0.875 * before + 0.125 * r
            }
        });
    }

    /// SRTT in seconds; `None` before the first sample.
    pub fn srtt(&self) -> Option<f64> {
        self.srtt.map(|nanos| nanos / 1e9)
    }

    /// RTTVAR in seconds.
    pub fn rttvar(&self) -> f64 {
        self.rttvar / 1e9
    }

    /// SRTT + max(G, 4·RTTVAR) in seconds.
    pub fn timeout(&self) -> f64 {
        (self.srtt.unwrap_or(0.0) + (4.0 * self.rttvar).max(self.granularity)) / 1e9
    }

    /// Forget what was measured (closing note of §5).
    pub(super) fn forget(&mut self) {
        self.srtt = None;
    }
}

/// 4.3BSD's integers on a coarse clock, as in ns-2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticks {
    tick: Time,
    phase: Time,
    /// In eighths of a tick; 0 before the first sample.
    srtt: i32,
    /// In quarters.
    rttvar: i32,
}

impl Ticks {
    pub(super) fn new(tick: Time, phase: Time) -> Self {
        Self { tick, phase, srtt: 0, rttvar: 0 }
    }

    pub(super) fn on_sample(&mut self, sent: Time, now: Time) {
        let tick_nanos = self.tick.as_nanos();
        let since_tick = (sent + self.phase).as_nanos() % tick_nanos;
        let ticks = ((now - sent).as_nanos() + since_tick) / tick_nanos;
        let ticks = i32::try_from(ticks).unwrap_or(i32::MAX / 16).max(1);
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
        } else {
            let delta = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
        }
    }

    /// SRTT + 4·RTTVAR, rounded down to a tick.
    pub(super) fn timeout(&self) -> Time {
        let timeout = (i64::from(self.rttvar) << 3) + i64::from(self.srtt);
        self.tick.times(timeout.unsigned_abs() >> 3)
    }

    pub(super) fn tick(&self) -> Time {
        self.tick
    }

    pub(super) fn srtt(&self) -> Option<Time> {
        let eighths = u64::from(self.srtt.unsigned_abs());
        (eighths > 0).then(|| Time::from_nanos(eighths * self.tick.as_nanos() / 8))
    }

    /// ns-2 adds the old SRTT to RTTVAR first, which the next sample overwrites.
    pub(super) fn forget(&mut self) {
        self.srtt = 0;
    }
}

/// Linux's integers in microseconds (`tcp_rtt_estimator`, `__tcp_set_rto`, as of 6.12). Each sample
/// ends a window, as where one segment is timed in each round trip.
///
/// RTTVAR rises at once, falls slowly and only once in a window, and is never below
/// `tcp_rto_min_us`: the minimum bounds what is added to the round trip, not the sum.
#[derive(Debug, Clone, Copy)]
pub struct Linux {
    /// The least variation, in microseconds.
    min: i64,
    jiffy: Time,
    /// Eight times the smoothed round trip; 0 before the first sample.
    srtt: i64,
    /// Four times the mean deviation.
    mdev: i64,
    /// The largest `mdev` of the window so far; `min` once a window has ended, `rttvar` before.
    mdev_max: i64,
    rttvar: i64,
}

/// Samples end at an hour, so that eight times their sum is no concern.
const LONGEST_SAMPLE: i64 = 3_600_000_000;

impl Linux {
    /// No estimate yet; `min` is `tcp_rto_min_us`, and timers run in whole `jiffy`s.
    pub fn new(min: Time, jiffy: Time) -> Self {
        let min = i64::try_from(min.as_nanos() / 1000).unwrap_or(i64::MAX).min(LONGEST_SAMPLE);
        Self { min, jiffy, srtt: 0, mdev: 0, mdev_max: 0, rttvar: 0 }
    }

    /// Fold in one round trip.
    pub fn on_sample(&mut self, round_trip: Time) {
        let nanos = i64::try_from(round_trip.as_nanos()).unwrap_or(i64::MAX);
        let sample = (nanos / 1000).clamp(1, LONGEST_SAMPLE);
        if self.srtt == 0 {
            self.srtt = sample << 3;
            self.mdev = sample << 1;
            self.rttvar = self.mdev.max(self.min);
            self.mdev_max = self.rttvar;
            return;
        }
        let error = sample - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        let change = error.abs() - (self.mdev >> 2);
        // A round trip that has become shorter must not raise the timeout: an eighth of the change.
        self.mdev += if error < 0 && change > 0 { change >> 3 } else { change };
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.end_window();
    }

    /// RTTVAR falls by a quarter of its distance to the window's largest deviation, or rises to it.
    fn end_window(&mut self) {
        if self.mdev_max < self.rttvar {
            self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
        } else {
            self.rttvar = self.mdev_max;
        }
        self.mdev_max = self.min;
    }

    /// The smoothed round trip in microseconds; 0 before the first sample.
    pub fn srtt_us(&self) -> u64 {
        self.srtt.unsigned_abs() >> 3
    }

    /// Four times the mean deviation, in microseconds.
    pub fn mdev_us(&self) -> u64 {
        self.mdev.unsigned_abs()
    }

    /// The variation in microseconds: what is added to the round trip.
    pub fn rttvar_us(&self) -> u64 {
        self.rttvar.unsigned_abs()
    }

    /// Their sum in microseconds.
    pub fn timeout_us(&self) -> u64 {
        self.srtt_us() + self.rttvar_us()
    }

    /// The same in whole jiffies, rounded up (`usecs_to_jiffies`).
    pub fn timeout(&self) -> Time {
        let nanos = self.timeout_us() * 1000;
        self.jiffy.times(nanos.div_ceil(self.jiffy.as_nanos().max(1)))
    }

    /// The next sample counts as a first.
    pub(super) fn forget(&mut self) {
        self.srtt = 0;
    }
}
