//! What a request flow has counted.

use super::StackEndpoint;
use crate::stats::Histogram;
use crate::tcp::{ReceiverStats, SenderStats};
use crate::units::{Bytes, Time};

/// The times of its requests, and the sums over its connections.
#[derive(Debug, Clone, Default)]
pub(in crate::sim) struct Record {
    /// From request to whole reply.
    pub(in crate::sim) times: Histogram,
    /// What sending requests took, and sending replies.
    pub(in crate::sim) requests: SenderStats,
    pub(in crate::sim) replies: SenderStats,
    /// What the two ends saw of each other's data, and what they sent to acknowledge it.
    pub(in crate::sim) seen: ReceiverStats,
    /// Payload of replies that has come in order, and that was acknowledged.
    pub(in crate::sim) delivered: u64,
    pub(in crate::sim) acknowledged: u64,
    /// Payload of a full segment of a reply on the last connection.
    pub(in crate::sim) mss: Option<Bytes>,
}

impl Record {
    /// Adds what the client's end of a connection has counted, which is over now.
    pub(super) fn add_client(&mut self, now: Time, end: Option<StackEndpoint>) {
        let Some(mut end) = end else { return };
        end.finish(now, &mut self.requests, &mut self.seen);
        self.delivered += end.delivered().get();
    }

    /// Adds what the server's end of a connection has counted, which is over now.
    pub(super) fn add_server(&mut self, now: Time, end: Option<StackEndpoint>) {
        let Some(mut end) = end else { return };
        end.finish(now, &mut self.replies, &mut self.seen);
        self.acknowledged += end.acknowledged().get();
        self.mss = Some(end.mss());
    }
}
