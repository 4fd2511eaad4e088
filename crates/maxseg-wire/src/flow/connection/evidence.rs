//! The evidence of a connection, when its last packet has passed.

use maxseg_core::evidence::{Ending, Evidence, Marks};
use maxseg_core::units::Time;

use super::Connection;
use crate::flow::half_connection::HalfConnection;
use crate::flow::pair::{Endpoint, Pair};

impl Connection {
    /// All that was seen of the connection.
    pub(in crate::flow) fn into_evidence(mut self) -> Evidence {
        let client = self.client.unwrap_or_else(|| self.guess_client());
        let (ending, end) = (self.ending(), self.end);
        let offered = Pair { low: self.halves.low.offered, high: self.halves.high.offered };
        let forward = self.halves.of_mut(client).direction(offered.of(client.other()), end);
        let reverse = self.halves.of_mut(client.other()).direction(offered.of(client), end);
        let marks = Marks {
            one_way: forward.packets == 0 || reverse.packets == 0,
            offloaded: forward.offloaded_packets + reverse.offloaded_packets > 0,
            capture_lost: forward.unseen_bytes + reverse.unseen_bytes > 0
                && forward.packets > 0
                && reverse.packets > 0,
            ecn: forward.congestion_marks + reverse.congestion_marks > 0,
            ..self.marks
        };
        Evidence {
            id: self.id,
            client: *self.ends.of(client),
            server: *self.ends.of(client.other()),
            begin: Time::from_nanos(self.begin),
            end: Time::from_nanos(self.end),
            handshake: self.handshake,
            ending,
            forward,
            reverse,
            path_mtu_events: self.path_mtu_events,
            marks,
        }
    }

    /// The likely client where no SYN was seen: servers have the smaller port.
    fn guess_client(&self) -> Endpoint {
        if self.ends.low.port() > self.ends.high.port() { Endpoint::Low } else { Endpoint::High }
    }

    fn ending(&self) -> Ending {
        let is_done = |half: &HalfConnection| usize::from(half.fin.is_some());
        let done = is_done(&self.halves.low) + is_done(&self.halves.high);
        match (self.is_reset, done) {
            (true, _) => Ending::Reset,
            (false, 0) => Ending::Open,
            (false, 1) => Ending::HalfClosed,
            (false, _) => Ending::Closed,
        }
    }
}
