//! What is told of the payload that an end sent, when its last packet has passed.

use maxseg_core::evidence::DirectionStats;
use maxseg_core::framing::{Headers, IpVersion, TCP_TIMESTAMPS};
use maxseg_core::units::Time;

use super::SynOptions;
use crate::flow::black_hole::in_segments;
use crate::flow::capacity::Capacity;
use crate::flow::send_history::SendHistory;
use crate::flow::sizes::Bounds;

/// What bounds the segments of an end, beside its link.
pub(super) struct Agreed<'a> {
    /// What the other end's SYN offered.
    pub(super) peer: &'a SynOptions,
    /// Whether segments carry timestamps.
    pub(super) timestamps: bool,
    pub(super) ip: IpVersion,
}

/// The MTU of Ethernet, in bytes.
const ETHERNET: u32 = 1500;

impl Agreed<'_> {
    /// The payload of a segment of this MSS, which does not count TCP's own options (RFC 6691).
    fn payload(&self, mss: u32) -> u32 {
        let options = if self.timestamps { TCP_TIMESTAMPS.get() } else { 0 };
        mss.saturating_sub(u32::try_from(options).unwrap_or(0))
    }

    fn bounds(&self, own: Option<u16>) -> Bounds {
        let payload = |mss: u16| self.payload(mss.into());
        Bounds {
            allowed: self.peer.mss.map(payload).filter(|it| *it > 0),
            own: own.map(payload),
            ethernet: self.payload(ETHERNET - Headers::plain(self.ip).octets()),
        }
    }
}

/// Adds what is known of the size of segments.
fn describe_sizes(stream: &SendHistory, to: &mut DirectionStats, agreed: &Agreed<'_>) {
    let bounds = agreed.bounds(to.mss_option_bytes);
    let full = stream.sizes.full(bounds);
    to.mss_used_bytes = full.map(|full| full.payload);
    to.offloaded_packets = to.offloaded_packets.max(full.map_or(0, |full| full.joined.into()));
    let unit = to.mss_used_bytes.filter(|_| to.offloaded_packets > 0);
    let hole = stream.black_hole.found();
    to.black_hole = match unit {
        Some(unit) => hole.and_then(|hole| in_segments(hole, unit, bounds.allowed)),
        None => hole,
    };
}

/// Adds what is known of the payload.
pub(super) fn describe(
    mut stream: SendHistory,
    to: &mut DirectionStats,
    agreed: &Agreed<'_>,
    end: u64,
) {
    stream.finish(end);
    let is_path_timed = stream.is_path_timed();
    let counts = stream.counts;
    describe_sizes(&stream, to, agreed);
    to.unique_bytes = counts.unique_bytes;
    to.unseen_bytes = counts.unseen_bytes;
    to.holes = stream.holes;
    to.retransmitted_packets += u64::from(counts.retransmitted_packets);
    to.retransmitted_bytes = counts.retransmitted_bytes;
    to.timeouts = counts.timeouts.into();
    let control = to.resent.control;
    to.resent = stream.retransmissions.by_cause;
    to.resent.control += control;
    to.spurious = stream.retransmissions.spurious;
    to.spurious_retransmissions = stream.retransmissions.spurious_total();
    to.spurious_timeouts = stream.retransmissions.spurious_timeouts.into();
    to.spurious_expiries = stream.retransmissions.spurious_expiries.into();
    to.out_of_order_packets = counts.out_of_order.into();
    to.window_full = counts.window_full.into();
    to.beyond_window = counts.beyond_window.into();
    to.beyond_timer = counts.beyond_timer.into();
    to.sacks_outside = counts.sacks_outside.into();
    to.in_flight_max_bytes = counts.in_flight_max;
    to.longest_gap_s = counts.longest_gap as f64 / 1e9;
    let (trips, seconds) = (stream.round_trips, |nanos: u64| nanos as f64 / 1e9);
    to.rtt_min_s = trips.least.map(seconds);
    to.path_rtt_min_s = trips.path_least.filter(|_| is_path_timed).map(seconds);
    if trips.count > 0 {
        to.rtt_mean_s = Some(seconds(trips.sum) / f64::from(trips.count));
        let mean = seconds(trips.path_sum) / f64::from(trips.path_count.max(1));
        to.path_rtt_mean_s = (is_path_timed && trips.path_count > 0).then_some(mean);
    }
    // What is counted in intervals is told by their middle, which may be below the least.
    let least = trips.path_least.filter(|_| is_path_timed).map_or(Time::ZERO, Time::from_nanos);
    let median = stream.loaded.quantile(0.5).map(|median| median.max(least));
    to.path_rtt_loaded_s = median.map(Time::as_secs_f64);
    to.loaded_round_trips = stream.loaded;
    to.loss_episodes = stream.losses;
    to.refills = stream.sender.refills();
    let epochs = stream.sender.epochs.as_deref();
    to.drop_line = epochs.and_then(|epochs| epochs.drop_lines.as_ref()?.found());
    let lost_flight = epochs.and_then(|epochs| epochs.lost_flight);
    to.outage =
        to.outage.into_iter().chain(lost_flight).max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    to.epochs = stream.sender.epochs.map(|epochs| epochs.list).unwrap_or_default();
    to.ack_gaps = stream.ack_gaps.as_ref().and_then(|gaps| gaps.found());
    to.intervals = stream.intervals.as_ref().and_then(|intervals| intervals.found());
    to.departures = stream.departures.as_ref().and_then(|departures| departures.found());
    let capacity =
        stream.trains.as_ref().map(|trains| trains.of_narrowest(to.data_packets, to.window_full));
    to.capacity_bps = capacity.and_then(Capacity::rate);
    to.train_mode_bps = capacity.and_then(Capacity::mode);
    to.first_flight_bps = capacity.and_then(Capacity::first_flights);
    to.opening_train_bps = capacity.and_then(Capacity::opening);
    to.idle_restarts = stream.sender.restarts.count.into();
    to.idle_restart_s = stream.sender.restarts.lasted as f64 / 1e9;
    to.bins = stream.sender.bins.into_bins();
    to.idle_s = to.bins.as_slice().iter().map(|bin| bin.idle.as_secs_f64()).sum();
    to.events.append(&stream.events);
    to.trace = stream.trace;
}
