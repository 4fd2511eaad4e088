//! What `explain` promises of a change, and whether that came.

use maxseg_core::advise::{Change, Headline};

/// What a change is said to bring: goodputs as multiples of that of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// The changes.
    pub changes: Vec<Change>,
    /// The middle of what is expected,
    pub expected: f64,
    /// the least,
    pub low: f64,
    /// and the most; `None` of a lower bound.
    pub high: Option<f64>,
}

impl Promise {
    /// Of a headline; `None` where it gives no gain.
    pub(super) fn of(headline: &Headline<'_>) -> Option<Self> {
        let gain = headline.gain.as_ref().ok().filter(|gain| gain.missing().is_none())?;
        let remedy = headline.remedy.as_ref()?;
        let (low, high) = gain.relative_interval()?;
        Some(Self {
            changes: remedy.what_if.clone(),
            expected: 1.0 + gain.relative()?,
            low: 1.0 + low,
            high: (!gain.is_bound).then_some(1.0 + high),
        })
    }

    /// What came of it.
    pub(super) fn kept(&self, measured: f64) -> Kept {
        if measured <= 1.0 {
            Kept::NoFaster
        } else if measured < self.low {
            Kept::Less
        } else if self.high.is_some_and(|high| measured > high) {
            Kept::More
        } else {
            Kept::Inside
        }
    }
}

/// What came of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// What was promised.
    Inside,
    /// More than its interval.
    More,
    /// Less than it.
    Less,
    /// The transfer was no faster: the promise was false.
    NoFaster,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_kept_by_more_and_an_interval_is_not() {
        let promise = |high| Promise { changes: Vec::new(), expected: 1.5, low: 1.3, high };
        let interval = promise(Some(1.7));
        assert_eq!(
            [0.9, 1.2, 1.4, 2.0].map(|measured| interval.kept(measured)),
            [Kept::NoFaster, Kept::Less, Kept::Inside, Kept::More]
        );
        assert_eq!(promise(None).kept(2.0), Kept::Inside);
    }
}
