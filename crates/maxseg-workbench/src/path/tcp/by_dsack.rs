//! A report from connections on which old bytes are sent once more.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use maxseg_core::path_mtu::{Confidence, ProbeFate};
use maxseg_linux::probe::tcp::raw::{Contradiction, RawError, RawFate, RawProbe};
use maxseg_wire::ip::protocol;

use super::dsack::DsackTest;
use crate::path::probing::{Asked, EndOf, LARGE, LATE, Own, Probing, limited};
use crate::path::{
    BlackHole, DroppedHere, FlowMtu, LargeLoss, Misleading, MtuMethod, MtuReport, PathError,
    note_once,
};

impl Probing<'_> {
    /// Finds the path MTU by old bytes on connections to this port; `None` where there is no right to it, or nothing answers. The
    /// hops are known.
    pub(in crate::path) fn mtu_by_dsack(
        &mut self,
        port: u16,
    ) -> Result<Option<MtuReport>, PathError> {
        let far = SocketAddr::new(self.to, port);
        let (stop, budget) = (self.stop, self.budget);
        let is_over = move || stop.load(Ordering::Relaxed) || !budget.has_left(0);
        let socket = |source| PathError::Socket { doing: "send a raw probe", source };
        self.observer.on_step(&format!(
            "TCP port {port}: {} connections, old segments again in packets of each size; no byte reaches the service",
            self.options.flows
        ));
        let (flows, most) = (self.options.flows, self.budget.bytes_left(self.sent_bytes()));
        let mut test = match DsackTest::open(far, flows, self.numbers(), most, &is_over) {
            Ok(test) => test,
            Err(RawError::NoRight(_)) => return Ok(None),
            Err(RawError::NoAnswer(_)) if is_over() => {
                self.notes.push("no probes by TCP: time or bytes of the test were over".to_owned());
                return Ok(None);
            }
            Err(error) => {
                self.notes.push(format!("no probes by TCP: {error}"));
                return Ok(None);
            }
        };
        let is_stopped = move || stop.load(Ordering::Relaxed);
        test.run(&is_over, &is_stopped).map_err(socket)?;
        // A router's message may come later than the answer that contradicts it.
        self.wait(LATE)?;
        test.listen(&is_over).map_err(socket)?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(PathError::Stopped);
        }
        let mut flow = test.narrowest();
        // That of the first is confirmed; one that turns out to be wider leaves the next.
        for _ in 1..test.flows() {
            if flow == 0 || test.is_silence_confirmed(flow) {
                break;
            }
            test.confirm_silence(flow, &is_over, &is_stopped).map_err(socket)?;
            flow = test.narrowest();
        }
        for refusal in test.late_refusals() {
            note_once(&mut self.notes, limited(refusal));
        }
        let Some(at_least) = test.arrived(flow) else {
            self.notes.push(format!(
                "port {port} takes connections, and old segments on them are not answered: a firewall may drop them"
            ));
            self.other_bytes += test.prober.sent().bytes;
            return Ok(None);
        };
        let mut report = MtuReport {
            interface_bytes: Some(self.route.interface_mtu),
            forward_bytes: Some(at_least),
            method: Some(MtuMethod::TcpDsack),
            confidence: Confidence::AtLeast,
            ..MtuReport::default()
        };
        report.take_flows(&test, port);
        report.dropped_here = self.dropped_segments(&mut test, flow, at_least)?;
        if self.distance.is_none() {
            self.find_end_by_dsack(&mut test, flow)?;
        }
        let vanishes = test.settled(flow).and_then(|settled| settled.vanishes);
        if vanishes.is_some() || report.has_unequal_flows() {
            self.trace_by_dsack(&mut test, flow)?;
        }
        if let Some(vanishes) = vanishes {
            let mut ask = |probing: &mut Self, hops: &[u8], asked: &mut Asked| {
                probing.ask_by_dsack(&mut test, flow, (hops, vanishes), asked)
            };
            let hole = self.locate_with(EndOf::SameFlow, (at_least, vanishes), &mut ask)?;
            report.black_hole = self.not_told(&mut test, flow, hole);
        }
        if let Some(search) = test.search_of(flow) {
            report.misleading = Misleading::of(search).filter(|_| test.settled(flow).is_some());
            report.take_hops(search, self);
        }
        if let Some(size) = report.size_that_passes() {
            report.large_loss = self.losses_of_segments(&mut test, flow, size)?;
        }
        self.other_bytes += test.prober.sent().bytes;
        Ok(Some(report))
    }

    /// The losses of old segments of a size that arrives.
    fn losses_of_segments(
        &mut self,
        test: &mut DsackTest,
        flow: usize,
        size: u32,
    ) -> Result<Option<LargeLoss>, PathError> {
        let (stop, small) = (self.stop, test.prober.least_size());
        let mut send = |_: &mut Self, sizes: &[u32]| {
            let probe = |size: &u32| RawProbe { flow, size: *size, hop: None };
            let probes: Vec<RawProbe> = sizes.iter().map(probe).collect();
            let fates = test
                .prober
                .round(&probes, &|| stop.load(Ordering::Relaxed))
                .map_err(|source| PathError::socket("send a raw probe", source))?;
            Ok(fates.iter().map(|fate| fate.fate == ProbeFate::Arrived).collect())
        };
        self.losses_with((size, small), &mut send)
    }

    /// A black hole, unless a router has said of such packets on the connection that they are too big.
    fn not_told(
        &mut self,
        test: &mut DsackTest,
        flow: usize,
        hole: BlackHole,
    ) -> Option<BlackHole> {
        test.tell(flow);
        let refusals = test.search_of(flow)?.refusals();
        let refusals: Vec<_> = refusals.filter(|(size, _)| *size > hole.passes_bytes).collect();
        let told = refusals.iter().find(|(size, _)| *size == hole.vanishes_bytes);
        if let Some((_, refusal)) = told {
            note_once(&mut self.notes, limited(refusal));
            return None;
        }
        self.heard.extend(refusals);
        (!self.is_told_of(&hole)).then_some(hole)
    }

    /// What this host drops of routers' messages about these connections.
    fn dropped_segments(
        &mut self,
        test: &mut DsackTest,
        flow: usize,
        arrives: u32,
    ) -> Result<Option<DroppedHere>, PathError> {
        let ports = (0..test.flows()).filter_map(|flow| test.prober.source_port(flow));
        let own: Vec<Own> = ports.map(|port| (protocol::TCP, port)).collect();
        let stop = self.stop;
        let mut again = |probing: &mut Self, sizes: &[u32]| {
            let probe = |size: &u32| RawProbe { flow, size: *size, hop: None };
            let probes: Vec<RawProbe> = sizes.iter().map(probe).collect();
            test.prober
                .round(&probes, &|| stop.load(Ordering::Relaxed))
                .map_err(|source| PathError::socket("send a raw probe", source))?;
            probing.wait(LATE)
        };
        self.dropped_here(&own, arrives, &mut again)
    }

    /// Finds the number of the destination, which answers no UDP, or not often enough, and names old segments that come to it.
    fn find_end_by_dsack(&mut self, test: &mut DsackTest, flow: usize) -> Result<(), PathError> {
        /// Hops behind the last that is known.
        const MORE: u8 = 4;
        /// Segments to each: a loss must not make a farther hop the nearest that the destination answers.
        const TIMES: usize = 3;
        let stop = self.stop;
        let known = u8::try_from(self.hops.len()).unwrap_or(u8::MAX);
        let size = test.prober.least_size();
        let of = |hop: u8| [RawProbe { flow, size, hop: Some(hop) }; TIMES];
        let probes: Vec<RawProbe> = (known..known.saturating_add(MORE))
            .filter_map(|before| before.checked_add(1))
            .flat_map(of)
            .collect();
        let fates = test
            .prober
            .round(&probes, &|| stop.load(Ordering::Relaxed))
            .map_err(|source| PathError::socket("send a raw probe", source))?;
        let arrived = fates.iter().filter(|fate| fate.from == Some(self.to));
        let nearest = arrived.filter_map(|fate| Some((fate.probe.hop?, fate.rtt?))).min();
        if let Some((hop, round_trip)) = nearest {
            self.note_end(hop, round_trip);
        }
        Ok(())
    }

    /// Large old segments to each hop, and a small one behind them.
    fn ask_by_dsack(
        &self,
        test: &mut DsackTest,
        flow: usize,
        (hops, vanishes): (&[u8], u32),
        asked: &mut Asked,
    ) -> Result<(), PathError> {
        let stop = self.stop;
        let least = test.prober.least_size();
        let of = |hop: &u8| {
            let probe = |size| RawProbe { flow, size, hop: Some(*hop) };
            let mut probes = vec![probe(vanishes); LARGE];
            probes.push(probe(least));
            probes
        };
        let probes: Vec<RawProbe> = hops.iter().flat_map(of).collect();
        let fates = test
            .prober
            .round(&probes, &|| stop.load(Ordering::Relaxed))
            .map_err(|source| PathError::Socket { doing: "send a raw probe", source })?;
        if stop.load(Ordering::Relaxed) {
            return Err(PathError::Stopped);
        }
        for fates in fates.chunks(LARGE + 1) {
            let Some((control, large)) = fates.split_last() else { continue };
            let Some(hop) = control.probe.hop else { continue };
            let from = |fate: &RawFate| fate.from.filter(|_| fate.fate == ProbeFate::Arrived);
            for fate in large {
                asked.on_answers(hop, from(fate), from(control));
            }
        }
        Ok(())
    }
}

impl MtuReport {
    /// What the flows have shown.
    fn take_flows(&mut self, test: &DsackTest, port: u16) {
        let flows = 0..test.flows();
        self.flows = flows
            .clone()
            .map(|flow| FlowMtu {
                source_port: test.prober.source_port(flow).unwrap_or_default(),
                destination_port: port,
                mtu_bytes: test.settled(flow).map(|settled| settled.mtu),
                vanishes_bytes: test.vanishes(flow).filter(|_| test.settled(flow).is_none()),
            })
            .collect();
        let settled: Vec<_> = flows.filter_map(|flow| test.settled(flow)).collect();
        self.error_chance = settled.iter().map(|flow| flow.error).max_by(f64::total_cmp);
        if settled.is_empty() {
            self.reason = Some(
                "packets of this size arrive; time or bytes were over before larger ones were ruled out".to_owned(),
            );
        } else {
            self.confidence = Confidence::Confirmed;
            let unknown = test.flows() - settled.len();
            self.reason = (unknown > 0).then(|| {
                format!("{unknown} of {} flows could not be checked in time", test.flows())
            });
        }
        self.wrong_message = test.contradictions().first().map(wrong_message);
    }
}

fn wrong_message(wrong: &Contradiction) -> String {
    format!(
        "{} said that packets above {} bytes are too big, and packets of {} bytes arrive: the message is forged, that router is at \
         fault, or paths of different MTUs are taken packet by packet",
        wrong.router, wrong.stated_mtu, wrong.arrived
    )
}
