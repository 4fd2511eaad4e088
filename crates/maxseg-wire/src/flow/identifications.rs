//! IP identifications of a sender that counts its packets: how many of them were lost on the way here.
//!
//! Linux counts those of each connection (`ip_select_ident_segs` in `include/net/ip.h`). What is lost at the end of a flight leaves no gap
//! between sequence numbers before its sender goes on behind it, but one between identifications.

use serde::{Deserialize, Serialize};

/// The identifications of the last packets.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Identifications {
    last: Option<u16>,
    /// Where the last new segment ended.
    end: i64,
    /// New segments that followed one another, and those among them that counted up by one.
    followed: u32,
    counted: u32,
}

/// A sender counts that has done so for as many segments,
const LEAST: u32 = 8;
/// and for this share of them: where a retransmission was lost in between, it seems not to.
const MOST_OTHERS: u32 = 8;
/// More than so many lost packets are none: the packets overtook each other.
const MOST_LOST: u16 = 256;

impl Identifications {
    /// A new segment.
    #[inline]
    pub(super) fn on_new(&mut self, id: Option<u16>, start: i64, end: i64) {
        if let (Some(last), Some(id)) = (self.last, id)
            && start == self.end
        {
            self.followed = self.followed.saturating_add(1);
            self.counted = self.counted.saturating_add(u32::from(last.wrapping_add(1) == id));
        }
        (self.last, self.end) = (id, end);
    }

    /// A segment that was sent again. Gives how many packets were sent between the last one and this, and not seen.
    pub(super) fn on_resend(&mut self, id: Option<u16>) -> u16 {
        let last = std::mem::replace(&mut self.last, id);
        let between = last.zip(id).map_or(0, |(last, id)| id.wrapping_sub(last).wrapping_sub(1));
        if self.is_counting() && between <= MOST_LOST { between } else { 0 }
    }

    /// What was sent since the last is not known.
    pub(super) fn forget_last(&mut self) {
        self.last = None;
    }

    /// Whether the sender counts its packets.
    pub(super) const fn is_counting(&self) -> bool {
        let others = self.followed - self.counted;
        self.counted >= LEAST && others.saturating_mul(MOST_OTHERS) <= self.counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of so many identifications, one behind the other; then one is sent again with the last of them.
    fn lost(ids: impl IntoIterator<Item = u16>, resent: u16) -> u16 {
        let mut seen = Identifications::default();
        for (place, id) in (0..).zip(ids) {
            seen.on_new(Some(id), place, place + 1);
        }
        seen.on_resend(Some(resent))
    }

    #[test]
    fn a_sender_that_counts_tells_what_was_lost() {
        assert_eq!(lost(65_520..=65_535, 4), 4);
        assert_eq!(lost(100..=120, 121), 0);
    }

    #[test]
    fn others_tell_nothing() {
        // One for all of a host's connections, none at all, and packets that overtake each other.
        assert_eq!(lost((100..=140).step_by(2), 150), 0);
        assert_eq!(lost([0; 20], 4), 0);
        assert_eq!(lost(100..=120, 90), 0);
        // Too few.
        assert_eq!(lost(100..=105, 109), 0);
    }
}
