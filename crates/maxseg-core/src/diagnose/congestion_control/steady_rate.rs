//! A rate that stays the same for tens of round trips of an empty path, behind a loss.
//!
//! From what a policer drops BBR learns its rate, and paces at that for 48 round trips (`bbr_lt_bw_max_rtts` in `net/ipv4/tcp_bbr.c`). Windows
//! grow meanwhile, by half a segment in each at least (RFC 5681 §3.1, RFC 9438 §4.3). What is far below the rate of the link waits nowhere: its round trips
//! are that of the handshake, and need no timestamps.

use super::CongestionAlgorithm::Bbr;
use super::burst_sizes::loses_as_policed;
use super::clue::Clue;
use super::first_loss::path_bytes;
use crate::evidence::{CongestionEpoch, DirectionStats};
use crate::outcome::LimitedBy;

/// In so many round trips CUBIC grows by fifteen segments.
const LEAST_ROUNDS: u32 = 30;
/// The mean of their flights is that of the first, to this share of a segment: it may have what duplicates released, and the last what probes anew.
const SAME: f64 = 0.5;
/// Below this share of what the path holds nothing waits in front of the link.
const FAR_BELOW: f64 = 0.7;
/// How likely it is under Reno, CUBIC and BBR, by the law of succession: of captures at the receiver without timestamps that lost packets 9 of 42 of BBR showed it,
/// and none of 138 of the others.
const SEEN: [f64; 3] = [0.03, 0.03, 1.0];
/// It speaks against an algorithm by this at most: a program may write evenly.
const MOST: f64 = 3.5;

/// What such a rate shows.
pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Clue {
    // What shares a full link with others may keep a rate below it as well, and loses little.
    let is_of_path =
        matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion) && loses_as_policed(data);
    let Some(path) = path_bytes(data).filter(|_| is_of_path && !data.begins_late) else {
        return Clue::default();
    };
    let segment = f64::from(data.full_segment());
    let longest = data.epochs.as_slice().iter().filter(|epoch| is_same(epoch, path, segment));
    match longest.map(|epoch| epoch.rounds).max() {
        Some(rounds) => {
            let text = format!("it sent at the same rate for {rounds} round trips behind a loss");
            Clue::new(SEEN, MOST, &[Bbr], text)
        }
        None => Clue::default(),
    }
}

/// Whether a flight is the same all along, and far from filling the path.
fn is_same(epoch: &CongestionEpoch, path: f64, segment: f64) -> bool {
    let mean = epoch.sum as f64 / f64::from(epoch.rounds.max(1));
    let is_behind_loss = epoch.before.in_flight > 0 && !epoch.after_timer;
    let is_same = (mean - epoch.first as f64).abs() <= SAME * segment;
    is_behind_loss
        && epoch.rounds >= LEAST_ROUNDS
        && !epoch.is_capped
        && is_same
        && mean < FAR_BELOW * path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CongestionEpochs, RecoveryBefore};

    /// A path that holds 12 segments, and flights of so many (mean) in so many round trips behind a loss, the first of 6.
    fn shown(rounds: u32, mean: u64, lost: u64, limit: LimitedBy) -> bool {
        let mut epochs = CongestionEpochs::default();
        epochs.push(CongestionEpoch {
            rounds,
            first: 6000,
            sum: mean * u64::from(rounds),
            before: RecoveryBefore { in_flight: 7000, ..RecoveryBefore::default() },
            ..CongestionEpoch::default()
        });
        let data = DirectionStats {
            mss_used_bytes: Some(1000),
            capacity_bps: Some(2.4e6),
            path_rtt_min_s: Some(0.04),
            data_packets: 400,
            retransmitted_packets: lost,
            epochs,
            ..DirectionStats::default()
        };
        of(&data, limit).sentence(Bbr).is_some()
    }

    #[test]
    fn the_same_for_tens_of_round_trips_is_no_window() {
        assert!(shown(48, 6000, 50, LimitedBy::Congestion));
        assert!(shown(48, 6100, 50, LimitedBy::Bandwidth), "it probes in the last");
    }

    #[test]
    fn what_grows_or_is_short_or_held_is_no_pace() {
        assert!(!shown(48, 18_000, 50, LimitedBy::Congestion), "half a segment a round trip");
        assert!(!shown(12, 6000, 50, LimitedBy::Congestion));
        assert!(!shown(48, 6000, 4, LimitedBy::Congestion), "no policer");
        for limit in [LimitedBy::Application, LimitedBy::Paced, LimitedBy::SendBuffer] {
            assert!(!shown(48, 6000, 50, limit));
        }
    }
}
