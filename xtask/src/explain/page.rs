//! docs/validation-explain.md.

use std::fmt::Write as _;

use maxseg_core::outcome::LimitShare;

use super::draw::draws_without_border;
use super::ranges;
use super::run::{Point, Run};
use super::score::{Accuracy, Confusion, Half, Scored};
use super::setup::{Application, Setup};

/// Runs that are not part of the score, and those of it with more than one right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// All runs.
    pub runs: usize,
    /// Of them, those that the lab calls invalid.
    pub invalid: usize,
    /// Valid ones of which the facts do not tell what limited them.
    pub untold: usize,
    /// Scored ones in which two limits are within reach of each other.
    pub ambiguous: usize,
}

impl Counted {
    /// Counts.
    pub fn of(runs: &[Run]) -> Self {
        let count = |wanted: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| wanted(run)).count();
        Self {
            runs: runs.len(),
            invalid: count(&|run| !run.invalid_because.is_empty()),
            untold: count(&|run| run.invalid_because.is_empty() && run.truth.is_empty()),
            ambiguous: count(&|run| run.counts() && run.is_ambiguous()),
        }
    }
}

/// The page; `command` made it.
pub fn page(command: &str, counted: Counted, scored: &[Scored]) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "# What `explain` says of random runs of the lab\n\nWritten by\n\n```\n{command}\n```\n\non {cpu}, {cores} \
         cores.\n\n{}",
        introduction(counted)
    );
    summary(&mut text, counted, scored);
    for half in [Half::Scoring, Half::Calibration] {
        for point in Point::ALL {
            confusion(&mut text, scored, half, point);
        }
    }
    misses(&mut text, scored);
    runs(&mut text, scored);
    text
}

fn introduction(counted: Counted) -> String {
    let (any, all) = draws_without_border();
    format!(
        "Each run is one transfer over one hop between two hosts of the lab with this machine's kernel, drawn by chance: {} \
         Runs that the lab calls invalid, as the machine could not keep time, are tried twice and then dropped: {} of {}.\n\n\
         {TRUTH}",
        ranges::in_words(any, all),
        counted.invalid,
        counted.runs
    )
}

const TRUTH: &str = "\
**Truth** is not in the captures. It comes from the sender's `tcp_info` (time busy, stopped by the receiver's window, \
stopped by its send buffer), from what the link dropped, and from what the scenario is, by one rule \
(`xtask/src/explain/truth.rs`): the limit whose removal would have made the transfer faster. Where two are within reach of \
each other, either is right, and the run is called ambiguous. Rules of `explain` are calibrated on runs of even numbers and \
scored on those of odd numbers.

";

fn summary(text: &mut String, counted: Counted, scored: &[Scored]) {
    let Counted { runs, invalid, untold, ambiguous } = counted;
    let _ = writeln!(
        text,
        "{runs} runs: {} scored ({ambiguous} of them ambiguous), {invalid} dropped as the lab calls them invalid, \
         again and again: the machine was busy, {untold} in which these facts do not tell the limit. {}\n\n\
         | `limited_by` is right | capture at the sender | capture at the receiver |\n|---|---|---|",
        scored.len(),
        noise(scored)
    );
    for half in [Half::Scoring, Half::Calibration] {
        let cell = |point| {
            let accuracy = Accuracy::of(scored, half, point);
            format!("{} of {}: {:.1}%", accuracy.right, accuracy.all, 100.0 * accuracy.share())
        };
        let (sender, receiver) = (cell(Point::Sender), cell(Point::Receiver));
        let _ = writeln!(text, "| {} half | {sender} | {receiver} |", half.word());
    }
    text.push('\n');
}

/// How much later than their time packets left the links: what else the machine did.
fn noise(scored: &[Scored]) -> String {
    let lateness =
        |one: &Scored| one.run.outcome.lab.as_ref()?.lateness.as_ref().map(|late| late.p99_s);
    let mut late: Vec<f64> = scored.iter().filter_map(lateness).collect();
    late.sort_by(f64::total_cmp);
    match (late.get(late.len() / 2), late.last()) {
        (Some(median), Some(most)) => format!(
            "In the scored runs one packet in a hundred left a link {:.2} ms or more after its time in the median run, {:.1} \
             ms in the worst.",
            1e3 * median,
            1e3 * most
        ),
        _ => String::new(),
    }
}

fn confusion(text: &mut String, scored: &[Scored], half: Half, point: Point) {
    let table = Confusion::of(scored, half, point);
    let said: Vec<&str> = table.limits.iter().map(|limit| limit.word()).collect();
    let _ = writeln!(
        text,
        "## {} half, captures at the {}\n\n| truth ↓, said → | {} | nothing |\n|---|{}---|",
        capitalised(half.word()),
        point.word(),
        said.join(" | "),
        "---|".repeat(said.len())
    );
    for (limit, row) in table.limits.iter().zip(&table.counts) {
        let cells: Vec<String> = row.iter().map(|count| cell(*count)).collect();
        let _ = writeln!(text, "| {limit} | {} |", cells.join(" | "));
    }
    text.push('\n');
}

/// Most cells hold nothing, and the others should stand out.
fn cell(count: usize) -> String {
    if count == 0 { "·".to_owned() } else { count.to_string() }
}

fn misses(text: &mut String, scored: &[Scored]) {
    text.push_str("## What is wrong\n\n| run | half | capture | truth | said | parameters |\n|---|---|---|---|---|---|\n");
    for one in scored {
        for point in Point::ALL.into_iter().filter(|point| !one.is_right(*point)) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                one.run.number,
                Half::of(one.run.number).word(),
                point.word(),
                truth(&one.run),
                shares(&one.said[point as usize].limits),
                parameters(&one.run.setup)
            );
        }
    }
    text.push('\n');
}

fn runs(text: &mut String, scored: &[Scored]) {
    text.push_str(
        "## Every run\n\n`tcp_info` counts only while the sender was stopped, ours the time that a limit held: the first \
         three columns of shares are the kernel's, of the time from the first data to the last acknowledgement. `of link` \
         is the payload's share of what the link carries in that time.\n\n\
         | run | parameters | of link | dropped | busy | window | buffer | truth | ours at the sender | at the receiver |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for one in scored {
        let facts = &one.run.facts;
        let share = |seconds: f64| format!("{:.0}%", 100.0 * seconds / facts.lasted_s);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.run.number,
            parameters(&one.run.setup),
            share(facts.payload_bytes * 8.0 / facts.link_bps),
            facts.dropped_packets,
            share(facts.busy_s),
            share(facts.window_limited_s),
            share(facts.buffer_limited_s),
            truth(&one.run),
            shares(&one.said[0].limits),
            shares(&one.said[1].limits),
        );
    }
}

fn truth(run: &Run) -> String {
    let words: Vec<&str> = run.truth.iter().map(|limit| limit.word()).collect();
    words.join(" or ")
}

/// Those from a twentieth on.
fn shares(limits: &[LimitShare]) -> String {
    let shown = limits.iter().filter(|limit| limit.share >= 0.05);
    let words: Vec<String> =
        shown.map(|limit| format!("{} {:.0}%", limit.kind, 100.0 * limit.share)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// A scenario in a line; what is ample or off is left out.
pub(super) fn parameters(setup: &Setup) -> String {
    let mut text = format!(
        "{}, {:.1} Mbit/s, {:.0} ms, queue {:.1}",
        setup.congestion.word(),
        setup.rate_bps as f64 / 1e6,
        1000.0 * setup.rtt_s,
        setup.queue_in_paths()
    );
    let path = setup.path_bytes();
    if setup.loss > 0.0 {
        let _ = write!(text, ", loss {:.2}%", 100.0 * setup.loss);
    }
    if (setup.window_bytes as f64) < 4.0 * path {
        let _ = write!(text, ", window {:.2}", setup.window_bytes as f64 / path);
    }
    if let Some(bytes) = setup.send_buffer_bytes {
        let _ = write!(text, ", buffer {:.2}", bytes as f64 / path);
    }
    if let Some(bps) = setup.read_bps {
        let _ = write!(text, ", reads {:.1} Mbit/s", bps as f64 / 1e6);
    }
    if let Some(mss) = setup.mss_bytes {
        let _ = write!(text, ", MSS {mss}");
    }
    match setup.application {
        Application::Bulk => {}
        Application::Bytes(bytes) => {
            let _ = write!(text, ", {:.0} kB", bytes as f64 / 1e3);
        }
        Application::Requests { reply_bytes, think_s } => {
            let _ = write!(
                text,
                ", replies of {:.1} kB after {:.0} ms",
                reply_bytes as f64 / 1e3,
                1000.0 * think_s
            );
        }
    }
    text
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LimitedBy::{Bandwidth, Congestion};

    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn the_page_says_how_often_it_is_right_and_where_not() {
        let scored = scored(&[
            (0, &[Bandwidth], [Some(Bandwidth), Some(Bandwidth)]),
            (1, &[Bandwidth], [Some(Bandwidth), Some(Congestion)]),
            (3, &[Congestion, Bandwidth], [Some(Bandwidth), Some(Congestion)]),
        ]);
        let runs: Vec<Run> = scored.iter().map(|one| one.run.clone()).collect();
        let counted = Counted::of(&runs);
        assert_eq!(counted, Counted { runs: 3, invalid: 0, untold: 0, ambiguous: 1 });
        let page = page("cargo xtask validate explain", counted, &scored);
        assert!(page.contains("| scoring half | 2 of 2: 100.0% | 1 of 2: 50.0% |"), "{page}");
        assert!(page.contains("| calibration half | 1 of 1: 100.0% | 1 of 1: 100.0% |"), "{page}");
        assert!(
            page.contains("| 1 | scoring | receiver | bandwidth | congestion 100% |"),
            "{page}"
        );
        assert!(!page.contains("| 3 | scoring"), "{page}");
    }
}
