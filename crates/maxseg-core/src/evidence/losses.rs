//! Round trips under load, and the state of the path at each loss.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Round trips of the whole path with more data in flight behind them, as a histogram: a late acknowledgement of a
/// connection that waits is none of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadedRoundTrips {
    /// How many samples lie in each interval, in order.
    counts: Vec<(u16, u32)>,
    /// Where the last sample is: the next is mostly beside it.
    last: usize,
    total: u64,
}

/// Intervals of an octave: each is about 2% wide.
const PARTS: u64 = 32;

impl LoadedRoundTrips {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, sample: Time) {
        let interval = interval(sample);
        self.total += 1;
        match self.counts.get_mut(self.last) {
            Some((known, count)) if *known == interval => *count = count.saturating_add(1),
            _ => self.add_elsewhere(interval),
        }
    }

    fn add_elsewhere(&mut self, interval: u16) {
        let place = self.counts.binary_search_by_key(&interval, |(known, _)| *known);
        match place {
            Ok(place) => self.counts[place].1 = self.counts[place].1.saturating_add(1),
            Err(place) => self.counts.insert(place, (interval, 1)),
        }
        self.last = place.unwrap_or_else(|place| place);
    }

    /// How many samples there are.
    pub const fn count(&self) -> u64 {
        self.total
    }

    /// The sample that this share of all does not exceed, to about 2%; `None` without samples.
    pub fn quantile(&self, share: f64) -> Option<Time> {
        let wanted = (share.clamp(0.0, 1.0) * self.total as f64).max(1.0);
        let mut below = 0.0;
        for (interval, count) in &self.counts {
            below += f64::from(*count);
            if below >= wanted {
                return Some(middle(*interval));
            }
        }
        None
    }

    /// The share of samples below this one; those in its interval count half.
    pub fn rank(&self, sample: Time) -> f64 {
        let at = interval(sample);
        let (mut below, mut same) = (0.0, 0.0);
        for (interval, count) in &self.counts {
            match (*interval).cmp(&at) {
                std::cmp::Ordering::Less => below += f64::from(*count),
                std::cmp::Ordering::Equal => same += f64::from(*count),
                std::cmp::Ordering::Greater => {}
            }
        }
        (below + same / 2.0) / (self.total as f64).max(1.0)
    }
}

/// Which interval a round trip lies in: its octave of nanoseconds, and the part of that.
fn interval(sample: Time) -> u16 {
    let nanos = sample.as_nanos().max(PARTS);
    let octave = nanos.ilog2();
    let part = (nanos >> (octave - PARTS.ilog2())) & (PARTS - 1);
    u16::try_from(u64::from(octave) * PARTS + part).unwrap_or(u16::MAX)
}

fn middle(interval: u16) -> Time {
    let (octave, part) = (u64::from(interval) / PARTS, u64::from(interval) % PARTS);
    let least = 1_u64 << octave;
    Time::from_nanos(least + least / PARTS * part + least / PARTS / 2)
}

/// Gaps between acknowledgements of data: geometric means, so that single pauses do not matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckGaps {
    /// How many.
    pub count: u32,
    /// The mean before those of more than one segment, over that before those of one.
    pub ratio: f64,
    /// The standard deviation of their logarithms, of the kind that varies more.
    pub deviation: f64,
}

/// Intervals between what arrives: at the receiver bursts of segments, elsewhere acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// How many.
    pub count: u32,
    /// The median, in seconds.
    pub usual_s: f64,
    /// The share of those that are about as long.
    pub equal: f64,
    /// Those in which another number of segments arrived than in most,
    pub others: u32,
    /// and the share of them that are about as long as the median.
    pub others_equal: f64,
    /// What arrived at a time; `None` of acknowledgements.
    pub bursts: Option<Bursts>,
}

/// Bursts: segments that came at the distance of the first flight, which the narrowest link gave them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bursts {
    /// The share of those of one segment,
    pub of_one: f64,
    /// and of two.
    pub of_two: f64,
    /// The share of the time that their segments took on the link.
    pub busy: f64,
    /// Their payload, in bits per second.
    pub rate_bps: f64,
}

/// Delays of one way beyond its least, of packets that were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WayDelay {
    /// How many.
    pub count: u32,
    /// A quarter had no more, in seconds.
    pub low_s: f64,
    /// The median, in seconds.
    pub median_s: f64,
    /// One in twenty had more, in seconds.
    pub high_s: f64,
    /// Times without an answer far longer than usual, together, in seconds.
    pub paused_s: f64,
}

/// The state of the path when segments were lost: one recovery, with all that it sent again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LossEpisode {
    /// When the first of them was sent again.
    pub at: Time,
    /// The last round trip before that, of segments that left just before the lost one, and whose acknowledgement no timer
    /// delayed. `None` where none was measured.
    pub rtt: Option<Time>,
    /// Bytes in flight then.
    pub in_flight: u64,
    /// Segments that were sent again.
    pub lost: u32,
    /// Payload that had been sent until then, without what was sent again.
    pub sent_bytes: u64,
    /// New segments since the episode before.
    pub sent_since: u32,
}

/// The episodes of a direction; where there are many, every second, fourth, eighth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LossEpisodes {
    list: Vec<LossEpisode>,
    /// Of so many one is kept.
    every: u32,
    skipped: u32,
    total: u64,
}

impl LossEpisodes {
    /// Most episodes that are kept.
    pub const MOST: usize = 128;

    /// A recovery begins.
    pub fn begin(&mut self, episode: LossEpisode) {
        self.total += 1;
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.list.len() >= Self::MOST {
            let mut place = 0;
            self.list.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every = self.every.max(1).saturating_mul(2);
        }
        self.skipped = self.every.max(1) - 1;
        self.list.push(episode);
    }

    /// The recovery sends another segment again.
    pub fn extend(&mut self) {
        if self.skipped + 1 >= self.every.max(1)
            && let Some(last) = self.list.last_mut()
        {
            last.lost = last.lost.saturating_add(1);
        }
    }

    /// In order.
    pub fn as_slice(&self) -> &[LossEpisode] {
        &self.list
    }

    /// Of how many one is kept: so many losses are between two of them.
    pub fn thinned_by(&self) -> f64 {
        f64::from(self.every.max(1))
    }

    /// How many there were.
    pub const fn count(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_ranks_are_those_of_the_samples() {
        let mut trips = LoadedRoundTrips::default();
        assert_eq!(trips.quantile(0.5), None);
        for millis in 1..=100 {
            trips.add(Time::from_millis(millis));
        }
        let median = trips.quantile(0.5).unwrap().as_secs_f64();
        assert!((median / 0.05 - 1.0).abs() < 0.03, "{median}");
        assert!((trips.rank(Time::from_millis(90)) - 0.9).abs() < 0.03);
        assert!(trips.rank(Time::from_millis(200)) > 0.999);
        assert!(trips.rank(Time::from_nanos(10_000)) < 0.001);
    }

    #[test]
    fn of_many_episodes_a_part_is_kept() {
        let mut episodes = LossEpisodes::default();
        for n in 0..1000 {
            let at = Time::from_millis(n);
            episodes.begin(LossEpisode {
                at,
                rtt: None,
                in_flight: 1,
                lost: 1,
                sent_bytes: 0,
                sent_since: 1,
            });
        }
        assert_eq!(episodes.count(), 1000);
        assert!(episodes.as_slice().len() <= LossEpisodes::MOST);
        assert!(episodes.as_slice().last().unwrap().at >= Time::from_millis(980));
    }
}
