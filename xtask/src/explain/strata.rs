//! What makes a scenario one of its stratum: its aims, its path, its captures.

use maxseg_core::rng::Rng;

use super::ranges::{
    ACK_PATH_QUEUE_S, ACK_PATH_SHARE, BURST_BYTES, CROSS_SHARE, CUT, PACE_SHARE, POLICER_SHARE,
    REORDER, SHAPER_BURST_BYTES,
};
use super::setup::{Aim, Cross, OtherHop, Pace, Setup};
use super::stratum::Stratum;
use super::view::{View, Way};
use crate::draws::{below, log_uniform, uniform, whole};

/// Aims by how many of the runs they get.
type Aims = &'static [(Aim, u64)];

const FAR: Aims = &[
    (Aim::Turns, 3),
    (Aim::Short, 3),
    (Aim::SmallWindow, 4),
    (Aim::SlowReader, 3),
    (Aim::SmallBuffer, 4),
    (Aim::FullLink, 3),
    (Aim::FullByWindow, 2),
    (Aim::FullInSpiteOfLoss, 2),
    (Aim::SmallPathWithLoss, 2),
    (Aim::Loss, 5),
    (Aim::ShortQueue, 2),
];
/// Without transfers that are over before a late capture begins.
const FAR_AND_LONG: Aims = &[
    (Aim::Turns, 3),
    (Aim::SmallWindow, 4),
    (Aim::SlowReader, 3),
    (Aim::SmallBuffer, 4),
    (Aim::FullLink, 3),
    (Aim::FullByWindow, 2),
    (Aim::FullInSpiteOfLoss, 2),
    (Aim::SmallPathWithLoss, 2),
    (Aim::Loss, 5),
    (Aim::ShortQueue, 2),
];
/// What one direction can show: without the acknowledgements no window that is not shut, without the data no pause.
const OF_ONE_WAY: Aims = &[
    (Aim::Turns, 3),
    (Aim::SlowReader, 3),
    (Aim::FullLink, 4),
    (Aim::FullByWindow, 2),
    (Aim::SmallPathWithLoss, 1),
    (Aim::Loss, 4),
];
const NEAR: Aims =
    &[(Aim::WindowOrRate, 4), (Aim::WindowOrLoss, 3), (Aim::LossOrRate, 4), (Aim::BufferOrRate, 4)];
const REORDERED: Aims =
    &[(Aim::FullLink, 4), (Aim::SmallWindow, 3), (Aim::FullByWindow, 2), (Aim::Turns, 1)];
const SHARED: Aims = &[(Aim::FullLink, 4), (Aim::SmallWindow, 3), (Aim::Loss, 3), (Aim::Turns, 1)];

/// The shortest round trip at which reordering, or a narrow reverse path, is more than the host's own delays.
const LEAST_RTT_S: f64 = 0.01;
/// A faster hop says no more, and takes time.
const MOST_RATE_BPS: f64 = 200e6;
/// An acknowledgement without options, with timestamps.
const ACK_BYTES: f64 = 40.0;
const TIMESTAMP_BYTES: f64 = 12.0;
/// A receiver acknowledges every second segment (RFC 1122 §4.2.3.2).
const SEGMENTS_PER_ACK: f64 = 2.0;

impl Stratum {
    pub(super) const fn aims(self) -> Aims {
        match self {
            Self::FarEnds | Self::Router => FAR,
            Self::OneWay => OF_ONE_WAY,
            Self::MidStream => FAR_AND_LONG,
            Self::NearEnds => NEAR,
            Self::Paced => &[(Aim::Paced, 1)],
            Self::Policer => &[(Aim::Policed, 1)],
            Self::AckPath => &[(Aim::NarrowReverse, 1)],
            Self::Reordering => REORDERED,
            Self::CrossTraffic => SHARED,
        }
    }

    /// Adds what the stratum has beside the aim.
    pub(super) fn shape(self, setup: &mut Setup, rng: &mut Rng) {
        setup.views = vec![View::at("sender"), View::at("receiver")];
        match self {
            Self::FarEnds | Self::NearEnds => {}
            Self::Router => {
                setup.other_hop = Some(other_hop(setup, rng));
                setup.views = vec![at_router(rng)];
            }
            Self::MidStream => {
                let view = one_end(rng);
                setup.views = vec![View { begins_at: uniform(rng, CUT), ..view }];
            }
            Self::OneWay => {
                let view = one_end(rng);
                let only = if matches!(setup.aim, Aim::SlowReader | Aim::FullByWindow) {
                    Way::Acks
                } else if setup.aim == Aim::FullLink {
                    [Way::Data, Way::Acks][below(rng, 2)]
                } else {
                    Way::Data
                };
                setup.views = vec![View { only: Some(only), ..view }];
            }
            Self::Paced => pace(setup, rng),
            Self::Policer => {
                setup.rtt_s = setup.rtt_s.max(LEAST_RTT_S);
                let rate = setup.rate_bps as f64 * uniform(rng, POLICER_SHARE);
                setup.line.policer = Some((whole(rate), whole(log_uniform(rng, BURST_BYTES))));
            }
            Self::AckPath => narrow_reverse(setup, rng),
            Self::Reordering => {
                setup.rtt_s = setup.rtt_s.max(LEAST_RTT_S);
                setup.line.reorder = log_uniform(rng, REORDER);
            }
            Self::CrossTraffic => {
                setup.other_hop = Some(other_hop(setup, rng));
                let share = uniform(rng, CROSS_SHARE);
                setup.cross = Some(match below(rng, 3) {
                    0 => Cross::Transfers(1),
                    1 => Cross::Transfers(2),
                    _ => Cross::Datagrams(whole(setup.rate_bps as f64 * share)),
                });
            }
        }
    }
}

fn one_end(rng: &mut Rng) -> View {
    View::at(["sender", "receiver"][below(rng, 2)])
}

/// One of the router's interfaces, or both.
fn at_router(rng: &mut Rng) -> View {
    let (line, other) = ("r1.line", "r1.other");
    match below(rng, 3) {
        0 => View::at(line),
        1 => View::at(other),
        _ => View { interfaces: vec![line.to_owned(), other.to_owned()], ..View::at(line) },
    }
}

fn other_hop(setup: &Setup, rng: &mut Rng) -> OtherHop {
    let rate = setup.rate_bps as f64;
    let times = uniform(rng, 1.5..4.0);
    OtherHop {
        rate_bps: whole((rate * times).min(MOST_RATE_BPS)),
        share_of_rtt: uniform(rng, 0.1..0.9),
        is_first: rng.uniform() < 0.5,
    }
}

/// Each way of pacing in a third of the runs; where a shaper does it, the host is what lies before the line.
fn pace(setup: &mut Setup, rng: &mut Rng) {
    let bps = whole(setup.link_payload_bps() * uniform(rng, PACE_SHARE));
    setup.pace = Some(match below(rng, 3) {
        0 => Pace::Writes(bps),
        1 => Pace::Socket(bps),
        _ => {
            setup.views[0] = View::at("r1.line");
            let burst_bytes = whole(log_uniform(rng, SHAPER_BURST_BYTES));
            Pace::Shaper { rate_bps: bps, burst_bytes }
        }
    });
}

/// A link for the acknowledgements that lets so many of them pass that they release a part of what the line carries.
fn narrow_reverse(setup: &mut Setup, rng: &mut Rng) {
    setup.rtt_s = setup.rtt_s.max(LEAST_RTT_S);
    let ack_bytes = ACK_BYTES + if setup.timestamps { TIMESTAMP_BYTES } else { 0.0 };
    let acks_per_s = uniform(rng, ACK_PATH_SHARE) * setup.link_payload_bps()
        / (8.0 * SEGMENTS_PER_ACK * setup.segment_bytes());
    let rate = acks_per_s * ack_bytes * 8.0;
    let queue = rate / 8.0 * log_uniform(rng, ACK_PATH_QUEUE_S);
    setup.line.reverse = Some((whole(rate), whole(queue.max(20.0 * ack_bytes))));
}
