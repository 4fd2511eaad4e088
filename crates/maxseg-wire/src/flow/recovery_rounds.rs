//! What a sender that hears of no SACK blocks sends in the first round trip of a recovery.
//!
//! It sends for each duplicate ACK what its algorithm leaves of the window (RFC 9937 §6). The partial acknowledgement that ends this
//! round trip releases the next retransmission (RFC 6582 §3.2), and that passes behind all that was sent for the duplicates: so both are
//! counted anywhere, without round trips.

use maxseg_core::evidence::RecoveryRound;
use serde::{Deserialize, Serialize};

/// Follows the first round trip of a recovery.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) enum RecoveryRounds {
    /// None is under way.
    #[default]
    Other,
    /// The first lost segment was sent again for so many duplicates, when what is new began at `nxt`.
    Begun { nxt: i64, duplicates: u32 },
    /// It was acknowledged; `duplicates` counts those that came behind its retransmission's.
    Acknowledged { nxt: i64, ack: Acknowledgement },
}

/// A lost segment that is sent again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Again {
    pub(super) start: i64,
    /// What is new begins here.
    pub(super) nxt: i64,
    /// How many duplicates released it; `None` where it is the first of no fast recovery.
    pub(super) released_by: Option<u32>,
}

/// An acknowledgement of new data.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Acknowledgement {
    pub(super) una: i64,
    /// Duplicates before it.
    pub(super) duplicates: u32,
    /// Where the window ended until it came; `None` while its scale is not known.
    pub(super) edge: Option<i64>,
}

/// Linux sends again for the third duplicate ACK (`TCP_FASTRETRANS_THRESH` in `include/net/tcp.h`).
pub(super) const THRESHOLD: u32 = 3;

impl RecoveryRounds {
    /// A segment is sent again. Gives the round trip that this ends; `full` is the payload of a full segment.
    pub(super) fn on_resend(&mut self, again: Again, full: i64) -> Option<RecoveryRound> {
        let Again { start, nxt, released_by } = again;
        let begun = released_by.map(|duplicates| Self::Begun { nxt, duplicates });
        let before = std::mem::replace(self, begun.unwrap_or_default());
        let Self::Acknowledged { nxt: from, ack } = before else { return None };
        if ack.una == start { round(&ack, from, nxt, full) } else { None }
    }

    /// An acknowledgement passes. Gives the round trip that it ends where the capture is at the sender, for which new data then begins
    /// at `at_sender`; elsewhere the next retransmission ends it.
    pub(super) fn on_progress(
        &mut self,
        mut ack: Acknowledgement,
        at_sender: Option<i64>,
        full: i64,
    ) -> Option<RecoveryRound> {
        let Self::Begun { nxt: from, duplicates } = *self else { return None };
        ack.duplicates = ack.duplicates.saturating_sub(duplicates);
        *self = match at_sender {
            Some(_) => Self::Other,
            None => Self::Acknowledged { nxt: from, ack },
        };
        at_sender.and_then(|nxt| round(&ack, from, nxt, full))
    }
}

/// What was sent from one place to the other; `None` where a full window held the sender back, or more than the duplicates released that.
fn round(ack: &Acknowledgement, from: i64, to: i64, full: i64) -> Option<RecoveryRound> {
    let is_held = ack.edge.is_some_and(|edge| edge - to < full);
    let is_of_them = to - from <= (i64::from(ack.duplicates) + 1) * full;
    let sent = u64::try_from(to - from).ok()?;
    let duplicates = ack.duplicates;
    (duplicates > 0 && !is_held && is_of_them).then_some(RecoveryRound { duplicates, sent })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: i64 = 1000;
    const EXPECTED: RecoveryRound = RecoveryRound { duplicates: 25, sent: 18_000 };

    /// With 42 segments in flight, of which 12 are lost, the first is sent again.
    fn begun() -> RecoveryRounds {
        let mut rounds = RecoveryRounds::default();
        let again = Again { start: 0, nxt: 42 * FULL, released_by: Some(THRESHOLD) };
        assert_eq!(rounds.on_resend(again, FULL), None);
        rounds
    }

    /// After 28 duplicates the next hole begins with the third segment.
    fn partial(edge: i64) -> Acknowledgement {
        Acknowledgement { una: 2 * FULL, duplicates: 28, edge: Some(edge) }
    }

    #[test]
    fn the_next_retransmission_ends_it_anywhere() {
        let mut rounds = begun();
        assert_eq!(rounds.on_progress(partial(90 * FULL), None, FULL), None);
        let again = Again { start: 2 * FULL, nxt: 60 * FULL, released_by: None };
        assert_eq!(rounds.on_resend(again, FULL), Some(EXPECTED));
        assert_eq!(rounds.on_progress(partial(90 * FULL), None, FULL), None);
    }

    #[test]
    fn the_acknowledgement_ends_it_at_the_sender() {
        let found = begun().on_progress(partial(90 * FULL), Some(60 * FULL), FULL);
        assert_eq!(found, Some(EXPECTED));
    }

    /// A full window; more than was released; a retransmission that was itself lost.
    #[test]
    fn what_is_not_of_the_duplicates_is_not_counted() {
        let found = |edge, to| begun().on_progress(partial(edge), Some(to), FULL);
        assert_eq!(found(60 * FULL, 60 * FULL), None);
        assert_eq!(found(90 * FULL, 70 * FULL), None);
        let mut rounds = begun();
        rounds.on_progress(partial(90 * FULL), None, FULL);
        let again = Again { start: 3 * FULL, nxt: 60 * FULL, released_by: None };
        assert_eq!(rounds.on_resend(again, FULL), None);
    }
}
