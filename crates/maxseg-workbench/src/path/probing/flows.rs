//! Other flows to the same destination: routers with several paths of equal cost choose by the ports.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use maxseg_core::framing::IpVersion;
use maxseg_core::path_mtu::{LossEstimate, ProbeFate, Refusal, Search};
use maxseg_linux::probe::{ProbeKind, Prober, RoundEnd, Shot};

use super::{Budget, FIRST_PORT, Probing, probe};
use crate::path::{FlowMtu, PathError};

/// Rounds for a flow whose path MTU is another.
const MOST_ROUNDS: u32 = 12;
/// More rounds that nobody answers show that the destination limits its answers.
const MOST_SILENT: u32 = 1;
/// Sizes of a round.
const SIZES: usize = 4;

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
        };
        let mut flows = vec![flow(first, FIRST_PORT, Some(mtu))];
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
        let tested: Vec<_> = std::thread::scope(|scope| {
            let begun: Vec<_> = numbers
                .map(|number| {
                    let flow_test = &flow_test;
                    scope.spawn(move || flow_test.run(FIRST_PORT + number))
                })
                .collect();
            begun.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for tested in tested {
            // A thread that panics is a bug, and is told as one.
            let tested = tested.unwrap_or_else(|cause| std::panic::resume_unwind(cause))?;
            self.other_bytes += tested.sent_bytes;
            for (size, refusal) in tested.heard {
                self.heard.entry(size).or_insert(refusal);
            }
            flows.push(tested.flow);
        }
        Ok(flows)
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
        let flow = FlowMtu { source_port, destination_port: port, mtu_bytes };
        Ok(TestedFlow { flow, sent_bytes: prober.sent_bytes, heard })
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
