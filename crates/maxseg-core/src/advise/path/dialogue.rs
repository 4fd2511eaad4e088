//! Requests and replies of a connection, as a run repeats them.

use super::{Confidence, Known, micros};
use crate::advise::Case;
use crate::evidence::{Direction, Requests};
use crate::units::Time;

/// Fewer requests are transfers: a run of one transfer has what was observed of each.
const LEAST_TURNS: u32 = 5;
/// Waits are told less exactly than by this share of the time: what is left of it is no shorter.
const LEAST_BUSY: f64 = 0.02;

/// Requests of the client, each of which waits for the reply to the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    /// Requests with a reply.
    pub count: u64,
    /// Payload of a request, in bytes: the mean.
    pub request_bytes: Known<u64>,
    /// Payload of a reply, in bytes: the mean.
    pub reply_bytes: Known<u64>,
    /// From a request at the server to its reply: the mean.
    pub think: Known<Time>,
    /// From a reply at the client to its next request: the mean.
    pub pause: Known<Time>,
    /// Whether the replies are the connection's data; else the requests are.
    pub data_is_replies: bool,
    /// Time in which neither waited for the other: messages were on their way for longer than a round trip, in seconds.
    pub busy_s: f64,
}

impl Dialogue {
    /// That of a connection; `None` where there are too few requests.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let requests = case.evidence.requests.as_ref().filter(|it| it.turns >= LEAST_TURNS)?;
        let count = u64::from(requests.turns);
        let mean = |direction, what: &str| {
            let bytes = case.evidence.stats(direction).unique_bytes / count;
            let how = format!("mean of {count} {what}");
            (bytes > 0).then(|| Known::new(bytes, Confidence::Medium, how))
        };
        // The wait before the first request comes once, before any data.
        let is_first_seen = requests.think.count >= requests.turns;
        let pauses = f64::from(requests.think.count - u32::from(is_first_seen));
        let pause = (requests.think.total_s - requests.first_think_s).max(0.0) / pauses.max(1.0);
        let think = requests.server.total_s / f64::from(requests.server.count.max(1));
        let waited = |seconds, of| Known::new(micros(seconds), Confidence::Medium, of);
        Some(Self {
            count,
            request_bytes: mean(Direction::Forward, "requests")?,
            reply_bytes: mean(Direction::Reverse, "replies")?,
            think: waited(think, "mean time from a request at the server to its reply"),
            pause: waited(pause, "mean time from a reply at the client to the next request"),
            data_is_replies: case.diagnosis.direction == Direction::Reverse,
            busy_s: (requests.span_s - waited_s(requests)).max(LEAST_BUSY * requests.span_s),
        })
    }

    /// Payload of a turn in the direction of the data, in bytes.
    pub const fn data_bytes(&self) -> u64 {
        if self.data_is_replies { self.reply_bytes.value } else { self.request_bytes.value }
    }

    /// Payload of so many turns both ways, in bytes.
    pub const fn bytes_of(&self, count: u64) -> u64 {
        count.saturating_mul(self.request_bytes.value.saturating_add(self.reply_bytes.value))
    }

    /// Share of so many seconds in which messages were on their way for longer than a round trip.
    pub(super) fn busy_share(&self, seconds: f64) -> f64 {
        (self.busy_s / seconds.max(1e-9)).min(1.0)
    }

    /// What the data had while it was on its way for longer than a round trip, in bits per second: no link carries less. `None` where
    /// that time is too short to tell.
    pub(super) fn busy_bps(&self, acked_bytes: u64) -> Option<f64> {
        (self.busy_s > 0.0).then(|| 8.0 * acked_bytes as f64 / self.busy_s)
    }
}

/// How long the ends waited for each other, round trips included, in seconds.
pub(in crate::advise) fn waited_s(requests: &Requests) -> f64 {
    requests.round_trips_s + requests.server.total_s + requests.think.total_s
}
