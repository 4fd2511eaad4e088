//! What tshark takes from a segment's options.

use super::half::{before, up_to};
use super::mptcp::Operation;
use crate::flow::Seen;
use crate::options::{Item, MOST, RawOption, kind, walk};
use crate::tcp::Flags;

/// Kinds for experiments (RFC 6994).
const EXPERIMENTS: [u8; 2] = [253, 254];
/// The experiment that was fast open (RFC 7413 §4.1.1 names its number).
const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];
/// SACK blocks whose bytes are taken off those in flight.
const BLOCKS_KEPT: usize = 3;

/// One segment's options.
#[derive(Debug, Default)]
pub(super) struct TsharkOptions {
    pub(super) mss: Option<u16>,
    /// As it stands.
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    pub(super) timestamps: bool,
    pub(super) sack: Option<Sack>,
    /// A fast open cookie, not only the wish for one.
    pub(super) tfo_cookie: bool,
    pub(super) mptcp: Vec<Operation>,
}

/// SACK blocks, at least one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sack {
    /// In the first [`BLOCKS_KEPT`].
    pub(super) bytes: u32,
    /// A D-SACK.
    pub(super) reports_duplicate: bool,
}

impl TsharkOptions {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let mut options = Self::default();
        // What the capture did not keep is zeros here, and not looked at.
        let mut whole = [0; MOST];
        let kept = seen.options.get(..MOST).unwrap_or(seen.options);
        whole.iter_mut().zip(kept).for_each(|(place, byte)| *place = *byte);
        let whole = whole.get(..seen.options_len.into()).unwrap_or(&whole);
        let mut left = kept.len();
        for item in walk(whole) {
            match item {
                Item::Option(raw) if left >= raw.length() => options.take(raw, seen),
                Item::Option(raw) => return options.take_part(raw, left, seen),
                _ if left == 0 => return options,
                Item::EndOfList
                | Item::NoOperation
                | Item::Truncated
                | Item::BadLength
                | Item::NotCaptured(_) => {}
            }
            left -= if let Item::Option(raw) = item { raw.length() } else { 1 };
        }
        options
    }

    /// Of an option that the capture cut, SACK blocks count as far as they are whole.
    fn take_part(mut self, raw: RawOption<'_>, left: usize, seen: &Seen<'_>) -> Self {
        let data = raw.data.get(..left.saturating_sub(2)).unwrap_or_default();
        if raw.kind == kind::SACK {
            let sack = Sack::of(data, seen);
            self.sack = sack.map(|sack| Sack { reports_duplicate: false, ..sack });
        }
        self
    }

    fn take(&mut self, raw: RawOption<'_>, seen: &Seen<'_>) {
        match (raw.kind, raw.data) {
            (kind::MSS, [a, b]) => self.mss = self.mss.or(Some(u16::from_be_bytes([*a, *b]))),
            (kind::WINDOW_SCALE, [shift]) => self.window_scale = Some(*shift),
            (kind::SACK_PERMITTED, []) => self.sack_permitted = true,
            (kind::TIMESTAMPS, data) => self.timestamps |= data.len() == 8,
            (kind::SACK, data) => self.sack = Sack::of(data, seen),
            (kind::FAST_OPEN, data) => self.tfo_cookie |= !data.is_empty(),
            (kind::MULTIPATH, data) => self.mptcp.extend(Operation::of(data)),
            (other, [a, b, cookie @ ..]) if EXPERIMENTS.contains(&other) => {
                self.tfo_cookie |= [*a, *b] == FAST_OPEN_EXPERIMENT && !cookie.is_empty();
            }
            _ => {}
        }
    }
}

impl Sack {
    fn of(data: &[u8], seen: &Seen<'_>) -> Option<Self> {
        let number = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes);
        let (numbers, _) = data.as_chunks::<4>();
        let (pairs, _) = numbers.as_chunks::<2>();
        let mut blocks = pairs.iter().map(|[left, right]| (number(left), number(right)));
        let kept = blocks.clone().take(BLOCKS_KEPT);
        let bytes = kept.map(|(left, right)| right.wrapping_sub(left)).fold(0, u32::wrapping_add);
        let (first, second) = (blocks.next()?, blocks.next());
        Some(Self { bytes, reports_duplicate: reports_duplicate(first, second, seen) })
    }
}

/// RFC 2883 §4: the first block lies below the acknowledgement, or within the second.
fn reports_duplicate(first: (u32, u32), second: Option<(u32, u32)>, seen: &Seen<'_>) -> bool {
    let acknowledged = seen.flags.contains(Flags::ACK) && up_to(first.1, seen.ack);
    let within = second.is_some_and(|(left, right)| before(left, first.1) && up_to(first.1, right));
    acknowledged || within
}
