//! What two captures of one connection, one near each end, show together.

use std::net::SocketAddr;

use super::Direction;

/// What two captures of one connection, one near each end, show together: what passed at one and never at the other was
/// lost between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// Which of the two captures was taken nearer to the client: 0 or 1, in the order in which they were given.
    pub client_capture: usize,
    /// Which of the two everything else in the evidence is from: the one nearer to the sender of most payload, or the other
    /// where only that holds both directions, or the SYNs.
    pub judged_in: usize,
    /// How far the clocks of the captures differ; `None` where packets of only one direction were matched, or a clock was
    /// set while it captured.
    pub clock: Option<ClockDifference>,
    /// From the client to the server.
    pub forward: Passage,
    /// From the server to the client.
    pub reverse: Passage,
    /// Header fields that were not the same at both ends.
    pub changes: Vec<Change>,
}

/// How far two clocks differ, estimated from the least one-way delays in both directions (Paxson 1998; Moon, Skelly,
/// Towsley 1999).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockDifference {
    /// Time of the capture at the server less time of the capture at the client, in the middle of what both cover, in
    /// seconds.
    pub offset_s: f64,
    /// The offset is within so many seconds of that: half the least round trip, because nothing shows how it is shared
    /// between the directions.
    pub uncertainty_s: f64,
    /// By how much the clock at the server is faster, in millionths; `None` where it cannot be told from 0.
    pub skew_ppm: Option<f64>,
    /// The least delay there plus the least delay back between the captures, in seconds; of any connection of the two.
    pub base_rtt_s: f64,
}

/// What became of the packets of one direction between two captures. Packets are those of the wire: what was captured
/// before segmentation offload counts as the segments that it is cut to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passage {
    /// Packets that the capture at the sender holds.
    pub sent_packets: u64,
    /// Their payload in bytes.
    pub sent_bytes: u64,
    /// Packets of these that did not pass the capture at the receiver, while it ran.
    pub lost_packets: u64,
    /// Their payload in bytes.
    pub lost_bytes: u64,
    /// Lost packets that carried payload.
    pub lost_data_packets: u64,
    /// Packets that arrived behind one that was sent later (RFC 4737 §3).
    pub reordered_packets: u64,
    /// Copies that arrived of packets that were sent once.
    pub duplicated_packets: u64,
    /// Packets that repeat payload which was sent before.
    pub retransmitted_packets: u64,
    /// Retransmissions of these that brought nothing new, because the payload had arrived.
    pub needless_retransmissions: u64,
    /// Packets that arrived and are not in the capture at the sender: that capture lost them.
    pub missed_at_sender: u64,
    /// Packets with payload that was acknowledged, and are not in the capture at the receiver: that capture lost them.
    pub missed_at_receiver: u64,
    /// Packets that were sent while the other capture did not run; they count as nothing else.
    pub outside_packets: u64,
    /// One-way delays; `None` where no packet was matched.
    pub delay: Option<OneWayDelay>,
    /// The delays at losses.
    pub at_losses: DelayAtLosses,
    /// Hops between the captures that lowered the TTL; `None` where a hop set it, or no packet was matched.
    pub hops: Option<u8>,
    /// Packets that a hop marked CE (RFC 3168).
    pub marked_packets: u64,
    /// Packets that were sent with ECN's code point and arrived without.
    pub bleached_packets: u64,
}

/// One-way delays between two captures, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneWayDelay {
    /// The least, to within the uncertainty of the clocks' difference; `None` where that is not known.
    pub min_s: Option<f64>,
    /// The median above the least: the time in queues. The difference of the clocks does not matter to it.
    pub queue_median_s: f64,
    /// The 99th percentile above the least.
    pub queue_p99_s: f64,
    /// The largest above the least.
    pub queue_max_s: f64,
}

/// How long the packet was in queues that passed just before one or several in a row that were lost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DelayAtLosses {
    /// Losses of packets with payload whose predecessor arrived; several in a row count once.
    pub count: u64,
    /// Those whose predecessor's delay was high: at least half of the largest queueing delay.
    pub high: u64,
    /// Median delay above the least, in seconds.
    pub median_s: f64,
}

/// A header field that was not the same at both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The direction of the packets that carried it.
    pub direction: Direction,
    /// The field.
    pub field: ChangedField,
    /// As it was sent; empty where there was none.
    pub sent: String,
    /// As it arrived; empty where it was removed.
    pub received: String,
}

/// Header fields that hops change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedField {
    /// The MSS option of the SYN: a hop clamps it to what its MTU allows.
    Mss,
    /// The window scale option of the SYN.
    WindowScale,
    /// The SACK-permitted option of the SYN.
    SackPermitted,
    /// The timestamps option of the SYN.
    Timestamps,
    /// Another option of the SYN, by its kind.
    Option(u8),
    /// Source or destination, address or port: network address translation.
    Addresses,
    /// Sequence numbers: a firewall adds a number of its own.
    SequenceNumbers,
    /// The bits of ECN's negotiation in the SYN (RFC 3168 §6.1.1).
    EcnSetup,
    /// The receive window of packets behind the handshake, in bytes: a bandwidth manager makes it smaller.
    Window,
}

impl ChangedField {
    /// The word that reports and JSON use.
    pub fn word(self) -> String {
        match self {
            Self::Mss => "mss".to_owned(),
            Self::WindowScale => "window-scale".to_owned(),
            Self::SackPermitted => "sack-permitted".to_owned(),
            Self::Timestamps => "timestamps".to_owned(),
            Self::Option(kind) => format!("option-{kind}"),
            Self::Addresses => "addresses".to_owned(),
            Self::SequenceNumbers => "sequence-numbers".to_owned(),
            Self::EcnSetup => "ecn-setup".to_owned(),
            Self::Window => "window".to_owned(),
        }
    }
}

impl Joined {
    /// What became of the packets of a direction.
    pub const fn passage(&self, direction: Direction) -> &Passage {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// What hops changed of a field, in the packets of a direction; `None` where they left it as it was.
    pub fn change(&self, direction: Direction, field: ChangedField) -> Option<&Change> {
        self.changes.iter().find(|change| change.direction == direction && change.field == field)
    }

    /// The direction in which packets wait much longer than in the other; `None` where neither stands out.
    pub fn queued_direction(&self) -> Option<Direction> {
        let queue = |passage: &Passage| {
            let is_queue =
                passage.reordered_packets as f64 <= MUCH_REORDERING * passage.sent_packets as f64;
            passage.delay.filter(|_| is_queue).map_or(0.0, |delay| delay.queue_p99_s)
        };
        let (there, back) = (queue(&self.forward), queue(&self.reverse));
        if there >= LEAST_QUEUE_S && there >= MUCH_LONGER * back {
            Some(Direction::Forward)
        } else if back >= LEAST_QUEUE_S && back >= MUCH_LONGER * there {
            Some(Direction::Reverse)
        } else {
            None
        }
    }

    /// Text of two endpoints, as [`ChangedField::Addresses`] has it.
    pub fn ends_text(source: SocketAddr, destination: SocketAddr) -> String {
        format!("{source} → {destination}")
    }
}

/// Shorter delays come of timers and hosts.
const LEAST_QUEUE_S: f64 = 0.005;
/// A direction has the queue where its delays above the least are so many times those of the other.
const MUCH_LONGER: f64 = 3.0;
/// In a queue nothing overtakes: where a larger share does, delays vary for another reason.
const MUCH_REORDERING: f64 = 0.05;

impl Passage {
    /// Packets whose fate is known: sent while both captures ran.
    pub const fn followed_packets(&self) -> u64 {
        self.sent_packets.saturating_sub(self.outside_packets)
    }

    /// Lost packets as a share of those whose fate is known; `None` where there were none.
    pub fn loss_share(&self) -> Option<f64> {
        let followed = self.followed_packets();
        (followed > 0).then(|| self.lost_packets as f64 / followed as f64)
    }
}
