//! docs/validation-gain.md.

use std::fmt::Write as _;

use super::draw::in_words;
use super::limit::Limit;
use super::run::{FASTER, Run};
use super::score::{LEAST_INSIDE, LEAST_NUMBERS, MOST_ERROR, MOST_WIDTH, Scored, Tally};
use crate::draws::{Congestion, Half};

/// The page.
pub(super) fn page(half: &Half, all: &[Run], scored: &[Scored<'_>]) -> String {
    let mut text = introduction(half);
    summary(&mut text, all, scored);
    for (title, rows) in [
        ("limit", Limit::ALL.map(|limit| (limit.word(), of_limit(scored, limit))).to_vec()),
        (
            "congestion control",
            Congestion::ALL
                .map(|congestion| (congestion.word(), of_congestion(scored, congestion)))
                .to_vec(),
        ),
    ] {
        tallies(&mut text, title, &rows);
    }
    worst(&mut text, scored);
    missing(&mut text, scored);
    every(&mut text, all);
    text
}

fn introduction(half: &Half) -> String {
    format!(
        "# Advice carried out\n\n\
         Written by `cargo xtask validate gain` on {cpu}, {cores} cores. The seed is {seed}; `--seed {number}` draws the same runs again, \
         `--from DIR` scores runs that are kept, and `--tuning` draws those on which rules are mended, whose seed is another.\n\n\
         Each run is one transfer between two hosts of the lab with this machine's kernel. Its capture is explained; the advice is \
         carried out, and the same payload is transferred again. Commands of Linux that change something are run as printed, in \
         the network namespace of the host whose address they name; the errors of a hop are mended where the text says to find it, and a queue that overflows gets the room that is named, or becomes a fair one \
         (CoDel of a single flow). What is advised only if `ss -ti` shows `sndbuf_limited` is done where the kernel counted that; elsewhere \
         nothing is promised. Commands for a router stay undone, and BBR for a route, which is advised beside the mending of \
         errors. The hosts have a route to a network, as those outside of a lab. \
         Goodputs before and after are those that the captures show, from the first data to the last acknowledgement.\n\n\
         **Something can be gained** where the advice, or removing what the run was drawn for, makes the transfer faster by {faster}: \
         less is chance. The **interval** is the one that `explain` prints before anything is changed. A gain that is a lower bound \
         (\"at least\") is inside where the measured one is above its lower end, and has neither a width nor an \
         error. A **false promise** is a gain \
         that is given, and the transfer was no faster.\n\n{drawn}\n\n",
        cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned()),
        cores = std::thread::available_parallelism().map_or(1, usize::from),
        seed = half.drawn(),
        number = half.seed,
        faster = crate::draws::percent(FASTER - 1.0),
        drawn = in_words(),
    )
}

fn summary(text: &mut String, all: &[Run], scored: &[Scored<'_>]) {
    let tally = Tally::of(scored.iter());
    let reached = |is: bool| if is { "reached" } else { "**missed**" };
    let whole_percent = |share: Option<f64>| {
        share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}%", 100.0 * share))
    };
    let _ = write!(
        text,
        "## What is asked\n\n| | of | measured | asked | |\n|---|---|---|---|---|\n\
         | a gain is given where something can be gained | {} | {} | {:.0}% | {} |\n\
         | the measured gain is inside the interval | {} | {} | {:.0}% | {} |\n\
         | half of the interval, median | {} | ±{} | ±{:.0}% | {} |\n\
         | predicted and measured goodput differ by, median | {} | {} | {:.0}% | {} |\n\
         | false promises | {} | {} | 0 | {} |\n\n",
        tally.gainable,
        whole_percent(Some(tally.share_of_numbers())),
        100.0 * LEAST_NUMBERS,
        reached(tally.share_of_numbers() >= LEAST_NUMBERS),
        tally.promised,
        whole_percent(Some(tally.share_inside())),
        100.0 * LEAST_INSIDE,
        reached(tally.share_inside() >= LEAST_INSIDE),
        tally.promised - tally.bounds,
        whole_percent(tally.median_half_width),
        100.0 * MOST_WIDTH,
        reached(tally.median_half_width.is_some_and(|width| width <= MOST_WIDTH)),
        tally.promised - tally.bounds,
        whole_percent(tally.median_error),
        100.0 * MOST_ERROR,
        reached(tally.median_error.is_some_and(|error| error <= MOST_ERROR)),
        tally.promised,
        tally.false_promises,
        reached(tally.false_promises == 0),
    );
    let failed = all
        .iter()
        .filter(|run| run.after.as_ref().is_some_and(|after| after.failed.is_some()))
        .count();
    let _ = write!(
        text,
        "{} runs were drawn, {} are valid and scored; {} of the gains are lower bounds. In {failed} runs a printed command \
         failed.\n\n",
        all.len(),
        scored.len(),
        tally.bounds,
    );
}

fn of_limit(scored: &[Scored<'_>], limit: Limit) -> Tally {
    Tally::of(scored.iter().filter(|one| one.run.draw.limit == limit))
}

fn of_congestion(scored: &[Scored<'_>], congestion: Congestion) -> Tally {
    Tally::of(scored.iter().filter(|one| one.run.draw.congestion == congestion))
}

fn tallies(text: &mut String, title: &str, rows: &[(&str, Tally)]) {
    let _ = write!(
        text,
        "## By {title}\n\n| {title} | scored | something to gain | with a gain | gains given | inside | half width | error | \
         false promises |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    let percent = |value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}%", 100.0 * value))
    };
    for (name, tally) in rows {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
            tally.runs,
            tally.gainable,
            tally.numbers,
            tally.promised,
            tally.inside,
            percent(tally.median_half_width),
            percent(tally.median_error),
            tally.false_promises
        );
    }
    text.push('\n');
}

/// How many of the worst are named.
const WORST: usize = 10;

fn worst(text: &mut String, scored: &[Scored<'_>]) {
    text.push_str(
        "## The worst ten\n\nBy how far prediction and measurement differ; beside what the capture was taken to show and \
         what was run.\n\n| run | parameters | measured, Mbit/s | predicted, Mbit/s | off by | why |\n|---|---|---|---|---|---|\n",
    );
    let mut worst: Vec<&Scored<'_>> = scored.iter().filter(|one| one.error.is_some()).collect();
    let off = |one: &Scored<'_>| one.error.unwrap_or(0.0).abs();
    worst.sort_by(|a, b| off(b).total_cmp(&off(a)));
    for one in worst.into_iter().take(WORST) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:+.0}% | {} |",
            name(one.run),
            one.run.draw.words(),
            measured(one.run),
            predicted(one.run),
            100.0 * one.error.unwrap_or(0.0),
            why(one.run)
        );
    }
    text.push('\n');
}

/// By what the path that was told differs most from the one that was run.
fn why(run: &Run) -> String {
    let Some(told) = &run.advice.path else { return "no path was told".to_owned() };
    let draw = &run.draw;
    let mut reasons = Vec::new();
    let mut differ = |what: &str, told: f64, is: f64, scale: f64, unit: &str| {
        let ratio = told / is.max(1e-9);
        if !(0.8..=1.25).contains(&ratio) {
            reasons.push(format!("{what} told as {:.1} {unit} is {:.1}", told * scale, is * scale));
        }
    };
    differ("rate", told.rate_bps, draw.rate_bps as f64, 1e-6, "Mbit/s");
    differ("round trip", told.rtt_s, draw.rtt_s, 1e3, "ms");
    differ("queue", told.queue_bytes as f64, draw.queue_bytes as f64, 1e-3, "kB");
    if draw.loss > 0.0 {
        differ("loss", told.loss, draw.loss, 100.0, "%");
    }
    if !told.congestion.starts_with(draw.congestion.word()) {
        reasons.push(format!("congestion control told as {}", told.congestion));
    }
    if let Some(failed) = run.after.as_ref().and_then(|after| after.failed.as_ref()) {
        reasons.push(format!("a command failed: {}", failed.replace('|', "\\|")));
    }
    if reasons.is_empty() {
        reasons.push("path told within 25%: chance, or the rerun".to_owned());
    }
    reasons.join("; ")
}

fn missing(text: &mut String, scored: &[Scored<'_>]) {
    text.push_str("## Something to gain, and no gain given\n\n");
    let missing: Vec<&Scored<'_>> =
        scored.iter().filter(|one| one.is_gainable && one.error.is_none()).collect();
    if missing.is_empty() {
        text.push_str("None.\n\n");
        return;
    }
    text.push_str(
        "| run | parameters | could gain | limit told | why none |\n|---|---|---|---|---|\n",
    );
    for one in missing {
        let _ = writeln!(
            text,
            "| {} | {} | {:+.0}% | {} | {} |",
            name(one.run),
            one.run.draw.words(),
            100.0 * one.run.possible_gain(),
            one.run.advice.limited_by,
            one.run.advice.no_gain.as_deref().unwrap_or("no limit was told").replace('|', "\\|")
        );
    }
    text.push('\n');
}

fn every(text: &mut String, all: &[Run]) {
    text.push_str(
        "## Every run\n\nGoodputs in Mbit/s, of the capture before, after the advice, and without the limit where the advice \
         gained nothing.\n\n| run | parameters | before | predicted | after | without the limit | |\n|---|---|---|---|---|---|---|\n",
    );
    for run in all {
        let mega = |bps: f64| format!("{:.2}", bps / 1e6);
        let lifted = run.lifted.as_ref().map_or_else(String::new, |it| mega(it.goodput_bps));
        let invalid = run.invalid_because.join(", ");
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {lifted} | {invalid} |",
            name(run),
            run.draw.words(),
            mega(run.advice.observed_bps),
            predicted(run),
            measured(run),
        );
    }
}

fn name(run: &Run) -> String {
    format!("{} {} {}", run.draw.limit.word(), run.draw.congestion.word(), run.number)
}

fn measured(run: &Run) -> String {
    run.after.as_ref().map_or_else(
        || "–".to_owned(),
        |after| match after.failed {
            Some(_) => "failed".to_owned(),
            None => format!("{:.2}", after.goodput_bps / 1e6),
        },
    )
}

fn predicted(run: &Run) -> String {
    let Some(gain) = run.advice.gain else { return "–".to_owned() };
    let mega = |bps: f64| bps / 1e6;
    let (low, high) = (mega(gain.low_bps), mega(gain.high_bps));
    let bounds =
        if gain.is_bound { format!("at least {low:.2}") } else { format!("{low:.2} to {high:.2}") };
    format!("{:.2} ({bounds})", mega(gain.expected_bps))
}
