//! Which payload full segments have, also where packets were captured before they were cut up, or after they were joined.

use serde::{Deserialize, Serialize};

/// Sizes of segments, those that carried most bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sizes {
    /// A few sizes and their bytes (Misra and Gries: what has more than a fifth of the bytes is among them).
    most: [Size; 4],
    pub(super) largest: u32,
    /// Packets with more payload than a frame of Ethernet carries.
    large: u32,
}

/// A size and the bytes that were sent in it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(from = "(u32, u64)", into = "(u32, u64)")]
struct Size {
    payload: u32,
    bytes: u64,
    /// Whether a packet of it was not pushed out: it is no rest of something that was written.
    goes_on: bool,
}

/// In little memory: whether it goes on is the lowest bit.
impl From<Size> for (u32, u64) {
    fn from(Size { payload, bytes, goes_on }: Size) -> Self {
        (payload, bytes << 1 | u64::from(goes_on))
    }
}

impl From<(u32, u64)> for Size {
    fn from((payload, packed): (u32, u64)) -> Self {
        Self { payload, bytes: packed >> 1, goes_on: packed & 1 == 1 }
    }
}

/// What bounds the payload of a segment, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// By the other end's MSS option; `None` where it is not known.
    pub(super) allowed: Option<u32>,
    /// By the sender's own option, which shows its link, or a router that clamps it.
    pub(super) own: Option<u32>,
    /// What fills a frame of Ethernet.
    pub(super) ethernet: u32,
}

/// What a full segment carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full {
    pub(super) payload: u32,
    /// Packets that are known to be several segments by this size; 0 where the MSS option alone shows that.
    pub(super) joined: u32,
}

/// Payload of a frame of Ethernet without options of TCP, in bytes: what is larger may be several segments.
const ETHERNET: u32 = 1460;
/// Payload of a jumbo frame, in bytes: where no MSS option was captured, no segment is larger.
pub(super) const JUMBO: u32 = 9000;
/// No full segment is smaller: the MSS of every path, less timestamps, and some more.
const LEAST: u32 = 500;
/// Where packets may be jumbo frames as well, only such segments are told by their multiples: most paths have an MTU near that of
/// Ethernet, less a tunnel's headers, and writes of 512 or 1024 bytes have common divisors, too.
const USUAL: std::ops::RangeInclusive<u32> = 1200..=ETHERNET;
/// The bytes that are multiples of a segment are at least this part of all.
const MULTIPLES: (u64, u64) = (3, 4);
/// Fewer bytes, one in so many, are the chance of a few odd packets.
const FEW: u64 = 50;

impl Sizes {
    pub(super) fn add(&mut self, payload: i64, is_pushed: bool) {
        let size = u32::try_from(payload).unwrap_or(0);
        self.largest = self.largest.max(size);
        self.large += u32::from(size > ETHERNET);
        // A segment that was pushed out may be the rest of something: it counts, but less.
        let weight = if is_pushed { u64::from(size) / 2 } else { u64::from(size) };
        if let Some(known) = self.most.iter_mut().find(|known| known.payload == size) {
            known.bytes += weight;
            known.goes_on |= !is_pushed;
            return;
        }
        let Some(least) = self.most.iter_mut().min_by_key(|known| known.bytes) else { return };
        if least.bytes <= weight {
            let bytes = weight - least.bytes + 1;
            *least = Size { payload: size, bytes, goes_on: !is_pushed };
        } else {
            for known in &mut self.most {
                known.bytes = known.bytes.saturating_sub(weight);
            }
        }
    }

    /// What full segments carry: the size in which most bytes were sent, or the segment that packets of this size are multiples of.
    /// What the network card has still to cut up without showing its segments counts as what the other end allows.
    pub(super) fn full(&self, bounds: Bounds) -> Option<Full> {
        let mode = self.most.iter().max_by_key(|known| known.bytes)?;
        if mode.bytes == 0 {
            return None;
        }
        let allowed = bounds.allowed.unwrap_or(u32::MAX);
        let alone = Full { payload: mode.payload.min(allowed), joined: 0 };
        let is_whole = usual_part(mode.payload, bounds) == mode.payload;
        if self.largest <= ETHERNET && alone.payload == mode.payload && is_whole {
            return Some(alone);
        }
        let unit = self.unit(bounds).filter(|unit| *unit <= mode.payload);
        // What is no multiple of the size of most bytes does not make that size another.
        let is_plain = mode.payload <= ETHERNET.min(alone.payload);
        let unit =
            unit.filter(|unit| !is_plain || *unit == mode.payload || Some(*unit) == bounds.own);
        Some(unit.map_or(alone, |payload| Full { payload, joined: self.joined(payload, *mode) }))
    }

    /// Packets that are several segments of this payload, at least.
    fn joined(&self, payload: u32, mode: Size) -> u32 {
        let large = if payload <= ETHERNET { self.large } else { 0 };
        let of_mode = if mode.payload > payload { mode.bytes / u64::from(mode.payload) } else { 0 };
        large.max(u32::try_from(of_mode).unwrap_or(u32::MAX))
    }

    /// The segment that most packets are whole multiples of: cards and kernels cut a packet into equal segments, and join only
    /// equal ones.
    fn unit(&self, bounds: Bounds) -> Option<u32> {
        let most = bounds.allowed.unwrap_or(JUMBO);
        let sizes = self.most.iter().filter(|known| known.bytes > 0);
        let sizes: Vec<Size> = sizes.copied().collect();
        let share = |unit: u32| -> u64 {
            sizes.iter().filter(|it| it.payload % unit == 0).map(|it| it.bytes).sum()
        };
        let all: u64 = sizes.iter().map(|known| known.bytes).sum();
        let parts = sizes.iter().flat_map(|known| {
            let counts = 1..=known.payload / LEAST;
            counts.filter(|count| known.payload % count == 0).map(|count| known.payload / count)
        });
        let parts: Vec<(u32, u64)> =
            parts.filter(|part| *part <= most).map(|part| (part, share(part))).collect();
        let best = parts.iter().map(|(_, share)| *share).max()?;
        let common = parts.into_iter().filter(|(_, share)| share + all / FEW >= best);
        let (unit, share) = common.max_by_key(|(part, _)| *part)?;
        if share * MULTIPLES.1 < all * MULTIPLES.0 {
            return None;
        }
        let unit = usual_part(unit, bounds);
        if Some(unit) == bounds.own || unit == bounds.ethernet {
            return Some(unit);
        }
        let differ = multiples_differ(&sizes, unit);
        let is_shown = if self.largest > most {
            // Beyond what the other end allows packets are joined: one that is pushed out may end with the rest of a write.
            differ || sizes.iter().any(|it| it.goes_on && it.payload % unit == 0)
        } else {
            // Below it they may be what was written.
            differ && USUAL.contains(&unit)
        };
        is_shown.then_some(unit)
    }
}

/// Whether the packets are not all multiples of a multiple as well, as writes of 2500 bytes are where 1448 are allowed: 2896 and
/// 4344 are of 1448 alone.
fn multiples_differ(sizes: &[Size], unit: u32) -> bool {
    let of_unit = sizes.iter().filter(|known| known.payload % unit == 0);
    of_unit.map(|known| known.payload / unit).fold(0, common_divisor) == 1
}

/// Where all packets are the same few segments, a multiple of the segment divides them as well: what fills the sender's frames, or
/// Ethernet's, is likelier than a frame between these and jumbo frames.
fn usual_part(unit: u32, bounds: Bounds) -> u32 {
    let usual = [bounds.own, Some(bounds.ethernet)].into_iter().flatten();
    let mut parts =
        usual.filter(|part| *part >= LEAST && *part < unit && unit.is_multiple_of(*part));
    parts.next().unwrap_or(unit)
}

const fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of so many packets of each size, the last of each pushed out where `pushed`.
    fn told(allowed: Option<u32>, own: Option<u32>, sizes: &[(i64, u32)], pushed: bool) -> Full {
        let mut all = Sizes::default();
        for n in 0..sizes.iter().map(|(_, count)| *count).max().unwrap() {
            for (size, count) in sizes {
                if n % (sizes[0].1 / count).max(1) == 0 {
                    all.add(*size, pushed);
                }
            }
        }
        all.full(Bounds { allowed, own, ethernet: 1448 }).unwrap()
    }

    fn payload(allowed: Option<u32>, own: Option<u32>, sizes: &[(i64, u32)]) -> u32 {
        told(allowed, own, sizes, false).payload
    }

    #[test]
    fn sizes_of_joined_packets_are_multiples_of_a_segment() {
        let jumbo = Some(8948);
        assert_eq!(payload(Some(1448), Some(1448), &[(2896, 100)]), 1448);
        assert_eq!(payload(Some(1448), Some(1248), &[(2496, 90), (3744, 60), (1248, 20)]), 1248);
        assert_eq!(payload(Some(1448), Some(1448), &[(2496, 90), (3744, 40), (4992, 4)]), 1248);
        assert_eq!(
            payload(Some(1448), Some(1448), &[(2496, 90)]),
            1248,
            "the largest that is allowed"
        );
        assert_eq!(payload(jumbo, jumbo, &[(2892, 80), (4338, 20), (1446, 5), (23_136, 1)]), 1446);
        assert_eq!(
            payload(jumbo, jumbo, &[(2896, 80), (5792, 20)]),
            1448,
            "fills a frame of Ethernet"
        );
        assert_eq!(payload(None, None, &[(2896, 80)]), 1448);
        assert_eq!(payload(None, None, &[(2896, 80), (4344, 40), (5792, 2)]), 1448);
        assert_eq!(payload(None, None, &[(2796, 80), (1398, 40)]), 1398);
    }

    /// What a sender's own option allows it may keep to, as where its route has an MSS.
    #[test]
    fn sizes_follow_the_senders_own_option() {
        let told = told(Some(1448), Some(536), &[(1072, 100)], false);
        assert_eq!((told.payload, told.joined), (536, 100));
        assert_eq!(payload(Some(1448), Some(536), &[(1072, 100), (2680, 9), (536, 9)]), 536);
        assert_eq!(payload(Some(1448), Some(536), &[(1448, 100), (1072, 2)]), 1448);
    }

    #[test]
    fn sizes_of_segments_that_were_not_joined_stay() {
        let jumbo = Some(8948);
        assert_eq!(payload(Some(1448), Some(1448), &[(1448, 90), (1176, 9), (904, 2)]), 1448);
        assert_eq!(payload(Some(1448), Some(1448), &[(1000, 90), (500, 20)]), 1000);
        assert_eq!(payload(jumbo, jumbo, &[(8948, 90), (4474, 1)]), 8948);
        assert_eq!(payload(jumbo, jumbo, &[(62_636, 90), (17_896, 9), (8948, 20)]), 8948);
        assert_eq!(payload(jumbo, jumbo, &[(8192, 90), (4096, 9)]), 8192, "what was written");
        assert_eq!(payload(Some(65_483), Some(65_483), &[(65_483, 9), (32_768, 9)]), 65_483);
    }

    /// A write of a program is pushed out whole: where it is larger than a segment, its length shows nothing of segments.
    #[test]
    fn sizes_of_writes_are_no_multiples() {
        let written = told(Some(1448), Some(1448), &[(2500, 90), (5000, 20)], true);
        assert_eq!(written, Full { payload: 1448, joined: 0 });
        let segments = told(Some(1448), Some(1448), &[(2496, 90), (3744, 60)], true);
        assert_eq!(segments.payload, 1248, "of which multiples differ");
        let halves = [(65_160, 59), (63_488, 59), (30_720, 59), (29_048, 59)];
        assert_eq!(payload(Some(1448), Some(1448), &halves), 1448);
    }

    #[test]
    fn sizes_tell_which_packets_were_joined() {
        assert_eq!(told(None, None, &[(2896, 80), (1448, 10)], false).joined, 80);
        assert_eq!(told(None, None, &[(1448, 80), (2896, 10)], false).joined, 10);
        assert_eq!(told(Some(8948), None, &[(1000, 800), (8948, 8)], false).joined, 0);
    }
}
