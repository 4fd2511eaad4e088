//! From bytes to options, however broken.

use std::fmt;

use super::kind;
use super::value::{TcpOption, two_numbers};

/// What stands at a place in the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// The list ends here; what follows is padding.
    EndOfList,
    /// Padding of one byte.
    NoOperation,
    /// An option.
    Option(RawOption<'a>),
    /// An option's kind without its length: the bytes end.
    Truncated,
    /// An option whose length does not even count kind and length, or goes beyond the end.
    BadLength,
}

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

/// The options in `bytes`, up to the end of the list or the first that is broken, that included.
pub const fn walk(bytes: &[u8]) -> Walk<'_> {
    Walk { rest: bytes }
}

/// See [`walk`].
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    /// What is understood: padding and what is broken left out.
    pub fn values(self) -> impl Iterator<Item = TcpOption<'a>> {
        self.filter_map(|item| match item {
            Item::Option(raw) => Some(TcpOption::of(raw)),
            Item::EndOfList | Item::NoOperation | Item::Truncated | Item::BadLength => None,
        })
    }

    /// The item at the head, and how many bytes it takes; `None` for one that ends the walk.
    fn head(&self) -> Option<(Item<'a>, Option<usize>)> {
        let (item, len) = match self.rest {
            [] => return None,
            [kind::END, ..] => (Item::EndOfList, None),
            [kind::NO_OPERATION, ..] => (Item::NoOperation, Some(1)),
            [_] => (Item::Truncated, None),
            [kind, length, ..] => {
                let length = usize::from(*length);
                match self.rest.get(2..length) {
                    Some(data) => (Item::Option(RawOption { kind: *kind, data }), Some(length)),
                    None => (Item::BadLength, None),
                }
            }
        };
        Some((item, len))
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (item, len) = self.head()?;
        self.rest = len.and_then(|len| self.rest.get(len..)).unwrap_or_default();
        Some(item)
    }
}

/// A word for each item: `MSS=1460`, `WS=7`, `SACKOK`, `SACKx2`, `TS=10/0`, `TFO`, `OPT254/4`, `NOP`,
/// `EOL`, `TRUNC`, `BADLEN`. An option too short for its value is `MSS?len3`.
impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfList => f.pad("EOL"),
            Self::NoOperation => f.pad("NOP"),
            Self::Truncated => f.pad("TRUNC"),
            Self::BadLength => f.pad("BADLEN"),
            Self::Option(option) => option.fmt(f),
        }
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
