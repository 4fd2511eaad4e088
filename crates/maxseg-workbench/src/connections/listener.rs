//! Listening sockets, and which of what was dropped there was a connection.

use std::net::SocketAddr;
use std::sync::Arc;

use maxseg_wire::inet_diag::Socket;
use maxseg_wire::procnet::ListenCounters;

use super::Owner;

/// A socket that waits for connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener {
    /// The network namespace; `None` for the program's own.
    pub netns: Option<Arc<str>>,
    /// Where it listens.
    pub local: SocketAddr,
    /// The socket's inode.
    pub inode: u32,
    /// The process that has it open; of several the one that began first, or one that was asked for. `None` where that is not known.
    pub process: Option<Owner>,
    /// Connections that wait to be accepted.
    pub queued: u32,
    /// The limit of the queue: one more than it is taken (`sk_acceptq_is_full`), then SYNs are dropped.
    pub limit: u32,
    /// SYNs and handshakes that were dropped here, mostly because the queue was full (`tcp_listendrop`). `None` where that is
    /// unknown: the kernel counts bare acknowledgements that `TCP_DEFER_ACCEPT` ignores, and others, beside them.
    pub overflows: Option<u32>,
    /// The payload of the kernel's message; only where a recording is made.
    pub message: Option<Box<[u8]>>,
}

impl Listener {
    /// As the kernel lists it: `overflows` is what the socket has dropped of any kind, until [`Self::judge_drops`].
    pub(super) fn of(socket: &Socket<'_>, netns: Option<&Arc<str>>) -> Self {
        Self {
            netns: netns.cloned(),
            local: socket.local,
            inode: socket.inode,
            process: None,
            queued: socket.receive_queue,
            limit: socket.send_queue,
            overflows: socket.memory.map(|memory| memory.drops),
            message: None,
        }
    }

    /// Tells SYNs and handshakes that were dropped from the rest of `sk_drops`, which `tcp_v4_rcv` counts as well: each bare
    /// acknowledgement that `TCP_DEFER_ACCEPT` ignores on purpose, each SYN that was sent again, and a handshake that finds the queue
    /// full twice. `counters` are those of the socket's network namespace; `defers_accept` is whether the socket has that option, `None`
    /// where it may not be read.
    pub(super) fn judge_drops(
        &mut self,
        counters: Option<ListenCounters>,
        defers_accept: impl FnOnce() -> Option<bool>,
    ) {
        let drops = match self.overflows {
            None | Some(0) => return,
            Some(drops) => drops,
        };
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        self.overflows = match counters {
            None => None,
            Some(ListenCounters { dropped: 0, .. }) => Some(0),
            Some(ListenCounters { dropped, deferred }) => {
                let may_defer = deferred > 0 && defers_accept() != Some(false);
                let others = if may_defer { drops.saturating_sub(narrow(deferred)) } else { drops };
                (others > 0).then(|| others.min(narrow(dropped)))
            }
        };
    }

    /// Whether the next connection is refused a place.
    pub const fn is_full(&self) -> bool {
        self.queued > self.limit
    }

    /// The state of the accept queue: `full`, `has dropped`, `ok`, or `unknown` where it has room and may have dropped.
    pub const fn queue_word(&self) -> &'static str {
        if self.is_full() {
            return "full";
        }
        match self.overflows {
            Some(0) => "ok",
            Some(_) => "has dropped",
            None => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_listener_drops_on_purpose_is_no_overflow() {
        let judged = |drops, counters: Option<[u64; 2]>, defers_accept| {
            let mut listener = Listener {
                netns: None,
                local: "0.0.0.0:443".parse().unwrap(),
                inode: 7,
                process: None,
                queued: 0,
                limit: 511,
                overflows: drops,
                message: None,
            };
            let counters = counters.map(|[dropped, deferred]| ListenCounters { dropped, deferred });
            listener.judge_drops(counters, || defers_accept);
            (listener.overflows, listener.queue_word())
        };
        let (dropped, unknown) = ("has dropped", (None, "unknown"));
        for (drops, counters, defers_accept, expected) in [
            (Some(0), None, None, (Some(0), "ok")),
            (Some(50), Some([0, 50]), None, (Some(0), "ok")),
            (Some(80), Some([80, 0]), None, (Some(80), dropped)),
            (Some(80), Some([40, 0]), None, (Some(40), dropped)), // each handshake was counted twice
            (Some(50), Some([7, 50]), Some(true), unknown),
            (Some(50), Some([7, 50]), None, unknown),
            (Some(7), Some([7, 50]), Some(false), (Some(7), dropped)),
            (Some(57), Some([7, 50]), Some(true), (Some(7), dropped)),
            (Some(50), None, None, unknown), // of a file
            (None, Some([7, 0]), None, unknown),
        ] {
            assert_eq!(judged(drops, counters, defers_accept), expected, "{drops:?} {counters:?}");
        }
    }
}
