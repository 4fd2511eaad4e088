//! Losses of a path: how many, in which bursts, or above which rate.

use super::{Confidence, Known, LEAST_QUEUE, four_digits, whole};
use crate::advise::Case;
use crate::diagnose::{LossCause, policed_rate};
use crate::evidence::{DirectionStats, LossEpisode};
use crate::path::PolicerSpec;
use crate::units::{Bytes, Time};

/// The lost share of the data packets, from 0 to 1.
pub(super) fn rate(data: &DirectionStats) -> Known<f64> {
    let needed = data.needed_retransmissions();
    let sent = data.segments().max(1);
    let how = match needed {
        0 => "no data packet was lost".to_owned(),
        _ => format!("{needed} of {sent} data packets were lost and retransmitted"),
    };
    // With offload one captured packet is several on the wire.
    let confidence = if data.offloaded_packets > 0 { Confidence::Low } else { Confidence::Medium };
    Known::new(needed as f64 / sent as f64, confidence, how)
}

/// Fewer recoveries show no bursts.
const LEAST_EPISODES: usize = 4;
/// Losses come in bursts where a recovery repairs so many times as many as chance brings together.
const BURST: f64 = 1.5;

/// How many packets errors strike in a row; `None` where chance alone brings as many together.
pub(super) fn burst(case: &Case<'_>, segment: u32) -> Option<Known<f64>> {
    let episodes = case.data().loss_episodes.as_slice();
    if case.diagnosis.loss.cause != LossCause::Errors || episodes.len() < LEAST_EPISODES {
        return None;
    }
    let count = episodes.len() as f64;
    let mean = |of: fn(&LossEpisode) -> f64| episodes.iter().map(of).sum::<f64>() / count;
    let lost = mean(|episode| f64::from(episode.lost));
    let flight = mean(|episode| episode.in_flight as f64) / f64::from(segment.max(1));
    // A flight with a loss has more by chance: the mean of a Poisson distribution without its zero.
    let expected = flight / mean(|episode| f64::from(episode.sent_since)).max(1.0);
    let by_chance = if expected > 1e-9 { expected / -libm::expm1(-expected) } else { 1.0 };
    let burst = lost / by_chance;
    let how = "packets lost in a recovery, over those that chance would bring together";
    (burst >= BURST).then(|| Known::new(burst, Confidence::Low, how))
}

/// SYN and the acknowledgement that ends the handshake go before the first data.
const HANDSHAKE_PACKETS: u64 = 2;

/// Which packets of the wire errors struck, counted from 0, as far as recoveries tell: the first that one repairs is the
/// oldest in flight, others of it are somewhere behind. `None` where not every recovery was kept.
pub(super) fn positions(case: &Case<'_>, segment: u32, is_burst: bool) -> Option<Vec<u64>> {
    positions_behind(case, segment, is_burst, 0)
}

/// The same without those of the first `skipped` recoveries.
fn positions_behind(
    case: &Case<'_>,
    segment: u32,
    is_burst: bool,
    skipped: usize,
) -> Option<Vec<u64>> {
    let episodes = &case.data().loss_episodes;
    let all = episodes.as_slice();
    let is_whole = episodes.count() == all.len() as u64 && !case.evidence.marks.mid_stream;
    if all.is_empty() || !is_whole {
        return None;
    }
    let (mut sent, mut resent) = (0, 0);
    let mut positions: Vec<u64> = Vec::new();
    for (number, episode) in all.iter().enumerate() {
        sent += u64::from(episode.sent_since);
        let flight = (episode.in_flight / u64::from(segment.max(1))).min(sent);
        let first = HANDSHAKE_PACKETS + resent + sent - flight;
        let count = u64::from(episode.lost);
        let apart = if is_burst { 1 } else { (flight / count.max(1)).max(1) };
        if number >= skipped {
            positions.extend((0..count).map(|number| first + number * apart));
        }
        resent += count;
    }
    positions.sort_unstable();
    positions.dedup();
    Some(positions)
}

/// Fewer segments than these, and than this share of the flight, are no overflow at the end of slow start: the window doubles each
/// round trip until the sender learns of the first loss (RFC 5681 §3.1).
const LEAST_OVERFLOW: u32 = 10;
const OVERFLOW_SHARE: f64 = 0.1;
/// Slow start sends two segments for each that leaves the queue: half of a window waits in it, and the window doubles until the sender
/// learns of a loss.
const BURST_SHARE: f64 = 4.0;

/// A queue that overflowed at the end of slow start, and what was lost since.
#[derive(Debug, Clone, PartialEq)]
pub struct Overflow {
    /// Size of the queue, in bytes: what passed in the round trip until the sender learnt of the first loss is what path and queue
    /// hold. A queue shorter than the path overflows before that is full: by a burst of half the window, which doubled since.
    pub queue_bytes: Known<u64>,
    /// The lost share of the data packets since, from 0 to 1; `None` where nothing was lost.
    pub later_loss: Option<Known<f64>>,
    /// Which packets were lost since, counted from 0 on the wire; `None` where not all are known.
    pub(in crate::advise) later_packets: Option<Vec<u64>>,
}

/// The overflow that ended slow start, on a path that holds `held` bytes of payload; `None` where the first recovery repairs too little.
pub(super) fn overflow(case: &Case<'_>, segment: u32, held: f64) -> Option<Overflow> {
    let data = case.data();
    let all = data.loss_episodes.as_slice();
    let (first, later) = all.split_first()?;
    // What follows within a flight belongs to it.
    let is_part = |episode: &&LossEpisode| {
        u64::from(episode.sent_since) * u64::from(segment) <= episode.in_flight
    };
    let parts = later.iter().take_while(is_part).count();
    let lost = first.lost + later.iter().take(parts).map(|episode| episode.lost).sum::<u32>();
    let lost_bytes = f64::from(lost) * f64::from(segment);
    let is_overflow =
        lost >= LEAST_OVERFLOW && lost_bytes >= OVERFLOW_SHARE * first.in_flight as f64;
    let since = data.needed_retransmissions().saturating_sub(lost.into());
    let is_known =
        !case.evidence.marks.mid_stream && data.loss_episodes.count() == all.len() as u64;
    if !is_known || !is_overflow {
        return None;
    }
    let sent: u64 = all.iter().take(1 + parts).map(|it| u64::from(it.sent_since)).sum();
    let sent_since = data.segments().saturating_sub(sent).max(1);
    let flight = first.in_flight as f64;
    let queue = (flight - lost_bytes - held).max(flight / BURST_SHARE).max(LEAST_QUEUE as f64);
    let how = "the flight when the sender learnt of the loss that ended slow start";
    let later_loss = (since > 0).then(|| {
        let how = format!(
            "{since} of {sent_since} data packets were lost after the overflow that ended slow start"
        );
        Known::new(since as f64 / sent_since as f64, Confidence::Low, how)
    });
    Some(Overflow {
        queue_bytes: Known::new(whole(queue), Confidence::Low, how),
        later_loss,
        later_packets: positions_behind(case, segment, false, 1 + parts),
    })
}

/// The policer that drops: the rate that passes between losses, and what passed at once before the first.
pub(super) fn policer(case: &Case<'_>, segment: u32, headers: u32) -> Option<Known<PolicerSpec>> {
    let data = case.data();
    if case.diagnosis.loss.cause != LossCause::Policer {
        return None;
    }
    let with_headers = f64::from(segment + headers) / f64::from(segment.max(1));
    let rate_bps = policed_rate(data)? * with_headers;
    let first = data.loss_episodes.as_slice().first()?;
    // What was in flight at the retransmission left after the segment that the policer dropped, a round trip before.
    let before = first.sent_bytes.saturating_sub(first.in_flight) as f64 * with_headers;
    let round_trip = first.rtt.map(Time::as_secs_f64).or(data.path_rtt_min_s).unwrap_or(0.0);
    let seconds = (first.at.since(data.first_data?).as_secs_f64() - round_trip).max(0.0);
    let least = 2.0 * f64::from(segment + headers);
    let burst = Bytes::new(whole((before - rate_bps * seconds / 8.0).max(least)));
    let how = "the rate that passed between losses, and what passed above it before the first";
    let policer = PolicerSpec { rate: four_digits(rate_bps), burst };
    Some(Known::new(policer, Confidence::Low, how))
}
