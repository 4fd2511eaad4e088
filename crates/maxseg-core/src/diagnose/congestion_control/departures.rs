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
/// nor acknowledgements that come so close to each other that most departures are at once after one.
const MOST_BY_CHANCE: f64 = 0.6;
/// More departures that are later than the next acknowledgement allows show a way of acknowledgements that varies, or times that
/// were set ahead.
const MOST_LATE: f64 = 0.02;
/// From this share of clocked payload on it is a window's clock, and below this one it is none.
const CLOCKED: f64 = 0.8;
const NOT_CLOCKED: f64 = 0.6;
/// How likely a clock is under Reno, CUBIC and BBR, shares between the two, and less. Of captures of the kernel in virtual time at the
/// receiver all 147 of windows that nothing paced had a clock, and 23 of 39 with `fq` at the sender; of 62 of BBR 21, 11 and 30. Where
/// a window of few segments is the limit, BBR waits for acknowledgements as well.
const CLOCK: [f64; 3] = [1.0, 1.0, 0.2];
const BETWEEN: [f64; 3] = [0.15, 0.15, 1.0];
const NO_CLOCK: [f64; 3] = [0.05, 0.05, 1.0];
/// They speak against an algorithm by this at most: other senders pace as well.
const MOST: f64 = 3.0;

/// What departures show.
pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Clue {
    let is_held =
        matches!(limit, LimitedBy::Paced | LimitedBy::Application | LimitedBy::ReceiveWindow);
    let found = data.departures.filter(|found| {
        let is_steady = found.late <= MOST_LATE && found.by_chance < MOST_BY_CHANCE;
        !is_held && found.count >= LEAST && is_steady
    });
    let Some(clocked) = found.and_then(|found| found.clocked()) else { return Clue::default() };
    let share = approx::whole_percent(clocked.clamp(0.0, 1.0));
    if clocked >= CLOCKED {
        let text =
            format!("{share} of new segments left when an acknowledgement reached the sender");
        return Clue::new(CLOCK, MOST, &[Reno, Cubic], text);
    }
    let seen = if clocked < NOT_CLOCKED { NO_CLOCK } else { BETWEEN };
    let text = "new segments left at a pace of the sender's, not when acknowledgements reached it";
    Clue::new(seen, MOST, &[Bbr], text.to_owned())
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
        for limit in [LimitedBy::Paced, LimitedBy::Application, LimitedBy::ReceiveWindow] {
            assert_eq!(shown(PACED, limit), None);
        }
        let few = Departures { count: 40, ..PACED };
        let close = Departures { at_once: 0.8, by_chance: 0.7, ..PACED };
        let varying = Departures { late: 0.1, ..PACED };
        for found in [few, close, varying] {
            assert_eq!(shown(found, LimitedBy::Congestion), None, "{found:?}");
        }
    }
}
