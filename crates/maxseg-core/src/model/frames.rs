//! Packets in frames of a fixed size: how many, how full, and how likely whole.
//!
//! Choi, Choi, Yoo, "Adapting TCP Segment Size in Cellular Networks": equations 1 and 2. ATM cells obey
//! the same rule.

use std::num::NonZeroU64;

use crate::units::{Bytes, Probability};

/// A link of frames, and what stands before the payload in every packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    /// Headers of a packet, H.
    pub header: Bytes,
    /// Payload of a frame in bytes, M.
    frame: NonZeroU64,
}

impl Frames {
    /// Frames that hold `frame` bytes; `None` for none.
    pub fn new(header: Bytes, frame: Bytes) -> Option<Self> {
        Some(Self { header, frame: NonZeroU64::new(frame.get())? })
    }

    /// Payload of a frame.
    pub const fn frame(&self) -> Bytes {
        Bytes::new(self.frame.get())
    }

    /// Frames of a packet with this payload: n = ⌈(s + H) / M⌉ (equation 1).
    pub const fn count(&self, payload: Bytes) -> u64 {
        payload.get().saturating_add(self.header.get()).div_ceil(self.frame.get())
    }

    /// Bytes of the last frame that stay empty.
    pub const fn unused(&self, payload: Bytes) -> Bytes {
        let all = self.count(payload).saturating_mul(self.frame.get());
        Bytes::new(all.saturating_sub(payload.get()).saturating_sub(self.header.get()))
    }

    /// Whether a packet with this payload fills its last frame.
    pub fn is_aligned(&self, payload: Bytes) -> bool {
        self.unused(payload) == Bytes::ZERO
    }

    /// The fewest frames that hold any payload.
    pub const fn fewest(&self) -> u64 {
        self.header.get() / self.frame.get() + 1
    }

    /// The payload that fills `n` frames; nothing where the headers alone do.
    pub const fn payload(&self, n: u64) -> Bytes {
        Bytes::new(n.saturating_mul(self.frame.get()).saturating_sub(self.header.get()))
    }

    /// Every payload up to `largest` that fills its frames, smallest first.
    pub fn aligned_up_to(&self, largest: Bytes) -> impl Iterator<Item = Bytes> {
        let frames = *self;
        (self.fewest()..).map(move |n| frames.payload(n)).take_while(move |s| *s <= largest)
    }

    /// The chance that a packet with this payload is lost when each frame is with chance `e`:
    /// 1 − (1 − e)ⁿ (equation 2).
    pub fn loss(&self, payload: Bytes, e: Probability) -> Probability {
        e.at_least_once_in(self.count(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLULAR: Frames =
        Frames { header: Bytes::new(40), frame: NonZeroU64::new(128).unwrap() };

    #[test]
    fn the_papers_examples() {
        // Payload, frames, whether the last is full.
        let cases =
            [(1460, 12, false), (1368, 11, true), (600, 5, true), (601, 6, false), (536, 5, false)];
        for (payload, frames, aligned) in cases {
            let payload = Bytes::new(payload);
            assert_eq!(CELLULAR.count(payload), frames, "{payload}");
            assert_eq!(CELLULAR.is_aligned(payload), aligned, "{payload}");
        }
        let e = Probability::new(0.01).unwrap();
        assert!((CELLULAR.loss(Bytes::new(1460), e).get() - 0.113_615).abs() < 1e-6);
    }

    #[test]
    fn aligned_sizes_begin_with_the_first_that_holds_anything() {
        let sizes: Vec<u64> = CELLULAR.aligned_up_to(Bytes::new(480)).map(Bytes::get).collect();
        assert_eq!(sizes, [88, 216, 344, 472]);
        let tall = Frames::new(Bytes::new(40), Bytes::new(40)).unwrap();
        assert_eq!(
            (tall.fewest(), tall.payload(1), tall.payload(2)),
            (2, Bytes::ZERO, Bytes::new(40))
        );
        assert!(Frames::new(Bytes::new(40), Bytes::ZERO).is_none());
    }
}
