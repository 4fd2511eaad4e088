//! Causes of losses that are named, beside what the links' counters tell.

use std::fmt::Write as _;

use maxseg_core::diagnose::LossCause;

use super::score::Scored;
use super::words::parameters;

/// The section of the page: how often each is said, and what is not the truth.
pub(super) fn section(scored: &[Scored]) -> String {
    let mut text = String::new();
    let verdicts = || scored.iter().flat_map(|one| &one.verdicts);
    let named = verdicts()
        .filter(|verdict| !matches!(verdict.said.cause, LossCause::Unknown | LossCause::None));
    let wrong = verdicts().filter(|verdict| verdict.is_false_cause).count();
    let _ = writeln!(
        text,
        "## Causes of losses\n\nBeside the limit, a verdict names why segments were lost (`loss.cause`), where it can tell: \
         {} do, and {wrong} name a cause, or none, that the links' counters refute. Where links dropped packets for several \
         reasons each is right.\n",
        named.count()
    );
    text.push_str(&confusion(scored));
    if wrong == 0 {
        return text;
    }
    text.push_str("| run | capture | truth | said | parameters |\n|---|---|---|---|---|\n");
    for one in scored {
        for (view, verdict) in one.run.setup.views.iter().zip(&one.verdicts) {
            if verdict.is_false_cause {
                let causes: Vec<String> = one.truth.causes.iter().copied().map(cause).collect();
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} |",
                    one.run.name(),
                    view.words(),
                    causes.join(" or "),
                    cause(verdict.said.cause),
                    parameters(&one.run.setup)
                );
            }
        }
    }
    text.push('\n');
    text
}

/// How often each cause is said, by what the links' counters tell.
fn confusion(scored: &[Scored]) -> String {
    let [errors, queue, policer] = [LossCause::Errors, LossCause::Queue, LossCause::Policer];
    let said = [
        queue,
        errors,
        policer,
        LossCause::Reordering,
        LossCause::Needless,
        LossCause::None,
        LossCause::Unknown,
    ];
    let header: Vec<String> = said.iter().copied().map(cause).collect();
    let mut text = format!(
        "| truth ↓, said → | {} |\n|{}\n",
        header.join(" | "),
        "---|".repeat(said.len() + 1)
    );
    for truth in [
        &[queue][..],
        &[errors],
        &[policer],
        &[errors, queue],
        &[queue, policer],
        &[errors, policer],
        &[],
    ] {
        let is_of = |one: &&Scored| {
            [queue, errors, policer]
                .iter()
                .all(|cause| one.truth.causes.contains(cause) == truth.contains(cause))
        };
        let verdicts: Vec<LossCause> = scored
            .iter()
            .filter(is_of)
            .flat_map(|one| one.verdicts.iter().map(|verdict| verdict.said.cause))
            .collect();
        if verdicts.is_empty() {
            continue;
        }
        let words: Vec<String> = truth.iter().copied().map(cause).collect();
        let row: Vec<String> = said
            .iter()
            .map(|said| match verdicts.iter().filter(|cause| *cause == said).count() {
                0 => "·".to_owned(),
                count => count.to_string(),
            })
            .collect();
        let words =
            if words.is_empty() { "nothing dropped".to_owned() } else { words.join(" and ") };
        let _ = writeln!(text, "| {words} | {} |", row.join(" | "));
    }
    text.push('\n');
    text
}

fn cause(cause: LossCause) -> String {
    serde_json::to_value(cause)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
