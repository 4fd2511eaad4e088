//! SACK blocks that a sender can make nothing of.

use super::finding::{Finding, FindingKind, Severity, counted, number};
use crate::evidence::{Direction, Evidence};

/// Fewer acknowledgements with such blocks may be one broken packet and its copies.
const ENOUGH: u64 = 3;

/// SACK blocks outside of all that was sent: a device changes the sequence numbers of the data and the acknowledgement numbers, and leaves the
/// numbers in SACK blocks as they are. The sender ignores them (RFC 2018 §5, `tcp_sacktag_write_queue` in `net/ipv4/tcp_input.c`), and a
/// packet with SACK blocks is no duplicate acknowledgement to it either.
pub(super) fn finding(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let count = stats.sacks_outside;
    if count < ENOUGH {
        return None;
    }
    Some(Finding {
        kind: FindingKind::UselessSack,
        severity: if stats.timeouts > 0 { Severity::Problem } else { Severity::Warning },
        direction: Some(direction),
        from: stats.first_data.unwrap_or(evidence.begin),
        to: stats.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("sacks_outside", count as f64),
            number("timeouts", stats.timeouts as f64),
        ],
        frames: Vec::new(),
        text: format!(
            "SACK blocks in {} lie outside of all that {} has sent: a device on the way changes its sequence numbers, and not those in SACK \
             blocks",
            counted(count, "acknowledgement"),
            evidence.sender(direction)
        ),
        why: "The sender can make nothing of such blocks: losses are repaired by its timer, as without SACK and without duplicate \
              acknowledgements",
        source: "RFC 2018 §5",
    })
}
