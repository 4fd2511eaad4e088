//! Advice as a page that needs nothing else.

use std::fmt::Write as _;

use maxseg_core::advise::{Advice, Change, Goal, Judged, limit_in_words};
use maxseg_core::units::approx;

use super::super::escaped::Escaped;
use super::super::html::whole_page;
use super::front::front_svg;
use crate::advise::PathAdvice;

/// The page of an answer.
pub fn page(advice: &PathAdvice) -> String {
    whole_page(&format!("Advice: {}", advice.name), &body(advice))
}

fn body(advice: &PathAdvice) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "<p class=\"prose\">For {}.</p>", goal_in_words(advice.goal));
    if let Some(unknown) = &advice.unknown {
        let _ = writeln!(
            text,
            "<p class=\"prose\"><strong>Unknown:</strong> {}. What shows it: {}.</p>",
            Escaped(&unknown.why),
            Escaped(&unknown.shown_by)
        );
    }
    for note in &advice.notes {
        let _ = writeln!(text, "<p class=\"prose\">{}</p>", Escaped(note));
    }
    let Some(advised) = &advice.advised else { return text };
    if let Some(first) = advised.trials.first() {
        let _ = writeln!(text, "<p class=\"prose\">{}.</p>", Escaped(&limit_in_words(first)));
    }
    if advised.advice.is_empty() && advice.unknown.is_none() {
        text += "<p class=\"prose\"><strong>Leave it as it is:</strong> no change gains more than chance.</p>\n";
    }
    for piece in &advised.advice {
        text += &of_piece(piece);
    }
    text += &table(advice);
    let picture = front_svg(advised);
    if !picture.is_empty() {
        let _ = writeln!(text, "<h2>Goodput and delay</h2>\n<div class=\"wide\">{picture}</div>");
    }
    for guide in &advice.guides {
        let _ = writeln!(
            text,
            "<h2>{}</h2>\n<p class=\"prose\">{}</p>",
            Escaped(&guide.guide.title),
            Escaped(&guide.guide.source)
        );
        text += &judged(&guide.settings);
    }
    text
}

/// What a goal asks for, in words.
pub const fn goal_in_words(goal: Goal) -> &'static str {
    match goal {
        Goal::Throughput => "the most goodput",
        Goal::Latency => "the shortest round trips under load with most of the goodput",
        Goal::Balanced => "the most goodput for its round trip under load",
    }
}

fn of_piece(piece: &Advice) -> String {
    let mut text = format!("<h2>{}</h2>\n<dl>", Escaped(&piece.text));
    let effects = piece.price.side_effects.join("; ");
    let memory = piece.price.memory_bytes_per_connection.map_or_else(
        || "no memory".to_owned(),
        |bytes| format!("up to {bytes} bytes of memory for each connection"),
    );
    let fairness =
        piece.price.fairness.clone().unwrap_or_else(|| "others notice nothing".to_owned());
    for (name, value) in [
        ("id", piece.id.as_str()),
        ("gain", gain_in_words(piece).as_str()),
        ("why", piece.reason.as_str()),
        ("price", format!("{memory}; {effects}").as_str()),
        ("others", fairness.as_str()),
        ("risk", piece.risk.as_str()),
        ("source", piece.source),
    ] {
        let _ = write!(text, "<dt>{name}</dt><dd>{}</dd>", Escaped(value));
    }
    text += "</dl>\n";
    for (system, ways) in &piece.commands {
        let _ = writeln!(text, "<h3>{}</h3>", Escaped(system));
        for way in ways {
            let only = way
                .only_where
                .as_ref()
                .map_or_else(String::new, |only| format!(" Only where {only}."));
            let undo = way.undo.as_ref().map_or_else(String::new, |undo| format!(" Undo: {undo}"));
            let _ = writeln!(
                text,
                "<pre>{}</pre>\n<p class=\"prose\">On {}; {}.{}{}</p>",
                Escaped(&way.line),
                Escaped(&way.on),
                way.known.word(),
                Escaped(&only),
                Escaped(&undo)
            );
        }
    }
    text
}

/// `goodput +12% (+10% to +14%), round trip under load -3%`.
pub fn gain_in_words(piece: &Advice) -> String {
    let gain = &piece.gain;
    let relative = |percent: f64| approx::gain(percent / 100.0);
    let mut parts = Vec::new();
    if let Some(goodput) = gain.goodput_pct {
        parts.push(format!("goodput {}", relative(goodput)));
    }
    if let Some(time) = gain.request_time_pct {
        parts.push(format!("time of a request {}", relative(time)));
    }
    if let Some(ping) = gain.ping_pct {
        parts.push(format!("round trip under load {}", relative(ping)));
    }
    if let Some([low, high]) = gain.ci95 {
        parts.push(format!("95% interval {} to {}", relative(low), relative(high)));
    }
    if gain.runs > 0 {
        parts.push(format!("{} pairs of runs", gain.runs));
    }
    parts.join(", ")
}

fn table(advice: &PathAdvice) -> String {
    let Some(advised) = advice.advised.as_ref().filter(|advised| !advised.trials.is_empty()) else {
        return String::new();
    };
    let mut rows = String::new();
    for trial in &advised.trials {
        let changes = Change::describe_all(&trial.changes, "none");
        let ping = if trial.ping.n > 0 { approx::time(trial.ping.mean) } else { "–".to_owned() };
        let _ = writeln!(
            rows,
            "<tr><td class=\"word\">{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            Escaped(&changes),
            approx::rate(trial.goodput.mean),
            ping,
            trial.limited_by
        );
    }
    format!(
        "<h2>What if</h2>\n<div class=\"wide\"><table>\n<thead><tr><th class=\"word\">change</th><th>goodput</th>\
         <th>round trip under load</th><th class=\"word\">then limited by</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn judged(settings: &[Judged]) -> String {
    let mut rows = String::new();
    for one in settings {
        let percent = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| approx::gain(value / 100.0))
        };
        let gain = one.gain.as_ref();
        let _ = writeln!(
            rows,
            "<tr><td class=\"word\">{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            Escaped(&one.setting),
            one.verdict,
            percent(gain.and_then(|gain| gain.goodput_pct)),
            percent(gain.and_then(|gain| gain.ping_pct)),
            Escaped(&one.reason)
        );
    }
    format!(
        "<div class=\"wide\"><table>\n<thead><tr><th class=\"word\">setting</th><th class=\"word\">on this path</th>\
         <th>goodput</th><th>round trip</th><th class=\"word\"></th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
