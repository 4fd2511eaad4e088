//! What may be of other connections that share the path.

use super::finding::counted;
use crate::evidence::{Beside, Direction, Evidence};
use crate::outcome::LimitedBy;

/// Whether a limit may be of other connections: their segments wait in the queue of this connection's host as its own do, and what then
/// holds a sender back (TCP small queues, `tcp_small_queue_check` in `net/ipv4/tcp_output.c`) looks like a program without data, or
/// like a full send buffer.
pub(super) fn may_be_others(limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Application | LimitedBy::SendBuffer)
}

/// Why the limit is unknown though a program or its buffer seems to be it; `None` where that is not in doubt. Requests and replies show
/// when a program is waited for.
pub(super) fn in_doubt(
    evidence: &Evidence,
    direction: Direction,
    limit: LimitedBy,
) -> Option<String> {
    let beside = evidence.beside?;
    let (sender, receiver) = (evidence.sender(direction).ip(), evidence.receiver(direction).ip());
    (may_be_others(limit) && evidence.requests.is_none()).then(|| {
        format!(
            "{}: the program may have had no data, or no room in its send buffer, or waited for their segments in the queue of \
             {sender}; `ss -ti` there shows which",
            sent_meanwhile(beside, &format!("from {sender} to {receiver}"))
        )
    })
}

/// What others sent; `between` says between which hosts.
pub(crate) fn sent_meanwhile(Beside { connections, bytes, .. }: Beside, between: &str) -> String {
    let others = counted(connections.into(), "other connection");
    format!("{others} {between} sent {:.1} MB meanwhile", bytes as f64 / 1e6)
}
