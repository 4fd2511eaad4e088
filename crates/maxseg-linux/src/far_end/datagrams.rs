//! Datagrams of many sizes with DF set, each way: the responder says which of this host's have arrived, and sends others back. What is
//! to be made of it `maxseg_core::path_mtu` decides.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{Probe, ProbeFate, Refusal};
use maxseg_wire::responder::Message;

use super::FarEndError;
use super::responder::ResponderClient;
use crate::probe::{ProbeKind, Prober, RoundEnd, Shot};
use crate::transfer::datagram_headers;

/// Messages of routers about sizes that arrived all the same.
pub type Contradicted = Vec<(u32, Refusal)>;

/// Sizes of a round with what became of each, in the order in which they were sent.
pub type SizeFates = Vec<(u32, ProbeFate)>;

impl ResponderClient<'_> {
    /// Opens the flow of UDP; whether a datagram of it has arrived at the responder.
    ///
    /// # Errors
    /// No answer.
    pub fn open_datagrams(&mut self) -> Result<bool, FarEndError> {
        /// Datagrams of 44 bytes: a path that loses so many in a row carries no UDP.
        const TRIES: usize = 20;
        for _ in 0..TRIES {
            self.datagrams()?;
            if !self.arrivals()?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Has packets of these sizes sent back, in this order, and waits for so long until all are here. `None` once the responder sends no
    /// more, as not even the last of them was sent.
    ///
    /// # Errors
    /// No answer.
    pub fn probe_back(
        &mut self,
        sizes: &[u32],
        wait: Duration,
    ) -> Result<Option<SizeFates>, FarEndError> {
        let key = self.datagram_key();
        let header = datagram_headers(self.ip());
        let late = received(self.datagrams()?, &key, header, &[], Duration::ZERO);
        let asked: Vec<u16> = sizes.iter().filter_map(|size| u16::try_from(*size).ok()).collect();
        let Message::Probed(sent) = self.ask(&Message::ProbeBack(asked.clone()))? else {
            return Err(self.unexpected());
        };
        if sent.last() != asked.last() {
            return Ok(None);
        }
        let mut arrived = received(self.datagrams()?, &key, header, &sent, wait);
        let mut fates: SizeFates =
            late.into_keys().map(|size| (size, ProbeFate::Arrived)).collect();
        for size in asked {
            let bytes = u32::from(size);
            let fate = if !sent.contains(&size) {
                ProbeFate::LocalTooBig { mtu: None }
            } else if take_one(&mut arrived, bytes) {
                ProbeFate::Arrived
            } else {
                ProbeFate::NoAnswer
            };
            fates.push((bytes, fate));
        }
        Ok(Some(fates))
    }

    /// What sends packets whose arrival the responder tells.
    ///
    /// # Errors
    /// There is no route.
    pub fn prober(&self) -> Result<Prober, FarEndError> {
        let (port, key) = (self.address().port(), self.datagram_key());
        Ok(Prober::new(self.ip(), ProbeKind::Keyed { port, key })?)
    }

    /// Sends packets of these sizes, in this order, and asks which have arrived. What routers say of them is heard for `wait`; what they
    /// said of a packet that arrived is apart.
    ///
    /// # Errors
    /// No answer.
    pub fn probe_forth(
        &mut self,
        prober: &mut Prober,
        sizes: &[u32],
        [pause, wait]: [Duration; 2],
        interface_mtu: u32,
    ) -> Result<(SizeFates, Contradicted), FarEndError> {
        let before: BTreeMap<u16, u32> = self.arrivals()?.into_iter().collect();
        let packets: Vec<Probe> =
            sizes.iter().map(|size| Probe { size: *size, hop: None }).collect();
        let round = prober.round(&packets, pause, wait, RoundEnd::AllAnswered, self.stop);
        let round = round.map_err(|error| {
            let is_stopped = error.kind() == ErrorKind::Interrupted;
            if is_stopped { FarEndError::Stopped } else { FarEndError::Io(error) }
        })?;
        let mut arrived: BTreeMap<u32, u32> = BTreeMap::new();
        for (size, count) in self.arrivals()? {
            let count = count.saturating_sub(before.get(&size).copied().unwrap_or(0));
            arrived.insert(size.into(), count);
        }
        let mut contradicted = Vec::new();
        let fate = |shot: &Shot| {
            let size = shot.probe.size;
            if take_one(&mut arrived, size) {
                contradicted.extend(shot.refusal.map(|refusal| (size, refusal)));
                (size, ProbeFate::Arrived)
            } else {
                (size, shot.fate(interface_mtu))
            }
        };
        let fates = round.shots.iter().map(fate).collect();
        Ok((fates, contradicted))
    }

    /// The path MTU to this host that the far end's kernel has learnt of routers, bytes; `None` where it has learnt none.
    ///
    /// # Errors
    /// No answer.
    pub fn learnt_there(&mut self) -> Result<Option<u32>, FarEndError> {
        let Message::Learnt(mtu) = self.ask(&Message::LearntQuestion)? else {
            return Err(self.unexpected());
        };
        Ok(Some(mtu).filter(|mtu| *mtu > 0))
    }
}

/// Takes one packet of a size from those that arrived; whether there was one.
fn take_one(arrived: &mut BTreeMap<u32, u32>, size: u32) -> bool {
    let count = arrived.get_mut(&size).filter(|count| **count > 0);
    count.map(|count| *count -= 1).is_some()
}

/// Sizes of the packets that come within `wait`, and how many of each; it ends once those that are due are here.
fn received(
    socket: &UdpSocket,
    key: &[u8],
    header: usize,
    due: &[u16],
    wait: Duration,
) -> BTreeMap<u32, u32> {
    let (began, mut room) = (Instant::now(), vec![0; 1 << 16]);
    let mut arrived = BTreeMap::new();
    let mut missing = due.to_vec();
    while wait.is_zero() || !missing.is_empty() && began.elapsed() < wait {
        // Within the socket's own timeout; an ICMP message about an earlier datagram ends a call as well.
        let Ok(length) = socket.recv(&mut room) else {
            if wait.is_zero() {
                break;
            }
            continue;
        };
        let size = u16::try_from(length + header).unwrap_or(u16::MAX);
        if room[..length].starts_with(key) {
            *arrived.entry(u32::from(size)).or_default() += 1;
            if let Some(at) = missing.iter().position(|one| *one == size) {
                missing.swap_remove(at);
            }
        }
    }
    arrived
}
