//! Where in a source to look.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Something that a finding may point at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// When.
    pub at: Time,
    /// Which packet of the capture, counted from 1.
    pub frame: u64,
    /// First byte of payload, counted from the beginning of its direction.
    pub offset: u64,
    /// Bytes of payload.
    pub bytes: u32,
    /// How long it took, where it is something that takes time: a pause, a shut window, the wait for a timer.
    pub lasted: Time,
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// A segment was sent again.
    Retransmission(Cause),
    /// A segment had been sent again for nothing; at the packet that was needless.
    Spurious(Cause),
    /// A segment was overtaken by later ones.
    OutOfOrder,
    /// The window shut.
    ZeroWindow,
    /// The window was filled.
    WindowFull,
    /// The packet is in the capture twice.
    CaptureDuplicate,
    /// The packet arrived in fragments.
    Fragmented,
    /// Asks whether the other side is there.
    KeepAlive,
}

/// What brought a retransmission about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The retransmission timer.
    Rto,
    /// Three duplicate acknowledgements.
    Fast,
    /// Selective acknowledgements.
    Sack,
    /// A probe for a loss at the tail.
    TailProbe,
    /// A SYN or FIN without an answer.
    Control,
    /// A hop refused it as too large (RFC 1191 §4): it left no queue, and the sender keeps its congestion window.
    TooLarge,
    /// It cannot be told.
    Unknown,
}

/// The first events of a direction in order: a bounded number of each kind; counts are in the direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    list: Vec<Event>,
}

impl Events {
    /// Most events that are kept of a kind.
    pub const MOST_OF_A_KIND: usize = 16;

    /// Keeps the event, if there are not enough of its kind yet.
    pub fn note(&mut self, event: Event) {
        let same = self.list.iter().filter(|other| other.kind == event.kind).count();
        if same < Self::MOST_OF_A_KIND {
            self.list.push(event);
        }
    }

    /// Takes in others, and puts all in order.
    pub fn append(&mut self, others: &Self) {
        self.list.extend_from_slice(&others.list);
        self.list.sort_by_key(|event| event.frame);
    }

    /// In order.
    pub fn as_slice(&self) -> &[Event] {
        &self.list
    }

    /// Those of which `wanted` holds, in order.
    pub fn of(&self, wanted: impl Fn(EventKind) -> bool) -> impl Iterator<Item = &Event> {
        self.list.iter().filter(move |event| wanted(event.kind))
    }
}
