//! A segment that is kept for a while: what the capture lends is copied.

use super::Seen;

/// A segment without its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnedSegment {
    seen: Seen<'static>,
    options: [u8; MOST_OPTIONS],
    options_kept: u8,
    /// Fragments that it came in, when it is a whole one that was put together.
    pub(super) fragments: u32,
    /// It was stored behind later ones.
    pub(super) is_late: bool,
    /// The clock was set back by little, an odd number of times, before it.
    pub(super) is_set: bool,
}

/// Most bytes of TCP options (RFC 9293 §3.1).
pub(super) const MOST_OPTIONS: usize = 40;

impl OwnedSegment {
    #[inline]
    pub(super) fn of(seen: &Seen<'_>, fragments: u32) -> Self {
        let mut options = [0; MOST_OPTIONS];
        let kept = seen.options.get(..MOST_OPTIONS).unwrap_or(seen.options);
        if let Some((room, _)) = options.split_at_mut_checked(kept.len()) {
            room.copy_from_slice(kept);
        }
        let kept = u8::try_from(kept.len()).unwrap_or(0);
        let seen = Seen { payload: &[], options: &[], ..*seen };
        Self { seen, options, options_kept: kept, fragments, is_late: false, is_set: false }
    }

    /// The segment, but for its payload's bytes.
    #[inline]
    pub(super) fn seen(&self) -> Seen<'_> {
        let options = self.options.get(..self.options_kept.into()).unwrap_or_default();
        Seen { options, ..self.seen }
    }

    pub(super) const fn at(&self) -> u64 {
        self.seen.at_nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    #[test]
    fn nothing_is_lost_but_the_bytes_of_payload() {
        let options = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6];
        let seen = Seen { options: &options, options_len: 12, payload: &[7; 9], ..segment(3) };
        let owned = OwnedSegment::of(&seen, 2);
        assert_eq!(owned.seen(), Seen { payload: &[], ..seen });
        assert_eq!((owned.at(), owned.fragments), (seen.at_nanos, 2));
    }
}
