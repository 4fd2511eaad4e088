//! A lone Reno flow on a clean link whose queue is smaller than its window: it fills the queue, loses a
//! packet, halves its window, and climbs again.
//!
//! The window grows by one packet (or half a one) a round from half of path + queue up to path + queue;
//! a round takes the bare round trip while the path is not full, and window ÷ rate when it is. How fast
//! it grows cancels out. Recovery itself, and slow start, are left out.

/// The saw-tooth's two parameters, in packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SawTooth {
    /// What the path holds: rate × round trip.
    pub path: f64,
    /// What the queue holds.
    pub queue: f64,
}

impl SawTooth {
    fn top(&self) -> f64 {
        self.path + self.queue
    }

    fn bottom(&self) -> f64 {
        0.5 * self.top()
    }

    /// Time from loss to loss in rounds of the bare round trip, per packet of growth a round.
    fn period(&self) -> f64 {
        let (path, top) = (self.path, self.top());
        let below = (path - self.bottom()).max(0.0);
        let from = self.bottom().max(path);
        below + (top * top - from * from) / (2.0 * path)
    }

    /// The share of the link that is used, from ¾ to 1.
    pub fn utilisation(&self) -> f64 {
        let (top, bottom) = (self.top(), self.bottom());
        let packets = (top * top - bottom * bottom) / 2.0;
        (packets / (self.path * self.period())).min(1.0)
    }

    /// Mean time in the queue, in bare round trips.
    pub fn queue_delay(&self) -> f64 {
        let (path, top) = (self.path, self.top());
        let from = self.bottom().max(path);
        // ∫ (w − path)·w dw over the part of the tooth above the path.
        let area = |w: f64| w * w * w / 3.0 - path * w * w / 2.0;
        (area(top) - area(from)) / (path * path) / self.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_quarters_without_a_queue_and_all_with_one_as_large_as_the_path() {
        let bare = SawTooth { path: 100.0, queue: 0.0 };
        assert!((bare.utilisation() - 0.75).abs() < 1e-12);
        assert!(bare.queue_delay().abs() < 1e-12);
        let ample = SawTooth { path: 100.0, queue: 100.0 };
        assert!((ample.utilisation() - 1.0).abs() < 1e-12);
        // From nothing to a whole path in the queue, longer where it is fuller.
        assert!((ample.queue_delay() - 0.5556).abs() < 1e-3, "{}", ample.queue_delay());
    }
}
