//! Repeats on the link: each unit of a packet is sent until it is through, or given up.

use crate::errors::{Arq, ErrorProcess, Exposure};
use crate::path::LinkSpec;
use crate::units::Time;

/// Sends a packet's units, and those again that were damaged.
#[derive(Debug, Clone)]
pub(super) struct Repeater {
    arq: Arq,
    spec: LinkSpec,
    /// A full frame; a packet is one unit where there are none.
    full: Option<Exposure>,
    /// Who damages the first tries, the second, and so on: each try meets a channel of its own, from a
    /// stream of its own, so that more retries change nothing about those before.
    tries: Vec<ErrorProcess>,
}

/// What repeats cost a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    /// Units sent again.
    pub(super) count: u32,
    /// The bytes that they have on the wire.
    pub(super) bytes: u64,
    /// Whether a unit was given up.
    pub(super) dead: bool,
}

impl Repeater {
    pub(super) fn new(spec: &LinkSpec, arq: Arq, seed: u64, name: &str) -> Self {
        let process = |level: u32| match level {
            0 => ErrorProcess::start(&spec.errors, seed, name),
            _ => ErrorProcess::start(&spec.errors, seed, &format!("{name}.arq.{level}")),
        };
        Self {
            arq,
            spec: spec.clone(),
            full: spec.frame.map(|frame| spec.unit(frame)),
            tries: (0..=arq.retries).map(process).collect(),
        }
    }

    /// The same channel on a link that has become another in other respects.
    pub(super) fn respec(self, spec: &LinkSpec) -> Self {
        Self { spec: spec.clone(), full: spec.frame.map(|frame| spec.unit(frame)), ..self }
    }

    /// Send a packet of `bytes` on the wire from `start` on.
    pub(super) fn send(&mut self, bytes: u32, start: Time) -> Repeats {
        let mut repeats = Repeats { count: 0, bytes: 0, dead: false };
        let (mut left, mut at) = (bytes, start);
        while left > 0 {
            let unit = match self.full {
                Some(full) if left >= full.bytes => full,
                Some(_) | None => self.spec.unit(left),
            };
            left -= unit.bytes;
            let tries = self.tries_of(&unit, at);
            let again = tries.unwrap_or(self.arq.retries);
            repeats.count += again;
            repeats.bytes += u64::from(again) * u64::from(unit.bytes);
            repeats.dead |= tries.is_none();
            at += unit.airtime;
        }
        repeats
    }

    /// How often a unit is repeated until it is through; `None` if it never is.
    fn tries_of(&mut self, unit: &Exposure, start: Time) -> Option<u32> {
        // Tries of one level must come in order of time, and the last frame may be shorter: a full one's
        // airtime stands for every unit's.
        let step = self.full.map_or(Time::ZERO, |full| full.airtime) + self.arq.delay;
        (0..).zip(&mut self.tries).find_map(|(level, process)| {
            let at = start.saturating_add(step.times(u64::from(level)));
            (!process.draw(unit, at)).then_some(level)
        })
    }

    /// How much later a packet arrives that needed so many repeats, their airtime aside.
    pub(super) fn delay_of(&self, repeats: u32) -> Time {
        self.arq.delay.times(u64::from(repeats))
    }
}
