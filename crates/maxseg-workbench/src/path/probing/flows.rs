//! Other flows to the same destination: routers with several paths of equal cost choose by the ports.

use std::io;
use std::iter::repeat_n;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use maxseg_core::framing::IpVersion;
use maxseg_core::path_mtu::{
    ALIKE_AT_LAST, LossEstimate, ProbeFate, Refusal, SILENT_ROUNDS, Search,
};
use maxseg_linux::probe::{ProbeKind, Prober, RoundEnd, Shot, TRACEROUTE_PORT};

use super::sizes::RATE_LIMIT;
use super::{Budget, Probing, Which, probe};
use crate::path::{FlowMtu, PathError};

/// Rounds for a flow whose path MTU is another.
const MOST_ROUNDS: u32 = 12;
/// More rounds that nobody answers show that the destination limits its answers.
const MOST_SILENT: u32 = 1;
/// Sizes of a round.
const SIZES: usize = 4;
/// More rounds are not sent on a flow that was not answered.
const MOST_AGAIN: u32 = 5;

/// Runs some tests, each in a thread, and waits for all. A thread that panics is a bug, and is told as one.
pub(in crate::path) fn at_once<T: Send>(
    tests: impl Iterator<Item = impl FnOnce() -> T + Send>,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let begun: Vec<_> = tests.map(|test| scope.spawn(test)).collect();
        let ended = begun.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|end| end.unwrap_or_else(|cause| std::panic::resume_unwind(cause))).collect()
    })
}

impl Probing<'_> {
    /// Checks on other flows what one has found, which comes first.
    pub(in crate::path) fn try_flows(&mut self, mtu: u32) -> Result<Vec<FlowMtu>, PathError> {
        let Some(first) = self.udp.as_ref().map(|prober| prober.source().port()) else {
            return Ok(Vec::new());
        };
        let flow = |source_port, destination_port, mtu_bytes| FlowMtu {
            source_port,
            destination_port,
            mtu_bytes,
            vanishes_bytes: None,
        };
        let mut flows = vec![flow(first, TRACEROUTE_PORT, Some(mtu))];
        if !self.is_udp_answered || self.options.flows < 2 || !self.has_budget() {
            return Ok(Vec::new());
        }
        self.observer.on_step("other flows");
        let flow_test = FlowTest {
            to: self.to,
            version: self.version(),
            small: self.small(),
            most: self.route.interface_mtu.min(u32::from(u16::MAX)),
            likely: mtu,
            loss: self.loss,
            pause: self.pause(),
            patience: self.patience(),
            budget: self.budget,
            stop: self.stop,
        };
        let numbers = 1..u16::from(self.options.flows);
        let flow_test = &flow_test;
        let tested = at_once(numbers.map(|number| move || flow_test.run(TRACEROUTE_PORT + number)));
        let mut probers = Vec::new();
        for tested in tested {
            let tested = tested?;
            self.other_bytes += tested.sent_bytes;
            let arrived = tested.flow.mtu_bytes.unwrap_or(0);
            for (size, refusal) in tested.heard {
                let heard = if size > arrived { &mut self.heard } else { &mut self.contradicted };
                heard.entry(size).or_insert(refusal);
            }
            probers.push(tested.prober);
            flows.push(tested.flow);
        }
        self.ask_again(flows.iter_mut().skip(1).zip(&mut probers), mtu)?;
        self.note_unknown(&flows);
        Ok(flows)
    }

    /// The same where the destination limits its answers, one flow after the other; `which` has found the path MTU.
    pub(in crate::path) fn try_flows_apart(
        &mut self,
        which: Which,
        mtu: u32,
    ) -> Result<Vec<FlowMtu>, PathError> {
        let Some(udp) = self.udp.take() else { return Ok(Vec::new()) };
        self.observer.on_step("other flows");
        let socket = |source: io::Error| PathError::socket("send a probe", source);
        let mut probers = vec![udp];
        for number in 1..u16::from(self.options.flows) {
            let kind = ProbeKind::Udp { port: TRACEROUTE_PORT + number };
            probers.push(Prober::new(self.to, kind).map_err(socket)?);
        }
        let flow = |(prober, destination_port): (&Prober, u16)| FlowMtu {
            source_port: prober.source().port(),
            destination_port,
            // What echoes have found is not this flow's.
            mtu_bytes: (which == Which::Udp && destination_port == TRACEROUTE_PORT).then_some(mtu),
            vanishes_bytes: None,
        };
        let mut flows: Vec<FlowMtu> = probers.iter().zip(TRACEROUTE_PORT..).map(flow).collect();
        let asked = self.ask_again(flows.iter_mut().zip(&mut probers), mtu);
        self.udp = probers.into_iter().next();
        asked?;
        self.note_unknown(&flows);
        Ok(flows)
    }

    /// Asks flows that were not answered once more, at the pace at which a destination answers that limits its answers.
    fn ask_again<'f>(
        &mut self,
        flows: impl Iterator<Item = (&'f mut FlowMtu, &'f mut Prober)>,
        mtu: u32,
    ) -> Result<(), PathError> {
        let began = Instant::now();
        for (flow, prober) in flows {
            let before = prober.sent_bytes;
            let (mut size, mut silent) = (mtu, 0);
            for _ in 0..MOST_AGAIN {
                if flow.mtu_bytes.is_some() || silent >= SILENT_ROUNDS || !self.has_budget() {
                    break;
                }
                self.wait(RATE_LIMIT)?;
                let large = repeat_n(size, ALIKE_AT_LAST as usize);
                let sizes: Vec<_> = large.chain([self.small()]).map(probe).collect();
                let (pause, patience) = (self.pause(), self.patience());
                let round =
                    prober.round(&sizes, pause, patience, RoundEnd::LastAnswered, self.stop);
                let round = round.map_err(|source| PathError::socket("send a probe", source))?;
                let [large @ .., last] = &round.shots[..] else { break };
                let refusal = large.iter().find_map(|shot| shot.refusal);
                if large.iter().any(|shot| shot.arrival().is_some()) {
                    flow.mtu_bytes = Some(size);
                } else if let Some(refusal) = refusal {
                    let Some(stated) = refusal.stated_mtu(self.version(), size) else { break };
                    (size, silent) = (stated, 0);
                } else if last.arrival().is_some() && !large.iter().any(Shot::is_unsent) {
                    silent += 1;
                } else {
                    break;
                }
            }
            if flow.mtu_bytes.is_none() && silent >= SILENT_ROUNDS {
                flow.vanishes_bytes = Some(size);
            }
            self.other_bytes += prober.sent_bytes - before;
        }
        // The search has its time besides.
        self.budget.extend(began.elapsed());
        Ok(())
    }

    /// Says how many flows show nothing.
    fn note_unknown(&mut self, flows: &[FlowMtu]) {
        let unknown = |flow: &&FlowMtu| flow.mtu_bytes.is_none() && flow.vanishes_bytes.is_none();
        let count = flows.iter().filter(unknown).count();
        if count > 0 {
            self.notes.push(format!(
                "{count} of {} flows were not answered: what their paths carry, if they are others, is not known; an open TCP port shows it \
                 (HOST:PORT, as root)",
                flows.len()
            ));
        }
    }
}

/// What one flow is to find out.
struct FlowTest<'t> {
    to: IpAddr,
    version: IpVersion,
    small: u32,
    most: u32,
    /// What another flow has found.
    likely: u32,
    loss: LossEstimate,
    pause: Duration,
    patience: Duration,
    budget: Budget,
    stop: &'t AtomicBool,
}

/// What one flow has found out.
struct TestedFlow {
    flow: FlowMtu,
    prober: Prober,
    /// The bytes that it took.
    sent_bytes: u64,
    /// What routers have said of packets of which sizes.
    heard: Vec<(u32, Refusal)>,
}

impl FlowTest<'_> {
    /// Tests the flow to a port.
    fn run(&self, port: u16) -> Result<TestedFlow, PathError> {
        let socket = |source: io::Error| PathError::socket("send a probe", source);
        let mut prober = Prober::new(self.to, ProbeKind::Udp { port }).map_err(socket)?;
        let mut heard = Vec::new();
        let mtu_bytes = self.search(&mut prober, &mut heard).map_err(socket)?;
        let source_port = prober.source().port();
        let flow = FlowMtu { source_port, destination_port: port, mtu_bytes, vanishes_bytes: None };
        Ok(TestedFlow { flow, sent_bytes: prober.sent_bytes, heard, prober })
    }

    fn search(
        &self,
        prober: &mut Prober,
        heard: &mut Vec<(u32, Refusal)>,
    ) -> io::Result<Option<u32>> {
        let mut search = Search::new(self.version, self.small, self.most, SIZES);
        search.on_loss(self.loss);
        let mut sizes = self.likely_sizes();
        let mut silent = 0;
        for _ in 0..MOST_ROUNDS {
            let sent: Vec<_> = sizes.iter().map(|size| probe(*size)).collect();
            let end = RoundEnd::LastAnswered;
            let round = prober.round(&sent, self.pause, self.patience, end, self.stop)?;
            let fate = |shot: &Shot| (shot.probe.size, shot.fate(self.most));
            let fates: Vec<(u32, ProbeFate)> = round.shots.iter().map(fate).collect();
            search.on_round(&fates);
            // What never leaves this host shows nothing of the path.
            if round.shots.iter().any(|shot| shot.is_refused_here) {
                return Ok(None);
            }
            let all = round.shots.iter().chain(&round.late);
            heard.extend(all.filter_map(|shot| Some((shot.probe.size, shot.refusal?))));
            silent += u32::from(fates.iter().all(|(_, fate)| *fate != ProbeFate::Arrived));
            if silent > MOST_SILENT {
                return Ok(None);
            }
            if search.at_least() == self.likely {
                // Full certainty of each flow takes too many answers: the first flow has it.
                return Ok(Some(self.likely));
            }
            sizes = search.next_round();
            if sizes.is_empty() || !self.budget.has_left(prober.sent_bytes) {
                break;
            }
        }
        Ok(search.settled().map(|settled| settled.mtu))
    }

    /// What shows that the flow is as the other one.
    fn likely_sizes(&self) -> Vec<u32> {
        let mut sizes = vec![self.likely, self.likely, self.small];
        if self.likely < self.most {
            sizes.splice(0..0, [self.likely + 1; 2]);
        }
        sizes
    }
}
