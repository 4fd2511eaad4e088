//! A lone flow on a clean link whose queue is smaller than its window: it fills the queue, loses a packet, cuts its window, and
//! climbs again. Recovery itself, and slow start, are left out.

use super::cubic;

/// How the window climbs from what a loss leaves to where the queue overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Climb {
    /// By as much each round: a round takes the bare round trip while the path is not full, and window ÷ rate when it is. How
    /// much it is cancels out.
    EachRound,
    /// By the cubic of the time since the loss, which has its inflection at the top (RFC 9438 §4.2).
    Cubic,
}

/// The saw-tooth's parameters, windows in packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SawTooth {
    /// What the path holds: rate × round trip.
    pub path: f64,
    /// What the queue holds.
    pub queue: f64,
    /// The share of the window that a loss leaves, β: ½ for Reno, 0.7 for CUBIC.
    pub left: f64,
    /// How it climbs.
    pub climb: Climb,
}

impl SawTooth {
    /// CUBIC's on a path with this bare round trip in seconds: the cubic's own, or that of its estimate of Reno's window where that is at
    /// the top sooner (RFC 9438 §4.3).
    pub fn of_cubic(path: f64, queue: f64, rtt: f64) -> Self {
        let friendly = Self { path, queue, left: cubic::BETA, climb: Climb::EachRound };
        if cubic::regain_time_of_cubic(path + queue) < friendly.period_of_cubic(rtt) {
            Self { climb: Climb::Cubic, ..friendly }
        } else {
            friendly
        }
    }

    /// Seconds from loss to loss of a saw-tooth of CUBIC. A round of its estimate is as long as the queue makes it; the cubic goes by the
    /// time alone.
    pub fn period_of_cubic(&self, rtt: f64) -> f64 {
        match self.climb {
            Climb::EachRound => self.rounds() * rtt / cubic::FRIENDLY_GROWTH,
            Climb::Cubic => cubic::regain_time_of_cubic(self.top()),
        }
    }

    fn top(&self) -> f64 {
        self.path + self.queue
    }

    fn bottom(&self) -> f64 {
        self.left * self.top()
    }

    /// The window half way up.
    pub(super) fn mean_top(&self) -> f64 {
        f64::midpoint(self.bottom(), self.top())
    }

    /// Time from loss to loss in rounds of the bare round trip, for a packet of growth each round.
    pub fn rounds(&self) -> f64 {
        let (path, top) = (self.path, self.top());
        let below = (path - self.bottom()).max(0.0);
        let from = self.bottom().max(path);
        below + (top * top - from * from) / (2.0 * path)
    }

    /// The share of the time from a full path to the top, on the cubic: the window is top · (1 − (1 − β)·y³), y the share of the
    /// time that is left.
    fn share_above(&self) -> f64 {
        libm::cbrt((1.0 - self.path / self.top()) / (1.0 - self.left)).min(1.0)
    }

    /// Mean of window ÷ path on the cubic while y goes from one share of the time to another.
    fn mean_on_cubic(&self, from: f64, to: f64) -> f64 {
        let fourth = |y: f64| y * y * y * y;
        let lost = (1.0 - self.left) * (fourth(to) - fourth(from)) / 4.0;
        self.top() / self.path * (to - from - lost)
    }

    /// The share of the link that is used: from ¾ (Reno), 0.925 (the cubic) to 1.
    pub fn utilisation(&self) -> f64 {
        match self.climb {
            Climb::EachRound => {
                let (top, bottom) = (self.top(), self.bottom());
                let packets = (top * top - bottom * bottom) / 2.0;
                (packets / (self.path * self.rounds())).min(1.0)
            }
            Climb::Cubic => {
                let above = self.share_above();
                (above + self.mean_on_cubic(above, 1.0)).min(1.0)
            }
        }
    }

    /// Mean time in the queue, in bare round trips.
    pub fn queue_delay(&self) -> f64 {
        match self.climb {
            Climb::EachRound => {
                let (path, top) = (self.path, self.top());
                let from = self.bottom().max(path);
                // ∫ (w − path)·w dw over the part of the tooth above the path.
                let area = |w: f64| w * w * w / 3.0 - path * w * w / 2.0;
                (area(top) - area(from)) / (path * path) / self.rounds()
            }
            Climb::Cubic => {
                let above = self.share_above();
                self.mean_on_cubic(0.0, above) - above
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENO: SawTooth = SawTooth { path: 100.0, queue: 0.0, left: 0.5, climb: Climb::EachRound };
    const CUBIC: SawTooth = SawTooth { left: 0.7, climb: Climb::Cubic, ..RENO };

    #[test]
    fn reno_uses_three_quarters_without_a_queue_and_all_with_one_as_large_as_the_path() {
        assert!((RENO.utilisation() - 0.75).abs() < 1e-12);
        assert!(RENO.queue_delay().abs() < 1e-12);
        let ample = SawTooth { queue: 100.0, ..RENO };
        assert!((ample.utilisation() - 1.0).abs() < 1e-12);
        // From nothing to a whole path in the queue, longer where it is fuller.
        assert!((ample.queue_delay() - 0.5556).abs() < 1e-3, "{}", ample.queue_delay());
    }

    #[test]
    fn cubic_stays_near_the_top() {
        assert!((CUBIC.utilisation() - 0.925).abs() < 1e-12);
        assert!(CUBIC.queue_delay().abs() < 1e-12);
        // A queue of 3/7 of the path is never empty; the window's mean is 0.925 of the top.
        let ample = SawTooth { queue: 100.0, ..CUBIC };
        assert!((ample.utilisation() - 1.0).abs() < 1e-12);
        assert!((ample.queue_delay() - (2.0 * 0.925 - 1.0)).abs() < 1e-12);
        let just = SawTooth { queue: 300.0 / 7.0, ..CUBIC };
        assert!((just.utilisation() - 1.0).abs() < 1e-12);
    }

    /// The same by small steps of time.
    #[test]
    fn its_integrals_are_those_of_small_steps() {
        for queue in [5.0, 20.0, 60.0, 400.0] {
            let tooth = SawTooth { queue, ..CUBIC };
            let (mut used, mut waits) = (0.0, 0.0);
            let steps = 100_000;
            for step in 0..steps {
                let y = (f64::from(step) + 0.5) / f64::from(steps);
                let window = tooth.top() * (1.0 - 0.3 * y * y * y) / tooth.path;
                used += window.min(1.0) / f64::from(steps);
                waits += (window - 1.0).max(0.0) / f64::from(steps);
            }
            assert!((tooth.utilisation() - used).abs() < 1e-6, "{queue}: {used}");
            assert!((tooth.queue_delay() - waits).abs() < 1e-6, "{queue}: {waits}");
        }
    }
}
