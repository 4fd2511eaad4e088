//! How a header's layout is written once and used in both directions.

use crate::{DecodeError, Layer};

/// A header of fixed length, as the list of its fields.
pub(crate) trait Layout: Clone + Default {
    /// Of which protocol, for errors.
    const LAYER: Layer;
    /// Bytes of all fields together.
    const LEN: usize;

    /// Passes over every field in the order of the wire.
    fn fields(&mut self, pass: &mut impl Pass);

    /// The header at the head of `bytes`, and what follows it.
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let short = DecodeError::Short { layer: Self::LAYER, have: bytes.len(), need: Self::LEN };
        let (head, rest) = bytes.split_at_checked(Self::LEN).ok_or(short)?;
        let mut header = Self::default();
        header.fields(&mut Read(head));
        Ok((header, rest))
    }

    /// Appends the header to `out`.
    fn write(&self, out: &mut Vec<u8>) {
        self.clone().fields(&mut Write(out));
    }
}

/// One pass over the fields of a header: a reading one fills them, a writing one writes them.
///
/// Every provided method turns its fields into octets and these back into fields, which serves both.
pub(crate) trait Pass {
    /// Octets as they stand.
    fn octets<const N: usize>(&mut self, field: &mut [u8; N]);

    /// A number of one octet.
    fn u8(&mut self, field: &mut u8) {
        let mut octets = [*field];
        self.octets(&mut octets);
        [*field] = octets;
    }

    /// A number of two octets, the higher first.
    fn u16(&mut self, field: &mut u16) {
        let mut octets = field.to_be_bytes();
        self.octets(&mut octets);
        *field = u16::from_be_bytes(octets);
    }

    /// A number of four octets, the highest first.
    fn u32(&mut self, field: &mut u32) {
        let mut octets = field.to_be_bytes();
        self.octets(&mut octets);
        *field = u32::from_be_bytes(octets);
    }

    /// One octet that several fields share, the highest bits first.
    fn bits8(&mut self, parts: &mut [Bits<'_>]) {
        let [.., mut octet] = join(parts).to_be_bytes();
        self.u8(&mut octet);
        split(u32::from(octet), 8, parts);
    }

    /// Two octets that several fields share.
    fn bits16(&mut self, parts: &mut [Bits<'_>]) {
        let [.., high, low] = join(parts).to_be_bytes();
        let mut number = u16::from_be_bytes([high, low]);
        self.u16(&mut number);
        split(u32::from(number), 16, parts);
    }

    /// Four octets that several fields share.
    fn bits32(&mut self, parts: &mut [Bits<'_>]) {
        let mut number = join(parts);
        self.u32(&mut number);
        split(number, 32, parts);
    }
}

/// A field that is no whole octet.
pub(crate) enum Bits<'a> {
    /// One bit.
    Flag(&'a mut bool),
    /// So many bits of an octet.
    U8(u32, &'a mut u8),
    /// So many bits of two octets.
    U16(u32, &'a mut u16),
    /// So many bits of four octets.
    U32(u32, &'a mut u32),
}

impl Bits<'_> {
    const fn width(&self) -> u32 {
        match self {
            Self::Flag(_) => 1,
            Self::U8(width, _) | Self::U16(width, _) | Self::U32(width, _) => *width,
        }
    }

    const fn mask(&self) -> u32 {
        (1 << self.width()) - 1
    }

    fn get(&self) -> u32 {
        match self {
            Self::Flag(flag) => u32::from(**flag),
            Self::U8(_, number) => u32::from(**number),
            Self::U16(_, number) => u32::from(**number),
            Self::U32(_, number) => **number,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "masked to the field's width")]
    fn set(&mut self, value: u32) {
        match self {
            Self::Flag(flag) => **flag = value != 0,
            Self::U8(_, number) => **number = value as u8,
            Self::U16(_, number) => **number = value as u16,
            Self::U32(_, number) => **number = value,
        }
    }
}

/// The parts side by side; what is too large for its part loses its higher bits.
fn join(parts: &[Bits<'_>]) -> u32 {
    parts.iter().fold(0, |number, part| number << part.width() | part.get() & part.mask())
}

fn split(number: u32, mut left: u32, parts: &mut [Bits<'_>]) {
    for part in parts {
        left = left.saturating_sub(part.width());
        part.set(number >> left & part.mask());
    }
}

struct Read<'a>(&'a [u8]);

impl Pass for Read<'_> {
    fn octets<const N: usize>(&mut self, field: &mut [u8; N]) {
        if let Some((head, rest)) = self.0.split_first_chunk::<N>() {
            *field = *head;
            self.0 = rest;
        }
    }
}

struct Write<'a>(&'a mut Vec<u8>);

impl Pass for Write<'_> {
    fn octets<const N: usize>(&mut self, field: &mut [u8; N]) {
        self.0.extend_from_slice(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default, PartialEq, Debug)]
    struct Odd {
        flag: bool,
        low: u8,
        label: u32,
        offset: u16,
    }

    impl Layout for Odd {
        const LAYER: Layer = Layer::Ip;
        const LEN: usize = 7;
        fn fields(&mut self, pass: &mut impl Pass) {
            pass.bits8(&mut [Bits::Flag(&mut self.flag), Bits::U8(7, &mut self.low)]);
            pass.bits32(&mut [Bits::U8(4, &mut 6), Bits::U32(28, &mut self.label)]);
            pass.bits16(&mut [Bits::U8(3, &mut 0), Bits::U16(13, &mut self.offset)]);
        }
    }

    #[test]
    fn one_layout_reads_what_it_writes() {
        let odd = Odd { flag: true, low: 0x15, label: 0xabc_def1, offset: 0x1fff };
        let mut bytes = Vec::new();
        odd.write(&mut bytes);
        assert_eq!(bytes, [0x95, 0x6a, 0xbc, 0xde, 0xf1, 0x1f, 0xff]);
        assert_eq!(Odd::read(&bytes), Ok((odd, &[][..])));
        assert!(Odd::read(&bytes[1..]).is_err());
    }

    #[test]
    fn what_does_not_fit_a_field_reaches_no_other() {
        let mut bytes = Vec::new();
        Odd { low: 0xff, ..Odd::default() }.write(&mut bytes);
        assert_eq!(bytes[0], 0x7f);
    }
}
