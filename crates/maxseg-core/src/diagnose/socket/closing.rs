//! Connections that are not established any more: what matters of them is who has not closed them, not what limits them.

use std::borrow::Cow;

use super::Judge;
use crate::evidence::{Closing, SocketEvidence};

/// How far a connection is closed on which nothing moves; `None` of one that is open, or still sends or receives: what an end has closed
/// may carry data the other way, and what was written before.
pub fn closed_and_still(evidence: &SocketEvidence) -> Option<Closing> {
    // A FIN takes a number, as a byte does.
    const FIN: u64 = 1;
    let (state, bin) = (&evidence.state, &evidence.bin);
    let is_sent = state.unsent_bytes.unwrap_or(0) == 0 && bin.in_flight_max <= FIN;
    let moved = bin.sent_bytes.max(bin.acked_bytes).max(evidence.received_bytes);
    let is_still = is_sent && (evidence.is_since_start || moved <= FIN);
    // A peer that does not answer is the timer's.
    state.closing.filter(|_| is_still && state.timeouts_in_a_row == 0)
}

/// Who has closed it and who has not; a clause, with the words for the process here.
pub fn closing_in_words(closing: Closing, process: &str) -> String {
    match closing {
        Closing::CloseWait => format!("the peer has closed it, and {process} has not (CLOSE-WAIT)"),
        Closing::FinWait1 => {
            format!("{process} has closed it, and the peer has not acknowledged that (FIN-WAIT-1)")
        }
        Closing::FinWait2 => format!("{process} has closed it, and the peer has not (FIN-WAIT-2)"),
        Closing::Closing => {
            "both ends have closed it, and the peer has not acknowledged that (CLOSING)".to_owned()
        }
        Closing::LastAck => {
            "both ends have closed it, and the peer has not acknowledged that (LAST-ACK)".to_owned()
        }
    }
}

impl Judge<'_> {
    pub(super) fn is_closed_and_still(&self) -> bool {
        closed_and_still(self.evidence).is_some()
    }

    pub(super) fn who_has_not_closed(&self) -> Option<Cow<'static, str>> {
        let closing = closed_and_still(self.evidence)?;
        Some(closing_in_words(closing, "the process here").into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{diagnosed, limit, still};
    use super::*;
    use crate::outcome::LimitedBy;
    use crate::units::Time;

    #[test]
    fn a_connection_that_the_peer_has_closed_waits_for_the_process_here() {
        assert_eq!(limit(still), LimitedBy::Application);
        for (closing, says) in [
            (Closing::CloseWait, "the process here has not (CLOSE-WAIT)"),
            (Closing::FinWait2, "the peer has not (FIN-WAIT-2)"),
            (Closing::FinWait1, "(FIN-WAIT-1)"),
            (Closing::Closing, "(CLOSING)"),
            (Closing::LastAck, "(LAST-ACK)"),
        ] {
            let found = diagnosed(|e| {
                still(e);
                e.state.closing = Some(closing);
            });
            assert_eq!(found.limited_by, LimitedBy::Unknown);
            assert!(found.unknown_because.unwrap().ends_with(says), "{closing:?}");
        }
    }

    #[test]
    fn what_still_moves_is_judged() {
        let sends = |e: &mut SocketEvidence| {
            e.state.closing = Some(Closing::CloseWait);
            e.state.rtt = Time::from_millis(90);
        };
        assert_eq!(limit(sends), LimitedBy::Bandwidth, "the peer has closed its direction alone");
        let unanswered = |e: &mut SocketEvidence| {
            e.bin.acked_bytes = 0;
            e.bin.sent_bytes = 0;
            e.bin.in_flight_max = 9_000;
            e.state.closing = Some(Closing::FinWait1);
            e.state.timeouts_in_a_row = 3;
        };
        assert_eq!(limit(unanswered), LimitedBy::Rto);
    }
}
