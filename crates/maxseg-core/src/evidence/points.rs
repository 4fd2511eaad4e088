//! Points of a graph, of bounded number.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// Points in order of time. Where there are too many, every second pair of those that are kept is left out, and from then on every
/// second pair of those that come: what is left is as dense at the beginning as at the end, and of values that alternate both are
/// left. Notable points stay, and so does the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Points<T> {
    list: Vec<T>,
    /// The place of each among those that are not notable; [`NOTABLE`] of the others.
    places: Vec<u64>,
    notable: usize,
    /// One pair of so many that are not notable is kept.
    stride: u64,
    /// How many came, and how many of them are not notable.
    seen: u64,
    plain: u64,
    /// Whether the last is only kept until another comes.
    is_spare: bool,
}

/// Most points that are kept which are not notable: a page shows fewer.
const MOST: usize = 1 << 16;
/// Most that are: those behind them are as all others.
const MOST_NOTABLE: usize = 1 << 16;
const NOTABLE: u64 = u64::MAX;

impl<T> Default for Points<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: Vec::new(),
            notable: 0,
            stride: 1,
            seen: 0,
            plain: 0,
            is_spare: false,
        }
    }
}

impl<T> Points<T> {
    /// The next point.
    pub fn note(&mut self, point: T, is_notable: bool) {
        if self.is_spare {
            self.list.pop();
            self.places.pop();
        }
        let is_notable = is_notable && self.notable < MOST_NOTABLE;
        if self.list.len() - self.notable >= MOST {
            self.halve();
        }
        let place = if is_notable { NOTABLE } else { self.plain };
        self.is_spare = !self.is_kept(place);
        self.seen += 1;
        self.plain += u64::from(!is_notable);
        self.notable += usize::from(is_notable);
        self.list.push(point);
        self.places.push(place);
    }

    /// The last point is notable after all.
    pub fn keep_last(&mut self) {
        if let Some(last) = self.places.last_mut().filter(|last| **last != NOTABLE)
            && self.notable < MOST_NOTABLE
        {
            *last = NOTABLE;
            self.notable += 1;
            self.is_spare = false;
        }
    }

    const fn is_kept(&self, place: u64) -> bool {
        place == NOTABLE || (place / 2).is_multiple_of(self.stride)
    }

    /// How many there were, with those that were left out.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether some were left out.
    pub fn is_thinned(&self) -> bool {
        self.seen > self.list.len() as u64
    }

    fn halve(&mut self) {
        self.stride *= 2;
        let keep: Vec<bool> = self.places.iter().map(|place| self.is_kept(*place)).collect();
        let mut of_points = keep.iter();
        self.list.retain(|_| of_points.next().is_some_and(|keep| *keep));
        let mut of_places = keep.iter();
        self.places.retain(|_| of_places.next().is_some_and(|keep| *keep));
    }
}

impl<T> Deref for Points<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<T> DerefMut for Points<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.list
    }
}

impl<T> FromIterator<T> for Points<T> {
    fn from_iter<I: IntoIterator<Item = T>>(points: I) -> Self {
        let mut list = Self::default();
        points.into_iter().for_each(|point| list.note(point, false));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many come: each tenth of the time keeps as many as any other, give or take one of the stride.
    #[test]
    fn what_is_left_out_is_even_over_time() {
        for count in [1_000_u64, 100_000, 1_000_000] {
            let points: Points<u64> = (0..count).collect();
            assert!(points.len() <= MOST + 1 && points.len() as u64 >= count.min(1 << 15));
            let tenths = (0..10).map(|n| n * count / 10..(n + 1) * count / 10);
            let kept: Vec<usize> = tenths
                .map(|tenth| points.iter().filter(|point| tenth.contains(point)).count())
                .collect();
            let (least, most) = (kept.iter().min().unwrap(), kept.iter().max().unwrap());
            assert!(most - least <= 2, "{count}: {kept:?}");
            assert_eq!(points.last(), Some(&(count - 1)), "the last one stays");
            assert_eq!(points.seen(), count);
            assert_eq!(points.is_thinned(), count > MOST as u64);
        }
    }

    #[test]
    fn what_is_notable_stays() {
        let mut points = Points::default();
        for n in 0..1_000_000_u64 {
            points.note(n, n % 100_000 == 77_777);
        }
        let kept = |n: u64| points.binary_search(&n).is_ok();
        assert!((0..10).all(|n| kept(100_000 * n + 77_777)));
        assert!(points.is_sorted());
    }

    #[test]
    fn a_flood_of_what_is_notable_is_bounded() {
        let mut points = Points::default();
        for n in 0..1_000_000_u64 {
            points.note(n, true);
        }
        assert!(points.len() <= MOST + MOST_NOTABLE + 1, "{}", points.len());
    }
}
