//! What the metrics mean: policing, shaping, a queue that is too long, the hosts, a window, or losses (RFC 6349 §5.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunMetrics, TrainLimit, TrainsFound};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// What holds the throughput down, or the delay up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A policer drops what exceeds a rate.
    Policing,
    /// A shaper, or a link, queues what exceeds its rate.
    Shaping,
    /// The same, with a queue so long that it harms whatever waits for an answer.
    Bufferbloat,
    /// A queue of few packets drops before a window is large enough for the path.
    ShortQueue,
    /// The receiver's window is smaller than the path needs.
    Window,
    /// The sender's buffer is.
    SendBuffer,
    /// The sending host does not send as fast as the path carries.
    Host,
    /// Packets are lost whatever the load.
    Loss,
    /// Nothing: the path is full, with little queue and few losses.
    FullPath,
    /// The measurements do not tell.
    Unknown,
}

/// One step of the window sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowStep {
    /// The window by the product of bandwidth and delay.
    pub of_bdp: f64,
    /// The share of what was sent that was sent again.
    pub resent_share: f64,
    /// How much was sent again, in segments of a full size.
    pub resent_segments: f64,
}

/// What an interpretation goes by.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The run in equilibrium.
    pub run: &'a RunMetrics,
    /// The run of several connections.
    pub many: &'a RunMetrics,
    /// The round trip without load.
    pub baseline_s: f64,
    /// The highest throughput that any run reached.
    pub best_bps: f64,
    /// What the senders' sockets say that limited them, and for which share of the time.
    pub limited_by: Option<(LimitedBy, f64)>,
    /// The window sweep.
    pub steps: &'a [WindowStep],
    /// What trains of datagrams showed.
    pub trains: Option<TrainsFound>,
}

/// What the metrics mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interpretation {
    /// The cause.
    pub cause: Cause,
    /// Why, with numbers.
    pub text: String,
}

/// A limit of a socket counts where it held for so much of the time.
const MOST_OF_THE_TIME: f64 = 0.5;
/// Fewer losses than this are what TCP itself makes to find the rate of a link.
const NOTABLE_LOSS: f64 = 0.001;
/// Losses at small windows are no matter of load where they are at least this share of those at full load.
const OF_FULL_LOAD: f64 = 0.25;
/// So few segments sent again are chance.
const LEAST_RESENT: f64 = 3.0;
/// Windows below this share of the product of bandwidth and delay leave the path's queue empty.
const SMALL_WINDOW: f64 = 0.8;
/// Delivery faster than the rate that lasts: a token bucket that was full.
const BURST: f64 = 1.3;
/// A queue where the round trip is longer by this share, and by this much.
const QUEUE: f64 = 0.1;
const QUEUE_S: f64 = 0.001;
/// Bursts alone make the round trip longer; beside losses it takes this much for a queue.
const QUEUE_WITH_LOSS: f64 = 0.5;
/// The link is full from this share of the highest rate of any run on.
pub(super) const FULL: f64 = 0.9;
/// The queue is long (as for `explain`, `diagnose/round_trips.rs`).
const LONG_QUEUE: f64 = 2.0;
const LONG_QUEUE_S: f64 = 0.05;

/// Interprets one direction.
pub fn interpret(facts: &Facts<'_>) -> Interpretation {
    let rules = [of_host, of_losses, of_queue];
    rules.into_iter().find_map(|rule| rule(facts)).unwrap_or_else(|| full_or_unknown(facts))
}

#[expect(clippy::unnecessary_wraps, reason = "as rules return it")]
fn said(cause: Cause, text: String) -> Option<Interpretation> {
    Some(Interpretation { cause, text })
}

/// What the sockets themselves say.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are the path's")]
fn of_host(facts: &Facts<'_>) -> Option<Interpretation> {
    let (limit, share) = facts.limited_by.filter(|(_, share)| *share >= MOST_OF_THE_TIME)?;
    let share = approx::whole_percent(share);
    let rate = approx::rate(facts.run.throughput_bps);
    match limit {
        LimitedBy::ReceiveWindow => {
            let window = facts.run.window_bytes.map_or_else(String::new, |bytes| {
                format!(
                    " of at most {bytes} bytes, {} in a round trip of {}",
                    approx::rate(8.0 * bytes as f64 / facts.baseline_s),
                    approx::time(facts.baseline_s)
                )
            });
            said(
                Cause::Window,
                format!("the receiver's window{window}, was the limit for {share} of the time"),
            )
        }
        LimitedBy::SendBuffer => said(
            Cause::SendBuffer,
            format!("the send buffer was the limit for {share} of the time, at {rate}"),
        ),
        LimitedBy::Application | LimitedBy::Paced => said(
            Cause::Host,
            format!(
                "the sending host had nothing ready to send for {share} of the time, at {rate}"
            ),
        ),
        _ => None,
    }
}

/// Losses without a queue, or whatever the load.
fn of_losses(facts: &Facts<'_>) -> Option<Interpretation> {
    let lost = 1.0 - facts.run.efficiency?;
    let small = small_window_loss(facts);
    // Of a policed path even a small window may lose some, after a pause of a host; slow trains tell what is lost at any rate.
    let is_policers =
        facts.trains.is_some_and(|found| found.lost_share < NOTABLE_LOSS) && is_policed(facts);
    if let Some((of_bdp, share)) = small
        && !is_policers
        && share >= NOTABLE_LOSS
        && share >= OF_FULL_LOAD * lost
    {
        return said(
            Cause::Loss,
            format!(
                "{} of the payload is sent again, and {} with a window of {} of the BDP, which fills no queue: packets are lost whatever the load",
                approx::percent(lost),
                approx::percent(share),
                approx::whole_percent(of_bdp)
            ),
        );
    }
    let (lost, rise) =
        lost_without_queue(facts, facts.run).or_else(|| lost_without_queue(facts, facts.many))?;
    let peak = burst(facts);
    let (lost, delay) = (approx::percent(lost), approx::time(rise.max(0.0)));
    match peak {
        Some(peak) => said(
            Cause::Policing,
            format!(
                "{lost} of the payload is sent again while the round trip rises by {delay} alone; bursts passed at {}, {} is what lasts: packets above a rate are dropped, not queued",
                approx::rate(peak),
                approx::rate(facts.best_bps)
            ),
        ),
        None if is_policed(facts) => said(
            Cause::Policing,
            format!(
                "{lost} of the payload is sent again while the round trip rises by {delay} alone; of datagrams sent faster than {} the rest is dropped, not queued",
                approx::rate(facts.best_bps)
            ),
        ),
        None => said(
            Cause::ShortQueue,
            format!(
                "{lost} of the payload is sent again while the round trip rises by {delay} alone: a queue of few packets before the narrowest link, or a policer with a small burst"
            ),
        ),
    }
}

/// The share that a run lost while the round trip hardly rose, and by how much it rose.
fn lost_without_queue(facts: &Facts<'_>, run: &RunMetrics) -> Option<(f64, f64)> {
    // A queue of a whole BDP is about half full in the mean: each loss empties a good part of it.
    let (lost, rise) = (1.0 - run.efficiency?, run.rtt_p90_s? - facts.baseline_s);
    let is_queue = rise >= QUEUE_S && rise >= QUEUE_WITH_LOSS * facts.baseline_s;
    (lost >= NOTABLE_LOSS && !is_queue).then_some((lost, rise))
}

/// The largest share that was sent again with a window that fills no queue.
fn small_window_loss(facts: &Facts<'_>) -> Option<(f64, f64)> {
    let small = facts
        .steps
        .iter()
        .filter(|step| step.of_bdp <= SMALL_WINDOW && step.resent_segments >= LEAST_RESENT);
    small.map(|step| (step.of_bdp, step.resent_share)).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The rate of bursts, where they are faster than what lasts.
fn burst(facts: &Facts<'_>) -> Option<f64> {
    let peaks = [facts.run.peak_delivery_bps, facts.many.peak_delivery_bps];
    let peak = peaks.into_iter().flatten().max_by(f64::total_cmp);
    let trains = facts.trains.filter(|found| found.limit != TrainLimit::AtLeast);
    let short = trains.filter(|found| found.short_train_bps >= BURST * found.lasting_bps);
    // A connection that never pauses never finds a bucket full: its first train may have.
    peak.filter(|peak| *peak >= BURST * facts.best_bps).or(short.map(|found| found.short_train_bps))
}

/// Whether trains were dropped above a rate, and not queued.
fn is_policed(facts: &Facts<'_>) -> bool {
    facts.trains.is_some_and(|found| found.limit == TrainLimit::Policer)
}

/// Whether packets queue where the round trip is longer than the baseline by so much.
pub(super) fn is_queue(rise_s: f64, baseline_s: f64) -> bool {
    rise_s >= QUEUE_S && rise_s >= QUEUE * baseline_s
}

/// A queue.
fn of_queue(facts: &Facts<'_>) -> Option<Interpretation> {
    let mean = facts.run.rtt_mean_s?;
    let rise = mean - facts.baseline_s;
    if !is_queue(rise, facts.baseline_s) {
        return None;
    }
    let delay = format!(
        "the round trip rises from {} to {} under load",
        approx::time(facts.baseline_s),
        approx::time(mean)
    );
    if rise >= LONG_QUEUE_S && rise >= LONG_QUEUE * facts.baseline_s {
        let queued = approx::digits(rise * facts.best_bps / 8.0 / 1000.0);
        return said(
            Cause::Bufferbloat,
            format!(
                "{delay}: {queued} kB wait before the narrowest link, which harms whatever waits for an answer"
            ),
        );
    }
    let peak = burst(facts);
    let who = match peak {
        Some(peak) => format!("a shaper that lets bursts pass at {}", approx::rate(peak)),
        None => "a shaper or the narrowest link itself".to_owned(),
    };
    let lost = 1.0 - facts.run.efficiency.unwrap_or(1.0);
    said(
        Cause::Shaping,
        if lost < NOTABLE_LOSS {
            format!("{delay} and little is lost: {who} queues what exceeds its rate")
        } else {
            format!(
                "{delay} and {} of the payload is sent again: {who} queues what exceeds its rate, and drops what its queue does not hold",
                approx::percent(lost)
            )
        },
    )
}

fn full_or_unknown(facts: &Facts<'_>) -> Interpretation {
    let (rate, best) = (facts.run.throughput_bps, facts.best_bps);
    if facts.run.efficiency.is_some_and(|share| 1.0 - share < NOTABLE_LOSS) && rate >= FULL * best {
        let text =
            format!("{} with few losses and little queue: the path is full", approx::rate(rate));
        return Interpretation { cause: Cause::FullPath, text };
    }
    let (rate, best) = (approx::rate(rate), approx::rate(best));
    let why = if facts.run.efficiency.is_some() {
        "neither losses, queue, windows nor buffers explain it"
    } else {
        "the sending end tells neither losses nor round trips"
    };
    let text = format!("{rate}, where the fastest run reached {best}, and {why}");
    Interpretation { cause: Cause::Unknown, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc6349::Equilibrium;

    fn run(efficiency: f64, rtt_mean_s: f64, bps: f64, peak: f64) -> RunMetrics {
        RunMetrics {
            connections: 1,
            equilibrium: Equilibrium { from_s: 1.0, is_after_slow_start: true },
            counted_s: 29.0,
            payload_bytes: 0,
            throughput_bps: bps,
            connection_bps: vec![bps],
            connection_efficiency: vec![Some(efficiency)],
            transmitted_bytes: 0,
            retransmitted_bytes: 0,
            efficiency: Some(efficiency),
            rtt_mean_s: Some(rtt_mean_s),
            rtt_p90_s: Some(rtt_mean_s),
            buffer_delay: Some(rtt_mean_s / 0.020 - 1.0),
            transfer_time_ratio: None,
            peak_delivery_bps: Some(peak),
            window_bytes: Some(65_536),
            seconds: Vec::new(),
        }
    }

    fn cause(run: &RunMetrics, limited_by: Option<(LimitedBy, f64)>, small_loss: f64) -> Cause {
        let steps = [0.25, 0.5, 1.0].map(|of_bdp| WindowStep {
            of_bdp,
            resent_share: if of_bdp < 1.0 { small_loss } else { 0.01 },
            resent_segments: if small_loss > 0.0 { 50.0 } else { 0.0 },
        });
        let (many, baseline_s, best_bps) = (run, 0.020, 10e6);
        let facts =
            Facts { run, many, baseline_s, best_bps, limited_by, steps: &steps, trains: None };
        interpret(&facts).cause
    }

    #[test]
    fn trains_tell_a_policer_whose_burst_no_socket_saw() {
        let run = run(0.98, 0.0205, 9.5e6, 10e6);
        let cause = |limit, short_train_bps| {
            let trains =
                Some(TrainsFound { lasting_bps: 10e6, limit, short_train_bps, lost_share: 0.0 });
            let (run, many, baseline_s, best_bps) = (&run, &run, 0.020, 10e6);
            let facts =
                Facts { run, many, baseline_s, best_bps, limited_by: None, steps: &[], trains };
            interpret(&facts).cause
        };
        assert_eq!(cause(TrainLimit::Policer, 100e6), Cause::Policing);
        assert_eq!(cause(TrainLimit::Policer, 10e6), Cause::Policing, "a small burst");
        assert_eq!(cause(TrainLimit::Link, 10.1e6), Cause::ShortQueue);
        assert_eq!(cause(TrainLimit::AtLeast, 100e6), Cause::ShortQueue, "nothing is known");
    }

    #[test]
    fn a_queue_of_a_round_trip_that_is_half_empty_in_the_mean_is_no_short_one() {
        let mut run = run(0.995, 0.029, 9.5e6, 10e6);
        assert_eq!(cause(&run, None, 0.0), Cause::ShortQueue);
        run.rtt_p90_s = Some(0.038);
        assert_eq!(cause(&run, None, 0.0), Cause::Shaping);
    }

    #[test]
    fn each_cause_has_its_marks() {
        use LimitedBy::{Application, ReceiveWindow, SendBuffer};
        let path = |efficiency, rtt, peak| cause(&run(efficiency, rtt, 9.5e6, peak), None, 0.0);
        assert_eq!(path(0.98, 0.0205, 100e6), Cause::Policing);
        assert_eq!(path(0.98, 0.0205, 10e6), Cause::ShortQueue);
        assert_eq!(path(0.999_9, 0.040, 10e6), Cause::Shaping);
        assert_eq!(path(0.999_9, 0.400, 10e6), Cause::Bufferbloat);
        assert_eq!(path(0.999_9, 0.0201, 10e6), Cause::FullPath);
        let lossy = run(0.99, 0.021, 4e6, 10e6);
        assert_eq!(cause(&lossy, None, 0.01), Cause::Loss);
        assert_eq!(cause(&run(0.98, 0.040, 4e6, 10e6), None, 0.015), Cause::Loss);
        let clean = run(1.0, 0.020, 4e6, 10e6);
        assert_eq!(cause(&clean, None, 0.0), Cause::Unknown);
        let host = |limit| cause(&clean, Some((limit, 0.9)), 0.0);
        assert_eq!(host(ReceiveWindow), Cause::Window);
        assert_eq!(host(SendBuffer), Cause::SendBuffer);
        assert_eq!(host(Application), Cause::Host);
        assert_eq!(cause(&clean, Some((SendBuffer, 0.3)), 0.0), Cause::Unknown);
    }
}
