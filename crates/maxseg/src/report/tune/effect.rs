//! What a change did to connections, on a terminal.

use maxseg_core::tune::{Effect, Ratio, Verdict};
use maxseg_core::units::approx;

/// The verdict, then a line for each number.
pub(super) fn effect_lines(effect: &Effect) -> Vec<String> {
    let mut lines = vec![match &effect.unknown_because {
        Some(why) => format!("effect: {}: {why}", Verdict::Unknown.words()),
        None => format!(
            "effect: {}, {} connections before and since (99% intervals)",
            effect.verdict.words(),
            effect.connections
        ),
    }];
    let rate = |bytes_per_s: f64| approx::rate(bytes_per_s * 8.0);
    lines.extend(effect.goodput_bytes_per_s.map(|of| ratio_line("goodput", &of, rate)));
    lines.extend(effect.rtt_s.map(|of| ratio_line("round-trip time", &of, approx::time)));
    lines.extend(effect.retransmitted_share.map(|of| {
        let [low, high] = of.change_ci99.map(|share| share * 100.0);
        let (before, after) = (approx::percent(of.before), approx::percent(of.after));
        format!("retransmitted {before} -> {after}, {low:+.2} to {high:+.2} percentage points")
    }));
    let others = [
        (effect.too_short, "too short"),
        (effect.gone, "ended since"),
        (effect.new, "opened since"),
    ];
    let counted: Vec<String> = others
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !counted.is_empty() {
        lines.push(format!("connections not compared: {}", counted.join(", ")));
    }
    lines
}

fn ratio_line(what: &str, of: &Ratio, shown: impl Fn(f64) -> String) -> String {
    let [low, high] = of.change_pct_ci99;
    let (before, after) = (shown(of.before), shown(of.after));
    format!("{what} {before} -> {after}, {low:+.1}% to {high:+.1}%")
}
