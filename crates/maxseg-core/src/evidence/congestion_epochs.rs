//! Congestion epochs: growth of the flight from one loss to the next (RFC 9438 §4.1.2).

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// The flight from the end of one loss recovery to the next loss, in round trips of the sender. Flights are the most bytes in
/// flight in a round trip, while acknowledgements brought progress: duplicates release more than the congestion window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionEpoch {
    /// When the recovery before it ended; the first epoch begins with the first data.
    pub from: Time,
    /// When the segment that ends it was sent again, or the capture ended.
    pub to: Time,
    /// Round trips, the first included.
    pub rounds: u32,
    /// Flight before the loss that precedes it, in bytes; 0 where there is none, or none is known.
    pub peak: u64,
    /// Flight in the first round trip, in bytes.
    pub first: u64,
    /// Most of the flights of all round trips, in bytes.
    pub most: u64,
    /// Flight in the last whole round trip, in bytes.
    pub last: u64,
    /// Round trips since the flight was last the largest.
    pub flat_rounds: u32,
    /// Further round trips, behind the first: the program had no more data at their end, and they count in nothing else here.
    pub short_rounds: u32,
    /// The sum of the flights of all round trips, in bytes.
    pub sum: u64,
    /// Whether the receive window had less room than a segment: it was the limit, not the congestion window.
    pub is_capped: bool,
    /// Round trips in which it had more, behind the first in which it was the limit.
    pub open_rounds: u32,
    /// Whether the recovery before it began with an expiry of the retransmission timer, and so with slow start.
    pub after_timer: bool,
    /// Whether a loss ended it, rather than the capture.
    pub by_loss: bool,
    /// The recovery before it; none before the first loss.
    pub before: RecoveryBefore,
    /// Where its flights begin among those that are kept.
    pub flights_from: u32,
    /// How many of them are kept.
    pub flights: u32,
}

/// What is known of a recovery, as far as what follows depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryBefore {
    /// Bytes in flight when the first segment was sent again; 0 where there was no recovery.
    pub in_flight: u64,
    /// Whether the receive window was the limit before.
    pub was_capped: bool,
    /// Segments sent again; where the retransmission timer expired, since it last did.
    pub resent: u32,
    /// Bytes acknowledged until its end since the retransmission timer last expired.
    pub acked: u64,
}

/// A round trip behind a recovery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundFlight {
    /// Most bytes in flight in it.
    pub most: u32,
    /// Bytes acknowledged in it.
    pub acked: u32,
}

impl CongestionEpoch {
    /// Whether the flights of all its round trips so far are kept.
    pub const fn is_next_kept(&self) -> bool {
        self.flights == self.rounds
    }
}

/// The flight at a loss (`FlightSize`, RFC 5681 §2) and what was sent since the loss before. Both are numbers of bytes in order
/// of their sequence: they are the same wherever packets were seen, and need neither round trips nor timestamps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlightAtLoss {
    /// When the first of the lost segments was sent again.
    pub at: Time,
    /// Bytes sent and not acknowledged then, those that were lost among them.
    pub in_flight: u64,
    /// New bytes since the loss before was noticed in the same way, or since the first flight.
    pub sent_since: u64,
    /// Segments that this recovery sent again.
    pub resent: u32,
    /// Whether the retransmission timer expired, at first or later in this recovery.
    pub by_timer: bool,
    /// Whether the receive window had less room than a segment since the loss before.
    pub is_capped: bool,
    /// The last round trip before it, by the acknowledgement that a segment echoed and the time at which this passed; zero where no timestamps
    /// tell it, or the capture is at the sender.
    pub round_trip: Time,
}

/// The first round trip of a recovery that hears of no SACK blocks, from the first retransmission to its acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryRound {
    /// Duplicate ACKs behind those that released the retransmission.
    pub duplicates: u32,
    /// New bytes that were sent for them.
    pub sent: u64,
}

/// What passes in a round trip of the connection's opening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpeningRound {
    /// New bytes.
    pub bytes: u64,
    /// From the first to the last of their segments.
    pub span: Time,
    /// The longest time in it between two that follow each other.
    pub longest_gap: Time,
}

/// The first round trips with data, by the round trip of the handshake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The round trip of the handshake; zero where the handshake or the first flight was not seen.
    pub round_trip: Time,
    /// In order, from the first data on.
    pub rounds: [OpeningRound; 3],
}

/// The first epochs of a direction: an algorithm that shows in none of them does not show in later ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionEpochs {
    list: Vec<CongestionEpoch>,
    losses: Vec<FlightAtLoss>,
    rounds: Vec<RecoveryRound>,
    flights: Vec<RoundFlight>,
    /// The first round trips.
    pub opening: Opening,
    /// Whether timestamps told what the sender knew (RFC 7323 §4), so that flights are its own wherever they were seen.
    pub is_by_echo: bool,
    /// Whether the sender counts its packets by IP identifications (`ip_select_ident_segs` in `include/net/ip.h`), so that flights at losses
    /// hold what was lost at their end before it was seen.
    pub counts_packets: bool,
    /// How many segments overtook others, however many each of them did; `None` where none did.
    pub overtaking: Option<u32>,
}

impl CongestionEpochs {
    /// Most epochs, and most losses, that are kept.
    pub const MOST: usize = 256;

    /// Most first round trips of recoveries that are kept.
    pub const MOST_ROUNDS: usize = 64;

    /// Most flights of round trips behind recoveries that are kept.
    pub const MOST_FLIGHTS: usize = 1024;

    /// Adds the flight of the next round trip of an epoch that is under way.
    pub fn push_flight(&mut self, flight: RoundFlight, of: &mut CongestionEpoch) {
        if self.flights.len() < Self::MOST_FLIGHTS {
            if of.flights == 0 {
                of.flights_from = u32::try_from(self.flights.len()).unwrap_or(u32::MAX);
            }
            of.flights += 1;
            self.flights.push(flight);
        }
    }

    /// The flights of the first round trips of an epoch, as far as they are kept.
    pub fn flights_of(&self, epoch: &CongestionEpoch) -> &[RoundFlight] {
        let from = usize::try_from(epoch.flights_from).unwrap_or(usize::MAX);
        let count = usize::try_from(epoch.flights).unwrap_or(0);
        self.flights.get(from..from.saturating_add(count)).unwrap_or(&[])
    }

    /// Adds the next one.
    pub fn push(&mut self, epoch: CongestionEpoch) {
        if self.list.len() < Self::MOST {
            self.list.push(epoch);
        }
    }

    /// A loss recovery begins.
    pub fn push_loss(&mut self, loss: FlightAtLoss) {
        if self.losses.len() < Self::MOST {
            self.losses.push(loss);
        }
    }

    /// The first losses, in order.
    pub fn losses(&self) -> &[FlightAtLoss] {
        &self.losses
    }

    /// The first round trip of a recovery ends.
    pub fn push_round(&mut self, round: RecoveryRound) {
        if self.rounds.len() < Self::MOST_ROUNDS {
            self.rounds.push(round);
        }
    }

    /// The first round trips of recoveries that were whole, in order.
    pub fn rounds(&self) -> &[RecoveryRound] {
        &self.rounds
    }

    /// In order.
    pub fn as_slice(&self) -> &[CongestionEpoch] {
        &self.list
    }
}
