//! Which connections of two captures are the same, which capture was taken nearer to which end, and the difference of the
//! clocks.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use maxseg_core::evidence::Evidence;

use super::census::{Census, Identity};
use super::clock::{Clock, Point};
use super::samples::Sample;
use super::{Capture, JoinError};
use crate::flow::{Endpoint, FlowKey};

/// The connections that both captures hold.
#[derive(Debug)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<Matched>,
    /// By the number of a connection in each capture, the place among the pairs.
    pub(super) places: Pair2<Vec<Option<u32>>>,
    pub(super) clock: Clock,
    /// Whether hops leave IPv4's identification as it is.
    pub(super) keeps_ids: bool,
    by_ends: Pair2<ByEnds>,
}

/// Connections by their ends: when each begins, and its place among the pairs.
type ByEnds = HashMap<FlowKey, Vec<(u64, u32)>, RandomState>;

/// Something of the first capture, and of the second.
pub(super) type Pair2<T> = [T; 2];

/// A connection that both captures hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matched {
    /// Its numbers in both.
    pub(super) numbers: Pair2<u32>,
    /// Whether the lower end in the first is the higher in the second: addresses were translated.
    pub(super) is_swapped: bool,
    /// Who opened it, in terms of the first.
    pub(super) client: Endpoint,
    /// Which of the captures was taken nearer to the lower end, in terms of the first.
    pub(super) near_low: Capture,
}

impl Matched {
    /// An end as the second capture has it.
    pub(super) const fn in_second(&self, end: Endpoint) -> Endpoint {
        if self.is_swapped { end.other() } else { end }
    }

    /// An end as a capture has it.
    pub(super) const fn end_in(&self, capture: Capture, end: Endpoint) -> Endpoint {
        match capture {
            Capture::First => end,
            Capture::Second => self.in_second(end),
        }
    }

    /// The capture nearer to an end.
    pub(super) const fn near(&self, end: Endpoint) -> Capture {
        match end {
            Endpoint::Low => self.near_low,
            Endpoint::High => self.near_low.other(),
        }
    }
}

/// Packets of the sample that both captures hold, of one connection.
#[derive(Debug, Default)]
struct Votes {
    /// Pairs of packets by the lower end of the first: time in the first, and how much later in the second.
    low: Vec<(i64, i64)>,
    high: Vec<(i64, i64)>,
    same_end: u32,
    other_end: u32,
}

/// So large a share of equal identifications shows that hops leave them.
const KEPT: f64 = 0.9;
/// Packets in both directions from which on equal times are no chance.
const LEAST_EQUAL: usize = 4;

impl Pairing {
    /// Compares two captures.
    pub(super) fn of(first: &Census, second: &Census) -> Result<Self, JoinError> {
        let (votes, keeps_ids) = votes(first, second);
        let mut pairing = Self {
            pairs: Vec::new(),
            places: [vec![None; first.connections.len()], vec![None; second.connections.len()]],
            clock: Clock::EQUAL,
            keeps_ids,
            by_ends: [HashMap::default(), HashMap::default()],
        };
        let mut points = Vec::new();
        let mut sampled: Vec<(&(u32, u32), &Votes)> = votes.iter().collect();
        sampled.sort_unstable_by_key(|(numbers, votes)| {
            (std::cmp::Reverse(votes.same_end.max(votes.other_end)), **numbers)
        });
        for ((one, other), votes) in sampled {
            let is_swapped = votes.other_end > votes.same_end;
            let Some(known) = first.connections.get(*one as usize) else { continue };
            let Some(theirs) = second.connections.get(*other as usize) else { continue };
            let near_low =
                votes.near_low().unwrap_or_else(|| near_low_by_ttl(known, theirs, is_swapped));
            if pairing.add(known, theirs, [*one, *other], is_swapped, near_low) {
                votes.points(near_low, &mut points);
            }
        }
        if is_same_capture(&votes) {
            return Err(JoinError::SameCapture);
        }
        if let Some(clock) = Clock::of(&points).map_err(|_| JoinError::ClockWasSet)? {
            pairing.clock = clock;
        }
        let has_clock = !points.is_empty();
        pairing.add_by_syn(first, second, &mut points);
        if !has_clock && let Some(clock) = Clock::of(&points).map_err(|_| JoinError::ClockWasSet)? {
            pairing.clock = clock;
        }
        if pairing.pairs.is_empty() {
            return Err(JoinError::NothingShared);
        }
        Ok(pairing)
    }

    fn add(
        &mut self,
        known: &Identity,
        theirs: &Identity,
        numbers: Pair2<u32>,
        is_swapped: bool,
        near_low: Capture,
    ) -> bool {
        let place = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
        let [one, other] = numbers;
        let [ones, others] = &mut self.places;
        let (Some(one), Some(other)) = (ones.get_mut(one as usize), others.get_mut(other as usize))
        else {
            return false;
        };
        if one.is_some() || other.is_some() {
            return false;
        }
        (*one, *other) = (Some(place), Some(place));
        let client = known.client().or_else(|| {
            let client = theirs.client()?;
            Some(if is_swapped { client.other() } else { client })
        });
        let client = client.unwrap_or_else(|| known.ends.likely_client());
        self.pairs.push(Matched { numbers, is_swapped, client, near_low });
        for (by_ends, identity) in self.by_ends.iter_mut().zip([known, theirs]) {
            let key = FlowKey::of(identity.ends.low, identity.ends.high).0;
            by_ends.entry(key).or_default().push((identity.begin, place));
        }
        true
    }

    /// Adds connections of which no packet is in the samples, or whose numbers a hop changes: by their ends and their SYNs,
    /// which also show the clocks' difference.
    fn add_by_syn(&mut self, first: &Census, second: &Census, points: &mut Vec<Point>) {
        let mut unmatched: HashMap<FlowKey, Vec<u32>, RandomState> = HashMap::default();
        for (number, theirs) in (0..).zip(&second.connections) {
            if self.is_unmatched(1, number) {
                let key = FlowKey::of(theirs.ends.low, theirs.ends.high).0;
                unmatched.entry(key).or_default().push(number);
            }
        }
        for (number, known) in (0..).zip(&first.connections) {
            let key = FlowKey::of(known.ends.low, known.ends.high).0;
            let Some(others) = unmatched.get(&key).filter(|_| self.is_unmatched(0, number)) else {
                continue;
            };
            let same = others.iter().copied().find(|other| {
                let theirs = second.connections.get(*other as usize);
                self.is_unmatched(1, *other) && theirs.is_some_and(|theirs| known.is_same(theirs))
            });
            let Some(other) = same else { continue };
            let Some(theirs) = second.connections.get(other as usize) else { continue };
            let votes = Votes::of_syns(known, theirs);
            let near_low =
                votes.near_low().unwrap_or_else(|| near_low_by_ttl(known, theirs, false));
            if self.add(known, theirs, [number, other], false, near_low) {
                votes.points(near_low, points);
            }
        }
    }

    fn is_unmatched(&self, capture: usize, number: u32) -> bool {
        let places = self.places.get(capture);
        places.and_then(|places| places.get(number as usize)).is_some_and(Option::is_none)
    }

    /// The pair that a connection of a capture belongs to.
    pub(super) fn place_of(&self, capture: Capture, evidence: &Evidence) -> Option<u32> {
        let by_ends = self.by_ends.get(capture.index())?;
        let same = by_ends.get(&FlowKey::of(evidence.client, evidence.server).0)?;
        let begin = evidence.begin.as_nanos();
        let nearest = same.iter().min_by_key(|(at, _)| at.abs_diff(begin))?;
        Some(nearest.1)
    }
}

/// Within so many nanoseconds a packet passes the interfaces of one host, by one clock.
const ONE_HOST: u64 = 1_000_000;

impl Census {
    /// Whether two captures hold the same packets of the connections that they share, for the most part: they were taken at two
    /// places. Files that follow each other have few in common, such as what was sent again, or have them at the same time: what
    /// passed while both were open, or another interface of the host.
    pub(crate) fn holds_packets_of(&self, other: &Self) -> bool {
        let (votes, _) = votes(self, other);
        if votes.is_empty() {
            return self.holds_handshake_of(other);
        }
        let threshold = self.samples.threshold.min(other.samples.threshold);
        let shared: Vec<(i64, i64)> =
            votes.values().flat_map(|votes| votes.low.iter().chain(&votes.high)).copied().collect();
        let ours: HashSet<u32, RandomState> = votes.keys().map(|(ours, _)| *ours).collect();
        let theirs: HashSet<u32, RandomState> = votes.keys().map(|(_, theirs)| *theirs).collect();
        let count = |census: &Self, of: &HashSet<u32, RandomState>| {
            let all = census.samples.unique(threshold);
            all.iter().filter(|sample| of.contains(&sample.connection)).count()
        };
        let mut apart: Vec<u64> = shared.iter().map(|(_, later)| later.unsigned_abs()).collect();
        apart.sort_unstable();
        let is_one_host = apart.get(apart.len() / 2).is_some_and(|apart| *apart < ONE_HOST);
        !is_one_host && 2 * shared.len() >= count(self, &ours).min(count(other, &theirs))
    }

    /// Whether both hold the SYN and its answer of a connection, at times that are apart: one SYN may have been sent again.
    fn holds_handshake_of(&self, other: &Self) -> bool {
        let has_both = |one: &&Identity| one.syn.low.is_some() && one.syn.high.is_some();
        let key = |one: &Identity| FlowKey::of(one.ends.low, one.ends.high).0;
        let mut ours: HashMap<FlowKey, Vec<&Identity>, RandomState> = HashMap::default();
        for one in self.connections.iter().filter(has_both) {
            ours.entry(key(one)).or_default().push(one);
        }
        other.connections.iter().filter(has_both).any(|theirs| {
            let ours = ours.get(&key(theirs)).map_or(&[][..], Vec::as_slice);
            ours.iter().any(|ours| ours.is_same(theirs) && ours.is_apart(theirs))
        })
    }
}

/// The packets that the samples of both captures hold, by connections, and whether their identifications are equal.
fn votes(first: &Census, second: &Census) -> (HashMap<(u32, u32), Votes, RandomState>, bool) {
    let threshold = first.samples.threshold.min(second.samples.threshold);
    let mut votes: HashMap<(u32, u32), Votes, RandomState> = HashMap::default();
    let (ours, theirs) = (first.samples.unique(threshold), second.samples.unique(threshold));
    let (mut with_id, mut equal) = (0_u32, 0_u32);
    let mut others = theirs.iter().peekable();
    for sample in &ours {
        while others.next_if(|other| other.hash < sample.hash).is_some() {}
        let Some(other) = others.next_if(|other| other.hash == sample.hash) else { continue };
        if sample.ip_id > 0 {
            with_id += 1;
            equal += u32::from(sample.ip_id == other.ip_id);
        }
        votes.entry((sample.connection, other.connection)).or_default().add(sample, other);
    }
    (votes, f64::from(equal) >= KEPT * f64::from(with_id) && with_id > 0)
}

impl Votes {
    /// The SYNs alone.
    fn of_syns(known: &Identity, theirs: &Identity) -> Self {
        let point = |end: Endpoint| {
            let (here, there) = (known.syn.of(end).as_ref()?, theirs.syn.of(end).as_ref()?);
            Some((nanos(here.at), nanos(there.at).saturating_sub(nanos(here.at))))
        };
        let list = |end| point(end).into_iter().collect();
        Self { low: list(Endpoint::Low), high: list(Endpoint::High), ..Self::default() }
    }

    fn add(&mut self, sample: &Sample, other: &Sample) {
        let (at, there) = (nanos(sample.at), nanos(other.at));
        let list = if sample.sender == Endpoint::Low { &mut self.low } else { &mut self.high };
        list.push((at, there.saturating_sub(at)));
        if sample.sender == other.sender {
            self.same_end += 1;
        } else {
            self.other_end += 1;
        }
    }

    /// The capture nearer to the lower end: what that sends passes it earlier, by more than what it receives.
    fn near_low(&self) -> Option<Capture> {
        let all = self.low.iter().map(|point| (*point, true));
        let mut all: Vec<((i64, i64), bool)> =
            all.chain(self.high.iter().map(|point| (*point, false))).collect();
        all.sort_unstable();
        // Neighbours in time: a clock that runs faster matters to neither.
        let neighbours = all.windows(2).filter_map(|two| match two {
            [(one, true), (other, false)] | [(other, false), (one, true)] => {
                Some(one.1.saturating_sub(other.1))
            }
            _ => None,
        });
        let mut above: Vec<i64> = neighbours.collect();
        above.sort_unstable();
        let median = above.get(above.len() / 2)?;
        Some(if *median >= 0 { Capture::First } else { Capture::Second })
    }

    fn points(&self, near_low: Capture, points: &mut Vec<Point>) {
        let point =
            |is_down| move |(at, later): &(i64, i64)| Point { at: *at, later: *later, is_down };
        points.extend(self.low.iter().map(point(near_low == Capture::First)));
        points.extend(self.high.iter().map(point(near_low == Capture::Second)));
    }
}

/// Whether all packets passed both captures at the same time: one is a copy of the other.
fn is_same_capture(votes: &HashMap<(u32, u32), Votes, RandomState>) -> bool {
    let mut all = votes.values().flat_map(|votes| votes.low.iter().chain(&votes.high));
    let count: usize = votes.values().map(|votes| votes.low.len().min(votes.high.len())).sum();
    let first = all.next().map(|(_, later)| *later);
    count >= LEAST_EQUAL && all.all(|(_, later)| Some(*later) == first)
}

/// Nearer to the lower end is where its packets have more hops left; the first capture where nothing tells.
fn near_low_by_ttl(known: &Identity, theirs: &Identity, is_swapped: bool) -> Capture {
    let in_second = |end: Endpoint| if is_swapped { end.other() } else { end };
    let higher = |end: Endpoint| {
        let (here, there) = (*known.ttl.of(end), *theirs.ttl.of(in_second(end)));
        here.zip(there).map(|(here, there)| here.cmp(&there))
    };
    match (higher(Endpoint::Low), higher(Endpoint::High)) {
        (Some(std::cmp::Ordering::Less), _) | (_, Some(std::cmp::Ordering::Greater)) => {
            Capture::Second
        }
        _ => Capture::First,
    }
}

impl Identity {
    /// Who sent the first SYN; `None` where that was not captured.
    fn client(&self) -> Option<Endpoint> {
        let syn = |end: Endpoint| self.syn.of(end).as_ref().map(|syn| syn.is_answer);
        match (syn(Endpoint::Low), syn(Endpoint::High)) {
            (Some(false), _) | (None, Some(true)) => Some(Endpoint::Low),
            (_, Some(false)) | (Some(true), None) => Some(Endpoint::High),
            (None, None) | (Some(true), Some(true)) => None,
        }
    }

    /// Whether the SYNs passed both captures at different times by their clocks.
    fn is_apart(&self, other: &Self) -> bool {
        [Endpoint::Low, Endpoint::High].into_iter().any(|end| {
            let both = self.syn.of(end).as_ref().zip(other.syn.of(end).as_ref());
            both.is_some_and(|(one, two)| one.at.abs_diff(two.at) >= ONE_HOST)
        })
    }

    /// Whether the SYNs with the same ends have the same numbers or timestamps, as far as they are known; at least one is.
    fn is_same(&self, other: &Self) -> bool {
        let equal = |end: Endpoint| {
            let (one, two) = (self.syn.of(end).as_ref()?, other.syn.of(end).as_ref()?);
            Some(one.seq == two.seq || one.timestamp.is_some() && one.timestamp == two.timestamp)
        };
        let (low, high) = (equal(Endpoint::Low), equal(Endpoint::High));
        low.or(high) == Some(true) && low != Some(false) && high != Some(false)
    }
}

#[inline]
pub(super) fn nanos(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}
