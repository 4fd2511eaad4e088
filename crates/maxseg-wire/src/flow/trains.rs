//! Which trains of packets show the narrowest link of a path.
//!
//! Segments show the links that they have passed. Where the capture point is at the receiver that is all of them, and acknowledgements
//! would show no more. Between the hosts a link behind it may be narrower: acknowledgements come back as it lets their segments through.

use serde::{Deserialize, Serialize};

use super::capacity::Capacity;

/// Trains at the capture point, and of what is behind it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Trains {
    /// Of segments where the capture point is nearer to the receiver, else of acknowledgements.
    pub(super) here: Capacity,
    /// Of acknowledgements, where those here are of segments that have links before them still.
    pub(super) behind: Option<Box<Capacity>>,
}

/// Rates are told apart by an eighth of an octave: those behind are of another link where they differ by more than two of that.
const APART: f64 = 1.2;
/// A full receive window opens as the program reads: where one segment in so many fills it, acknowledgements come as the program reads.
const FILLS_WINDOW: u64 = 10;

impl Trains {
    /// Those of the narrowest link, of so many segments, some of which filled the receive window.
    pub(super) fn of_narrowest(&self, segments: u64, window_full: u64) -> &Capacity {
        let rates = self.here.rate().zip(self.behind.as_ref().and_then(|behind| behind.rate()));
        let is_narrower_behind = window_full * FILLS_WINDOW < segments
            && rates.is_some_and(|(here, behind)| here > APART * behind);
        self.behind.as_ref().filter(|_| is_narrower_behind).map_or(&self.here, |behind| behind)
    }

    /// Those that have come so far are left out: the clock was set within them.
    pub(super) fn end(&mut self) {
        self.here.end_train();
        if let Some(behind) = &mut self.behind {
            behind.end_train();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains of eight at so many bits per second.
    fn trains(bps: u64) -> Capacity {
        let mut capacity = Capacity::default();
        for train in 0..50 {
            for place in 0..8 {
                let at = train * 40_000_000 + place * 1448 * 8_000_000_000 / bps;
                capacity.on_arrival(at, 1448, 10_000_000, place == 0);
            }
        }
        capacity
    }

    #[test]
    fn the_narrowest_link_may_be_behind_the_capture_point() {
        let with_window_full = |here, behind: Option<u64>, window_full| {
            let behind = behind.map(|bps| Box::new(trains(bps)));
            let trains = Trains { here: trains(here), behind };
            trains.of_narrowest(400, window_full).rate().map(|bps| (bps / 1e6).round())
        };
        let narrowest = |here, behind| with_window_full(here, behind, 0);
        assert_eq!(narrowest(200_000_000, Some(60_000_000)), narrowest(60_000_000, None));
        assert_eq!(narrowest(60_000_000, Some(200_000_000)), narrowest(60_000_000, None));
        assert_eq!(
            narrowest(60_000_000, Some(55_000_000)),
            narrowest(60_000_000, None),
            "the same"
        );
        let read_slowly = with_window_full(200_000_000, Some(60_000_000), 100);
        assert_eq!(read_slowly, narrowest(200_000_000, None), "the reader's rate");
    }
}
