//! When new segments left, by the timestamps that they carry.

/// New segments, and the acknowledgements that they echo: how long after these had reached the sender they left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departures {
    /// How many.
    pub count: u32,
    /// The share of their payload that left at once then.
    pub at_once: f64,
    /// The share that would by chance: the part of the time that is at once after an acknowledgement.
    pub by_chance: f64,
    /// The share of those that left after the next acknowledgement should have reached the sender: the way of acknowledgements has a
    /// queue or jitter, or what left had a time set for it before (`tc-fq(8)`).
    pub late: f64,
}

impl Departures {
    /// The share that acknowledgements clocked out, beyond chance: 1 is all of it, 0 is chance. `None` where chance explains all.
    pub fn clocked(&self) -> Option<f64> {
        let rest = 1.0 - self.by_chance;
        (rest > 0.0).then(|| (self.at_once - self.by_chance) / rest)
    }
}
