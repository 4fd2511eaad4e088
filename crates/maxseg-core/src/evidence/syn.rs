//! What a SYN shows of the system that sent it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The SYN, or the SYN with ACK, of one end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynFacts {
    /// Time to live, or hop limit, where it was captured.
    pub ttl: u8,
    /// That of the end's next packet; `None` where there was none.
    pub later_ttl: Option<u8>,
    /// The window field in bytes: that of a SYN is never scaled (RFC 7323 §2.2).
    pub window: u16,
    /// The MSS option in bytes.
    pub mss: Option<u16>,
    /// The window scale option in bits.
    pub window_scale: Option<u8>,
    /// The order of its options.
    pub order: OptionOrder,
    /// Whether it answers a SYN, whose options limit its own.
    pub is_answer: bool,
    /// Whether the capture kept only a part of its options.
    pub is_cut: bool,
}

/// A TCP option, as far as the order of a SYN's options tells systems apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// End of the list.
    EndOfList = 1,
    /// No operation.
    NoOperation = 2,
    /// Maximum segment size.
    Mss = 3,
    /// SACK permitted.
    SackPermitted = 4,
    /// Timestamps.
    Timestamps = 5,
    /// Window scale.
    WindowScale = 6,
    /// Another one, or one that is broken.
    Other = 7,
}

impl OptionKind {
    const fn word(self) -> &'static str {
        match self {
            Self::EndOfList => "EOL",
            Self::NoOperation => "NOP",
            Self::Mss => "MSS",
            Self::SackPermitted => "SACK",
            Self::Timestamps => "TS",
            Self::WindowScale => "WS",
            Self::Other => "other",
        }
    }

    const fn of_code(code: u64) -> Option<Self> {
        match code {
            1 => Some(Self::EndOfList),
            2 => Some(Self::NoOperation),
            3 => Some(Self::Mss),
            4 => Some(Self::SackPermitted),
            5 => Some(Self::Timestamps),
            6 => Some(Self::WindowScale),
            7 => Some(Self::Other),
            _ => None,
        }
    }
}

/// The kinds of a SYN's options in their order, the first in the lowest four bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionOrder(u64);

impl OptionOrder {
    /// Most options that are kept.
    pub const MOST: usize = 16;

    /// Adds the next option; one too many is not kept.
    pub fn push(&mut self, kind: OptionKind) {
        let count = self.kinds().count();
        if count < Self::MOST {
            self.0 |= (kind as u64) << (4 * count);
        }
    }

    /// The kinds in order.
    pub fn kinds(self) -> impl Iterator<Item = OptionKind> {
        (0..Self::MOST).map_while(move |place| OptionKind::of_code((self.0 >> (4 * place)) & 15))
    }

    /// Whether there is no option.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<OptionKind> for OptionOrder {
    fn from_iter<I: IntoIterator<Item = OptionKind>>(kinds: I) -> Self {
        let mut order = Self::default();
        kinds.into_iter().for_each(|kind| order.push(kind));
        order
    }
}

/// `MSS SACK TS NOP WS`; `none` without options.
impl fmt::Display for OptionOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (place, kind) in self.kinds().enumerate() {
            f.write_str(if place > 0 { " " } else { "" })?;
            f.write_str(kind.word())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept_up_to_its_room() {
        use OptionKind::{Mss, NoOperation, SackPermitted, Timestamps, WindowScale};
        let linux = [Mss, SackPermitted, Timestamps, NoOperation, WindowScale];
        let order: OptionOrder = linux.into_iter().collect();
        assert_eq!(order.to_string(), "MSS SACK TS NOP WS");
        assert!(order.kinds().eq(linux));
        let many: OptionOrder = std::iter::repeat_n(NoOperation, 40).collect();
        assert_eq!(many.kinds().count(), OptionOrder::MOST);
        assert_eq!(OptionOrder::default().to_string(), "none");
    }
}
