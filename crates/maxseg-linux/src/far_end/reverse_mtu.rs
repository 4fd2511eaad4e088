//! The path MTU of the way back: the responder sends datagrams of several sizes with DF set, and what arrives here counts.

use std::time::{Duration, Instant};

use maxseg_wire::responder::Message;

use super::FarEndError;
use super::responder::ResponderClient;
use crate::transfer::datagram_headers;

/// Sizes that are tried at once: eight bring 9000 down to one in five rounds.
const SIZES: u16 = 8;
/// Datagrams of each size in a round.
const COPIES: usize = 2;
/// Rounds in which the least size that did not arrive is tried again before it counts as too large.
const AGAIN: usize = 3;
/// Every path carries it (RFC 8200 §5 for IPv6; RFC 791 §3.2 for IPv4).
const LEAST_V6: u16 = 1280;
const LEAST_V4: u16 = 68;

/// What the datagrams of the way back showed, in bytes of IP packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReverseMtu {
    /// The largest that arrived.
    pub largest_arrived: u16,
    /// The least that never did; `None` where the largest that the responder's interface sends arrived.
    pub least_lost: Option<u16>,
    /// Datagrams that were sent.
    pub sent: u32,
}

impl ResponderClient<'_> {
    /// Finds it, up to `most` bytes; `None` where not even small datagrams arrive.
    ///
    /// # Errors
    /// No answer.
    pub fn reverse_mtu(
        &mut self,
        most: u16,
        trip: Duration,
    ) -> Result<Option<ReverseMtu>, FarEndError> {
        if !self.open_datagrams()? {
            return Ok(None);
        }
        let least = if self.ip().to_canonical().is_ipv4() { LEAST_V4 } else { LEAST_V6 };
        let mut search = Search { arrived: None, lost: None, unsendable: None, sent: 0 };
        let wait = trip * 2 + Duration::from_millis(60);
        // The usual answer first: the largest size arrives.
        self.round(&mut search, &[least, most], wait)?;
        let mut tries = 0;
        while let Some(sizes) = search.next(least, most) {
            let before = search.bounds(most);
            self.round(&mut search, &sizes, wait)?;
            tries = if search.bounds(most) == before { tries + 1 } else { 0 };
            if tries >= 2 * AGAIN {
                break;
            }
        }
        // Loss must not look like a limit: the least that did not arrive is tried again.
        for _ in 0..AGAIN {
            let Some(lost) = search.lost else { break };
            self.round(&mut search, &[lost], wait)?;
            if search.lost != Some(lost) {
                while let Some(sizes) = search.next(least, most) {
                    let before = search.bounds(most);
                    self.round(&mut search, &sizes, wait)?;
                    if search.bounds(most) == before {
                        break;
                    }
                }
            }
        }
        Ok(search.arrived.map(|largest_arrived| ReverseMtu {
            largest_arrived,
            least_lost: search.lost,
            sent: search.sent,
        }))
    }

    /// Opens the flow of UDP; whether a datagram of it has arrived at the responder.
    fn open_datagrams(&mut self) -> Result<bool, FarEndError> {
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

    /// Has these sizes sent, and notes what arrives.
    fn round(
        &mut self,
        search: &mut Search,
        sizes: &[u16],
        wait: Duration,
    ) -> Result<(), FarEndError> {
        self.datagrams()?;
        let asked: Vec<u16> =
            sizes.iter().flat_map(|size| std::iter::repeat_n(*size, COPIES)).collect();
        let Message::Probed(sent) = self.ask(&Message::ProbeBack(asked))? else {
            return Err(self.unexpected());
        };
        search.sent += u32::try_from(sent.len()).unwrap_or(u32::MAX);
        let key = self.datagram_key();
        let header = datagram_headers(self.ip());
        let socket = self.datagrams()?;
        let (began, mut room) = (Instant::now(), vec![0; 1 << 16]);
        let mut missing: Vec<u16> = sent.clone();
        while !missing.is_empty() && began.elapsed() < wait {
            let Ok(length) = socket.recv(&mut room) else { continue };
            let size = u16::try_from(length + header).unwrap_or(u16::MAX);
            if room[..length].starts_with(&key) {
                search.on_arrival(size);
                if let Some(at) = missing.iter().position(|one| *one == size) {
                    missing.swap_remove(at);
                }
            }
        }
        for &size in sizes {
            if !sent.contains(&size) {
                search.on_unsendable(size);
            } else if missing.iter().filter(|one| **one == size).count() == COPIES {
                search.on_loss(size);
            }
        }
        Ok(())
    }
}

/// What is known so far.
#[derive(Debug)]
struct Search {
    arrived: Option<u16>,
    lost: Option<u16>,
    /// The least that the responder's interface does not send.
    unsendable: Option<u16>,
    sent: u32,
}

impl Search {
    fn on_arrival(&mut self, size: u16) {
        self.arrived = self.arrived.max(Some(size));
        self.lost = self.lost.filter(|lost| *lost > size);
    }

    fn on_loss(&mut self, size: u16) {
        if self.arrived.is_none_or(|arrived| arrived < size) {
            self.lost = Some(self.lost.map_or(size, |lost| lost.min(size)));
        }
    }

    fn on_unsendable(&mut self, size: u16) {
        self.unsendable = Some(self.unsendable.map_or(size, |least| least.min(size)));
    }

    /// The largest size that may still arrive.
    fn bounds(&self, most: u16) -> (Option<u16>, u16) {
        let below = [self.lost, self.unsendable].into_iter().flatten().min();
        (self.arrived, below.map_or(most, |below| below.saturating_sub(1)))
    }

    /// Sizes between what arrives and what does not; `None` where there are none.
    fn next(&self, least: u16, most: u16) -> Option<Vec<u16>> {
        let (arrived, upper) = self.bounds(most);
        let lower = arrived.unwrap_or(least);
        if upper <= lower {
            return None;
        }
        let (span, parts) = (upper - lower, (upper - lower).min(SIZES));
        let at = |part: u16| {
            let step = u32::from(span) * u32::from(part) / u32::from(parts);
            lower.saturating_add(u16::try_from(step).unwrap_or(u16::MAX))
        };
        Some((1..=parts).map(at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_at_the_mtu_in_few_rounds() {
        for mtu in [576_u16, 1280, 1400, 1499, 1500, 8999] {
            let mut search = Search { arrived: Some(68), lost: None, unsendable: None, sent: 0 };
            let mut rounds = 0;
            while let Some(sizes) = search.next(68, 9000) {
                assert!(sizes.len() <= usize::from(SIZES), "{sizes:?}");
                for size in sizes {
                    if size <= mtu { search.on_arrival(size) } else { search.on_loss(size) }
                }
                rounds += 1;
            }
            assert_eq!((search.arrived, search.lost), (Some(mtu), Some(mtu + 1)));
            assert!(rounds <= 6, "{rounds} rounds for {mtu}");
        }
    }
}
