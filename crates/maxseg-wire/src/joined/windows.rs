//! Windows that do not arrive as they were sent.

/// Fewer may be packets that were taken for others.
const LEAST: u64 = 3;
/// So may they be where they are a smaller part of all.
const PART: u64 = 10;

/// The windows of a direction's packets without payload: those with some may be joined on their way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Windows {
    matched: u64,
    rewritten: u64,
    /// The largest that was sent of those that were rewritten, and as it arrived: as in the header, not scaled.
    largest: Option<(u16, u16)>,
}

impl Windows {
    /// A packet arrived.
    pub(super) fn note(&mut self, sent: u16, received: u16) {
        self.matched += 1;
        if sent == received {
            return;
        }
        self.rewritten += 1;
        if self.largest.is_none_or(|(largest, _)| sent > largest) {
            self.largest = Some((sent, received));
        }
    }

    /// The largest window that a hop rewrote, as it was sent and as it arrived; `None` where none did.
    pub(super) fn rewritten(self) -> Option<(u16, u16)> {
        let is_much = self.rewritten >= LEAST && self.rewritten * PART >= self.matched;
        self.largest.filter(|_| is_much)
    }
}
