//! Optional parts of a link, for both forms: policer and early drop, jitter and reordering, duplication.

use super::policer::Policer;
use super::queue::QueueState;
use super::red::{self, Red};
use super::streams::Streams;
use super::wire::LATEST_DEPARTURE;
use crate::path::{Discipline, LinkSpec};
use crate::rng::{Rng, Stream, Threshold};
use crate::units::{Bytes, Probability, Time};

/// The optional parts around queue and wire.
#[derive(Debug, Clone)]
pub(super) struct Impairments {
    pub(super) admission: AdmissionControl,
    pub(super) propagation: Propagation,
    /// Which packets are duplicated.
    duplicates: Option<RandomShare>,
    /// Whether who leaves at the instant of an arrival is gone: a token bucket takes no time.
    pub(super) leaves_first: bool,
}

impl Impairments {
    pub(super) fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        Self {
            admission: AdmissionControl::new(spec, seed, name),
            propagation: Propagation::new(spec, seed, name),
            duplicates: RandomShare::new(spec.duplicate, seed, &format!("{name}.duplicate")),
            leaves_first: spec.burst > Bytes::ZERO,
        }
    }

    /// What becomes of these parts when the link becomes one by `spec`: each goes on where it stays.
    pub(super) fn respec(self, spec: &LinkSpec, streams: Streams<'_>) -> Self {
        let new = Self::new(spec, streams.seed, streams.name);
        Self {
            admission: self.admission.respec(new.admission, spec),
            propagation: self.propagation.respec(new.propagation),
            duplicates: respec_random_share(self.duplicates, new.duplicates),
            leaves_first: new.leaves_first,
        }
    }

    /// Whether a link by `spec` needs any of it.
    pub(super) fn is_needed(spec: &LinkSpec) -> bool {
        spec.arq.is_some()
            || spec.burst > Bytes::ZERO
            || spec.policer.is_some()
            || spec.overtakes()
            || spec.duplicate > Probability::NEVER
            || matches!(spec.discipline, Discipline::Red(_))
    }

    /// Whether the next packet to enter does so twice.
    pub(super) fn is_duplicated(&mut self) -> bool {
        self.duplicates.as_mut().is_some_and(RandomShare::happens)
    }
}

/// A share of all packets.
#[derive(Debug, Clone)]
struct RandomShare {
    chance: Threshold,
    rng: Rng,
}

impl RandomShare {
    fn new(share: Probability, seed: u64, name: &str) -> Option<Self> {
        let rng = || Stream::named(seed, name).reader();
        (share > Probability::NEVER).then(|| Self { chance: Threshold::of(share), rng: rng() })
    }

    fn happens(&mut self) -> bool {
        self.rng.happens(self.chance)
    }
}

/// The `new` share, drawn as the old one was.
fn respec_random_share(old: Option<RandomShare>, new: Option<RandomShare>) -> Option<RandomShare> {
    let rng = old.map(|old| old.rng);
    new.map(|new| RandomShare { rng: rng.unwrap_or(new.rng), ..new })
}

/// Policer and early drop: what may refuse a packet although there is room.
#[derive(Debug, Clone)]
pub(super) struct AdmissionControl {
    policer: Option<Policer>,
    red: Option<Red>,
    ecn: bool,
}

/// The decision about an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// Admitted.
    Pass,
    /// Admitted, and marked CE (RFC 3168).
    Marked,
    /// Dropped by the policer.
    Policed,
    /// Dropped by RED.
    Early,
}

impl AdmissionControl {
    fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        Self {
            policer: spec.policer.map(Policer::new),
            red: match spec.discipline {
                Discipline::Red(settings) => Some(Red::new(spec, settings, seed, name)),
                Discipline::TailDrop | Discipline::Codel(_) => None,
            },
            ecn: spec.ecn,
        }
    }

    fn respec(self, new: Self, spec: &LinkSpec) -> Self {
        Self {
            policer: match (self.policer, spec.policer) {
                (Some(policer), Some(spec)) => Some(policer.respec(spec)),
                (Some(_) | None, _) => new.policer,
            },
            red: match (self.red, new.red) {
                (Some(red), Some(new)) => Some(red.respec(new)),
                (Some(_) | None, new) => new,
            },
            ecn: new.ecn,
        }
    }

    /// A packet of `bytes` on the wire, one that knows ECN or not, comes at `now` and finds `queue`.
    pub(super) fn judge(
        &mut self,
        now: Time,
        bytes: u32,
        ect: bool,
        queue: QueueState,
    ) -> Admission {
        let may_mark = self.ecn && ect;
        let mut entry = Admission::Pass;
        if let Some(policer) = &mut self.policer
            && !policer.passes(now, bytes)
        {
            if !may_mark {
                return Admission::Policed;
            }
            entry = Admission::Marked;
        }
        match self.red.as_mut().map(|red| red.on_arrival(now, queue, bytes)) {
            None | Some(red::Decision::Pass) => entry,
            Some(red::Decision::MarkOrDrop) if may_mark => Admission::Marked,
            Some(red::Decision::MarkOrDrop | red::Decision::Drop) => Admission::Early,
        }
    }
}

/// From the last bit's departure to its arrival.
#[derive(Debug, Clone)]
pub(super) struct Propagation {
    delay: Time,
    jitter: Option<(u64, Rng)>,
    overtake: Option<RandomShare>,
    /// Repeats keep the order: nothing arrives before what left earlier.
    released: Time,
}

impl Propagation {
    fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        let rng = Stream::named(seed, &format!("{name}.jitter")).reader();
        Self {
            delay: spec.delay,
            jitter: (spec.jitter > Time::ZERO).then_some((spec.jitter.as_nanos(), rng)),
            overtake: RandomShare::new(spec.reorder, seed, &format!("{name}.reorder")),
            released: Time::ZERO,
        }
    }

    fn respec(self, new: Self) -> Self {
        let rng = self.jitter.map(|(_, rng)| rng);
        Self {
            delay: new.delay,
            jitter: new.jitter.map(|(jitter, fresh)| (jitter, rng.unwrap_or(fresh))),
            overtake: respec_random_share(self.overtake, new.overtake),
            released: self.released,
        }
    }

    /// When the packet arrives that leaves now, held up by repeats for `late`.
    pub(super) fn arrives(&mut self, departs: Time, late: Time) -> Time {
        let released = departs.saturating_add(late).min(LATEST_DEPARTURE);
        self.released = self.released.max(released);
        let mut delay = self.delay;
        if let Some((jitter, rng)) = &mut self.jitter {
            // Uniform over 2·jitter + 1 nanoseconds: the high half of a product instead of a remainder.
            let span = u128::from(2 * *jitter + 1);
            let offset = (u128::from(rng.next_u64()) * span) >> 64;
            let offset = u64::try_from(offset).expect("below twice the jitter");
            delay = Time::from_nanos((delay.as_nanos() + offset).saturating_sub(*jitter));
        }
        if self.overtake.as_mut().is_some_and(RandomShare::happens) {
            delay = Time::ZERO;
        }
        self.released + delay
    }
}
