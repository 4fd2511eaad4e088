//! Pieces of several views.

pub(super) use crate::wrap::wrapped;
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_wire::reading::{Problem, ProblemKind};

/// The amount of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail {
    /// Full detail of one connection: that of the headline.
    pub(crate) one: bool,
    /// The verbosity.
    pub(crate) verbosity: u8,
    /// Characters of a line of prose.
    pub(crate) width: usize,
    /// Characters of a line of a table.
    pub(crate) table_width: usize,
}

/// How many characters a letter of the bar stands for: the widest share has the most.
pub(super) fn bar(limits: &[LimitShare], width: usize) -> Vec<(LimitedBy, usize)> {
    let mut cells: Vec<(LimitedBy, usize)> = Vec::new();
    let (mut end, mut sum) = (0, 0.0);
    for limit in limits {
        sum += limit.share;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a short bar"
        )]
        let place = ((sum * width as f64).round() as usize).min(width);
        cells.push((limit.kind, place.saturating_sub(end)));
        end = place.max(end);
    }
    cells
}

/// A problem of a capture as a sentence, with the option that helps where there is one.
pub(crate) fn problem_text(problem: &Problem) -> String {
    let text = problem.kind.to_string();
    if matches!(problem.kind, ProblemKind::UntrackedPackets { .. }) {
        return text + ": --most-connections follows more";
    }
    text
}
