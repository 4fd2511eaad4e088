//! The part of a path that a flow crosses.

use serde::Serialize;

use super::problem::{Problem, problem};
use crate::path::Path;
use crate::similar::closest;

/// Neighbouring hops of a path, from the sender's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HopRange {
    /// The first, counted from 0.
    pub first: usize,
    /// The last, not before the first.
    pub last: usize,
}

impl HopRange {
    /// Every hop of `path`.
    pub fn all(path: &Path) -> Self {
        Self { first: 0, last: path.hops.len().saturating_sub(1) }
    }

    /// Whether this one is in it.
    pub const fn contains(self, hop: usize) -> bool {
        self.first <= hop && hop <= self.last
    }

    /// Whether some hop is in both.
    pub const fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// As indices from the other end of a path of so many hops.
    #[must_use]
    pub const fn reversed(self, hops: usize) -> Self {
        Self { first: hops - 1 - self.last, last: hops - 1 - self.first }
    }

    /// The hops of these names, which must be neighbours, for the flow with this index.
    pub(super) fn of_names(index: usize, names: &[String], path: &Path) -> Result<Self, Problem> {
        let known: Vec<&str> = path.hops.iter().map(|hop| hop.name.as_str()).collect();
        let mut places = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let place = known.iter().position(|known| known == name).ok_or_else(|| {
                let hint = match closest(name, known.iter().copied()) {
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None => format!("known: {}", known.join(", ")),
                };
                problem(
                    format!("flow.{index}.hops.{number}"),
                    format!("no hop is called `{name}`"),
                    hint,
                )
            })?;
            places.push(place);
        }
        let key = format!("flow.{index}.hops");
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            let hint = format!("name some of: {}; or leave it out for all", known.join(", "));
            return Err(problem(key, "a flow crosses one hop at least", hint));
        };
        if !places.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            let what = format!("{} are no run of neighbours", names.join(", "));
            let hint = format!("the path's order is {}", known.join(", "));
            return Err(problem(key, what, hint));
        }
        Ok(Self { first: *first, last: *last })
    }
}
