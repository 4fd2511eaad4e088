//! Routers' messages that come to this host, and that it drops before its own sockets receive them.

use std::time::Duration;

use maxseg_core::path_mtu::Refusal;
use maxseg_linux::probe::{Dropper, Prober, RoundEnd, TooBig, TooBigWatch, undelivered};

use super::{Probing, Which, probe};
use crate::path::{DroppedBy, DroppedHere, PathError};

/// What a limit of a firewall's or a router's rule leaves of messages is more than nothing after so long: routers answer one a second
/// (`icmp_ratelimit`), and rules of firewalls allow no fewer.
const PAUSE: Duration = Duration::from_millis(1100);
/// Rounds with a pause before each, none of whose messages may be received.
const ROUNDS: u32 = 3;
/// So many messages, at least, have to be missed.
const LEAST_MISSED: usize = 3;
/// Packets that are too big in each of these rounds.
const TIMES: usize = 2;

/// The protocol and the source port of a packet that is too big.
pub(in crate::path) type Own = (u8, u16);
/// Sends packets of a size once more.
pub(in crate::path) type Again<'a, P> = dyn FnMut(&mut P, &[u32]) -> Result<(), PathError> + 'a;

impl Probing<'_> {
    /// Reads the messages that have come.
    pub(super) fn heed(&mut self) -> Result<(), PathError> {
        match &mut self.watch {
            Some(watch) => {
                watch.collect().map_err(|source| PathError::socket("hear messages", source))
            }
            None => Ok(()),
        }
    }

    /// What this host drops of the messages about packets of these ports that are larger than what `arrives`; `None` where sockets
    /// receive any, none came, or nobody can tell. Before it says so, the packets are sent again in several seconds.
    pub(in crate::path) fn dropped_here(
        &mut self,
        own: &[Own],
        arrives: u32,
        again: &mut Again<'_, Self>,
    ) -> Result<Option<DroppedHere>, PathError> {
        self.heed()?;
        let missed = self.missed(own, arrives);
        let Some(first) = missed.iter().min_by_key(|message| message.mtu).copied() else {
            return Ok(None);
        };
        self.observer.on_step("whether this host drops routers' messages");
        let before = missed.len();
        for _ in 0..ROUNDS {
            self.wait(PAUSE)?;
            again(self, &[first.about.size; TIMES])?;
            self.heed()?;
            if self.missed(own, arrives).is_empty() {
                return Ok(None);
            }
        }
        let missed = self.missed(own, arrives);
        let is_certain = missed.len() >= LEAST_MISSED && missed.len() > before;
        let dropper = self.watch.as_ref().map(|watch| watch.dropper(missed.len()));
        Ok(dropper.filter(|_| is_certain).map(|dropper| DroppedHere {
            router: Some(first.from),
            hop: self.numbers().get(&first.from).copied(),
            stated_mtu_bytes: first.mtu,
            size_bytes: first.about.size,
            messages: missed.len(),
            is_certain: true,
            by: match dropper {
                Dropper::Firewall => DroppedBy::Firewall,
                Dropper::ReversePathFilter => DroppedBy::ReversePathFilter,
            },
            interface: first.interface_name(),
        }))
    }

    /// The same of what this prober has sent.
    pub(in crate::path) fn dropped_datagrams(
        &mut self,
        which: Which,
        arrives: u32,
    ) -> Result<Option<DroppedHere>, PathError> {
        let own: Vec<Own> = self.prober(which).map(Prober::own).into_iter().collect();
        let mut again = |probing: &mut Self, sizes: &[u32]| {
            let probes: Vec<_> = sizes.iter().map(|size| probe(*size)).collect();
            probing.round(which, &probes, RoundEnd::AllAnswered).map(drop)
        };
        self.dropped_here(&own, arrives, &mut again)
    }

    /// The same as far as an ordinary user can tell: whether packets come to this host and to none of its protocols whenever packets of
    /// this size are sent, and at no other time.
    pub(in crate::path) fn likely_dropped(
        &mut self,
        which: Which,
        size: u32,
    ) -> Result<Option<usize>, PathError> {
        let is_v4 = self.to.is_ipv4();
        let Some(mut before) = undelivered(is_v4) else { return Ok(None) };
        let mut missed = 0;
        for _ in 0..ROUNDS {
            self.round(which, &[probe(size); TIMES], RoundEnd::AllAnswered)?;
            let Some(after) = undelivered(is_v4) else { return Ok(None) };
            if after <= before {
                return Ok(None);
            }
            missed += usize::try_from(after - before).unwrap_or(0);
            self.wait(PAUSE)?;
            let Some(later) = undelivered(is_v4) else { return Ok(None) };
            if later != after {
                return Ok(None);
            }
            before = later;
        }
        Ok(Some(missed))
    }

    /// Messages about larger packets of these ports that no socket has received; none where a socket has received one.
    fn missed(&self, own: &[Own], arrives: u32) -> Vec<TooBig> {
        let is_own = |message: &TooBig| {
            let about = message.about;
            own.contains(&(about.protocol, about.port)) && about.size > arrives
        };
        let messages = self.watch.iter().flat_map(TooBigWatch::messages);
        let found: Vec<TooBig> = messages.filter(is_own).collect();
        if found.iter().any(|message| message.is_received) { Vec::new() } else { found }
    }
}

impl DroppedHere {
    /// The message, with the size that it is about.
    pub(in crate::path) const fn refusal(&self) -> (u32, Refusal) {
        let refusal = Refusal { router: self.router, mtu: self.stated_mtu_bytes, hop: self.hop };
        (self.size_bytes, refusal)
    }
}
