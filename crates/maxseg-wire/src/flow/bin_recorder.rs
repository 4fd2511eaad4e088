//! The intervals of a sender while its packets come. What is added is added to the last ones, nearly always: those before are
//! packed, for of thousands of connections at once they take most of the memory, and of the processor's caches.

mod packed_bin;

use maxseg_core::evidence::{Bin, Bins};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize, Serializer};

use packed_bin::PackedBin;

/// Intervals as [`Bins`] has them when all packets have come.
#[derive(Debug, Deserialize)]
#[serde(from = "Bins")]
pub(super) struct BinRecorder {
    /// Those before `recent`.
    older: Vec<PackedBin>,
    recent: Bins,
}

/// So many are not packed, and no more than that for longer: a pause ends behind the interval in which it began, with one
/// interval between, and distances from the sender let acknowledgements count in one before.
const RECENT: usize = 4;
const MOST_RECENT: usize = 8;
/// Memory has room for so many that are packed at first, and for twice as many when it grows, up to all there may be.
const FIRST_ROOM: usize = 16;

impl BinRecorder {
    /// None yet; the first begins at `origin`, and each is `width` long, which is not zero.
    pub(super) const fn new(origin: Time, width: Time) -> Self {
        Self { older: Vec::new(), recent: Bins::new(origin, width) }
    }

    pub(super) fn len(&self) -> usize {
        self.older.len() + self.recent.as_slice().len()
    }

    /// When the first begins.
    pub(super) fn begin(&self) -> Option<Time> {
        let recent = || self.recent.as_slice().first().map(|bin| bin.at);
        self.older.first().map(PackedBin::at).or_else(recent)
    }

    /// The interval that `at` lies in; the first for what is before it.
    #[inline]
    pub(super) fn at(&mut self, at: Time) -> &mut Bin {
        if !self.recent.is_current(at) {
            self.prepare(at);
        }
        self.recent.at(at)
    }

    /// Gives each interval between `from` and `to` its part of that time.
    pub(super) fn spread(&mut self, from: Time, to: Time, mut add: impl FnMut(&mut Bin, Time)) {
        let from = from.max(self.recent.origin());
        if to <= from {
            return;
        }
        let bin = self.at(from);
        if to < bin.end() {
            add(bin, to.since(from));
            return;
        }
        self.at(to);
        self.unpack_until(from);
        self.recent.spread_over(from, to, add);
    }

    /// Makes room for the interval that `at` lies in, and unpacks it if need be.
    #[inline(never)]
    fn prepare(&mut self, at: Time) {
        if self.len() >= Bins::MOST {
            self.coarsen(Bins::MOST - 1);
        } else if self.recent.as_slice().len() > MOST_RECENT {
            self.pack();
        }
        self.unpack_until(at);
    }

    /// Packs all but the last ones.
    fn pack(&mut self) {
        let list = self.recent.as_slice();
        let (older, _) = list.split_at(list.len().saturating_sub(RECENT));
        let room = self.older.capacity();
        if self.older.len() + older.len() > room {
            let most = (2 * room).clamp(FIRST_ROOM, Bins::MOST);
            self.older.reserve_exact(most.saturating_sub(self.older.len()));
        }
        self.older.extend(older.iter().map(PackedBin::of));
        self.recent.forget_first(older.len());
    }

    /// Unpacks those from the one on that `at` lies in.
    #[inline]
    fn unpack_until(&mut self, at: Time) {
        if !self.older.is_empty() && self.recent.as_slice().first().is_none_or(|bin| at < bin.at) {
            self.unpack(at);
        }
    }

    #[cold]
    fn unpack(&mut self, at: Time) {
        let kept = self.older.partition_point(|bin| bin.at() <= at).saturating_sub(1);
        let list = self.iter().skip(kept).collect();
        self.recent.replace(list);
        self.older.truncate(kept);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bin> {
        let recent = self.recent.as_slice();
        let next = recent.first().map(|bin| bin.at);
        let ends = self.older.iter().skip(1).map(PackedBin::at).chain(next);
        self.older
            .iter()
            .zip(ends)
            .map(|(bin, end)| bin.unpacked(end))
            .chain(recent.iter().copied())
    }

    /// Joins neighbours until there are at most so many, at least one.
    pub(super) fn coarsen(&mut self, most: usize) {
        while self.len() > most.max(1) {
            self.halve();
        }
    }

    /// Joins neighbours, so that there are half as many; new ones are twice as long.
    fn halve(&mut self) {
        if !self.older.len().is_multiple_of(2) {
            self.make_even();
        }
        let end = self.recent.as_slice().first().map_or(Time::NEVER, |bin| bin.at);
        let pairs = self.older.len() / 2;
        for place in 0..pairs {
            let behind = self.older.get(2 * place + 2).map_or(end, PackedBin::at);
            let Some([bin, next]) = self.older.get(2 * place..2 * place + 2) else { break };
            let joined = bin.joined(next, behind);
            if let Some(room) = self.older.get_mut(place) {
                *room = joined;
            }
        }
        self.older.truncate(pairs);
        self.recent.halve();
    }

    /// Packs or unpacks one: neighbours that are joined are both packed, or both not.
    fn make_even(&mut self) {
        if let [first, _, ..] = self.recent.as_slice() {
            self.older.push(PackedBin::of(first));
            self.recent.forget_first(1);
        } else if let Some(last) = self.older.last().map(PackedBin::at) {
            self.unpack(last);
        }
    }

    /// Windows turn out to be so many times as large as was taken for granted.
    pub(super) fn scale_windows(&mut self, times: u64) {
        let mut older = Bins::default();
        older.replace(self.iter().take(self.older.len()).collect());
        older.scale_windows(times);
        self.older = older.as_slice().iter().map(PackedBin::of).collect();
        self.recent.scale_windows(times);
    }

    /// Nothing more comes: the last interval ends at `end`, and what is behind that is dropped.
    pub(super) fn finish(&mut self, end: Time) {
        let all = self.iter().collect();
        self.recent.replace(all);
        self.older = Vec::new();
        self.recent.finish(end);
    }

    /// What was recorded, after [`finish`](Self::finish).
    pub(super) fn into_bins(self) -> Bins {
        self.recent
    }
}

impl From<Bins> for BinRecorder {
    fn from(bins: Bins) -> Self {
        Self { older: Vec::new(), recent: bins }
    }
}

impl Serialize for BinRecorder {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.older.is_empty() {
            return self.recent.serialize(to); // as of nearly all that are packed
        }
        let mut all = self.recent.clone();
        all.replace(self.iter().collect());
        all.serialize(to)
    }
}

#[cfg(test)]
mod tests;
