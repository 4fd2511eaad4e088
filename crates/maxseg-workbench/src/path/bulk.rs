//! Transfers as the arithmetic of RFC 6349 takes them.

use std::collections::BTreeMap;
use std::time::Duration;

use maxseg_core::diagnose::diagnose_socket;
use maxseg_core::framing::{Headers, IpVersion, TCP_TIMESTAMPS};
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::rfc6349::{
    LinkLoad, RunMetrics, SenderPoint, TrainLimit, TrainsFound, measure, with_full_link,
};
use maxseg_core::units::Bytes;
use maxseg_linux::far_end::{BulkPlan, BulkResult, BulkSeries, FarEndError, Pings};
use maxseg_wire::responder::{SenderSample, Towards};

use super::FarEndOptions;
use super::far_end::{Baseline, CONGESTION, FarEnd, median_s};
use super::options::LONGER;

/// Pings beside bulk data, at this interval.
pub(super) const PING_INTERVAL: Duration = Duration::from_millis(50);

/// A path that several connections filled.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    pub(super) run: RunMetrics,
    pub(super) pings: Pings,
    pub(super) result: BulkResult,
    pub(super) limits: Vec<LimitShare>,
    /// Bits a second of IP packets.
    pub(super) packet_bps: f64,
    /// The connections did not fill the path: windows, buffers or a host held them.
    pub(super) is_lower_bound: bool,
    /// The share of the time in which connections waited for a retransmission timer after another had expired.
    pub(super) timers_share: f64,
}

/// Connections that wait for their timers for longer load no path.
const MOST_TIMERS: f64 = 0.5;

/// A transfer of some connections with nothing but the kernel's own windows.
pub(super) fn plan_of(towards: Towards, connections: u16, time: Duration) -> BulkPlan {
    BulkPlan {
        towards,
        connections,
        time,
        window: None,
        mss: None,
        send_buffer: None,
        congestion: Some(CONGESTION.to_owned()),
        pings: Some(PING_INTERVAL),
    }
}

/// A transfer that is faster by less carries no more.
const MORE: f64 = 1.05;

/// Fills the path one way; with four times as many connections as long as windows, buffers or losses hold those that there are, and
/// more of them carry more. Where trains have shown what the path carries, losses are no reason for more. Else why nothing was
/// measured.
pub(super) fn fill(
    end: &mut FarEnd<'_>,
    options: &FarEndOptions,
    towards: Towards,
    (baseline, trains): (Option<&Baseline>, Option<&TrainsFound>),
) -> Result<Result<Filled, String>, FarEndError> {
    let most = end.most_connections();
    let mut connections = options.connections.min(most).max(1);
    let mut best: Option<Filled> = None;
    loop {
        let plan = plan_of(towards, connections, options.step);
        let result = end.bulk(&plan, baseline.map(Baseline::calm_s))?;
        let why = why_unmeasured(&result);
        let Some(filled) = filled(result, options.step.as_secs_f64(), baseline) else {
            return Ok(best.ok_or(why));
        };
        let before = best.as_ref().map_or(0.0, |best| best.packet_bps);
        let carries_more = filled.packet_bps > MORE * before;
        if !carries_more {
            // Losses that go with any number of connections are those of the link.
            let Some(best) = best else { return Ok(Err(why)) };
            return longer(best, end, options, towards, baseline).map(Ok);
        }
        let more = connections.saturating_mul(4).min(most);
        let is_enough = trains.is_some_and(|found| filled.is_explained_by(found));
        if !filled.is_lower_bound || is_enough || more == connections {
            return Ok(Ok(filled));
        }
        best = Some(filled);
        connections = more;
    }
}

/// Why a transfer of which nothing is told was in vain.
fn why_unmeasured(result: &BulkResult) -> String {
    let passed = |series: &BulkSeries| {
        let last = series.samples.last().and_then(|sample| sample.sample.info.bytes_acked);
        last.unwrap_or_default()
    };
    match result.series.iter().map(passed).sum::<u64>() {
        0 => "nothing was transferred".to_owned(),
        bytes => format!("too few samples of {bytes} bytes that were acknowledged"),
    }
}

/// What is known, where a host held it; what a longer transfer shows, where losses did without a queue.
fn longer(
    best: Filled,
    end: &mut FarEnd<'_>,
    options: &FarEndOptions,
    towards: Towards,
    baseline: Option<&Baseline>,
) -> Result<Filled, FarEndError> {
    if best.is_held_by_host() {
        return Ok(best);
    }
    let connections = u16::try_from(best.run.connections).unwrap_or(1);
    let plan = plan_of(towards, connections, options.step * LONGER);
    let result = end.bulk(&plan, baseline.map(Baseline::calm_s))?;
    Ok(filled(result, plan.time.as_secs_f64(), baseline).unwrap_or(best))
}

impl Filled {
    /// Whether trains say what the path carries, and TCP carries the same, or losses keep it from that.
    fn is_explained_by(&self, found: &TrainsFound) -> bool {
        found.limit != TrainLimit::AtLeast
            && (!self.is_held_by_host() || MORE * self.packet_bps >= found.lasting_bps)
    }

    /// Whether the connections mostly waited for retransmission timers, as where full segments vanish: their rate is not the path's.
    pub(super) fn is_stalled(&self) -> bool {
        self.timers_share > MOST_TIMERS
    }

    /// What a count of iperf3 may have too much, as a share of it: an interval of its report has the bytes that the sender wrote to its
    /// socket, or the receiver read from its own. Both wait while a loss is repaired, and what was held back then counts all at once: up to
    /// a round trip's data.
    pub(super) fn held_share(&self) -> f64 {
        /// A queue of the usual size beside the path's own delay, where the sender's round trips are not known.
        const USUAL_S: f64 = 0.1;
        self.run.rtt_p90_s.unwrap_or(USUAL_S) / self.run.counted_s
    }

    fn is_held_by_host(&self) -> bool {
        self.limits.first().is_some_and(|limit| is_of_host(limit.kind))
    }
}

fn filled(result: BulkResult, duration: f64, baseline: Option<&Baseline>) -> Option<Filled> {
    let run = metrics(&result, duration, baseline.map(|base| base.rtt_s))?;
    let mut limits = limits(&result, run.equilibrium.from_s);
    // Losses with a queue are those of a full link; without one, more connections may carry more.
    if let Some(base) = baseline {
        // Pings show a queue alone; segments wait for delayed acknowledgements as well, the more the smaller the windows are.
        let ping = median_s(&result.pings).zip(median_s(&base.pings));
        let load = LinkLoad {
            rate_bps: run.throughput_bps,
            best_bps: run.throughput_bps,
            rtt_mean_s: ping
                .map_or(run.rtt_mean_s, |(loaded, idle)| Some(base.rtt_s + loaded - idle)),
            baseline_s: base.rtt_s,
        };
        limits = with_full_link(&limits, &load);
    }
    let is_held = limits
        .first()
        .is_some_and(|limit| is_of_host(limit.kind) || limit.kind == LimitedBy::Congestion);
    let is_lower_bound = is_held || !result.has_sockets && has_losses_alone(&run, baseline);
    let packet_bps = run.throughput_bps * packet_share(&result);
    Some(Filled {
        pings: result.pings.clone(),
        timers_share: timers_share(&result, run.equilibrium.from_s),
        run,
        result,
        limits,
        packet_bps,
        is_lower_bound,
    })
}

/// The share of the time from `from_s` on in which the timers of connections were backed off (`icsk_backoff`): no new data have been
/// acknowledged since one expired.
fn timers_share(result: &BulkResult, from_s: f64) -> f64 {
    let (mut waited, mut all) = (0.0, 0.0);
    for series in &result.series {
        let counted = series.samples.iter().filter(|sample| sample.at.as_secs_f64() >= from_s);
        for (before, sample) in counted.clone().zip(counted.skip(1)) {
            let elapsed = sample.at.saturating_sub(before.at).as_secs_f64();
            all += elapsed;
            if sample.sample.info.backoff > 0 {
                waited += elapsed;
            }
        }
    }
    if all > 0.0 { waited / all } else { 0.0 }
}

/// Whether much is sent again while the round trip hardly rises, where sockets do not tell what limits them.
fn has_losses_alone(run: &RunMetrics, baseline: Option<&Baseline>) -> bool {
    const NOTABLE: f64 = 0.001;
    const LITTLE: f64 = 1.5;
    let is_short =
        run.rtt_mean_s.zip(baseline).is_some_and(|(mean, base)| mean < LITTLE * base.rtt_s);
    is_short && run.efficiency.is_some_and(|efficiency| 1.0 - efficiency > NOTABLE)
}

/// Whether a limit is no matter of the path.
fn is_of_host(kind: LimitedBy) -> bool {
    matches!(
        kind,
        LimitedBy::ReceiveWindow
            | LimitedBy::SendBuffer
            | LimitedBy::Application
            | LimitedBy::Paced
    )
}

/// The metrics of a transfer; what was to be expected of it is not known yet.
pub(super) fn metrics(
    result: &BulkResult,
    duration: f64,
    baseline_s: Option<f64>,
) -> Option<RunMetrics> {
    let series: Vec<Vec<SenderPoint>> = result
        .series
        .iter()
        .map(|series| series.samples.iter().map(|sample| point(sample, result)).collect())
        .collect();
    measure(&series, duration, baseline_s)
}

fn point(sample: &SenderSample, result: &BulkResult) -> SenderPoint {
    let info = &sample.sample.info;
    let is_below = info.snd_ssthresh.is_none_or(|limit| info.snd_cwnd < limit);
    // What arrived behind a loss counts when it arrives, and not when the loss is repaired: the acknowledgement then jumps.
    let behind = u64::from(info.sacked) * u64::from(info.snd_mss);
    SenderPoint {
        at_s: sample.at.as_secs_f64(),
        acked_bytes: info.bytes_acked.unwrap_or_default() + behind,
        sent_bytes: info.bytes_sent.unwrap_or_default(),
        resent_bytes: info.bytes_retrans.unwrap_or_default(),
        rtt_s: Some(info.rtt.as_secs_f64()).filter(|rtt| *rtt > 0.0),
        delivery_bps: info.delivery_bps().filter(|rate| *rate > 0.0),
        window_bytes: info.snd_wnd.map(u64::from),
        // A report of iperf3 does not tell.
        is_in_slow_start: result.has_sockets.then_some(is_below),
        is_recovering: info.is_recovering(),
    }
}

/// A socket's state at one moment is that of a phase: losses and queues come and go within seconds.
const PHASE: Duration = Duration::from_secs(1);

/// What limited the senders from `from_s` on, by their sockets second by second; nothing where there are none.
pub(super) fn limits(result: &BulkResult, from_s: f64) -> Vec<LimitShare> {
    if !result.has_sockets {
        return Vec::new();
    }
    let mut shares: BTreeMap<LimitedBy, f64> = BTreeMap::new();
    for series in &result.series {
        add_limits(series, from_s, &mut shares);
    }
    let all: f64 = shares.values().sum::<f64>().max(f64::MIN_POSITIVE);
    let share = |(kind, share): (LimitedBy, f64)| LimitShare { kind, share: share / all };
    let mut limits: Vec<LimitShare> = shares.into_iter().map(share).collect();
    limits.sort_by(|a, b| b.share.total_cmp(&a.share));
    limits
}

fn add_limits(series: &BulkSeries, from_s: f64, shares: &mut BTreeMap<LimitedBy, f64>) {
    let counted = series.samples.iter().filter(|sample| sample.at.as_secs_f64() >= from_s);
    let points: Vec<_> = counted.clone().map(|sample| sample.sample.rate_point()).collect();
    let mut counted = counted.peekable();
    let Some(mut before) = counted.next() else { return };
    while let Some(sample) = counted.next() {
        let elapsed = sample.at.saturating_sub(before.at);
        if elapsed < PHASE && counted.peek().is_some() || elapsed.is_zero() {
            continue;
        }
        let evidence = sample.sample.evidence(Some((&before.sample, elapsed))).with_looks(&points);
        for limit in diagnose_socket(&evidence).limits {
            *shares.entry(limit.kind).or_default() += limit.share * elapsed.as_secs_f64();
        }
        before = sample;
    }
}

/// Payload of a full segment, bytes: of the latest sample.
pub(super) fn segment_bytes(result: &BulkResult) -> Option<u32> {
    let last = result.series.iter().filter_map(|series| series.samples.last()).next_back()?;
    Some(last.sample.info.snd_mss).filter(|mss| *mss > 0)
}

/// Bytes of IP and TCP headers of a full segment, with timestamps where they are in use.
pub(super) fn header_bytes(result: &BulkResult) -> u32 {
    let options = result.series.first().and_then(|series| series.samples.last());
    let has_timestamps =
        options.is_none_or(|sample| sample.sample.info.options.timestamps() || !result.has_sockets);
    let ip = if result.is_v6 { IpVersion::V6 } else { IpVersion::V4 };
    let tcp_options = if has_timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
    Headers { ip, tcp_options }.octets()
}

/// Bytes of a packet by bytes of its payload.
pub(super) fn packet_share(result: &BulkResult) -> f64 {
    segment_bytes(result).map_or(1.0, |mss| f64::from(mss + header_bytes(result)) / f64::from(mss))
}

/// A window in bytes; no connection works with less than two segments.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 32 bits")]
pub(super) fn window_of(bytes: f64, mss: u32) -> u32 {
    (bytes.round().clamp(0.0, f64::from(u32::MAX)) as u32).max(2 * mss)
}
