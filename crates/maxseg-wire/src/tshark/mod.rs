//! The counts of tshark 4.0, by its own definitions.
//!
//! What the project's own analysis finds is nearer to the truth: tshark calls many a retransmission
//! out of order, and duplicates of the capture retransmissions. But people compare with what they know,
//! so here is what Wireshark 4.0.17 says with its preferences as delivered. The definitions are those
//! of its source (`epan/dissectors/packet-tcp.c`), which differ from its manual in places; other
//! versions count otherwise.
//!
//! Left out: TCP headers that ICMP messages quote.

mod by_connection;
mod counts;
mod flag;
mod half;
mod marks;
mod mptcp;
mod named;
mod options;
mod rules;
mod stream_state;

use std::collections::HashMap;
use std::net::SocketAddr;

pub use by_connection::{ConnectionCounts, FlagCounts};
pub use counts::{Counts, Handshake, Times};
pub use flag::{Flag, FlagSet};
pub use marks::Marks;
pub use named::Value;

use crate::flow::Seen;
use crate::tcp::Flags;

/// A capture's TCP as tshark sees it. Feed it every segment in the capture's order.
#[derive(Debug, Default)]
pub struct Tshark {
    streams: Vec<Stream>,
    /// The newest stream of each pair of endpoints, the smaller first.
    newest: HashMap<(SocketAddr, SocketAddr), usize>,
    mptcp: mptcp::Connections,
}

/// A connection as tshark draws it: the segments between two endpoints, up to a SYN that begins
/// another.
#[derive(Debug)]
pub struct Stream {
    /// By the first segment of each; the second is missing in a capture of one direction.
    pub directions: Vec<Counts>,
    /// Time from SYN to the handshake's last acknowledgement, in nanoseconds.
    pub initial_rtt_nanos: Option<i64>,
    memory: stream_state::StreamState,
}

impl Tshark {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next segment; what tshark says of it.
    pub fn on_segment(&mut self, seen: &Seen<'_>) -> Marks {
        let (number, reused) = self.stream_of(seen);
        let Some(stream) = self.streams.get_mut(number) else { return Marks::default() };
        let mut marks = stream.memory.judge(seen, reused, &mut self.mptcp);
        marks.stream = number;
        stream.add(seen, &marks);
        marks
    }

    /// In tshark's order: a stream's place is its `tcp.stream`.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Its stream, which may be a new one, and whether that is another connection of used endpoints.
    fn stream_of(&mut self, seen: &Seen<'_>) -> (usize, bool) {
        let (a, b) = (seen.source, seen.destination);
        let ends = if a < b { (a, b) } else { (b, a) };
        let is_first_syn = seen.flags.contains(Flags::SYN) && !seen.flags.contains(Flags::ACK);
        let known = self.newest.get(&ends).copied();
        let over = known
            .and_then(|number| self.streams.get_mut(number))
            .is_some_and(|stream| is_first_syn && stream.memory.is_over(seen));
        match known {
            Some(number) if !over => (number, false),
            _ => {
                let number = self.streams.len();
                self.streams.push(Stream {
                    directions: Vec::new(),
                    initial_rtt_nanos: None,
                    memory: stream_state::StreamState::new(),
                });
                self.newest.insert(ends, number);
                (number, over)
            }
        }
    }
}

impl Stream {
    fn add(&mut self, seen: &Seen<'_>, marks: &Marks) {
        self.initial_rtt_nanos = self.initial_rtt_nanos.or(marks.initial_rtt_nanos);
        let ends = (seen.source, seen.destination);
        let known = self.directions.iter_mut().find(|one| (one.source, one.destination) == ends);
        if let Some(counts) = known {
            counts.add(seen, marks);
        } else {
            let mut counts = Counts::new(seen);
            counts.add(seen, marks);
            self.directions.push(counts);
        }
    }
}

#[cfg(test)]
mod tests;
