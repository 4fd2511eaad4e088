//! Losses of a path: how many, in which bursts, or above which rate.

use super::{Confidence, Known, four_digits, whole};
use crate::advise::Case;
use crate::diagnose::{LossCause, RatesBetweenLosses};
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
    let episodes = &case.data().loss_episodes;
    let all = episodes.as_slice();
    let is_whole = episodes.count() == all.len() as u64 && !case.evidence.marks.mid_stream;
    if all.is_empty() || !is_whole {
        return None;
    }
    let (mut sent, mut resent) = (0, 0);
    let mut positions: Vec<u64> = Vec::new();
    for episode in all {
        sent += u64::from(episode.sent_since);
        let flight = (episode.in_flight / u64::from(segment.max(1))).min(sent);
        let first = HANDSHAKE_PACKETS + resent + sent - flight;
        let count = u64::from(episode.lost);
        let apart = if is_burst { 1 } else { (flight / count.max(1)).max(1) };
        positions.extend((0..count).map(|number| first + number * apart));
        resent += count;
    }
    positions.sort_unstable();
    positions.dedup();
    Some(positions)
}

/// The policer that drops: the rate that passes between losses, and what passed at once before the first.
pub(super) fn policer(case: &Case<'_>, segment: u32, headers: u32) -> Option<Known<PolicerSpec>> {
    let data = case.data();
    if case.diagnosis.loss.cause != LossCause::Policer {
        return None;
    }
    let with_headers = f64::from(segment + headers) / f64::from(segment.max(1));
    let rate_bps = RatesBetweenLosses::of(data)?.usual_bps * with_headers;
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
