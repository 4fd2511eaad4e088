//! The metrics of one run, from samples of its senders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::rfc6349::{buffer_delay, efficiency, ideal_time, transfer_time_ratio};

/// What a sender's socket showed at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SenderPoint {
    /// Since the run began, seconds.
    pub at_s: f64,
    /// Payload acknowledged so far, by SACK too.
    pub acked_bytes: u64,
    /// Payload sent so far, repeated payload included.
    pub sent_bytes: u64,
    /// Payload sent again so far.
    pub resent_bytes: u64,
    /// Smoothed round trip, seconds; `None` where there is none yet.
    pub rtt_s: Option<f64>,
    /// The latest rate of delivery, bits a second.
    pub delivery_bps: Option<f64>,
    /// The window that the receiver last advertised, bytes.
    pub window_bytes: Option<u64>,
    /// Whether it is in slow start: no loss and no rise of the round trip has set a threshold yet, or the window is below it. `None`
    /// where that is not known.
    pub is_in_slow_start: Option<bool>,
    /// Whether it repeats what was lost.
    pub is_recovering: bool,
}

/// From when on a run counts: RFC 6349 §1.3 defines the throughput of TCP by its state of equilibrium, after slow start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Equilibrium {
    /// Since the run began.
    pub from_s: f64,
    /// Whether every connection had left slow start by then, or had the rate that it kept in slow start; otherwise, and where that is
    /// not known, a third of the run was left out.
    pub is_after_slow_start: bool,
}

/// A second of a run: payload acknowledged, round trips and payload sent again, of all connections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// Its end, since the run began.
    pub until_s: f64,
    /// Payload acknowledged.
    pub throughput_bps: f64,
    /// Mean of the smoothed round trips; null without any.
    pub rtt_s: Option<f64>,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
}

/// What a run showed in equilibrium, and each of its seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunMetrics {
    /// Connections at once.
    pub connections: usize,
    /// From when on the run counts.
    pub equilibrium: Equilibrium,
    /// For how long it counts.
    pub counted_s: f64,
    /// Payload acknowledged in equilibrium.
    pub payload_bytes: u64,
    /// The same per second.
    pub throughput_bps: f64,
    /// Throughput of each connection.
    pub connection_bps: Vec<f64>,
    /// TCP efficiency of each connection (§5.1); null where it sent nothing, or its counts are unknown.
    pub connection_efficiency: Vec<Option<f64>>,
    /// Payload sent in equilibrium, repeated payload included.
    pub transmitted_bytes: u64,
    /// Payload of it that was sent again.
    pub retransmitted_bytes: u64,
    /// TCP efficiency of all connections together, 0 to 1 (RFC 6349 §4.2).
    pub efficiency: Option<f64>,
    /// Mean of the round trips of every second in equilibrium.
    pub rtt_mean_s: Option<f64>,
    /// The smoothed round trip that is exceeded for a tenth of the time in equilibrium: the queue shortly before it overflows.
    pub rtt_p90_s: Option<f64>,
    /// Buffer delay as a share of the baseline (§4.3).
    pub buffer_delay: Option<f64>,
    /// The payload's time by the ideal time of the same payload (§4.1).
    pub transfer_time_ratio: Option<f64>,
    /// The highest rate of delivery that one socket noted, slow start included.
    pub peak_delivery_bps: Option<f64>,
    /// The largest window that a receiver advertised in equilibrium.
    pub window_bytes: Option<u64>,
    /// Every second, slow start included.
    pub seconds: Vec<Second>,
}

/// A run counts for at least this share of its time: slow start that lasts longer is part of it, and that is said.
const LEAST_COUNTED: f64 = 2.0 / 3.0;
/// What is lost behind this share of a run lasts: the repair of what slow start lost has ended.
const LATE: f64 = 2.0 / 3.0;
/// Slow start and the repair of what it lost take no more round trips than this.
pub const ROUND_TRIPS_OF_SLOW_START: f64 = 20.0;
/// Round trips after slow start, until what it queued too much is gone.
const ROUND_TRIPS_AFTER: f64 = 4.0;

/// The metrics of a run of `duration` seconds, each connection with its samples in order. `baseline_s` is the round trip
/// without load; what was to be expected is told by [`RunMetrics::expect`]. `None` where no connection was sampled twice.
pub fn measure(
    series: &[Vec<SenderPoint>],
    duration: f64,
    baseline_s: Option<f64>,
) -> Option<RunMetrics> {
    let end = series.iter().filter_map(|points| points.last()).map(|point| point.at_s);
    let end = end.fold(f64::INFINITY, f64::min).min(duration);
    let begin = equilibrium(series, end)?;
    let counted_s = end - begin.from_s;
    if !counted_s.is_finite() || counted_s <= 0.0 {
        return None;
    }
    let grown = |of: fn(&SenderPoint) -> u64| -> Vec<f64> {
        series.iter().map(|points| at(points, end, of) - at(points, begin.from_s, of)).collect()
    };
    let payloads = grown(|point| point.acked_bytes);
    let payload: f64 = payloads.iter().sum();
    let (each_sent, each_resent) = (grown(|p| p.sent_bytes), grown(|p| p.resent_bytes));
    let (transmitted, resent): (f64, f64) = (each_sent.iter().sum(), each_resent.iter().sum());
    let share = |sent: f64, resent: f64| (sent > 0.0).then(|| efficiency(sent, resent));
    let rtt_mean_s = mean_rtt(series, begin.from_s, end);
    let throughput = 8.0 * payload / counted_s;
    let points = || series.iter().flatten();
    Some(RunMetrics {
        connections: series.len(),
        equilibrium: begin,
        counted_s,
        payload_bytes: whole(payload),
        throughput_bps: throughput,
        connection_bps: payloads.iter().map(|bytes| 8.0 * bytes / counted_s).collect(),
        connection_efficiency: each_sent
            .iter()
            .zip(each_resent)
            .map(|(s, r)| share(*s, r))
            .collect(),
        transmitted_bytes: whole(transmitted),
        retransmitted_bytes: whole(resent),
        efficiency: share(transmitted, resent),
        buffer_delay: baseline_s.zip(rtt_mean_s).map(|(base, mean)| buffer_delay(base, mean)),
        rtt_mean_s,
        rtt_p90_s: long_rtt(series, begin.from_s, end),
        transfer_time_ratio: None,
        peak_delivery_bps: points().filter_map(|point| point.delivery_bps).max_by(f64::total_cmp),
        window_bytes: points()
            .filter(|point| point.at_s >= begin.from_s)
            .filter_map(|point| point.window_bytes)
            .max(),
        seconds: seconds(series, end),
    })
}

impl RunMetrics {
    /// The same run beside another throughput that was to be expected.
    pub fn expect(&mut self, ideal_bps: Option<f64>) {
        self.transfer_time_ratio = ratio(self.payload_bytes as f64, self.counted_s, ideal_bps);
    }

    /// What was sent again after slow start: its share of all that was sent, and its bytes. Where the end of slow start is not known,
    /// of the seconds at the end of the run, which its losses do not reach; `None` of a run without such seconds.
    pub fn lasting_loss(&self, baseline_s: f64) -> Option<(f64, f64)> {
        if self.equilibrium.is_after_slow_start {
            return Some((1.0 - self.efficiency?, self.retransmitted_bytes as f64));
        }
        self.efficiency?;
        let until = self.seconds.last()?.until_s;
        let late = (LATE * until).max(ROUND_TRIPS_OF_SLOW_START * baseline_s);
        let (mut acked, mut resent, mut begin) = (0.0, 0.0, 0.0);
        for second in &self.seconds {
            if begin >= late {
                acked += second.throughput_bps * (second.until_s - begin) / 8.0;
                resent += second.retransmitted_bytes as f64;
            }
            begin = second.until_s;
        }
        (acked > 0.0).then(|| (resent / (acked + resent), resent))
    }
}

/// The transfer-time ratio (§4.1); `None` where nothing was sent, or nothing expected.
fn ratio(payload: f64, counted_s: f64, ideal_bps: Option<f64>) -> Option<f64> {
    let ideal = ideal_bps.filter(|_| payload > 0.0)?;
    Some(transfer_time_ratio(counted_s, ideal_time(payload, ideal)))
}

/// When the last connection has left slow start, and what that queued too much is gone.
fn equilibrium(series: &[Vec<SenderPoint>], end: f64) -> Option<Equilibrium> {
    let latest = end * (1.0 - LEAST_COUNTED);
    let mut from: f64 = 0.0;
    let mut is_after = true;
    for points in series {
        if points.len() < 2 {
            return None;
        }
        let left = points.iter().find(|p| p.is_in_slow_start == Some(false) && !p.is_recovering);
        let since = left.map(|point| point.at_s + ROUND_TRIPS_AFTER * point.rtt_s.unwrap_or(0.0));
        // A window or the sender itself may hold a connection that never leaves slow start: its rate no longer rises.
        let is_known = points.iter().any(|point| point.is_in_slow_start.is_some());
        let steady = || is_known.then(|| steady_from(points, latest)).flatten();
        match since.filter(|at| *at <= latest).or_else(steady) {
            Some(at) => from = from.max(at),
            None => is_after = false,
        }
    }
    let from_s = if is_after { from } else { latest };
    (end > 0.0 && !series.is_empty())
        .then_some(Equilibrium { from_s, is_after_slow_start: is_after })
}

/// From when on a connection in slow start has had the rate that it keeps: within a twentieth of that of the rest.
fn steady_from(points: &[SenderPoint], latest: f64) -> Option<f64> {
    const STEADY: f64 = 0.95;
    let (first, last) = (points.first()?, points.last()?);
    let step = (latest / 8.0).max(0.05);
    let late = (at(points, last.at_s, |p| p.acked_bytes) - at(points, latest, |p| p.acked_bytes))
        / (last.at_s - latest);
    let mut from = first.at_s.max(0.0);
    while from + step <= latest {
        let rate = (at(points, from + step, |p| p.acked_bytes)
            - at(points, from, |p| p.acked_bytes))
            / step;
        if rate >= STEADY * late {
            return Some(from);
        }
        from += step;
    }
    None
}

/// A counter at a time, between two samples in proportion; zero before the first.
fn at(points: &[SenderPoint], time: f64, of: impl Fn(&SenderPoint) -> u64) -> f64 {
    let after = points.partition_point(|point| point.at_s < time);
    let (before, next) = (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after));
    match (before, next) {
        (None, None) => 0.0,
        (Some(point), None) | (None, Some(point)) => of(point) as f64,
        (Some(a), Some(b)) => {
            let share = (time - a.at_s) / (b.at_s - a.at_s);
            of(a) as f64 + share * (of(b).saturating_sub(of(a))) as f64
        }
    }
}

/// The mean over time of the smoothed round trips between two times: that of the means of every second. Samples are interpolated
/// linearly: a queue fills for seconds, and the later sample for the whole interval would be too much.
fn mean_rtt(series: &[Vec<SenderPoint>], from: f64, until: f64) -> Option<f64> {
    let (mut sum, mut time) = (0.0, 0.0);
    for points in series {
        for pair in points.windows(2) {
            let [a, b] = pair else { continue };
            let (begin, end) = (a.at_s.max(from), b.at_s.min(until));
            if let Some(rtt) = b.rtt_s
                && end > begin
            {
                // The mean of a straight line is its middle.
                let share = (f64::midpoint(begin, end) - a.at_s) / (b.at_s - a.at_s);
                let before = a.rtt_s.unwrap_or(rtt);
                sum += (before + share * (rtt - before)) * (end - begin);
                time += end - begin;
            }
        }
    }
    (time > 0.0).then(|| sum / time)
}

/// The smoothed round trip that nine tenths of the time between two times have at most.
fn long_rtt(series: &[Vec<SenderPoint>], from: f64, until: f64) -> Option<f64> {
    let of_pair = |pair: &[SenderPoint]| {
        let [a, b] = pair else { return None };
        let time = b.at_s.min(until) - a.at_s.max(from);
        b.rtt_s.filter(|_| time > 0.0).map(|rtt| (rtt, time))
    };
    let pairs = series.iter().flat_map(|points| points.windows(2));
    let mut held: Vec<(f64, f64)> = pairs.filter_map(of_pair).collect();
    held.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut left = 0.9 * held.iter().map(|(_, time)| time).sum::<f64>();
    let reaches = |(_, time): &&(f64, f64)| {
        left -= time;
        left <= 0.0
    };
    held.iter().find(reaches).or(held.last()).map(|(rtt, _)| *rtt)
}

fn seconds(series: &[Vec<SenderPoint>], end: f64) -> Vec<Second> {
    let mut seconds = Vec::new();
    let mut from = 0.0;
    while from + 0.5 <= end {
        let until = (from + 1.0_f64).min(end);
        let grown = |of: fn(&SenderPoint) -> u64| -> f64 {
            series.iter().map(|points| at(points, until, of) - at(points, from, of)).sum()
        };
        seconds.push(Second {
            until_s: until,
            throughput_bps: 8.0 * grown(|point| point.acked_bytes) / (until - from),
            rtt_s: mean_rtt(series, from, until),
            retransmitted_bytes: whole(grown(|point| point.resent_bytes)),
        });
        from = until;
    }
    seconds
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of bytes")]
fn whole(bytes: f64) -> u64 {
    bytes.max(0.0).round() as u64
}

#[cfg(test)]
mod tests;
