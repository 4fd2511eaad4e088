//! The routers of one connection: routers with several paths of equal cost choose by the ports, and datagrams may take another one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use maxseg_core::path_mtu::ProbeFate;
use maxseg_linux::probe::tcp::raw::RawProbe;

use super::dsack::DsackTest;
use crate::path::probing::{Hop, Probing};
use crate::path::{MtuReport, PathError};

/// A hop that does not answer is asked so many times.
const TRIES: u32 = 3;
/// Hops behind the last that is known, among which the destination is looked for.
const BEHIND: u8 = 4;

/// Who answered at which hop, and how soon.
type Answers = BTreeMap<u8, (IpAddr, Duration)>;

impl Probing<'_> {
    /// Finds the hops of a connection by small old segments on it. Where they are others than those of datagrams, they are the hops of
    /// the report, whose sizes are of this connection.
    pub(super) fn trace_by_dsack(
        &mut self,
        test: &mut DsackTest,
        flow: usize,
    ) -> Result<(), PathError> {
        let (stop, size) = (self.stop, test.prober.least_size());
        let known = u8::try_from(self.hops.len()).unwrap_or(u8::MAX);
        let mut answers = Answers::new();
        let mut until = known;
        for _ in 0..TRIES {
            let end = end_of(&answers, self.to).unwrap_or(until);
            let asked = (1..=end).filter(|hop| !answers.contains_key(hop));
            let probe = |hop: u8| RawProbe { flow, size, hop: Some(hop) };
            let probes: Vec<RawProbe> = asked.map(probe).collect();
            let fates = test
                .prober
                .round(&probes, &|| stop.load(Ordering::Relaxed))
                .map_err(|source| PathError::socket("send a raw probe", source))?;
            let arrived = fates.iter().filter(|fate| fate.fate == ProbeFate::Arrived);
            answers.extend(
                arrived.filter_map(|fate| Some((fate.probe.hop?, (fate.from?, fate.rtt?)))),
            );
            until = known.saturating_add(BEHIND);
        }
        self.take_hops(&answers, test.prober.source_port(flow));
        Ok(())
    }

    fn take_hops(&mut self, answers: &Answers, port: Option<u16>) {
        if !answers.iter().any(|(hop, (from, _))| self.is_other_router(*hop, *from)) {
            return;
        }
        self.distance = end_of(answers, self.to);
        let last = self.distance.or_else(|| answers.keys().max().copied()).unwrap_or(0);
        let hop = |number: u8| {
            let answer = answers.get(&number);
            Hop {
                address: answer.map(|answer| answer.0),
                round_trip: answer.map(|answer| answer.1),
            }
        };
        self.hops = (1..=last).map(hop).collect();
        self.notes.push(format!(
            "paths of equal cost: the hops are those of the connection from port {}, which has the least path MTU; datagrams take others",
            port.unwrap_or_default()
        ));
    }
}

/// The nearest hop at which the destination answered.
fn end_of(answers: &Answers, to: IpAddr) -> Option<u8> {
    answers.iter().find(|(_, (from, _))| *from == to).map(|(number, _)| *number)
}

impl MtuReport {
    /// Whether paths of equal cost have different MTUs.
    pub(in crate::path) fn has_unequal_flows(&self) -> bool {
        let mut sizes = self.flows.iter().filter_map(|flow| flow.mtu_bytes);
        let first = sizes.next();
        sizes.any(|size| Some(size) != first)
    }
}
