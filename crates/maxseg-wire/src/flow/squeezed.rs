//! The numbers of a packed connection in less memory: half of them are zero, for most of what may happen never does, and most
//! others are times that lie near each other.
//!
//! What is squeezed is a list of numbers as postcard writes them: seven bits in a byte, the lowest first, and the highest bit of each
//! byte but the last is set. Whatever else is among them comes back as well.
//!
//! ```text
//! bits of eight numbers: which are not zero │ these, one after the other: as they are │ 0, difference from the long one before
//! ```

/// Room for bytes, for reuse.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) bytes: Vec<u8>,
    squeezed: Vec<u8>,
}

/// Numbers that share a byte of bits.
const GROUP: usize = 8;
/// A number of so many bytes is long: a time. Those of this century have nine bytes, a time of a capture that counts from its own
/// begin has this many after a quarter of a second.
const LONG: usize = 5;
/// Most bytes of a number that is taken for a time.
const LONGEST: usize = 9;
/// Bytes from here on are followed by others of their number.
const GOES_ON: u8 = 0x80;
/// The bits that say so, of eight bytes.
const ALL_GO_ON: u64 = u64::from_ne_bytes([GOES_ON; 8]);

impl Room {
    /// The bytes, in less memory.
    pub(super) fn squeeze(&mut self) -> Box<[u8]> {
        let Self { bytes, squeezed } = self;
        let end = bytes.len();
        bytes.extend_from_slice(&[0; LONGEST]);
        squeezed.clear();
        let (mut at, mut count, mut bits_at, mut before) = (0, 0, 0, 0);
        while let Some(window) = window(bytes, at).filter(|_| at < end) {
            let place = count % GROUP;
            if place == 0 {
                bits_at = squeezed.len();
                squeezed.push(0);
            }
            count += 1;
            let first = window[0];
            if first == 0 {
                at += 1;
                continue;
            }
            if let Some(bits) = squeezed.get_mut(bits_at) {
                *bits |= 1 << place;
            }
            if first < GOES_ON {
                squeezed.push(first);
                at += 1;
                continue;
            }
            let Some(number) = Number::read(window) else {
                at += copy_long(bytes, at, squeezed);
                continue;
            };
            at += number.length;
            let time = number.time();
            let difference = time.map(|time| Number::difference(before, time));
            match difference.filter(|difference| difference.length + 1 < number.length) {
                Some(difference) => {
                    squeezed.push(0);
                    difference.write(squeezed);
                }
                None => number.write(squeezed),
            }
            before = time.unwrap_or(before);
        }
        Box::from(squeezed.as_slice())
    }
}

/// The bytes that were squeezed, and perhaps a few zeros behind them.
pub(super) fn expand(squeezed: &[u8]) -> Vec<u8> {
    let padded = [squeezed, &[0; LONGEST]].concat();
    let mut bytes = Vec::with_capacity(3 * squeezed.len());
    let (mut at, mut before) = (0, 0);
    while let Some(bits) = squeezed.get(at) {
        at += 1;
        if *bits == 0 {
            bytes.extend_from_slice(&[0; GROUP]);
            continue;
        }
        for place in 0..GROUP {
            let is_zero = bits >> place & 1 == 0;
            let first = if is_zero { None } else { padded.get(at) };
            let first = first.copied().unwrap_or(0);
            if is_zero || (1..GOES_ON).contains(&first) {
                bytes.push(first);
                at += usize::from(!is_zero);
                continue;
            }
            let is_difference = first == 0;
            at += usize::from(is_difference);
            let Some(number) = window(&padded, at).and_then(Number::read) else {
                at += copy_long(&padded, at, &mut bytes);
                continue;
            };
            at += number.length;
            let number = if is_difference { number.behind(before) } else { number };
            before = number.time().unwrap_or(before);
            number.write(&mut bytes);
        }
    }
    bytes
}

/// As many bytes as a number has that is taken for a time; behind all numbers there are so many.
#[inline]
fn window(bytes: &[u8], at: usize) -> Option<&[u8; LONGEST]> {
    bytes.get(at..)?.first_chunk()
}

/// Copies a number of more than [`LONGEST`] bytes; gives how many it has.
#[cold]
fn copy_long(bytes: &[u8], at: usize, to: &mut Vec<u8>) -> usize {
    let bytes = bytes.get(at..).unwrap_or_default();
    let length = bytes.iter().take_while(|byte| **byte >= GOES_ON).count() + 1;
    to.extend(bytes.iter().take(length));
    length
}

/// A number of at most [`LONGEST`] bytes.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: u64,
    /// Its bytes.
    length: usize,
}

impl Number {
    /// That of the first of these bytes; `None` where it has more of them.
    #[inline]
    fn read(window: &[u8; LONGEST]) -> Option<Self> {
        let [first, .., last] = *window;
        if first < GOES_ON {
            return Some(Self { value: first.into(), length: 1 });
        }
        let word = window.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let ends = !word & ALL_GO_ON;
        if ends == 0 {
            let value = joined(word) | u64::from(last) << 56;
            return (last < GOES_ON).then_some(Self { value, length: LONGEST });
        }
        let last_bit = ends.trailing_zeros();
        let value = joined(word & (u64::MAX >> (63 - last_bit)));
        Some(Self { value, length: (last_bit / 8 + 1) as usize })
    }

    /// In as few bytes as it takes.
    #[inline]
    const fn of(value: u64) -> Self {
        let bits = u64::BITS - (value | 1).leading_zeros();
        Self { value, length: bits.div_ceil(7) as usize }
    }

    /// How far a time is from the one before: small for what is near, on either side of it.
    #[inline]
    const fn difference(before: u64, time: u64) -> Self {
        let difference = time.wrapping_sub(before).cast_signed();
        Self::of((difference << 1 ^ difference >> 63).cast_unsigned())
    }

    /// The time that is so far from the one before.
    #[inline]
    const fn behind(self, before: u64) -> Self {
        let difference = self.value >> 1 ^ (self.value & 1).wrapping_neg();
        Self::of(before.wrapping_add(difference))
    }

    /// Itself where it is taken for a time: it is long, and as postcard writes it.
    #[inline]
    fn time(self) -> Option<u64> {
        let is_time = self.length >= LONG && self.value >> (7 * (self.length - 1)) > 0;
        is_time.then_some(self.value)
    }

    #[inline]
    fn write(self, to: &mut Vec<u8>) {
        if self.length == LONGEST {
            to.extend_from_slice(&(apart(self.value) | ALL_GO_ON).to_le_bytes());
            return to.push((self.value >> 56).to_le_bytes()[0]);
        }
        let behind_first = 8 * (self.length - 1);
        let word = apart(self.value) | ALL_GO_ON & ((1 << behind_first) - 1);
        to.extend_from_slice(&word.to_le_bytes());
        to.truncate(to.len() - (8 - self.length));
    }
}

/// The number of which each byte has seven bits, the lowest first.
#[inline]
const fn joined(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
    word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// Seven bits of a number in each byte.
#[inline]
const fn apart(number: u64) -> u64 {
    let word = number & 0x0fff_ffff | (number & 0x00ff_ffff_f000_0000) << 4;
    let word = word & 0x0000_3fff_0000_3fff | (word & 0x0fff_c000_0fff_c000) << 2;
    word & 0x007f_007f_007f_007f | (word & 0x3f80_3f80_3f80_3f80) << 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn squeezed(bytes: &[u8]) -> Box<[u8]> {
        Room { bytes: bytes.to_vec(), squeezed: Vec::new() }.squeeze()
    }

    fn assert_comes_back(bytes: &[u8]) {
        let expanded = expand(&squeezed(bytes));
        let (same, behind) = expanded.split_at(bytes.len());
        assert_eq!(same, bytes);
        assert!(behind.len() < GROUP + LONGEST && behind.iter().all(|byte| *byte == 0));
    }

    fn packed(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| postcard::to_allocvec(number).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn whatever_bytes_come_back(
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..200),
        ) {
            assert_comes_back(&bytes);
        }

        #[test]
        fn numbers_come_back(
            numbers in proptest::collection::vec(prop_oneof![
                Just(0),
                Just(u64::MAX),
                any::<u64>(),
                any::<u64>().prop_map(|it| it >> (it & 63)),
                (0..1_000_000_000_u64).prop_map(|it| 1_700_000_000_000_000_000 + it),
            ], 0..60),
        ) {
            assert_comes_back(&packed(&numbers));
        }
    }

    #[test]
    fn zeros_take_a_bit_and_times_their_difference() {
        assert_eq!(squeezed(&[0; 800]).len(), 100);
        let noon = 1_600_000_000_000_000_000;
        let times = packed(&[noon, noon + 50, 0, noon + 50, noon, 7]);
        assert_eq!(times.len(), 4 * 9 + 2);
        let bits = [0b11_1011].as_slice();
        let expected = [bits, &times[..9], &[0, 100, 0, 0, 0, 99, 7]].concat();
        assert_eq!(squeezed(&times).as_ref(), expected);
    }
}
