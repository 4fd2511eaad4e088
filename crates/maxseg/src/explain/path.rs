//! The path as a connection showed it: rate, round trip, loss, queue, segment size and windows, each with how it is
//! known and how far that can be trusted.

use std::net::IpAddr;

use maxseg_core::evidence::{Bin, DirectionStats};
use maxseg_core::framing::{Headers, IpVersion, TCP_TIMESTAMPS};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::{Bytes, Time, approx};

use super::Case;

/// How far a value can be trusted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Confidence {
    /// It is assumed, or a bound.
    Low,
    /// It follows from what was seen, unless the path is unusual.
    Medium,
    /// It was seen.
    High,
}

impl Confidence {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A value, and how it is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known<T> {
    pub(crate) value: T,
    pub(crate) confidence: Confidence,
    /// How it is known, in half a sentence.
    pub(crate) how: String,
}

impl<T> Known<T> {
    fn new(value: T, confidence: Confidence, how: impl Into<String>) -> Self {
        Self { value, confidence, how: how.into() }
    }
}

/// What a connection shows of its path and its ends, towards the receiver of its data.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which may hold or not")]
pub(crate) struct ObservedPath {
    pub(crate) ip: IpVersion,
    /// Whether segments carry timestamps.
    pub(crate) timestamps: bool,
    /// Whether acknowledgements name what was received beyond them; `None` where nothing shows it.
    pub(crate) sack: Option<bool>,
    /// Whether both SYNs were seen: only they say which options are in use.
    pub(crate) syns_seen: bool,
    /// Payload of a full segment, in bytes.
    pub(crate) segment: Known<u32>,
    /// Of the narrowest link, headers included, in bits per second.
    pub(crate) rate_bps: Known<f64>,
    /// Whether `rate_bps` is the path's own, and not only what the connection reached.
    pub(crate) rate_is_seen: bool,
    /// There and back without load, in seconds.
    pub(crate) rtt_s: Known<f64>,
    /// The share of the data packets that was lost.
    pub(crate) loss: Known<f64>,
    /// Whether `loss` comes with standing queues: a full queue explains it.
    pub(crate) loss_with_queue: bool,
    /// Room before the narrowest link, in bytes.
    pub(crate) queue_bytes: Known<u64>,
    /// The largest packet, in bytes.
    pub(crate) mtu: Known<u32>,
    /// The window that the receiver offered while it mattered, in bytes.
    pub(crate) window_bytes: Known<u64>,
    /// By how many bits it is shifted; `None` without scaling.
    pub(crate) window_scale: Option<u8>,
    /// What the sender kept in flight at most, where its buffer was the limit.
    pub(crate) send_buffer: Option<Known<u64>>,
    /// How fast the receiver reads, where its window shut, in bits per second.
    pub(crate) read_rate_bps: Option<Known<f64>>,
    /// What the sender sent before the first acknowledgement, in bytes.
    pub(crate) initial_window: Option<Known<u64>>,
    /// Payload that was acknowledged.
    pub(crate) bytes: u64,
    /// From first data to last acknowledgement, in seconds.
    pub(crate) seconds: f64,
    /// Acknowledged payload over that time, in bits per second.
    pub(crate) goodput_bps: f64,
}

/// Round trips of so many times the least mean that packets waited in a queue.
const QUEUED: f64 = 1.5;

/// A rate so many times the goodput is more than the connection's own pace.
const ROOM: f64 = 1.3;

/// An MTU that is common enough to be assumed.
pub(super) const ETHERNET: u32 = 1500;

impl ObservedPath {
    /// What a connection shows.
    ///
    /// # Errors
    /// In a sentence: what is missing.
    pub(crate) fn of(case: &Case<'_>) -> Result<Self, String> {
        let (data, acks) = (case.data(), case.acks());
        let seconds = case.data_seconds();
        let goodput_bps = match data.goodput_bps {
            Some(goodput) if goodput > 0.0 && seconds > 0.0 => goodput,
            _ => {
                return Err(
                    "no payload was acknowledged, so nothing shows how fast the path is".to_owned()
                );
            }
        };
        let rtt_s = round_trip(case).ok_or("no round trip could be measured")?;
        let segment = segment(data).ok_or("no data packet was seen")?;
        let ip = match case.evidence.client.ip().to_canonical() {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        let timestamps = data.timestamps && acks.timestamps;
        let headers = headers(ip, timestamps);
        let (rate_bps, rate_is_seen) = rate(case, segment.value, headers);
        let loss = loss(data);
        let worst_rtt = worst_round_trip(data).unwrap_or(rtt_s.value);
        let queue_bytes = queue(rate_bps.value, rtt_s.value, worst_rtt);
        let loss_with_queue = loss.value > 0.0 && worst_rtt > QUEUED * rtt_s.value;
        Ok(Self {
            ip,
            timestamps,
            sack: sack(case),
            syns_seen: syns_seen(case),
            mtu: mtu(case, segment.value, headers),
            window_bytes: window(case),
            window_scale: acks.window_scale,
            send_buffer: send_buffer(case),
            read_rate_bps: (acks.zero_windows > 0).then(|| {
                let times = if acks.zero_windows == 1 { "time" } else { "times" };
                let how = format!(
                    "goodput: the window shut {} {times}, so the receiver reads no faster",
                    acks.zero_windows
                );
                Known::new(goodput_bps, Confidence::Medium, how)
            }),
            initial_window: initial_window(case),
            segment,
            rate_bps,
            rate_is_seen,
            rtt_s,
            loss,
            loss_with_queue,
            queue_bytes,
            bytes: data.acked_bytes,
            seconds,
            goodput_bps,
        })
    }

    /// Headers of a data packet, in bytes.
    pub(crate) fn headers(&self) -> u32 {
        headers(self.ip, self.timestamps)
    }

    /// Whether the path carries more than the connection used, or was full.
    pub(crate) fn shows_room(&self) -> bool {
        let payload =
            f64::from(self.segment.value) / f64::from(self.segment.value + self.headers());
        self.rate_is_seen || self.rate_bps.value * payload > ROOM * self.goodput_bps
    }

    /// What the path holds: rate × round trip, in bytes.
    pub(crate) fn holds_bytes(&self) -> f64 {
        self.rate_bps.value * self.rtt_s.value / 8.0
    }
}

/// IP and TCP headers of a data packet with the options that every one carries, in bytes.
fn headers(ip: IpVersion, timestamps: bool) -> u32 {
    let tcp_options = if timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
    Headers { ip, tcp_options }.octets()
}

const fn syns_seen(case: &Case<'_>) -> bool {
    case.evidence.handshake.syn && case.evidence.handshake.syn_ack
}

/// Whether selective acknowledgements are in use.
fn sack(case: &Case<'_>) -> Option<bool> {
    let (data, acks) = (case.data(), case.acks());
    if syns_seen(case) {
        return Some(data.sack_permitted && acks.sack_permitted);
    }
    // Retransmissions that blocks brought about show them.
    (data.resent.sack > 0).then_some(true)
}

fn round_trip(case: &Case<'_>) -> Option<Known<f64>> {
    let data = case.data();
    if let Some(rtt) = data.path_rtt_min_s.filter(|rtt| *rtt > 0.0) {
        return Some(Known::new(rtt, Confidence::High, "least round trip of the whole path"));
    }
    if let Some(rtt) = case.evidence.handshake.rtt() {
        return Some(Known::new(rtt.as_secs_f64(), Confidence::High, "the handshake"));
    }
    let how = "least round trip behind the point of capture: the path before it is not in it";
    data.rtt_min_s.filter(|rtt| *rtt > 0.0).map(|rtt| Known::new(rtt, Confidence::Low, how))
}

fn segment(data: &DirectionStats) -> Option<Known<u32>> {
    if let Some(used) = data.mss_used_bytes {
        return Some(Known::new(used, Confidence::High, "payload of the full segments"));
    }
    let how = "largest payload seen: no full segment tells more";
    (data.largest_segment_bytes > 0)
        .then(|| Known::new(data.largest_segment_bytes.min(65_000), Confidence::Low, how))
}

/// The rate of the narrowest link with headers, and whether it is the link's own.
fn rate(case: &Case<'_>, segment: u32, headers: u32) -> (Known<f64>, bool) {
    let data = case.data();
    let with_headers = f64::from(segment + headers) / f64::from(segment.max(1));
    let full = case.share(LimitedBy::Bandwidth) > 0.5;
    if full && let Some(peak) = peak(data) {
        let how =
            "fastest steady arrival of acknowledgements while the line was full, with headers";
        let rate = data
            .capacity_bps
            .filter(|capacity| (*capacity / peak - 1.0).abs() < 0.3)
            .unwrap_or(peak);
        return (Known::new(rate * with_headers, Confidence::High, how), true);
    }
    let fastest = [data.capacity_bps, data.first_flight_bps].into_iter().flatten().reduce(f64::max);
    if let Some(capacity) = fastest {
        let rate = capacity.max(peak(data).unwrap_or(0.0)) * with_headers;
        // A sender that paces its segments spaces them itself, and acknowledgements come in threes and fours: only
        // near the receiver do trains stand as the narrowest link let them go.
        let paced = capacity < ROOM * data.goodput_bps.unwrap_or(0.0);
        if near_receiver(case) && !paced {
            let how = "spacing of trains of segments behind the narrowest link, with headers";
            return (Known::new(rate, Confidence::Medium, how), true);
        }
        let how = "at least: spacing of trains as far as the sender lets it be seen, with headers";
        return (Known::new(rate, Confidence::Low, how), false);
    }
    let reached = peak(data).or(data.goodput_bps).unwrap_or(0.0);
    let how = "at least: what the connection reached at its fastest, with headers";
    (Known::new(reached * with_headers, Confidence::Low, how), false)
}

/// Whether most of the path lay before the point of capture, as seen from the sender.
fn near_receiver(case: &Case<'_>) -> bool {
    let data = case.data();
    match (data.rtt_min_s, data.path_rtt_min_s) {
        (Some(behind), Some(whole)) => behind < 0.5 * whole,
        _ => false,
    }
}

/// The highest rate of acknowledged payload that was held for some time: over the fastest twentieth of the
/// intervals, each at least so long that a burst does not decide.
fn peak(data: &DirectionStats) -> Option<f64> {
    let long_enough = data.path_rtt_min_s.unwrap_or(0.0).max(0.01);
    let mut rates: Vec<f64> = Vec::new();
    let mut joined: Option<Bin> = None;
    for bin in data.bins.as_slice() {
        match &mut joined {
            Some(joined) => joined.join(bin),
            None => joined = Some(*bin),
        }
        if let Some(whole) = joined.filter(|joined| joined.duration.as_secs_f64() >= long_enough) {
            rates.push(8.0 * whole.acked_bytes as f64 / whole.duration.as_secs_f64());
            joined = None;
        }
    }
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len().saturating_sub(1 + rates.len() / 20)).copied().filter(|rate| *rate > 0.0)
}

fn loss(data: &DirectionStats) -> Known<f64> {
    let needed = data.needed_retransmissions();
    let sent = data.data_packets.max(1);
    let how = match needed {
        0 => "nothing had to be sent again".to_owned(),
        _ => format!("{needed} of {sent} data packets had to be sent again"),
    };
    // A packet of the capture may be several of the wire's.
    let confidence = if data.offloaded_packets > 0 { Confidence::Low } else { Confidence::Medium };
    Known::new(needed as f64 / sent as f64, confidence, how)
}

/// The longest mean round trip of an interval, in seconds.
fn worst_round_trip(data: &DirectionStats) -> Option<f64> {
    let means = data.bins.as_slice().iter().filter_map(Bin::rtt_mean);
    means.max().map(Time::as_secs_f64)
}

fn queue(rate_bps: f64, rtt_s: f64, worst_rtt_s: f64) -> Known<u64> {
    let bytes = |seconds: f64| whole(rate_bps * seconds / 8.0);
    let (seen, held) = (bytes((worst_rtt_s - rtt_s).max(0.0)), bytes(rtt_s));
    if worst_rtt_s > QUEUED * rtt_s {
        let how = format!(
            "round trips rose from {} to {}: at least so much waited",
            approx::time(rtt_s),
            approx::time(worst_rtt_s)
        );
        return Known::new(seen.max(LEAST_QUEUE), Confidence::Medium, how);
    }
    let how = "not seen, as nothing waited long: what the path itself holds is assumed";
    Known::new(held.max(seen).max(LEAST_QUEUE), Confidence::Low, how)
}

/// A queue of ten full packets: less would be unusual.
const LEAST_QUEUE: u64 = 15_000;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and sizes are not negative"
)]
pub(crate) fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

fn mtu(case: &Case<'_>, segment: u32, headers: u32) -> Known<u32> {
    let told = case.evidence.path_mtu_events.iter().filter(|event| event.told_mtu().is_some());
    if let Some(event) = told.min_by_key(|event| event.mtu_bytes) {
        let how = format!("{} said so (packet {})", event.hop, event.frame);
        return Known::new(event.mtu_bytes, Confidence::High, how);
    }
    let largest = segment + headers;
    if largest > ETHERNET {
        return Known::new(largest, Confidence::Medium, "at least: packets as large passed");
    }
    Known::new(ETHERNET, Confidence::Low, "Ethernet's: nothing larger was tried")
}

fn window(case: &Case<'_>) -> Known<u64> {
    let (data, acks) = (case.data(), case.acks());
    let mut offered: Vec<u64> = data
        .bins
        .as_slice()
        .iter()
        .filter(|bin| bin.segments > 0)
        .map(|bin| bin.window_max)
        .collect();
    offered.sort_unstable();
    let largest = acks.window_max_bytes;
    let middle = offered.get(offered.len() / 2).copied().filter(|window| *window > 0);
    let confidence = if acks.window_scale.is_some() || case.evidence.handshake.syn {
        Confidence::High
    } else {
        Confidence::Low // without the handshake the scale is a guess
    };
    match (middle, largest) {
        (Some(middle), Some(largest)) if middle < largest => Known::new(
            middle,
            confidence,
            format!("offered most of the time; at most {largest} bytes"),
        ),
        (Some(window), _) | (None, Some(window)) => {
            Known::new(window.max(1), confidence, "offered all the time")
        }
        (None, None) => {
            Known::new(65_535, Confidence::Low, "not seen: the largest without scaling")
        }
    }
}

fn send_buffer(case: &Case<'_>) -> Option<Known<u64>> {
    if case.diagnosis.limited_by != Some(LimitedBy::SendBuffer) {
        return None;
    }
    let bins = case.data().bins.as_slice();
    let mut flights: Vec<u64> =
        bins.iter().filter(|bin| bin.segments > 0).map(|bin| bin.in_flight_max).collect();
    flights.sort_unstable();
    let middle = flights.get(flights.len() / 2).copied().unwrap_or(case.data().in_flight_max_bytes);
    let how = "bytes in flight never rose beyond it, though the window allowed more";
    (middle > 0).then(|| Known::new(middle, Confidence::Medium, how))
}

fn initial_window(case: &Case<'_>) -> Option<Known<u64>> {
    if case.evidence.marks.mid_stream {
        let how = "its beginning was not seen: what it had in flight at most";
        let most = case.data().in_flight_max_bytes;
        return (most > 0).then(|| Known::new(most, Confidence::Low, how));
    }
    let bins = case.data().bins.as_slice();
    let first: u64 =
        bins.iter().take_while(|bin| bin.acked_bytes == 0).map(|bin| bin.sent_bytes).sum();
    let how = "sent before the first acknowledgement";
    (first > 0).then(|| Known::new(first, Confidence::Medium, how))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::made::{explanation, windowed};

    #[test]
    fn a_path_is_what_was_seen_of_it() {
        let explained = explanation(vec![windowed(0)]);
        let path = ObservedPath::of(&explained.connection(0).unwrap()).unwrap();
        assert_eq!((path.segment.value, path.headers(), path.timestamps), (1448, 52, true));
        // 20 Mbit/s with headers: trains of 1448 bytes left at 1448/1500 of it.
        assert!((path.rate_bps.value / 20e6 - 1.0).abs() < 1e-3, "{:?}", path.rate_bps);
        assert!(path.rate_is_seen);
        assert!((path.rtt_s.value - 0.08).abs() < 1e-9);
        assert_eq!(path.window_bytes.value, 65_535);
        assert_eq!(path.loss.value.to_bits(), 0.0_f64.to_bits());
        assert_eq!(
            (path.queue_bytes.value, path.queue_bytes.confidence),
            (200_000, Confidence::Low)
        );
        assert!(path.send_buffer.is_none() && path.read_rate_bps.is_none());
    }

    #[test]
    fn needless_retransmissions_are_no_loss() {
        let mut evidence = windowed(0);
        evidence.forward.data_packets = 1000;
        evidence.forward.retransmitted_packets = 30;
        evidence.forward.spurious_retransmissions = 19;
        evidence.forward.resent.control = 1;
        let explained = explanation(vec![evidence]);
        let path = ObservedPath::of(&explained.connection(0).unwrap()).unwrap();
        assert!((path.loss.value - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut evidence = windowed(0);
        evidence.forward.goodput_bps = None;
        let explained = explanation(vec![evidence]);
        let missing = ObservedPath::of(&explained.connection(0).unwrap()).unwrap_err();
        assert!(missing.contains("no payload"), "{missing}");
    }
}
