//! Whether acknowledgements clock new segments out, where neither their departure nor that arrival is seen.
//!
//! A window lets segments go when acknowledgements arrive (RFC 5681 §3.1), BBR sends by a clock of its own. At the sender that is
//! seen as it is; elsewhere timestamps tell it, on paths whose acknowledgements are some milliseconds apart.

use super::CongestionAlgorithm::{Bbr, Cubic, Reno};
use super::clue::Clue;
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use crate::units::approx;

/// Fewer segments show nothing,
const LEAST: u32 = 60;
/// nor acknowledgements that come so close to each other that most departures are at once after one. Departures that are less often at
/// once than a clock's need not be so far apart.
const MOST_BY_CHANCE: f64 = 0.6;
const MOST_BY_CHANCE_UNCLOCKED: f64 = 0.8;
/// More departures that are later than the next acknowledgement allows show a way of acknowledgements that varies, or times that
/// were set ahead.
const MOST_LATE: f64 = 0.02;
/// From this share of clocked payload on it is a window's clock, from this one on it may be, below the third it hardly is, and below the last it
/// is none.
const CLOCKED: f64 = 0.95;
const MAYBE_CLOCKED: f64 = 0.9;
const SELDOM_CLOCKED: f64 = 0.8;
const NOT_CLOCKED: f64 = 0.6;
/// How likely a clock is under Reno, CUBIC and BBR, shares between these, and less. Of captures at the receiver, in the lab and of the kernel in
/// virtual time, 86 of 97 of windows that nothing paced had a clock, 1 of 15 with `fq` at the sender, and 2 of 40 of BBR; of these 13, 11 and
/// 17 had shares from 0.6 to 0.9 or none.
const CLOCK: [f64; 3] = [1.0, 1.0, 0.1];
const MAYBE_CLOCK: [f64; 3] = [1.0, 1.0, 0.6];
const BETWEEN: [f64; 3] = [0.3, 0.3, 1.0];
/// Shares from 0.6 to 0.8 had 1 of 260 captures of the others at the receiver, and 17 of 76 of BBR; where more is at once by chance, shares below 0.8
/// had none of 22, and 12 of 18.
const SELDOM: [f64; 3] = [0.1, 0.1, 1.0];
const NO_CLOCK: [f64; 3] = [0.05, 0.05, 1.0];
/// Where a full receive window is the limit, BBR waits for acknowledgements more often, and its pace differs less from what they allow: 10 of 11 of windows
/// had a clock, and 1 of 8 of BBR, of which 6 had shares below 0.9.
const CLOCK_IN_WINDOW: [f64; 3] = [1.0, 1.0, 0.3];
const NO_CLOCK_IN_WINDOW: [f64; 3] = [0.2, 0.2, 1.0];
/// Three SACK blocks make an acknowledgement longer by so many bytes (RFC 2018 §3). Departures are known to so many seconds (`AT_ONCE` of
/// the flow's): on a link that takes longer for these bytes, whatever is clocked out seems to leave at other times.
const SACK_BYTES: f64 = 28.0;
const KNOWN_TO_S: f64 = 0.0015;
/// They speak against an algorithm by this at most: other senders pace as well.
const MOST: f64 = 3.0;

/// What departures show.
pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Clue {
    let is_held = matches!(limit, LimitedBy::Paced | LimitedBy::Application);
    let is_in_window = limit == LimitedBy::ReceiveWindow;
    let found = data.departures.filter(|found| {
        let is_unclocked = found.clocked().is_some_and(|share| share < SELDOM_CLOCKED);
        let most_by_chance =
            if is_unclocked && !is_in_window { MOST_BY_CHANCE_UNCLOCKED } else { MOST_BY_CHANCE };
        let is_steady = found.late <= MOST_LATE && found.by_chance < most_by_chance;
        !is_held && found.count >= LEAST && is_steady
    });
    let Some(clocked) = found.and_then(|found| found.clocked()) else { return Clue::default() };
    let share = approx::whole_percent(clocked.clamp(0.0, 1.0));
    let by_clock = match clocked {
        CLOCKED.. if is_in_window => Some(CLOCK_IN_WINDOW),
        CLOCKED.. => Some(CLOCK),
        MAYBE_CLOCKED.. if is_in_window => return Clue::default(),
        MAYBE_CLOCKED.. => Some(MAYBE_CLOCK),
        _ => None,
    };
    if let Some(seen) = by_clock {
        let text =
            format!("{share} of new segments left when an acknowledgement reached the sender");
        return Clue::new(seen, MOST, &[Reno, Cubic], text);
    }
    let seen = match clocked {
        _ if is_in_window => NO_CLOCK_IN_WINDOW,
        SELDOM_CLOCKED.. => BETWEEN,
        NOT_CLOCKED.. => SELDOM,
        _ => NO_CLOCK,
    };
    // Without the beginning a program that writes in steps is not told from the path.
    if limit == LimitedBy::Unknown && data.begins_late || is_slower_than_blocks(data) {
        return Clue::default();
    }
    let text = "new segments left at a pace of the sender's, not when acknowledgements reached it";
    Clue::new(seen, MOST, &[Bbr], text.to_owned())
}

/// Whether the path, alike both ways, is so slow that SACK blocks delay an acknowledgement by more than departures are known to.
fn is_slower_than_blocks(data: &DirectionStats) -> bool {
    let rate = data.capacity_bps.or(data.goodput_bps);
    rate.is_some_and(|bps| 8.0 * SACK_BYTES > KNOWN_TO_S * bps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::CongestionAlgorithm;
    use crate::evidence::Departures;

    fn shown(found: Departures, limit: LimitedBy) -> Option<CongestionAlgorithm> {
        let data = DirectionStats { departures: Some(found), ..DirectionStats::default() };
        let clue = of(&data, limit);
        (clue.count() > 0).then(|| clue.weights.best().0)
    }

    const PACED: Departures = Departures { count: 500, at_once: 0.4, by_chance: 0.3, late: 0.0 };

    #[test]
    fn departures_between_acknowledgements_are_a_pace() {
        assert_eq!(shown(PACED, LimitedBy::Congestion), Some(Bbr));
        let clocked = Departures { at_once: 0.97, ..PACED };
        assert_eq!(shown(clocked, LimitedBy::Congestion), Some(Reno), "or CUBIC");
    }

    #[test]
    fn what_hides_departures_is_no_clue() {
        for limit in [LimitedBy::Paced, LimitedBy::Application] {
            assert_eq!(shown(PACED, limit), None);
        }
        let few = Departures { count: 40, ..PACED };
        let close = Departures { at_once: 0.97, by_chance: 0.7, ..PACED };
        let varying = Departures { late: 0.1, ..PACED };
        for found in [few, close, varying] {
            assert_eq!(shown(found, LimitedBy::Congestion), None, "{found:?}");
        }
    }

    /// At 28.8 kbit/s three blocks take 8 ms.
    #[test]
    fn on_a_slow_link_blocks_make_acknowledgements_late() {
        let seen = |goodput_bps| {
            let departures = Some(PACED);
            let data = DirectionStats { goodput_bps, departures, ..DirectionStats::default() };
            of(&data, LimitedBy::Bandwidth).count()
        };
        assert_eq!((seen(Some(2.88e4)), seen(Some(1e6))), (0, 1));
    }

    /// A program that writes in steps has a pace of its own, and only the beginning tells it from the path's.
    #[test]
    fn without_the_beginning_and_a_limit_a_pace_is_nobodys() {
        let name = |begins_late, limit| {
            let departures = Some(PACED);
            let data = DirectionStats { begins_late, departures, ..DirectionStats::default() };
            let clue = of(&data, limit);
            (clue.count() > 0).then(|| clue.weights.best().0)
        };
        assert_eq!(name(true, LimitedBy::Unknown), None);
        assert_eq!(name(true, LimitedBy::Bandwidth), Some(Bbr));
        assert_eq!(name(false, LimitedBy::Unknown), Some(Bbr));
    }

    /// Acknowledgements that are close to each other, and half of the departures between.
    #[test]
    fn a_pace_is_seen_between_close_acknowledgements() {
        let between = Departures { at_once: 0.85, by_chance: 0.7, ..PACED };
        assert_eq!(shown(between, LimitedBy::Congestion), Some(Bbr));
        assert_eq!(shown(between, LimitedBy::ReceiveWindow), None);
        let weight = |at_once| {
            let data = DirectionStats {
                departures: Some(Departures { at_once, ..PACED }),
                ..DirectionStats::default()
            };
            of(&data, LimitedBy::Bandwidth).weights.best().1
        };
        assert!(weight(0.8) > weight(0.9), "71% and 86% are clocked");
    }

    /// BBR paces below a full receive window, too, in its phases below the rate that it measured.
    #[test]
    fn a_full_window_leaves_a_pace() {
        assert_eq!(shown(PACED, LimitedBy::ReceiveWindow), Some(Bbr));
        let clocked = Departures { at_once: 0.99, ..PACED };
        assert_eq!(shown(clocked, LimitedBy::ReceiveWindow), Some(Reno), "or CUBIC");
        let nearly = Departures { at_once: 0.95, ..PACED };
        assert_eq!(shown(nearly, LimitedBy::ReceiveWindow), None);
    }
}
