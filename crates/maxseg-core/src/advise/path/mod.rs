//! The path of a connection: rate, round trip, loss, queue, segment size and windows, each with its source and
//! confidence.

mod bottleneck;
mod dialogue;
mod ends;
mod fitted;
mod known;
mod losses;
mod overtaking;
mod reverse_link;
mod round_trip;

use std::net::IpAddr;

use super::Case;
use super::what_if::covering_window;
use crate::diagnose::{LossCause, LossyStretch, counted};
use crate::evidence::DirectionStats;
use crate::framing::{Headers, IpVersion, TCP_TIMESTAMPS};
use crate::path::PolicerSpec;
use crate::settings::CongestionName;
use crate::units::{BitsPerSec, Bytes, Mss, Mtu, Time};
pub use dialogue::Dialogue;
pub(in crate::advise) use dialogue::waited_s;
pub use known::{Confidence, Known};
pub use losses::Overflow;
pub use reverse_link::ReverseLink;

/// Why a capture shows too little of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// No payload was acknowledged, as far as is seen.
    #[error("no acknowledgement of payload was captured, so the rate of the path is unknown")]
    NoGoodput,
    /// What was acknowledged is a single message, or took no longer than a round trip.
    #[error("too little payload was acknowledged for a rate, so the rate of the path is unknown")]
    TooLittle,
    /// No round trip was measured.
    #[error("no round trip could be measured")]
    NoRoundTrip,
    /// No data packet was captured.
    #[error("no data packet was captured")]
    NoData,
}

/// The path and the ends of a connection in the direction of its data.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ObservedPath {
    /// The IP version.
    pub ip: IpVersion,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether SACK is in use; `None` where that is unknown.
    pub sack: Option<bool>,
    /// Whether both SYNs were captured with their options: only they tell what is in use.
    pub has_syn_options: bool,
    /// Payload of a full segment, in bytes.
    pub segment: Known<u32>,
    /// Rate of the bottleneck link, headers included, in bits per second.
    pub rate_bps: Known<f64>,
    /// Whether `rate_bps` was measured; otherwise it is the rate that the connection reached, a lower bound.
    pub rate_is_seen: bool,
    /// The link of the acknowledgements, where it is the bottleneck.
    pub reverse_link: Option<ReverseLink>,
    /// Whether the first flight had the rate of later trains: two measurements of it agree.
    pub(super) trains_agree: bool,
    /// Round-trip time without queueing, in seconds.
    pub rtt_s: Known<f64>,
    /// Share of the data packets that overtake others, from 0 to 1; `None` where none do, as far as is seen.
    pub reorder: Option<Known<f64>>,
    /// Lost share of the data packets, from 0 to 1.
    pub loss: Known<f64>,
    /// Mean number of packets that errors strike in a row; `None` where they strike single ones.
    pub loss_burst: Option<Known<f64>>,
    /// Which packets were lost, counted from 0 on the wire; `None` where not all are known.
    pub lost_packets: Option<Vec<u64>>,
    /// Why packets were lost.
    pub loss_cause: LossCause,
    /// Whether queueing accompanies `loss`: a full queue explains it.
    pub loss_with_queue: bool,
    /// The overflow that ended slow start; `None` where none did.
    pub overflow: Option<Overflow>,
    /// The policer that drops packets; `None` where no policer is the cause.
    pub policer: Option<Known<PolicerSpec>>,
    /// The sender's congestion control; CUBIC, Linux's own, where the capture does not show it.
    pub congestion: Known<CongestionName>,
    /// Size of the queue before the bottleneck link, in bytes.
    pub queue_bytes: Known<u64>,
    /// Path MTU in the direction of the data, in bytes.
    pub mtu: Known<u32>,
    /// The receive window that was advertised while data was sent, in bytes.
    pub window_bytes: Known<u64>,
    /// The receiver's window scale (RFC 7323 §2.2); `None` without scaling.
    pub window_scale: Option<u8>,
    /// Bytes that the send buffer lets be in flight; `None` where it is not the limit.
    pub send_buffer: Option<Known<u64>>,
    /// Size of the send buffer (`SO_SNDBUF`) with which a rerun has what was observed; `None` where none was looked for.
    pub send_buffer_size: Option<Known<u64>>,
    /// Rate at which the receiving application reads, in bits per second; `None` unless the window closed.
    pub read_rate_bps: Option<Known<f64>>,
    /// The requests that its data is asked for by, or consists of; `None` of a transfer.
    pub dialogue: Option<Dialogue>,
    /// Bytes sent before the first acknowledgement.
    pub initial_window: Option<Known<u64>>,
    /// Round trip between the sender and the point of capture without queueing, in seconds: what a capture shows of a transfer is shorter by that.
    pub(super) before_capture_s: f64,
    /// Acknowledged payload, in bytes.
    pub bytes: u64,
    /// Time from first data to last acknowledgement, in seconds.
    pub seconds: f64,
    /// Acknowledged payload over that time, in bits per second.
    pub goodput_bps: f64,
}

/// Round trips of so many times the minimum show queueing.
const QUEUED: f64 = 1.5;

/// A rate of so many times the goodput is not the connection's own.
const ROOM: f64 = 1.3;

/// The same where the rate was measured twice.
const SEEN_ROOM: f64 = 1.15;

/// A queue of ten full packets, in bytes; a smaller one would be unusual.
pub(super) const LEAST_QUEUE: u64 = 15_000;

/// Fewer segments with data, or round trips, are an episode of a path.
const LEAST_SEGMENTS: u64 = 50;
const LEAST_ROUND_TRIPS: f64 = 10.0;

/// The MTU of Ethernet, assumed where nothing larger was sent.
pub(super) const ETHERNET: u32 = Mtu::ETHERNET.octets();

impl ObservedPath {
    /// The path of a connection.
    ///
    /// # Errors
    /// The capture holds no acknowledged payload, no round trip or no data packet.
    pub fn of(case: &Case<'_>) -> Result<Self, PathError> {
        let (data, acks) = (case.data(), case.acks());
        if data.data_packets == 0 && data.acked_bytes > 0 {
            return Err(PathError::NoData);
        }
        let seconds = case.data_seconds();
        let goodput_bps = match data.goodput_bps {
            Some(goodput) if goodput > 0.0 && seconds > 0.0 => goodput,
            _ if data.acked_bytes > 0 => return Err(PathError::TooLittle),
            _ => return Err(PathError::NoGoodput),
        };
        let reorder = overtaking::share(case);
        let rtt_s = round_trip::of(case, reorder.is_some()).ok_or(PathError::NoRoundTrip)?;
        let segment = segment(data).ok_or(PathError::NoData)?;
        let ip = match case.evidence.client.ip().to_canonical() {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        let timestamps = case.evidence.uses_timestamps();
        let headers = headers(ip, timestamps);
        let dialogue = Dialogue::of(case);
        let busy_bps = dialogue.as_ref().and_then(|it| it.busy_bps(data.acked_bytes));
        let reverse_link = ReverseLink::of(case, headers);
        let (rate_bps, rate_is_seen) = match &reverse_link {
            Some(_) => (reverse_link::rate_of_data(case, segment.value, headers), false),
            None => bottleneck::rate(case, segment.value, headers, busy_bps),
        };
        let loss = losses::rate(data);
        let at_losses = bottleneck::round_trip_at_losses(data);
        let worst_rtt = bottleneck::worst_round_trip(data).unwrap_or(rtt_s.value);
        let is_queued = match case.diagnosis.loss.cause {
            LossCause::Queue => true,
            LossCause::Errors | LossCause::Policer => false,
            LossCause::Reordering | LossCause::Needless | LossCause::None | LossCause::Unknown => {
                at_losses.unwrap_or(worst_rtt) > QUEUED * rtt_s.value
            }
        };
        let loss_with_queue = loss.value > 0.0 && is_queued;
        let full_rtt = match reverse_link {
            Some(_) => rtt_s.value, // the queue is there, and none of the data's
            None if loss_with_queue => at_losses.unwrap_or(worst_rtt),
            None => worst_rtt,
        };
        let queue_bytes = bottleneck::queue(rate_bps.value, rtt_s.value, full_rtt, loss_with_queue);
        let segment_bytes = segment.value;
        // What each packet carries: flights are counted without headers.
        let payload = f64::from(segment_bytes) / f64::from(segment_bytes + headers);
        let held_bytes = rate_bps.value * payload * rtt_s.value / 8.0;
        let loss_burst = losses::burst(case, segment_bytes);
        let overflow = losses::overflow(case, segment_bytes, held_bytes);
        let queue_bytes = bottleneck::queue_or_overflow(case, queue_bytes, overflow.as_ref());
        Ok(Self {
            ip,
            timestamps,
            sack: uses_sack(case),
            has_syn_options: case.evidence.has_syn_options(),
            mtu: mtu(case, segment.value, headers),
            window_bytes: ends::window(case),
            window_scale: acks.window_scale,
            send_buffer: ends::send_buffer(case),
            send_buffer_size: None,
            read_rate_bps: ends::read_rate(data, acks, goodput_bps),
            dialogue,
            initial_window: ends::initial_window(case),
            segment,
            rate_bps,
            rate_is_seen,
            before_capture_s: round_trip::before_capture(data),
            reverse_link,
            trains_agree: bottleneck::first_flight_of_link(data).is_some(),
            rtt_s,
            reorder,
            lost_packets: losses::positions(case, segment_bytes, loss_burst.is_some()),
            loss_burst,
            loss_cause: case.diagnosis.loss.cause,
            overflow,
            policer: losses::policer(case, segment_bytes, headers),
            congestion: ends::congestion(case),
            loss,
            loss_with_queue,
            queue_bytes,
            bytes: data.acked_bytes,
            seconds,
            goodput_bps,
        })
    }

    /// The part of the transfer in which packets were lost, by errors as they struck; `None` where they were all along.
    pub(super) fn lossy_stretch(&self, data: &DirectionStats) -> Option<LossyStretch> {
        match self.loss_burst {
            Some(_) => LossyStretch::of(data),
            None => LossyStretch::of_single_losses(data),
        }
    }

    /// Headers of a data packet, in bytes.
    pub fn headers(&self) -> u32 {
        headers(self.ip, self.timestamps)
    }

    /// Whether the rate of the path is known to exceed the goodput, or was reached.
    pub fn shows_room(&self) -> bool {
        let room = if self.trains_agree { SEEN_ROOM } else { ROOM };
        self.rate_is_seen || self.payload_rate_bps() > room * self.goodput_bps
    }

    /// Whether round trips show how long the queue is: those that a capture near the receiver sees are of before a queue filled.
    pub(super) fn shows_queue(&self, case: &Case<'_>) -> bool {
        !bottleneck::near_receiver(case) && self.queue_bytes.value > LEAST_QUEUE
    }

    /// The rate at which the bottleneck link carries payload, in bits per second.
    pub fn payload_rate_bps(&self) -> f64 {
        self.payload_rate_bps_in(self.segment.value)
    }

    /// The same in segments with so much payload.
    pub(super) fn payload_rate_bps_in(&self, segment: u32) -> f64 {
        let segment = f64::from(segment.max(1));
        self.rate_bps.value * segment / (segment + f64::from(self.headers()))
    }

    /// Payload of a full segment where the MSS option has this value: it counts TCP's own options as well (RFC 6691).
    pub(super) fn payload_of(&self, mss: Mss) -> u32 {
        let options = self.headers() - Headers::plain(self.ip).octets();
        u32::try_from(mss.bytes().get()).unwrap_or(u32::MAX).saturating_sub(options).max(1)
    }

    /// The share by which a goodput that follows from the path may be another: a full link's rate is counted over the whole
    /// transfer, that of trains over a few packets each. How long the ends of a dialogue waited is known.
    pub(super) fn uncertainty(&self) -> f64 {
        let of_link = match self.rate_bps.confidence {
            Confidence::High => 0.05,
            Confidence::Medium | Confidence::Low => 0.15,
        };
        of_link * self.dialogue.as_ref().map_or(1.0, |it| it.busy_share(self.seconds))
    }

    /// Why the capture shows too little of the path to predict anything of it; `None` where it shows enough.
    pub fn too_little(&self, segments: u64) -> Option<String> {
        let round_trips = self.seconds / self.rtt_s.value.max(1e-9);
        if segments < LEAST_SEGMENTS {
            Some(format!("{} with data", counted(segments, "segment")))
        } else if round_trips < LEAST_ROUND_TRIPS {
            Some("fewer than ten round trips".to_owned())
        } else if self.rtt_s.confidence == Confidence::Low {
            Some("no round trip of the whole path".to_owned())
        } else {
            None
        }
    }

    /// Bandwidth-delay product, in bytes.
    pub fn bdp_bytes(&self) -> f64 {
        self.rate_bps.value * self.rtt_s.value / 8.0
    }

    /// The rate of the bottleneck link; in four significant digits.
    pub fn link_rate(&self) -> BitsPerSec {
        four_digits(self.rate_bps.value)
    }

    /// Propagation delay in one direction, to the microsecond: half the round trip less the time that a full packet
    /// and its acknowledgement take on the link.
    pub fn one_way_delay(&self) -> Time {
        let on_wire = |bytes: f64, rate_bps: f64| 8.0 * bytes / rate_bps.max(1.0);
        let packet = f64::from(self.segment.value + self.headers());
        let on_wire = on_wire(packet, self.rate_bps.value)
            + match &self.reverse_link {
                Some(link) => on_wire(link.packet_bytes, link.rate_bps.value),
                None => on_wire(self.headers().into(), self.rate_bps.value),
            };
        micros(((self.rtt_s.value - on_wire) / 2.0).max(0.0))
    }

    /// A window that covers the path; see [`covering`](super::covering).
    pub fn covering_window(&self) -> Bytes {
        covering_window(self.link_rate(), self.one_way_delay().times(2))
    }
}

/// A rate in four significant digits, the precision of a measured one; at least 1 bit/s.
pub(super) fn four_digits(bps: f64) -> BitsPerSec {
    const LEAST: BitsPerSec = BitsPerSec::new(1).expect("1 is not zero");
    let step = libm::pow(10.0, (libm::log10(bps.max(1.0)).floor() - 3.0).max(0.0));
    BitsPerSec::new(whole((bps / step).round() * step)).unwrap_or(LEAST)
}

/// A time to the microsecond.
pub(super) fn micros(seconds: f64) -> Time {
    Time::from_nanos(whole(seconds * 1e6).saturating_mul(1000))
}

/// A size or a rate without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and sizes are not negative"
)]
pub(in crate::advise) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// IP and TCP headers of a data packet, timestamps included, in bytes.
fn headers(ip: IpVersion, timestamps: bool) -> u32 {
    let tcp_options = if timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
    Headers { ip, tcp_options }.octets()
}

/// Whether SACK is in use; `None` where that is unknown.
pub(super) fn uses_sack(case: &Case<'_>) -> Option<bool> {
    let (data, acks) = (case.data(), case.acks());
    if case.evidence.has_syn_options() {
        return Some(data.sack_permitted && acks.sack_permitted);
    }
    // Retransmissions triggered by SACK blocks prove it, and recoveries whose duplicate ACKs carry none the contrary: where it is in
    // use, each has a block (RFC 2018 section 4).
    match (data.resent.sack, data.epochs.rounds()) {
        (1.., _) => Some(true),
        (0, [_, ..]) => Some(false),
        (0, []) => None,
    }
}

fn segment(data: &DirectionStats) -> Option<Known<u32>> {
    if let Some(used) = data.mss_used_bytes {
        return Some(Known::new(used, Confidence::High, "payload of full segments"));
    }
    let how = "largest payload captured: no full segment was sent";
    (data.largest_segment_bytes > 0)
        .then(|| Known::new(data.largest_segment_bytes.min(65_000), Confidence::Low, how))
}

fn mtu(case: &Case<'_>, segment: u32, headers: u32) -> Known<u32> {
    let direction = case.diagnosis.direction;
    let reported = case.evidence.least_reported_mtu(direction);
    let holds = case.evidence.path_mtu_reported(direction).is_some();
    if let Some((mtu, event)) = reported.filter(|_| holds) {
        let how = format!("reported by {} (packet {})", event.hop, event.frame);
        return Known::new(mtu, Confidence::High, how);
    }
    let largest = segment + headers;
    if largest > ETHERNET {
        return Known::new(largest, Confidence::Medium, "at least: packets of this size arrived");
    }
    Known::new(ETHERNET, Confidence::Low, "Ethernet's, assumed: no larger packet was sent")
}
