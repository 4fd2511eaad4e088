//! An option as it stands in a header.

use std::fmt;

use super::kind;

/// An option as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Its kind.
    pub kind: u8,
    /// What follows kind and length.
    pub data: &'a [u8],
}

impl RawOption<'_> {
    /// The length byte: kind and length are counted.
    pub const fn length(&self) -> usize {
        self.data.len() + 2
    }
}

/// Shows what the bytes say, also where a stack would take no notice of them.
impl fmt::Display for RawOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.length();
        match (self.kind, self.data) {
            (kind::MSS, [a, b]) => write!(f, "MSS={}", u16::from_be_bytes([*a, *b])),
            (kind::MSS, _) => write!(f, "MSS?len{length}"),
            (kind::WINDOW_SCALE, [shift, ..]) => write!(f, "WS={shift}"),
            (kind::WINDOW_SCALE, []) => write!(f, "WS?len{length}"),
            (kind::SACK_PERMITTED, _) => f.pad("SACKOK"),
            (kind::SACK, data) => write!(f, "SACKx{}", data.len() / 8),
            (kind::TIMESTAMPS, data) => match two_numbers(data) {
                Some((value, echo, _)) => write!(f, "TS={value}/{echo}"),
                None => write!(f, "TS?len{length}"),
            },
            (kind::FAST_OPEN, _) => f.pad("TFO"),
            (other, _) => write!(f, "OPT{other}/{length}"),
        }
    }
}

/// Two numbers of four octets, and what is behind them.
pub(super) fn two_numbers(data: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (first, rest) = data.split_first_chunk()?;
    let (second, rest) = rest.split_first_chunk()?;
    Some((u32::from_be_bytes(*first), u32::from_be_bytes(*second), rest))
}
