//! Losses that begin late in a transfer, or end early: what they leave of a window then is not what limits the rest.

use super::windows::{outlasts_losses, shown_by_full};
use crate::evidence::{Bin, DirectionStats};
use crate::outcome::LimitedBy;
use crate::units::Time;

/// A stretch without losses is one where chance leaves it so long no more often than this, if losses came evenly,
const CHANCE: f64 = 1e-3;
/// by at least so many of them: fewer may be of one overflow.
const LEAST_LOSSES: i32 = 4;
/// It takes at least this share of the time: less is no part of its own.
const LONG: f64 = 0.15;

/// The stretch of a transfer in which segments were lost, where what comes before it, or behind, is free of losses for so long that it is
/// no chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LossyStretch {
    /// When it begins.
    from: Time,
    /// When it ends.
    to: Time,
}

impl LossyStretch {
    /// Of a direction; `None` where losses come all along it, or hardly any do.
    pub(crate) fn of(data: &DirectionStats) -> Option<Self> {
        let lossy = data.bins.as_slice().iter().filter(|bin| bin.losses > 0).count();
        Self::of_losses(data, data.loss_episodes.count().min(lossy as u64))
    }

    /// The same, as if errors struck each of its packets by itself: what was lost at once is no one loss then.
    pub(crate) fn of_single_losses(data: &DirectionStats) -> Option<Self> {
        Self::of_losses(data, data.needed_retransmissions())
    }

    fn of_losses(data: &DirectionStats, losses: u64) -> Option<Self> {
        let bins = data.bins.as_slice();
        let has_lost = |bin: &Bin| bin.losses > 0;
        let (first, last) = bins.iter().position(has_lost).zip(bins.iter().rposition(has_lost))?;
        let (before, behind) = (bins.get(..first)?, bins.get(last + 1..)?);
        let losses = i32::try_from(losses).unwrap_or(i32::MAX);
        // Without SACK the repairs of one overflow take many round trips, each a recovery of its own.
        let come_by_chance = data.sack_permitted && data.needed_retransmissions() > 0;
        if losses < LEAST_LOSSES || !come_by_chance {
            return None;
        }
        let (all, all_s) = (segments(bins), seconds(bins));
        let is_free = |part: &[Bin]| {
            let share = segments(part) / all.max(1.0);
            seconds(part) >= LONG * all_s && (1.0 - share).powi(losses) <= CHANCE
        };
        let (begins_late, ends_early) = (is_free(before), is_free(behind));
        let from = if begins_late { bins[first].at } else { bins[0].at };
        let to = if ends_early { bins[last].end() } else { bins[bins.len() - 1].end() };
        (begins_late || ends_early).then_some(Self { from, to })
    }

    /// When it begins, and when it ends.
    pub(crate) const fn span(self) -> [Time; 2] {
        [self.from, self.to]
    }

    /// Whether it ended long before the transfer did: what began late may go on.
    pub(crate) fn is_over(self, data: &DirectionStats) -> bool {
        data.bins.as_slice().last().is_some_and(|last| self.to < last.end())
    }

    /// Whether an interval lies outside of it.
    fn leaves_out(self, bin: &Bin) -> bool {
        bin.end() <= self.from || bin.at >= self.to
    }

    /// What of a direction tells how losses and its window share the time, in this stretch of it alone: all that was lost was lost in it.
    fn part_of(self, data: &DirectionStats) -> DirectionStats {
        let inside: Vec<Bin> =
            data.bins.as_slice().iter().filter(|bin| !self.leaves_out(bin)).copied().collect();
        let sum = |part: fn(&Bin) -> u64| inside.iter().map(part).sum::<u64>();
        let mut part = DirectionStats {
            acked_bytes: sum(|bin| bin.acked_bytes),
            unique_bytes: sum(|bin| bin.sent_bytes),
            data_packets: sum(|bin| bin.segments.into()),
            in_flight_max_bytes: inside.iter().map(|bin| bin.in_flight_max).max().unwrap_or(0),
            idle_s: inside.iter().map(|bin| bin.idle.as_secs_f64()).sum(),
            first_data: Some(self.from),
            last_ack: Some(self.to),
            ..data.clone()
        };
        part.bins.replace(inside);
        part
    }
}

/// Which of a receive window and losses limits more, where both do: of losses that come in a part of the transfer, in that part.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowOrLosses {
    stretch: Option<LossyStretch>,
    shown_by_full: LimitedBy,
    /// Whether behind each loss the congestion window soon comes to the receive window again.
    pub(super) window_outlasts: bool,
}

impl WindowOrLosses {
    pub(super) fn of(data: &DirectionStats, acks: &DirectionStats) -> Self {
        let stretch = LossyStretch::of(data);
        let part = stretch.map(|stretch| stretch.part_of(data));
        let while_lost = part.as_ref().unwrap_or(data);
        Self {
            stretch,
            shown_by_full: shown_by_full(while_lost, acks),
            window_outlasts: outlasts_losses(while_lost),
        }
    }

    /// What a full window shows in an interval: itself, where nothing is lost for long.
    pub(super) fn shown_by_full(&self, bin: &Bin) -> LimitedBy {
        match self.stretch {
            Some(stretch) if stretch.leaves_out(bin) => LimitedBy::ReceiveWindow,
            _ => self.shown_by_full,
        }
    }
}

fn segments(bins: &[Bin]) -> f64 {
    bins.iter().map(|bin| f64::from(bin.segments)).sum()
}

fn seconds(bins: &[Bin]) -> f64 {
    bins.iter().map(|bin| bin.duration.as_secs_f64()).sum()
}

/// So many seconds of twenty flights of 10 segments each; in each of the first `lossy` ones four recoveries begin.
#[cfg(test)]
pub(super) fn lossy_for(seconds: u64, lossy: u64) -> DirectionStats {
    use crate::evidence::{Bins, LossEpisode};

    let flight = Time::from_millis(50);
    let mut data = DirectionStats {
        bins: Bins::new(Time::ZERO, flight),
        sack_permitted: true,
        mss_used_bytes: Some(1000),
        in_flight_max_bytes: 10_000,
        rtt_min_s: Some(0.05),
        path_rtt_min_s: Some(0.05),
        path_rtt_loaded_s: Some(0.05),
        first_data: Some(Time::ZERO),
        last_ack: Some(Time::from_secs(seconds)),
        ..DirectionStats::default()
    };
    for n in 0..20 * seconds {
        let bin = data.bins.at(flight.times(n));
        (bin.segments, bin.sent_bytes, bin.in_flight_max) = (10, 10_000, 10_000);
        let has_lost = n < 20 * lossy && n % 5 == 0;
        // Losses leave half of the window, which nothing else limits to.
        bin.acked_bytes = if n < 20 * lossy { 5_000 } else { 10_000 };
        bin.window_left_min = Some(if n < 20 * lossy && n % 5 < 4 { 5_000 } else { 0 });
        bin.losses = has_lost.into();
        data.acked_bytes += bin.acked_bytes;
        if has_lost {
            data.retransmitted_packets += 1;
            let episode = LossEpisode { at: flight.times(n), lost: 1, ..LossEpisode::default() };
            data.loss_episodes.begin(episode);
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_part_of_the_time_make_a_stretch() {
        let stretch = LossyStretch::of(&lossy_for(10, 2)).unwrap();
        let [from, to] = stretch.span().map(Time::as_secs_f64);
        assert!(from == 0.0 && (1.7..2.0).contains(&to), "{from} to {to}");
        assert_eq!(LossyStretch::of(&lossy_for(10, 10)), None, "all along");
        assert_eq!(LossyStretch::of(&lossy_for(10, 9)), None, "the last second is a tenth");
        let mut few = lossy_for(1, 1);
        few.retransmitted_packets = 0;
        assert_eq!(LossyStretch::of(&few), None, "what was sent again had not been lost");
        let without_sack = DirectionStats { sack_permitted: false, ..lossy_for(10, 2) };
        assert_eq!(LossyStretch::of(&without_sack), None, "they may be of one overflow");
    }

    /// A window of ten segments that losses halve for two seconds of ten, and that is full in the rest.
    #[test]
    fn a_window_that_is_full_where_nothing_is_lost_limits_there() {
        let (data, acks) = (lossy_for(10, 2), DirectionStats::default());
        assert!(outlasts_losses(&data), "of the whole it does so in the lossy part as well");
        let parts = WindowOrLosses::of(&data, &acks);
        let bins = data.bins.as_slice();
        let shown = |seconds: usize| parts.shown_by_full(&bins[20 * seconds]);
        assert!(!parts.window_outlasts);
        assert_eq!((shown(1), shown(5)), (LimitedBy::Congestion, LimitedBy::ReceiveWindow));
    }
}
