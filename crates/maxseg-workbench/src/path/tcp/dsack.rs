//! With `CAP_NET_RAW`: old bytes once more, and D-SACKs that answer.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};

use maxseg_core::path_mtu::{ProbeFate, Refusal, SURE_SILENCES, Search, Settled};
use maxseg_linux::probe::tcp::raw::{
    Contradiction, RawError, RawFate, RawOptions, RawProbe, RawProber,
};
use maxseg_linux::sys::sleeps;

use crate::path::probing::{MOST_STEPS, SPACING, TIMES};

/// A test on several connections to one port.
pub(super) struct DsackTest {
    pub(super) prober: RawProber,
    /// One for each connection.
    searches: Vec<Search>,
    /// What the first has found, and the others likely will.
    expected: Option<Settled>,
    /// Connections that are like the first as far as one round shows: the first is known for sure, and certainty about each of them
    /// would cost as much again.
    alike: Vec<bool>,
    /// How often the size that the first carries was silent on each, before a smaller one that arrived.
    silences: Vec<u32>,
    /// More bytes are not sent.
    most_bytes: u64,
    /// Numbers of the routers.
    hops: BTreeMap<IpAddr, u8>,
    confirmed: BTreeSet<usize>,
    late_refusals: Vec<Refusal>,
}

/// Sizes in a round of the first flow.
const FIRST_SIZES: usize = 6;
/// Sizes in a round of another: it is expected to be like the first.
const OTHER_SIZES: usize = 3;
/// More rounds are not made: each settles something, unless nothing answers.
const MOST_ROUNDS: u32 = 24;
/// So many rounds without any answer show that a firewall lets only what belongs to a connection pass.
const MOST_SILENT: u32 = 3;

impl DsackTest {
    /// Opens the connections.
    ///
    /// # Errors
    /// There is no right to raw packets, or no connection.
    pub(super) fn open(
        far: SocketAddr,
        flows: u8,
        hops: BTreeMap<IpAddr, u8>,
        most_bytes: u64,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, RawError> {
        let options = RawOptions { flows: usize::from(flows), ..RawOptions::default() };
        let prober = RawProber::open(far, options, is_over)?;
        let (least, most) = (prober.least_size(), prober.interface_mtu().min(u32::from(u16::MAX)));
        let search = |flow| {
            let sizes = if flow == 0 { FIRST_SIZES } else { OTHER_SIZES };
            Search::new(far.ip().into(), least, most, sizes)
        };
        let searches: Vec<Search> = (0..prober.flows()).map(search).collect();
        let (alike, silences) = (vec![false; searches.len()], vec![0; searches.len()]);
        let (confirmed, late_refusals) = (BTreeSet::new(), Vec::new());
        Ok(Self {
            prober,
            searches,
            expected: None,
            alike,
            silences,
            most_bytes,
            hops,
            confirmed,
            late_refusals,
        })
    }

    /// Searches on the first connection, then checks what it has found on the others.
    ///
    /// # Errors
    /// A system call fails.
    pub(super) fn run(
        &mut self,
        is_over: &dyn Fn() -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        self.search(&[0], is_over)?;
        self.confirm_silence(0, is_over, is_stopped)?;
        self.expected = self.settled(0);
        let others: Vec<usize> = (1..self.searches.len()).collect();
        // That packets vanish on one of them takes as many as this.
        let of_a_flow = u64::from(SURE_SILENCES) * u64::from(self.arrived(0).unwrap_or(0));
        self.most_bytes += of_a_flow * others.len() as u64;
        if self.arrived(0).is_some() { self.search(&others, is_over) } else { Ok(()) }
    }

    /// Before silence on a connection is a black hole: sends the size that vanishes again, far apart, and searches on where the
    /// router says something after all. The time of the test does not end that, which takes little: without it silence proves nothing.
    ///
    /// # Errors
    /// A system call fails.
    pub(super) fn confirm_silence(
        &mut self,
        flow: usize,
        is_over: &dyn Fn() -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        self.confirmed.insert(flow);
        for _ in 0..MOST_STEPS {
            let settled = self.searches.get(flow).and_then(Search::settled);
            let Some(size) = settled.and_then(|settled| settled.vanishes) else { break };
            if !self.is_answered_late(flow, size, is_stopped)? {
                break;
            }
            self.search(&[flow], is_over)?;
        }
        Ok(())
    }

    /// Whether packets of a size that were silent arrive, or are called too big, when they are sent again.
    fn is_answered_late(
        &mut self,
        flow: usize,
        size: u32,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<bool> {
        let probes =
            [size, self.prober.least_size()].map(|size| RawProbe { flow, size, hop: None });
        for _ in 0..TIMES {
            sleeps(SPACING, is_stopped);
            self.prober.round(&probes, is_stopped)?;
            self.tell(flow);
            let arrived = self.arrived(flow).filter(|arrived| *arrived >= size);
            let Some(search) = self.searches.get_mut(flow) else { break };
            if let Some(arrived) = arrived {
                search.on_fate(arrived, ProbeFate::Arrived);
                return Ok(true);
            }
            if let Some((_, refusal)) = search.refusals().find(|(refused, _)| *refused == size) {
                self.late_refusals.push(refusal);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The narrowest of the connections that are known; where none is, the first, on which most was sent.
    pub(super) fn narrowest(&self) -> usize {
        let known = (0..self.flows()).filter(|flow| self.settled(*flow).is_some());
        known.min_by_key(|flow| self.arrived(*flow)).unwrap_or(0)
    }

    /// Whether what vanishes on a connection was sent again, far apart.
    pub(super) fn is_silence_confirmed(&self, flow: usize) -> bool {
        self.confirmed.contains(&flow)
    }

    /// What routers have said of a size only when it was sent again.
    pub(super) fn late_refusals(&self) -> &[Refusal] {
        &self.late_refusals
    }

    /// Gives the search of a connection what was said of packets on it, late messages included.
    pub(super) fn tell(&mut self, flow: usize) {
        let refusals = self.prober.refusals(flow);
        let Some(search) = self.searches.get_mut(flow) else { return };
        for (size, refusal) in refusals {
            if size > search.at_least() {
                search.on_refusal(size, refusal.numbered(&self.hops));
            }
        }
    }

    /// Reads what has come since, with a small packet whose answer comes last.
    ///
    /// # Errors
    /// A system call fails.
    pub(super) fn listen(&mut self, is_over: &dyn Fn() -> bool) -> io::Result<()> {
        let size = self.prober.least_size();
        self.prober.round(&[RawProbe { flow: 0, size, hop: None }], is_over).map(drop)
    }

    /// How many connections there are.
    pub(super) const fn flows(&self) -> usize {
        self.searches.len()
    }

    /// The largest packet that arrived on a connection, late answers included; `None` where none did.
    pub(super) fn arrived(&self, flow: usize) -> Option<u32> {
        self.prober.largest_arrived(flow)
    }

    /// The path MTU of a connection, where it is known.
    pub(super) fn settled(&self, flow: usize) -> Option<Settled> {
        let (search, arrived) = (self.searches.get(flow)?, self.arrived(flow)?);
        // An answer that came after its round may show that a size was not too big after all.
        let alike = self.expected.filter(|_| self.alike.get(flow) == Some(&true));
        alike.or_else(|| search.settled()).filter(|settled| arrived <= settled.mtu)
    }

    /// The search on a connection.
    pub(super) fn search_of(&self, flow: usize) -> Option<&Search> {
        self.searches.get(flow)
    }

    /// Messages of routers that arrivals contradict.
    pub(super) fn contradictions(&self) -> Vec<Contradiction> {
        self.prober.contradictions()
    }

    /// Rounds on these flows at once, until each is known.
    fn search(&mut self, flows: &[usize], is_over: &dyn Fn() -> bool) -> io::Result<()> {
        let mut silent = 0;
        for round in 0..MOST_ROUNDS {
            let sizes = |flow: &usize| self.sizes(*flow, round);
            let probes: Vec<RawProbe> = flows.iter().flat_map(sizes).collect();
            let is_spent = self.prober.sent().bytes >= self.most_bytes;
            if probes.is_empty() || silent >= MOST_SILENT || is_spent || is_over() {
                break;
            }
            let fates = self.prober.round(&probes, is_over)?;
            for flow in flows {
                self.note(*flow, &fates);
                if self.prober.is_over(*flow) {
                    self.prober.reopen(*flow, is_over)?;
                }
            }
            let is_silent = fates.iter().all(|fate| fate.fate != ProbeFate::Arrived);
            silent = if is_silent { silent + 1 } else { 0 };
        }
        Ok(())
    }

    /// A size that the first connection carries and that vanishes on this one, whose path MTU was not found in time.
    pub(super) fn vanishes(&self, flow: usize) -> Option<u32> {
        let size = self.expected?.mtu;
        let search = self.searches.get(flow)?;
        let is_silent = self.silences.get(flow).is_some_and(|times| *times >= SURE_SILENCES);
        let is_less = self.arrived(flow).is_some_and(|arrived| arrived < size);
        let is_refused = search.refusals().any(|(refused, _)| refused == size);
        (is_silent && is_less && !is_refused).then_some(size)
    }

    fn note(&mut self, flow: usize, fates: &[RawFate]) {
        let of_flow = fates.iter().filter(|fate| fate.probe.flow == flow);
        let fates: Vec<(u32, ProbeFate)> =
            of_flow.map(|fate| (fate.probe.size, fate.fate.numbered(&self.hops))).collect();
        if let Some(search) = self.searches.get_mut(flow) {
            search.on_round(&fates);
        }
        if let (Some(expected), Some(silences)) = (self.expected, self.silences.get_mut(flow)) {
            let last = fates.iter().rposition(|(_, fate)| *fate == ProbeFate::Arrived).unwrap_or(0);
            let silent = |one: &&(u32, ProbeFate)| **one == (expected.mtu, ProbeFate::NoAnswer);
            *silences += u32::try_from(fates[..last].iter().filter(silent).count()).unwrap_or(0);
        }
        if let (Some(expected), Some(is_alike)) = (self.expected, self.alike.get_mut(flow)) {
            // What is expected arrives, and what was sent before it and is larger does not.
            let arrived = fates.iter().filter(|(_, fate)| *fate == ProbeFate::Arrived);
            let is_largest = arrived.map(|(size, _)| *size).max() == Some(expected.mtu);
            let is_more = |(size, fate): &(u32, ProbeFate)| {
                *size == expected.mtu + 1 && *fate != ProbeFate::Arrived
            };
            let is_bounded = expected.mtu >= self.prober.interface_mtu();
            *is_alike |= is_largest && (is_bounded || fates.iter().any(is_more));
        }
    }

    fn sizes(&self, flow: usize, round: u32) -> Vec<RawProbe> {
        let search = self.searches.get(flow).filter(|_| self.alike.get(flow) == Some(&false));
        let Some(search) = search else { return Vec::new() };
        let mut sizes = search.next_round();
        let expected = self.expected.filter(|_| round == 0 && !sizes.is_empty());
        if let Some(mtu) = expected.map(|settled| settled.mtu) {
            let is_limited = mtu < self.prober.interface_mtu();
            let larger = if is_limited { vec![mtu + 1; 2] } else { Vec::new() };
            sizes = larger.into_iter().chain([mtu, self.prober.least_size()]).collect();
        }
        sizes.into_iter().map(|size| RawProbe { flow, size, hop: None }).collect()
    }
}
