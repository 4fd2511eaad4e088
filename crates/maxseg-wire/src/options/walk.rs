//! From bytes to options, however broken.

use std::fmt;

use super::kind;
use super::raw::RawOption;
use super::value::TcpOption;

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
