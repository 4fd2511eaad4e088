//! A value whose unit tells what it is.

use super::{BitsPerSec, Bytes, Probability, Time};

/// A value of any kind, as a text of a scenario file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AnyQuantity {
    /// A size.
    Bytes(Bytes),
    /// A time.
    Time(Time),
    /// A rate.
    Rate(BitsPerSec),
    /// A share.
    Share(Probability),
    /// A number of packets.
    Packets(u64),
    /// A number of segments.
    Segments(u64),
}

impl AnyQuantity {
    /// The quantity in a text; `None` for a word.
    pub fn of(text: &str) -> Option<Self> {
        let size = || text.parse().ok().map(Self::Bytes);
        let time = || text.parse().ok().map(Self::Time);
        let rate = || text.parse().ok().map(Self::Rate);
        let share = || text.parse().ok().map(Self::Share);
        size().or_else(time).or_else(rate).or_else(share).or_else(|| count(text))
    }
}

fn count(text: &str) -> Option<AnyQuantity> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [number, unit] = words.as_slice() else { return None };
    let number = number.parse().ok()?;
    match *unit {
        "packet" | "packets" => Some(AnyQuantity::Packets(number)),
        "segment" | "segments" => Some(AnyQuantity::Segments(number)),
        _ => None,
    }
}
