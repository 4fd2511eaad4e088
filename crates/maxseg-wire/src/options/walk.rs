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
    /// Here the capture ends, so many bytes before the options do: the snap length.
    NotCaptured(usize),
}

/// The options in `bytes`, up to the end of the list or the first that is broken, that included.
pub const fn walk(bytes: &[u8]) -> Walk<'_> {
    walk_cut(bytes, 0)
}

/// The options in `bytes`, behind which the capture left so many out: what ends there is not broken.
pub const fn walk_cut(bytes: &[u8], left_out: usize) -> Walk<'_> {
    Walk { rest: bytes, left_out }
}

/// See [`walk`].
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    rest: &'a [u8],
    left_out: usize,
}

impl<'a> Walk<'a> {
    /// What is understood: padding and what is broken left out.
    pub fn values(self) -> impl Iterator<Item = TcpOption<'a>> {
        self.filter_map(|item| match item {
            Item::Option(raw) => Some(TcpOption::of(raw)),
            Item::EndOfList
            | Item::NoOperation
            | Item::Truncated
            | Item::BadLength
            | Item::NotCaptured(_) => None,
        })
    }

    /// The item at the head, and how many bytes it takes; `None` for one that ends the walk.
    fn head(&self) -> Option<(Item<'a>, Option<usize>)> {
        let cut = (Item::NotCaptured(self.left_out), None);
        let (item, len) = match self.rest {
            [] if self.left_out == 0 => return None,
            [] => cut,
            [kind::END, ..] => (Item::EndOfList, None),
            [kind::NO_OPERATION, ..] => (Item::NoOperation, Some(1)),
            [_] if self.left_out > 0 => cut,
            [_] => (Item::Truncated, None),
            [kind, length, ..] => {
                let length = usize::from(*length);
                match self.rest.get(2..length) {
                    Some(data) => (Item::Option(RawOption { kind: *kind, data }), Some(length)),
                    None if (2..=self.rest.len() + self.left_out).contains(&length) => cut,
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
        if len.is_none() {
            self.left_out = 0;
        }
        Some(item)
    }
}

/// A word for each item: `MSS=1460`, `WS=7`, `SACKOK`, `SACKx2`, `TS=10/0`, `TFO`, `OPT254/4`, `NOP`,
/// `EOL`, `TRUNC`, `BADLEN`, `[3 bytes not captured]`. An option too short for its value is `MSS?len3`.
impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfList => f.pad("EOL"),
            Self::NoOperation => f.pad("NOP"),
            Self::Truncated => f.pad("TRUNC"),
            Self::BadLength => f.pad("BADLEN"),
            Self::NotCaptured(1) => f.pad("[1 byte not captured]"),
            Self::NotCaptured(bytes) => f.pad(&format!("[{bytes} bytes not captured]")),
            Self::Option(option) => option.fmt(f),
        }
    }
}
