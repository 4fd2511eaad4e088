//! Advice as a page that needs nothing else.

use std::fmt::Write as _;

use maud::{Markup, html};
use maxseg_core::advise::{
    Advice, AdviceGain, Change, GainOver, Goal, HowTo, Judged, Trial, limit_in_words,
};
use maxseg_core::stats::Summary;
use maxseg_core::units::approx;

use super::super::page::{facts, lead, prose, whole_page};
use super::super::table::{Cell, Column, table};
use super::super::words::counted;
use super::front::front_chart;
use crate::advise::PathAdvice;

/// The page of an answer.
pub fn page(advice: &PathAdvice) -> String {
    whole_page(&format!("Advice: {}", advice.name), &body(advice))
}

fn body(advice: &PathAdvice) -> Markup {
    let advised = advice.advised.as_ref();
    html! {
        (lead(&conclusion(advice)))
        p.prose { "For " (goal_in_words(advice.goal)) "." }
        @for note in &advice.notes { (prose(note)) }
        @if let Some(advised) = advised {
            @if let Some(first) = advised.trials.first() { p.prose { (limit_in_words(first)) "." } }
            @for piece in &advised.advice { (of_piece(piece)) }
            @if !advised.trials.is_empty() { h2 { "What if" } (trials_table(&advised.trials)) }
            @if let Some(chart) = front_chart(advised) { h2 { "Goodput and delay" } (chart.to_html()) }
            @for guide in &advice.guides {
                h2 { (guide.guide.title) }
                (prose(&guide.guide.source))
                (judged(&guide.guide.title, &guide.settings))
            }
        }
    }
}

/// What to do, in a sentence.
fn conclusion(advice: &PathAdvice) -> String {
    if let Some(unknown) = &advice.unknown {
        return format!("Unknown: {}. To find out: {}.", unknown.why, unknown.shown_by);
    }
    let Some(advised) = &advice.advised else { return String::new() };
    match advised.advice.as_slice() {
        [] => "Leave it as it is: no change gains what matters.".to_owned(),
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                1 => "; one more change below".to_owned(),
                count => format!("; {count} more changes below"),
            };
            format!("{}: {}{more}.", first.text.trim_end_matches('.'), gain_in_words(first))
        }
    }
}

/// What a goal asks for, in words.
pub const fn goal_in_words(goal: Goal) -> &'static str {
    match goal {
        Goal::Throughput => "the most goodput",
        Goal::Latency => "the shortest round trips under load with most of the goodput",
        Goal::Balanced => "the most goodput for its round trip under load",
    }
}

fn of_piece(piece: &Advice) -> Markup {
    let effects = piece.price.side_effects.join("; ");
    let memory = piece.price.memory_bytes_per_connection.map_or_else(
        || "no memory".to_owned(),
        |bytes| format!("up to {bytes} bytes of memory for each connection"),
    );
    let others = piece.price.fairness.clone().unwrap_or_else(|| "others notice nothing".to_owned());
    let mut said = vec![
        ("id", piece.id.clone()),
        ("gain", gain_in_words(piece)),
        ("why", piece.reason.clone()),
        ("price", format!("{memory}; {effects}")),
        ("others", others),
        ("risk", piece.risk.clone()),
        ("source", piece.source.to_owned()),
    ];
    said.extend(piece.note.clone().map(|note| ("note", note)));
    html! {
        h2 { (piece.text) }
        (facts(&said))
        @for (system, ways) in &piece.commands {
            h3 { (system) }
            @for way in ways { (of_way(way)) }
        }
    }
}

fn of_way(way: &HowTo) -> Markup {
    html! {
        pre tabindex="0" { (way.line) }
        p.prose {
            "On " (way.on) "; " (way.known.word()) "."
            @if let Some(only) = &way.only_where { " Only where " (only) "." }
            @if let Some(undo) = &way.undo { " Undo: " code { (undo) } }
        }
    }
}

/// Whether anything is told of what it gains.
fn is_told(gain: &AdviceGain) -> bool {
    let relative = gain.goodput_pct.or(gain.request_time_pct).or(gain.ping_pct);
    relative.is_some() || gain.over_nothing
}

/// Whether the gain is that of all changes, as no run without this one tells its part.
pub fn is_joint(piece: &Advice) -> bool {
    let is_over_none = piece.gain.over == GainOver::AsItIs && is_told(&piece.gain);
    is_over_none && piece.proof.last().is_some_and(|row| row.changes.len() > 1)
}

/// `goodput +12%, round trip under load -3% over the path as it is; 95% interval of goodput +10% to +14%, 5 pairs of runs`.
pub fn gain_in_words(piece: &Advice) -> String {
    let gain = &piece.gain;
    let relative = |percent: f64| approx::gain(percent / 100.0);
    let mut parts = Vec::new();
    parts.extend(from_nothing(piece));
    if let Some(goodput) = gain.goodput_pct {
        let least = if gain.is_bound { "at least " } else { "" };
        parts.push(format!("goodput {least}{}", relative(goodput)));
    }
    if let Some(time) = gain.request_time_pct {
        let or_less = if gain.is_bound { " or shorter" } else { "" };
        parts.push(format!("time of a request {}{or_less}", relative(time)));
    }
    if let Some(ping) = gain.ping_pct {
        parts.push(format!("round trip under load {}", relative(ping)));
    }
    if let Some(others) = gain.others_pct {
        parts.push(format!("goodput of the other flows {}", relative(others)));
    }
    if parts.is_empty() {
        let is_one_of_several = piece.proof.last().is_some_and(|row| row.changes.len() > 1);
        return if is_one_of_several {
            "its own share is unknown: no run was left that tells it from that of the other changes"
        } else {
            "no run shows it"
        }
        .to_owned();
    }
    if gain.ends_needless_retransmissions {
        parts.push("no more needless retransmissions".to_owned());
    }
    let mut text = parts.join(", ");
    text += match gain.over {
        GainOver::AsItIs if is_joint(piece) => {
            " together with the other changes, over the path as it is"
        }
        // No command brings that about.
        GainOver::AsItIs if piece.change == Change::NoErrors => {
            " without any loss, over the path as it is"
        }
        GainOver::AsItIs => " over the path as it is",
        GainOver::OtherChanges => " over the other changes without this one",
    };
    if let Some([low, high]) = gain.ci95 {
        let of = gain.ci95_of.words();
        let (low, high) = (relative(low), relative(high));
        let _ = write!(text, "; 95% interval of {of} {low} to {high}");
    }
    if let Some(unless) = &gain.unless {
        let _ = write!(text, ", {unless}");
    }
    if gain.runs > 0 {
        let _ = write!(text, ", {} of runs", counted(gain.runs as u64, "pair"));
    }
    if let Some(seconds) = gain.in_runs_of_s {
        let _ = write!(text, " of {}", approx::time(seconds));
    }
    text
}

/// What there is with a change without which next to nothing gets through.
fn from_nothing(piece: &Advice) -> Option<String> {
    let with = piece.proof.last().filter(|_| piece.gain.over_nothing)?;
    let what = with.request_s.map_or_else(
        || format!("goodput {}", approx::rate(with.goodput_bps)),
        |time| format!("time of a request {}", approx::time(time)),
    );
    Some(format!("{what} where next to nothing gets through without it"))
}

/// The path as it is and with changes, a line each.
pub(in crate::report) fn trials_table(trials: &[Trial]) -> Markup {
    let has_pings = trials.iter().any(|trial| trial.ping.n > 0);
    let has_requests = trials.iter().any(|trial| trial.request.n > 0);
    let has_others = trials.iter().any(|trial| trial.others.n > 0);
    let columns: Vec<Column> = [Column::word("change"), Column::number("goodput")]
        .into_iter()
        .chain(has_others.then(|| Column::number("of other flows")))
        .chain(has_requests.then(|| Column::number("time of a request")))
        .chain(has_pings.then(|| Column::number("round trip under load")))
        .chain([Column::limit("then limited by")])
        .collect();
    let line = |trial: &Trial| -> Vec<Cell> {
        let known = |values: &Summary| (values.n > 0).then_some(values.mean);
        let (ping, request) = (known(&trial.ping), known(&trial.request));
        let others = known(&trial.others);
        let change = Change::describe_all_in(&trial.scenario, &trial.changes, "none").into();
        [change, Cell::number(approx::rate(trial.goodput.mean), trial.goodput.mean)]
            .into_iter()
            .chain(has_others.then(|| Cell::known(others, approx::rate)))
            .chain(has_requests.then(|| Cell::known(request, approx::time)))
            .chain(has_pings.then(|| Cell::known(ping, approx::time)))
            .chain([trial.limited_by.word().into()])
            .collect()
    };
    table("What if", &columns, trials.iter().map(line))
}

fn judged(title: &str, settings: &[Judged]) -> Markup {
    let columns = [
        Column::word("setting"),
        Column::word("on this path"),
        Column::number("goodput"),
        Column::number("round trip"),
        Column::word("why"),
    ];
    let percent = |value: Option<f64>| Cell::known(value, |value| approx::gain(value / 100.0));
    let line = |one: &Judged| -> Vec<Cell> {
        let gain = one.gain.as_ref();
        vec![
            one.setting.clone().into(),
            one.verdict.to_string().into(),
            percent(gain.and_then(|gain| gain.goodput_pct)),
            percent(gain.and_then(|gain| gain.ping_pct)),
            one.reason.clone().into(),
        ]
    };
    table(title, &columns, settings.iter().map(line))
}
