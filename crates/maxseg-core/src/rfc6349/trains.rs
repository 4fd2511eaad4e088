//! The bottleneck by trains of datagrams, which no loss holds back: RFC 6349 §3.2.2 wants it measured by stateless streams.
//!
//! A short train, sent as fast as the host sends, spreads over the time that the narrowest link takes for it (packet-pair
//! dispersion). That is the rate of a link, not what lasts: a policer lets the train pass. So two longer ones follow, below
//! and above that rate. What is lost of the slower one is lost whatever the load; what arrives at the end of the faster one lasts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::median;

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// Its place in the train.
    pub number: u32,
    /// By the receiver's clock.
    pub at_s: f64,
}

/// A train of datagrams of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Train {
    /// Bytes of each IP packet.
    pub packet_bytes: u32,
    /// How many were sent.
    pub sent: u32,
    /// From the first to the last, by the sender's clock.
    pub sent_s: f64,
    /// In the order of their arrival.
    pub arrivals: Vec<Arrival>,
    /// What the receiving host dropped, since its program read too late.
    pub dropped_by_host: u32,
}

/// Fewer gaps between packets tell no rate.
const LEAST_GAPS: usize = 4;

impl Train {
    fn bits(&self) -> f64 {
        8.0 * f64::from(self.packet_bytes)
    }

    /// The rate at which it was sent.
    pub fn sent_bps(&self) -> f64 {
        let gaps = f64::from(self.sent.saturating_sub(1));
        if self.sent_s > 0.0 { gaps * self.bits() / self.sent_s } else { f64::INFINITY }
    }

    /// From the first arrival to the last.
    pub fn arrival_s(&self) -> f64 {
        let first = self.arrivals.first().map_or(0.0, |arrival| arrival.at_s);
        self.arrivals.last().map_or(0.0, |arrival| arrival.at_s - first)
    }

    /// The rate of the packets that arrived one behind the other as they were sent: between them the link had nothing else to carry of
    /// this train, also where others were lost.
    pub fn spacing_bps(&self) -> Option<f64> {
        let gaps = gaps(&self.arrivals, true);
        let time: f64 = gaps.iter().sum();
        (gaps.len() >= LEAST_GAPS && time > 0.0).then(|| gaps.len() as f64 * self.bits() / time)
    }

    /// The arrivals of the later half of what was sent, by when a burst has passed and a queue is full.
    fn later_half(&self) -> &[Arrival] {
        let from = self.arrivals.partition_point(|arrival| arrival.number < self.sent / 2);
        self.arrivals.get(from..).unwrap_or_default()
    }

    /// Whether the packets of the later half took longer than the first ones, by what a queue of some packets takes at a rate.
    fn is_queued(&self, bps: f64) -> bool {
        const PACKETS: f64 = 4.0;
        let gap = self.sent_s / f64::from(self.sent.saturating_sub(1).max(1));
        let delay = |arrival: &Arrival| arrival.at_s - f64::from(arrival.number) * gap;
        let first = self.arrivals.iter().take(LEAST_GAPS).map(delay).fold(f64::INFINITY, f64::min);
        let later = median(self.later_half().iter().map(delay).collect());
        later.is_some_and(|later| later - first > PACKETS * self.bits() / bps)
    }

    /// The share that was lost of the later half, up to the last that arrived.
    fn lost_share(&self) -> Option<f64> {
        let half = self.later_half();
        let last = half.iter().map(|arrival| arrival.number).max()?;
        let sent = f64::from(last - self.sent / 2 + 1);
        Some((1.0 - half.len() as f64 / sent).max(0.0))
    }
}

/// The time between arrivals one behind the other; of packets that were sent one behind the other alone, where so wanted.
fn gaps(arrivals: &[Arrival], of_neighbours: bool) -> Vec<f64> {
    let gap = |pair: &[Arrival]| {
        let [a, b] = pair else { return None };
        (!of_neighbours || b.number == a.number + 1).then_some(b.at_s - a.at_s)
    };
    arrivals.windows(2).filter_map(gap).collect()
}

fn arrival_bps(arrivals: &[Arrival], bits: f64) -> Option<f64> {
    let (first, last) = (arrivals.first()?, arrivals.last()?);
    let time = last.at_s - first.at_s;
    (time > 0.0).then(|| (arrivals.len() - 1) as f64 * bits / time)
}

/// The rate of gaps one behind the other, and by what share of it the middle half of its values differ: the median over all stretches of half
/// the gaps. A host that pauses for some milliseconds moves few of them, and none by much.
fn steady_bps(gaps: &[f64], bits: f64) -> Option<(f64, f64)> {
    let half = gaps.len() / 2;
    if half < LEAST_GAPS {
        return None;
    }
    let mut time: f64 = gaps.iter().take(half).sum();
    let mut rates = vec![half as f64 * bits / time];
    for (first, next) in gaps.iter().zip(gaps.iter().skip(half)) {
        time += next - first;
        rates.push(half as f64 * bits / time);
    }
    rates.retain(|rate| rate.is_finite() && *rate > 0.0);
    rates.sort_by(f64::total_cmp);
    let at = |quarter: usize| rates.get(quarter * rates.len() / 4).copied();
    let middle = at(2)?;
    Some((middle, (at(3)? - at(1)?) / middle))
}

/// What trains say of a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrainsFound {
    /// What lasts, bits a second of IP packets.
    pub lasting_bps: f64,
    /// What holds it.
    pub limit: TrainLimit,
    /// The rate at which a short train passed.
    pub short_train_bps: f64,
    /// The share that is lost whatever the load.
    pub lost_share: f64,
}

/// What holds trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrainLimit {
    /// A link, or a shaper: it is busy all the time, and packets leave it at its rate.
    Link,
    /// A policer: it drops what exceeds its rate, and the rest passes as fast as it was sent.
    Policer,
    /// Nothing, or what changes from moment to moment: the path carries this, and perhaps more.
    AtLeast,
}

/// A longer train that arrives as fast as this share of what was sent was not held.
const PASSED: f64 = 0.97;
/// Rates that differ by less are the same.
const SAME: f64 = 0.03;
/// A policer takes more than this off a train, losses of any load aside: else it is not told from chance.
const POLICED: f64 = 0.08;
/// Losses of the slower train that do not belong to its rate: as much more arrives of the faster one as was sent.
const GROWS: f64 = 1.5;
/// Rates of a tail that vary by more are no link's.
const STEADY: f64 = 0.1;
/// A host that dropped a larger share itself tells no losses.
const MOST_DROPPED: f64 = 0.002;
/// The highest share of losses with which trains tell anything.
const MOST_LOST: f64 = 0.2;

/// Whether all of the faster train arrived, the losses of any load aside: nothing held it, and a faster one may tell more.
pub fn has_passed(slower: &Train, faster: &Train) -> bool {
    let lost = slower.lost_share().filter(|share| *share <= MOST_LOST).unwrap_or(0.0);
    let arrived = arrival_bps(faster.later_half(), faster.bits()).unwrap_or(0.0);
    arrived >= PASSED * (1.0 - lost) * faster.sent_bps()
}

/// What a short train and two longer ones, below and above its rate, say of a path. `None` where too few of them arrived.
pub fn judge_trains(short: &Train, slower: &Train, faster: &Train) -> Option<TrainsFound> {
    let short_train_bps = short.spacing_bps()?;
    let (bits, tail) = (faster.bits(), faster.later_half());
    let (arrived, unsteady) = steady_bps(&gaps(tail, false), bits)?;
    let lost = slower.lost_share()?;
    let slow_rate = arrival_bps(slower.later_half(), slower.bits())?;
    // A policer below the slower rate passes no more of the faster train: what the slower one lost is then the policer's.
    let lost_share = if arrived >= GROWS * slow_rate { lost } else { 0.0 };
    let found =
        |lasting_bps, limit| Some(TrainsFound { lasting_bps, limit, short_train_bps, lost_share });
    let dropped = f64::from(faster.dropped_by_host.max(slower.dropped_by_host));
    let is_blurred = dropped > MOST_DROPPED * f64::from(faster.sent);
    if lost_share > MOST_LOST || is_blurred || has_passed(slower, faster) {
        return found(arrived, TrainLimit::AtLeast);
    }
    let spacing = steady_bps(&gaps(tail, true), bits).filter(|(_, spread)| *spread <= STEADY);
    if let Some((spacing, _)) = spacing {
        let whole = spacing * (1.0 - lost_share);
        if arrived >= (1.0 - SAME) * whole {
            return found(spacing, TrainLimit::Link);
        }
    }
    if unsteady > STEADY {
        return found(arrived, TrainLimit::AtLeast);
    }
    let is_slower_held = slow_rate < (1.0 - POLICED) * slower.sent_bps() && lost_share == 0.0;
    if is_slower_held && slower.is_queued(slow_rate) {
        return found(arrived, TrainLimit::Link);
    }
    // What passes is as fast as it was sent, or as a link lets a short train through: what is missing was dropped, not queued.
    let passing = faster.sent_bps().min(short_train_bps);
    let is_short = arrived < (1.0 - POLICED) * (1.0 - lost_share) * passing;
    if is_short && (is_slower_held || !faster.is_queued(arrived)) {
        return found(arrived, TrainLimit::Policer);
    }
    found(arrived, TrainLimit::AtLeast)
}

#[cfg(test)]
mod tests;
