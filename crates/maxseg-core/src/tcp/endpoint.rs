//! One end of a connection with data in both directions.

use super::{Config, OptionsPool, Receiver, Segment, Sender};
use crate::units::{Bytes, Time};

/// A sending and a receiving half that share their segments: each segment with payload acknowledges
/// what has come (RFC 9293 §3.8.6.3), and acknowledgements go on their own only where nothing else does.
#[derive(Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    connection: u16,
}

impl Endpoint {
    /// The active open: the SYN goes with the next poll. `outgoing` is what was agreed for the data that
    /// this end sends, `incoming` for what it receives; `connection` marks its segments.
    pub fn connect(outgoing: &Config, incoming: &Config, connection: u16, now: Time) -> Self {
        Self { sender: Sender::new(outgoing, now), receiver: Receiver::new(incoming), connection }
    }

    /// The passive open, by the peer's `syn` that has come now: SYN and acknowledgement go with the next
    /// poll, and are sent again until they are acknowledged.
    pub fn accept(outgoing: &Config, incoming: &Config, now: Time, syn: &Segment) -> Self {
        let mut endpoint = Self::connect(outgoing, incoming, syn.connection, now);
        endpoint.sender.open_passively();
        endpoint.receiver.on_syn(syn);
        endpoint
    }

    /// The application has `payload` more to send.
    pub fn write(&mut self, payload: Bytes) {
        self.sender.write(payload);
    }

    /// A segment of this connection has come.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if segment.syn {
            return self.on_syn(now, segment);
        }
        self.sender.on_ack(now, segment);
        self.receiver.on_segment(now, segment);
    }

    /// A SYN, with or without an acknowledgement, that may have come before.
    fn on_syn(&mut self, now: Time, segment: &Segment) {
        self.receiver.on_syn(segment);
        let opens = segment.ack > 0 && !self.is_open();
        if opens {
            self.sender.on_ack(now, segment);
        } else if self.is_open() {
            // RFC 9293 §3.10.7.4: what the peer does not know is said again.
            self.receiver.acknowledge_at_once();
        } else {
            self.sender.repeat_syn();
        }
    }

    /// Timers that are due expire.
    pub fn on_timeout(&mut self, now: Time) {
        if self.sender.next_timeout() <= now {
            self.sender.on_timeout(now);
        }
        if self.receiver.next_timeout() <= now {
            self.receiver.on_timeout(now);
        }
    }

    /// The next segment to send, if any may go.
    pub fn poll_transmit(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        let segment = match self.sender.poll_transmit(now, options_pool) {
            Some(segment) => self.receiver.ride_on(segment),
            None => Segment {
                seq: self.sender.number_of_pure_ack(),
                ..self.receiver.poll_transmit(now, options_pool)?
            },
        };
        Some(Segment { connection: self.connection, ..segment })
    }

    /// When a timer expires; [`Time::NEVER`] while none runs.
    pub fn next_timeout(&self) -> Time {
        self.sender.next_timeout().min(self.receiver.next_timeout())
    }

    /// What has come is acknowledged now, as a FIN would: for an application that closes.
    pub fn acknowledge_at_once(&mut self) {
        self.receiver.acknowledge_at_once();
    }

    /// The path takes segments of `mss` at most (RFC 1191 §6.4).
    pub fn on_too_big(&mut self, now: Time, mss: Bytes) {
        self.sender.on_too_big(now, mss);
    }

    /// Brings what the statistics sum over time up to `now`.
    pub fn account(&mut self, now: Time) {
        self.sender.account(now);
    }

    /// Whether the handshake is done as far as this end knows.
    pub fn is_open(&self) -> bool {
        self.sender.is_established()
    }

    /// Payload bytes that have come in order.
    pub fn delivered(&self) -> Bytes {
        self.receiver.delivered()
    }

    /// Which of the flow's connections it is an end of.
    pub fn connection(&self) -> u16 {
        self.connection
    }

    /// Its sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Its receiving half.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}
