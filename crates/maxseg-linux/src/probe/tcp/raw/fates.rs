//! Rounds of probes, and what became of each.

use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{ProbeFate, Refusal};

use super::connection::{Answer, Connection, Sent};
use super::{RawFate, RawProbe, RawProber};

/// A router's message that an arrival shows to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// Who sent it, or is said to have.
    pub router: IpAddr,
    /// The MTU that it states, bytes.
    pub stated_mtu: u32,
    /// The largest packet that arrived on the same connection all the same, bytes.
    pub arrived: u32,
}

/// A probe of a round.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Its number on its connection.
    Sent(usize),
    /// It exceeds the interface's MTU.
    TooBigHere,
    /// It was not sent: the connection is over.
    NotSent,
}

/// Where no round trip is known.
const UNKNOWN_RTT: Duration = Duration::from_secs(1);
/// The most time between two packets of a round: what a slow link takes for one.
const MOST_GAP: Duration = Duration::from_millis(10);
/// For so long, at least, an answer is waited for after that of a later probe has come.
const LEAST_GRACE: Duration = Duration::from_millis(20);
/// So much is added to two round trips when nothing is answered.
const ALLOWANCE: Duration = Duration::from_millis(200);

impl RawProber {
    /// Sends probes in this order, waits for answers, and tells what became of each, but for those of which nothing can be told. What is
    /// not answered although a later one of its connection is, is lost or too big.
    ///
    /// # Errors
    /// A system call fails; too large a packet is no error.
    pub fn round(
        &mut self,
        probes: &[RawProbe],
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<Vec<RawFate>> {
        let names = |prober: &Self, flow: usize| {
            prober.connections.get(flow).is_some_and(Connection::names_bytes)
        };
        let unnamed = |prober: &Self, flow: usize| {
            prober.connections.get(flow).map_or(0, Connection::unnamed)
        };
        let before: Vec<(bool, u32)> =
            (0..self.flows()).map(|flow| (names(self, flow), unnamed(self, flow))).collect();
        let mut places = Vec::with_capacity(probes.len());
        for (number, probe) in probes.iter().enumerate() {
            if is_over() {
                break;
            }
            let is_alone = before.get(probe.flow).is_some_and(|(names, _)| !names);
            let place = if !is_alone || probe.hop.is_some() {
                self.send(probe, false)?
            } else {
                self.send_alone(probe, is_over)?
            };
            places.push((*probe, place));
            if number + 1 < probes.len() {
                self.pause()?;
            }
        }
        self.wait_for_answers(&places, is_over)?;
        // Answers that named nothing may have been those of probes that seem silent: these show nothing then.
        let is_doubtful = |fate: &RawFate| {
            let flow = fate.probe.flow;
            let is_silent = matches!(fate.fate, ProbeFate::NoAnswer | ProbeFate::TooBig(_));
            let was = before.get(flow).copied().unwrap_or_default();
            is_silent && was.0 && fate.probe.hop.is_none() && unnamed(self, flow) > was.1
        };
        let fates = places.iter().map(|(probe, place)| self.fate(*probe, *place));
        Ok(fates.filter(|fate| !is_doubtful(fate)).collect())
    }

    /// Messages of routers that arrivals contradict.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let mut found: Vec<Contradiction> = Vec::new();
        for connection in &self.connections {
            let Some(arrived) = connection.largest_arrived() else { continue };
            let refusals = connection.probes_from(0).iter().filter_map(|sent| sent.refused);
            for (router, stated_mtu) in refusals.filter(|(_, mtu)| *mtu > 0 && *mtu < arrived) {
                let contradiction = Contradiction { router, stated_mtu, arrived };
                if !found.contains(&contradiction) {
                    found.push(contradiction);
                }
            }
        }
        found
    }

    /// What routers have said of packets on a connection that did not arrive, with their sizes; late messages included.
    pub fn refusals(&self, flow: usize) -> Vec<(u32, Refusal)> {
        let sent = self.connections.get(flow).map_or(&[][..], |one| one.probes_from(0));
        let silent = sent.iter().filter(|sent| sent.arrived.is_none());
        let of = |sent: &Sent| {
            let (router, mtu) = sent.refused?;
            Some((sent.probe.size, Refusal { router: Some(router), mtu, hop: None }))
        };
        silent.filter_map(of).collect()
    }

    fn send(&mut self, probe: &RawProbe, is_alone: bool) -> io::Result<Place> {
        if probe.size > self.interface_mtu {
            return Ok(Place::TooBigHere);
        }
        let Some(connection) = self.connections.get_mut(probe.flow).filter(|one| one.is_seen())
        else {
            return Ok(Place::NotSent);
        };
        let Some(made) = connection.packet(probe) else { return Ok(Place::NotSent) };
        let (segment, packet) = made.map_err(io::Error::other)?;
        let Some(link) = connection.link.clone() else { return Ok(Place::NotSent) };
        let mut frame = link.bytes;
        frame.extend_from_slice(&packet);
        let number = connection.count();
        connection.on_sent(*probe, &segment, is_alone, Instant::now());
        match self.socket.send(link.interface, link.protocol, &frame) {
            Ok(()) => {
                self.sent.packets += 1;
                self.sent.bytes += u64::from(probe.size);
                Ok(Place::Sent(number))
            }
            Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => Ok(Place::TooBigHere),
            // The queue of the interface is full: as good as lost on the way.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(Place::Sent(number)),
            Err(error) => Err(error),
        }
    }

    /// Sends a probe whose answer will name no bytes: nothing else is on the way, and it has arrived only if a second one is
    /// answered as well, since the network may double an acknowledgement.
    fn send_alone(&mut self, probe: &RawProbe, is_over: &dyn Fn() -> bool) -> io::Result<Place> {
        let mut place = Place::NotSent;
        for _ in 0..2 {
            place = self.send(probe, true)?;
            self.wait_for_answers(&[(*probe, place)], is_over)?;
            self.drain(probe.flow, is_over)?;
            let Place::Sent(number) = place else { break };
            if self.sent_probe(probe.flow, number).is_none_or(|sent| sent.arrived.is_none()) {
                break;
            }
        }
        Ok(place)
    }

    /// Waits until a doubled answer would have come.
    fn drain(&mut self, flow: usize, is_over: &dyn Fn() -> bool) -> io::Result<()> {
        let end = Instant::now() + self.grace(flow);
        while Instant::now() < end && !is_over() {
            self.wait_until(end)?;
            self.read()?;
        }
        Ok(())
    }

    /// Time between two packets: a burst may fill a queue, and what is dropped for that looks too big.
    fn pause(&mut self) -> io::Result<()> {
        let fastest = self.connections.iter().filter_map(Connection::handshake).min();
        let gap = (fastest.unwrap_or(UNKNOWN_RTT) / 8).min(MOST_GAP);
        let end = Instant::now() + gap;
        while Instant::now() < end {
            self.wait_until(end)?;
            self.read()?;
        }
        Ok(())
    }

    fn wait_for_answers(
        &mut self,
        places: &[(RawProbe, Place)],
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        loop {
            self.read()?;
            let now = Instant::now();
            let until = places.iter().filter_map(|(probe, place)| self.waits_until(probe, *place));
            let Some(end) = until.max().filter(|end| *end > now && !is_over()) else {
                return Ok(());
            };
            self.wait_until(end.min(now + Duration::from_millis(50)))?;
        }
    }

    /// Until when an answer to this probe is waited for; `None` once there is one, or none can come.
    fn waits_until(&self, probe: &RawProbe, place: Place) -> Option<Instant> {
        let Place::Sent(number) = place else { return None };
        let connection = self.connections.get(probe.flow).filter(|one| !one.is_over())?;
        let sent = connection.probe(number).filter(|sent| sent.arrived.is_none())?;
        let later = connection.probes_from(number + 1).iter();
        let answered =
            later.filter(|later| later.probe.hop == probe.hop).filter_map(Sent::answered_at);
        let slowest = connection.slowest().unwrap_or(UNKNOWN_RTT);
        let at_most = sent.at() + slowest * 2 + ALLOWANCE;
        Some(answered.min().map_or(at_most, |first| at_most.min(first + self.grace(probe.flow))))
    }

    fn grace(&self, flow: usize) -> Duration {
        let slowest = self.connections.get(flow).and_then(Connection::slowest);
        (slowest.unwrap_or(UNKNOWN_RTT) / 2).max(LEAST_GRACE)
    }

    fn sent_probe(&self, flow: usize, number: usize) -> Option<&Sent> {
        self.connections.get(flow)?.probe(number)
    }

    fn fate(&self, probe: RawProbe, place: Place) -> RawFate {
        let none = |fate| RawFate { probe, fate, from: None, rtt: None };
        let number = match place {
            Place::Sent(number) => number,
            Place::TooBigHere => {
                return none(ProbeFate::LocalTooBig { mtu: Some(self.interface_mtu) });
            }
            Place::NotSent => return none(ProbeFate::NoAnswer),
        };
        let Some(sent) = self.sent_probe(probe.flow, number) else {
            return none(ProbeFate::NoAnswer);
        };
        match (sent.arrived, sent.refused) {
            (Some(answered), _) => RawFate {
                probe,
                fate: ProbeFate::Arrived,
                from: Some(match answered.by {
                    Answer::Destination => self.far.ip(),
                    Answer::Router(router) => router,
                }),
                rtt: Some(answered.rtt),
            },
            (None, Some((router, mtu))) => {
                let refusal = Refusal { router: Some(router), mtu, hop: None };
                RawFate { probe, fate: ProbeFate::TooBig(refusal), from: Some(router), rtt: None }
            }
            (None, None) => none(ProbeFate::NoAnswer),
        }
    }
}
