//! A full link, from the data or the acknowledgements alone: the first flights come out of it at the rate that the whole transfer
//! has, or losses take as long to be repaired as a queue in front of it makes round trips.

use crate::evidence::{Alone, DirectionStats};
use crate::units::Time;

/// A window that is small at first sends flights with pauses between: their segments come out of the narrowest link at its rate. The
/// whole transfer, slow start and losses included, is as fast to this share of it where that link was full all the time.
const AS_FLIGHTS: f64 = 0.1;
/// What comes faster than a first flight for a few packets is chance of hosts and routers up to so many times; a program that writes at a
/// rate of its own sends what waited for the window at the rate of the link.
const BUNCHED: f64 = 1.5;
/// A sender halves its window at a loss at most (RFC 5681 §3.1): a queue that makes round trips half as long again stands again within a
/// few round trips, and leaves the link idle for less than a tenth of the time.
const LONGER: f64 = 0.5;
/// A loss is found by three duplicate acknowledgements, behind the segment that is lost: so many segments come then (RFC 5681 §3.2).
const FINDING: f64 = 4.0;
/// So many of the repairs show a queue: the others are of errors, or of a queue that others fill.
const MOST_REPAIRS: f64 = 2.0 / 3.0;
/// While a queue stands the link delivers at its rate: the transfer has that rate, to this share of it, where the queue seldom
/// empties. One repair in two shows it: slow start sends twice the rate.
const AS_REPAIRS: f64 = 0.15;
const HALF: f64 = 0.5;
/// Repairs that take more of the time than this leave the link idle: without SACK a round trip repairs one loss (RFC 6582).
const REPAIRING: f64 = 0.4;

/// Whether the link is full for most of the time, as far as one direction alone shows that.
pub(super) fn fills_link(data: &DirectionStats, segment: f64, lasted: Time) -> bool {
    let Some(alone) = data.alone.as_deref() else { return false };
    is_as_first_flights(alone) || finds_queue(alone, segment, lasted, data.timeouts)
}

/// Whether the whole transfer is as fast as its first flights came out of the path, and nothing came faster.
fn is_as_first_flights(alone: &Alone) -> bool {
    alone.flight_bps.is_some_and(|flight| {
        let share = flight / alone.rate_bps;
        (share - 1.0).abs() <= AS_FLIGHTS && alone.fastest_bps <= BUNCHED * alone.rate_bps
    })
}

/// Whether losses found a queue, most of them, and the transfer has the rate that the link had then.
fn finds_queue(alone: &Alone, segment: f64, lasted: Time, timeouts: u64) -> bool {
    let trip = alone.trip.as_secs_f64();
    let least = (1.0 + LONGER) * trip + FINDING * 8.0 * segment / alone.rate_bps;
    let queued: Vec<f64> = alone
        .repairs
        .iter()
        .filter(|repair| repair.after.as_secs_f64() >= least)
        .map(|repair| repair.bytes as f64 * 8.0 / repair.after.as_secs_f64() / alone.rate_bps)
        .collect();
    let at_rate = queued.iter().filter(|share| (*share - 1.0).abs() <= AS_REPAIRS).count() as f64;
    let repairing = alone.repairing.as_secs_f64();
    !queued.is_empty()
        && queued.len() as f64 >= MOST_REPAIRS * alone.repairs.len() as f64
        && at_rate >= HALF * queued.len() as f64
        && timeouts == 0
        && repairing <= REPAIRING * lasted.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Repair;

    const SEGMENT: f64 = 1460.0;

    /// A transfer of 8 Mbit/s over a path of 50 ms.
    fn fills(alone: Alone) -> bool {
        let alone = Alone { trip: Time::from_millis(50), rate_bps: 8e6, ..alone };
        let data = DirectionStats { alone: Some(Box::new(alone)), ..DirectionStats::default() };
        fills_link(&data, SEGMENT, Time::from_secs(5))
    }

    #[test]
    fn a_transfer_as_fast_as_its_first_flights_fills_the_link() {
        let of = |flight, fastest_bps| {
            fills(Alone { flight_bps: Some(flight), fastest_bps, ..Alone::default() })
        };
        assert!(of(8.4e6, 9e6));
        assert!(!of(16e6, 16e6), "the link carries more");
        assert!(!of(8e6, 14e6), "what waited for the window came faster: a program's rate");
        assert!(!of(f64::INFINITY, 9e6), "sent at once");
        assert!(!fills(Alone::default()));
    }

    #[test]
    fn repairs_that_take_longer_than_the_path_found_a_queue() {
        // The round trips, at 8 Mbit/s.
        let repairs = |all: &[u64]| {
            let at_rate =
                |after: &u64| Repair { after: Time::from_millis(*after), bytes: after * 1000 };
            all.iter().map(at_rate).collect::<Vec<_>>()
        };
        let of = |all: &[u64]| fills(Alone { repairs: repairs(all), ..Alone::default() });
        assert!(of(&[120, 130]) && of(&[120, 55, 130]));
        assert!(!of(&[52, 55]), "nothing waits: errors");
        assert!(!of(&[120, 55]), "as many are of errors");
        assert!(!of(&[]));
        let twice = Repair { after: Time::from_millis(120), bytes: 240_000 };
        assert!(!fills(Alone { repairs: vec![twice], ..Alone::default() }), "slow start");
        let repairing = Time::from_secs(3);
        let long = Alone { repairs: repairs(&[120]), repairing, ..Alone::default() };
        assert!(!fills(long), "most of the time");
    }
}
