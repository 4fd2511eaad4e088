//! What earlier packets said that later ones are read with: where numbers begin, and the windows' scale.

use std::collections::HashMap;
use std::net::SocketAddr;

use maxseg_core::window::LARGEST_SHIFT;
use maxseg_wire::options::{TcpOption, walk};
use maxseg_wire::tcp::{Flags, Segment};

/// The connections that were seen lately.
///
/// Two generations: when the younger is full the older is forgotten, and so there is a limit to both without a
/// list in order of use. A connection that was forgotten is like one whose beginning was not seen.
#[derive(Debug, Default)]
pub(super) struct Connections {
    young: HashMap<Ends, Sides>,
    old: HashMap<Ends, Sides>,
}

/// Connections of a generation.
const GENERATION: usize = 1 << 15;

/// Both ends, the lesser first.
type Ends = [SocketAddr; 2];
/// What each of them said.
type Sides = [Side; 2];

#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// The number before its first byte: its SYN's.
    begin: Option<u32>,
    /// Of its SYN, if that was seen.
    offer: Option<Offer>,
}

/// The shift of windows that a SYN offers, if it does.
#[derive(Debug, Clone, Copy)]
struct Offer(Option<u8>);

/// A segment's numbers, as a reader wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Of the first payload byte, counted from the SYN's 0; where no SYN was seen, from 1 at the first byte seen.
    pub(super) seq: u32,
    /// Of the next byte expected, likewise.
    pub(super) ack: u32,
    /// Where the byte numbers of both directions begin: what to subtract, of the sender's and of the other's.
    pub(super) begins: [u32; 2],
    /// The window in bytes; `None` where the scale is not known, since a SYN was not seen.
    pub(super) window: Option<u32>,
}

impl Connections {
    /// Reads a segment in the light of those before, and learns from it.
    pub(super) fn read(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        segment: &Segment<'_>,
    ) -> Numbers {
        let [from, to] = if source <= destination { [0, 1] } else { [1, 0] };
        let ends = if from == 0 { [source, destination] } else { [destination, source] };
        let sides = self.sides(ends);
        let header = &segment.header;
        let is_syn = header.flags.contains(Flags::SYN);
        let is_ack = header.flags.contains(Flags::ACK);
        if is_syn && !is_ack && sides[from].begin != Some(header.seq) {
            *sides = Sides::default(); // another connection of the same ends
        }
        let before = if is_syn { header.seq } else { header.seq.wrapping_sub(1) };
        if is_syn {
            sides[from] = Side { begin: Some(before), offer: Some(Offer(offered_shift(segment))) };
        }
        let begin = *sides[from].begin.get_or_insert(before);
        let other = if is_ack {
            *sides[to].begin.get_or_insert(header.ack.wrapping_sub(1))
        } else {
            sides[to].begin.unwrap_or(0)
        };
        let shift = if is_syn { Some(0) } else { shift(sides, from) };
        Numbers {
            seq: header.seq.wrapping_sub(begin),
            ack: header.ack.wrapping_sub(other),
            begins: [begin, other],
            window: shift.map(|shift| u32::from(header.window) << shift),
        }
    }

    /// Where the byte numbers of one end begin, if a segment of it was seen or acknowledged.
    pub(super) fn begin(&self, source: SocketAddr, destination: SocketAddr) -> Option<u32> {
        let (of, ends) = if source <= destination {
            (0, [source, destination])
        } else {
            (1, [destination, source])
        };
        self.young.get(&ends).or_else(|| self.old.get(&ends))?[of].begin
    }

    fn sides(&mut self, ends: Ends) -> &mut Sides {
        if self.young.len() >= GENERATION && !self.young.contains_key(&ends) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = &mut self.old;
        self.young.entry(ends).or_insert_with(|| old.remove(&ends).unwrap_or_default())
    }
}

/// By how many bits the windows of one side are shifted: only if both have offered it (RFC 7323 §2.2).
fn shift(sides: &Sides, of: usize) -> Option<u8> {
    let offers = [sides[of].offer?, sides[1 - of].offer?];
    Some(match offers {
        [Offer(Some(own)), Offer(Some(_))] => own.min(LARGEST_SHIFT),
        [Offer(None), _] | [_, Offer(None)] => 0,
    })
}

fn offered_shift(segment: &Segment<'_>) -> Option<u8> {
    walk(segment.options).values().find_map(|option| match option {
        TcpOption::WindowScale(shift) => Some(shift),
        TcpOption::NoOperation
        | TcpOption::Mss(_)
        | TcpOption::SackPermitted
        | TcpOption::Sack(_)
        | TcpOption::Timestamps { .. }
        | TcpOption::FastOpen(_)
        | TcpOption::Md5(_)
        | TcpOption::Ao { .. }
        | TcpOption::Other { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(header: maxseg_wire::tcp::Tcp, options: &[u8]) -> Segment<'_> {
        let checksum = maxseg_wire::Checksum::Unknown;
        Segment { header, options, payload: &[], payload_len: 0, checksum }
    }

    /// The numbers of a segment from one end to the other.
    fn read(
        known: &mut Connections,
        to_b: bool,
        flags: Flags,
        seq: u32,
        ack: u32,
        options: &[u8],
    ) -> (u32, u32, Option<u32>) {
        let (a, b) = ("10.0.0.1:5".parse().unwrap(), "10.0.0.2:80".parse().unwrap());
        let header = maxseg_wire::tcp::Tcp { flags, seq, ack, window: 100, ..Default::default() };
        let (from, to) = if to_b { (a, b) } else { (b, a) };
        let numbers = known.read(from, to, &segment(header, options));
        (numbers.seq, numbers.ack, numbers.window)
    }

    #[test]
    fn numbers_begin_with_the_handshake_and_windows_are_scaled_by_it() {
        let mut known = Connections::default();
        let syn_ack = Flags::SYN | Flags::ACK;
        let first = u32::MAX - 1;
        assert_eq!(read(&mut known, true, Flags::SYN, first, 0, &[3, 3, 7]), (0, 0, Some(100)));
        assert_eq!(
            read(&mut known, false, syn_ack, 500, first.wrapping_add(1), &[3, 3, 20]),
            (0, 1, Some(100))
        );
        assert_eq!(
            read(&mut known, true, Flags::ACK, first.wrapping_add(11), 501, &[]),
            (11, 1, Some(12_800))
        );
        // 20 counts as 14.
        assert_eq!(
            read(&mut known, false, Flags::ACK, 501, first.wrapping_add(11), &[]),
            (1, 11, Some(100 << 14))
        );
        // The same ends begin anew, without an offer.
        assert_eq!(read(&mut known, true, Flags::SYN, 9000, 0, &[]), (0, 0, Some(100)));
        assert_eq!(read(&mut known, false, syn_ack, 70, 9001, &[3, 3, 7]), (0, 1, Some(100)));
        assert_eq!(read(&mut known, false, Flags::ACK, 71, 9001, &[]), (1, 1, Some(100)));
    }

    #[test]
    fn what_began_unseen_counts_from_one_and_keeps_its_scale_to_itself() {
        let mut known = Connections::default();
        assert_eq!(read(&mut known, true, Flags::ACK, 700, 90, &[]), (1, 1, None));
        assert_eq!(read(&mut known, false, Flags::ACK, 190, 710, &[]), (101, 11, None));
    }

    #[test]
    fn there_is_a_limit_to_what_is_remembered() {
        let mut known = Connections::default();
        let to = "10.0.0.2:80".parse().unwrap();
        for n in 0..3 * GENERATION {
            let from = SocketAddr::from((std::net::Ipv6Addr::from(n as u128), 1));
            known.read(from, to, &segment(maxseg_wire::tcp::Tcp::default(), &[]));
            assert!(known.young.len() + known.old.len() <= 2 * GENERATION);
        }
    }
}
