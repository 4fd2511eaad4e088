//! docs/validation-explain.md, and docs/validation-explain-sim.md.

use std::fmt::Write as _;

use super::bins::Bin;
use super::causes;
use super::congestion;
use super::ranges;
use super::run::Run;
use super::score::{Confusion, Grade, Grades, Scored};
use super::stratum::Stratum;
use super::truth::Basis;
use super::words::{gains, parameters, shares, truth};
use crate::draws::{Engine, Half};

/// The page of all runs, and of those that are scored.
pub(super) fn page(engine: Engine, half: &Half, runs: &[Run], scored: &[Scored]) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (by, option, what) = match engine {
        Engine::Lab => ("runs of the lab", "", OF_LAB),
        Engine::Sim => ("simulated runs", " --engine sim", OF_SIM),
    };
    let mut text = format!("# What `explain` says of random {by}\n\n");
    let _ = write!(
        text,
        "Written by `cargo xtask validate explain{option}` on {cpu}, {cores} cores. The seed is {}; `--seed {}` draws the \
         same runs again, `--from DIR` scores runs that are kept, and `--tuning` draws those on which rules are \
         calibrated, whose seed is another.\n\n{what}\n\n{TRUTH}\n\n{}\n\n",
        half.drawn(),
        half.seed,
        ranges::in_words()
    );
    strata(&mut text, runs, scored);
    confidence(&mut text, scored);
    for stratum in Stratum::ALL {
        confusion(&mut text, scored, stratum);
    }
    wrong(&mut text, scored);
    text.push_str(&causes::section(scored));
    text.push_str(&congestion::section(scored));
    left_out(&mut text, runs);
    // The same seed brings simulated runs again in seconds.
    if engine == Engine::Lab {
        every(&mut text, scored);
    }
    text
}

const OF_LAB: &str = "\
Each run is one transfer between two hosts of the lab with this machine's kernel, drawn by chance. Its captures are cut as \
somebody else would have made them, and explained by the shipped analysis.";

const OF_SIM: &str = "\
Each run is one transfer between two hosts with the stack `linux`, in virtual time, drawn by chance with the ranges of the lab's \
(docs/validation-explain.md). Its captures are cut as somebody else would have made them, and explained by the shipped analysis. \
The same seed brings the same runs on any machine, in seconds. What this does not draw: paced senders and slow programs that \
write, the delays and offloads of real hosts, and whatever the simulated stack does otherwise than the kernel \
(docs/validation-linux.md). Where the text below says that the kernel counts, the simulator does.";

const TRUTH: &str = "\
**Truth** is not in the captures (`xtask/src/explain/truth.rs`). Of a paced sender and of a policer it is what the scenario \
is, where the run came to its pace or lost packets. Far from borders it comes from the sender's `tcp_info` and the links' \
counters. Near borders, with a narrow reverse path, reordering or other traffic, with a small send buffer under Reno and CUBIC \
(of which the kernel counts no time), and wherever the counters leave it open, the run is repeated without each suspected \
limit: the truth is the limit whose removal makes the transfer fastest. Where removing another comes within 10% of that, the \
run is at a border, and either is right. A faster line counts only where the line was busy for 60% of the time: else it only \
shortens each packet's time on it. Removing losses (no errors, an ample queue) or reordering shows the congestion window's \
limit; where timeouts took 15% of the time, the timer is as right. Where no removal makes the transfer faster by 10%, several \
limits hold at once, and what the counters tell is as right. Where other traffic fills the line, its bandwidth is right, and \
congestion is if it drops packets; with other traffic a window is right that the kernel counts as full for 70% of the time, for \
the others' queue makes the round trips longer.

A verdict is **right** if it names a right limit; with a narrow reverse path also its direction (at a border between \
the two links either), and elsewhere not that direction. **Unknown** is neither right nor false. **False** names another limit.";

fn strata(text: &mut String, runs: &[Run], scored: &[Scored]) {
    text.push_str(
        "## Strata\n\n| stratum | what it is | drawn | invalid | nothing tells | scored | at a border | right | unknown | \
         false | asked |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for stratum in Stratum::ALL {
        let drawn = || runs.iter().filter(move |run| run.setup.stratum == stratum);
        let invalid = drawn().filter(|run| !run.invalid_because.is_empty()).count();
        let untold =
            drawn().filter(|run| run.invalid_because.is_empty() && run.truth.is_none()).count();
        let grades = Grades::of_stratum(scored, stratum);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {invalid} | {untold} | {} | {} | {} of {}: {:.1}% | {} | {} | {:.0}% |",
            stratum.word(),
            stratum.meaning(),
            drawn().count(),
            grades.runs,
            grades.borders,
            grades.right,
            grades.all(),
            100.0 * grades.share(grades.right),
            grades.unknown,
            grades.wrong,
            100.0 * stratum.bar(),
        );
    }
    let all = Grades::of(scored.iter());
    let near = Grades::of_stratum(scored, Stratum::NearEnds);
    let _ = writeln!(
        text,
        "\nIn all, {} of {} verdicts are right ({:.1}%), {} unknown ({:.1}%), {} false ({:.1}%; at most 3% is asked). Near \
         borders {} of {} runs are at one ({:.0}%; at most 20% is asked). {}\n",
        all.right,
        all.all(),
        100.0 * all.share(all.right),
        all.unknown,
        100.0 * all.share(all.unknown),
        all.wrong,
        100.0 * all.share(all.wrong),
        near.borders,
        near.runs,
        100.0 * near.borders as f64 / near.runs.max(1) as f64,
        lateness(scored)
    );
}

/// How much later than their time packets left the links: what else the machine did.
fn lateness(scored: &[Scored]) -> String {
    let late =
        |one: &Scored| one.run.outcome.lab.as_ref()?.lateness.as_ref().map(|late| late.p99_s);
    let mut late: Vec<f64> = scored.iter().filter_map(late).collect();
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

fn confidence(text: &mut String, scored: &[Scored]) {
    text.push_str(
        "## Confidence\n\nOf the verdicts that name a limit, by the confidence that the document gives: as many are to be \
         right as 95 of 100 samples would have if the mean of what is claimed were true (the central interval of the \
         binomial distribution).\n\n\
         | confidence | verdicts | claimed | right | expected | |\n|---|---|---|---|---|---|\n",
    );
    for bin in Bin::of(scored) {
        let (least, most) = bin.expected();
        let _ = writeln!(
            text,
            "| {:.2} to {:.2} | {} | {:.3} | {} | {least} to {most} | {} |",
            bin.from,
            bin.to,
            bin.all,
            bin.claimed,
            bin.right,
            if bin.holds() { "holds" } else { "**does not hold**" }
        );
    }
    text.push('\n');
}

fn confusion(text: &mut String, scored: &[Scored], stratum: Stratum) {
    let table = Confusion::of(scored, stratum);
    if table.limits.is_empty() {
        return;
    }
    let said: Vec<&str> = table.limits.iter().map(|limit| limit.word()).collect();
    let _ = writeln!(
        text,
        "## Verdicts: {}\n\n| truth ↓, said → | {} |\n|---|{}",
        stratum.word(),
        said.join(" | "),
        "---|".repeat(said.len())
    );
    for (limit, row) in table.limits.iter().zip(&table.counts) {
        if row.iter().sum::<usize>() == 0 {
            continue;
        }
        // Most cells hold nothing, and the others should stand out.
        let cell = |count: &usize| if *count == 0 { "·".to_owned() } else { count.to_string() };
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = writeln!(text, "| {limit} | {} |", cells.join(" | "));
    }
    text.push('\n');
}

/// Every false verdict.
fn wrong(text: &mut String, scored: &[Scored]) {
    text.push_str(
        "## What is false\n\n`without` is the goodput of each second run, as a multiple of the run's.\n\n\
         | run | capture | truth | said | confidence | parameters | without |\n|---|---|---|---|---|---|---|\n",
    );
    let mut count = 0;
    for one in scored {
        let views = one.run.setup.views.iter();
        for (view, verdict) in views.zip(&one.verdicts) {
            if verdict.grade != Grade::False {
                continue;
            }
            count += 1;
            let direction = if verdict.said.is_ack_path { " (acknowledgements)" } else { "" };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {}{direction} | {:.2} | {} | {} |",
                one.run.name(),
                view.words(),
                truth(&one.truth),
                shares(&verdict.said.limits),
                verdict.said.confidence,
                parameters(&one.run.setup),
                gains(&one.run)
            );
        }
    }
    if count == 0 {
        text.push_str("\nNothing.\n");
    }
    text.push('\n');
}

/// Runs that are not scored, by name: none is replaced without a word.
fn left_out(text: &mut String, runs: &[Run]) {
    let mut lines = Vec::new();
    for run in runs.iter().filter(|run| !run.counts()) {
        let why = if run.invalid_because.is_empty() {
            format!("nothing tells the limit; without: {}", gains(run))
        } else {
            format!("invalid after {} attempts: {}", run.attempts, run.invalid_because.join(", "))
        };
        lines.push(format!("| {} | {} | {why} |\n", run.name(), parameters(&run.setup)));
    }
    text.push_str(
        "## Runs that are not scored\n\nA run that the lab calls invalid, as the machine could not keep time, is tried three \
         times. Then it is named here, and the next number is drawn.\n\n",
    );
    if lines.is_empty() {
        text.push_str("None.\n\n");
        return;
    }
    text.push_str("| run | parameters | why |\n|---|---|---|\n");
    text.extend(lines);
    text.push('\n');
}

/// Every scored run with what is said of it.
fn every(text: &mut String, scored: &[Scored]) {
    text.push_str(
        "## Every run\n\nThe truth is known by (s) the scenario, (c) counters, (r) second runs.\n\n\
         | run | parameters | truth | said of its captures |\n|---|---|---|---|\n",
    );
    for one in scored {
        let views = one.run.setup.views.iter().zip(&one.verdicts);
        let said: Vec<String> = views
            .map(|(view, verdict)| {
                let said = &verdict.said;
                let sure = if verdict.grade == Grade::Unknown {
                    String::new()
                } else {
                    format!(" {:.2}", said.confidence)
                };
                format!("{}: {}{sure}", view.words(), said.limited_by)
            })
            .collect();
        let basis = match one.truth.basis {
            Basis::Scenario => "s",
            Basis::Counters => "c",
            Basis::SecondRuns => "r",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} ({basis}) | {} |",
            one.run.name(),
            parameters(&one.run.setup),
            truth(&one.truth),
            said.join("; ")
        );
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LimitedBy::{Bandwidth, Congestion, Unknown};

    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn the_page_says_how_often_it_is_right_and_names_what_is_false() {
        let scored = [
            scored(Stratum::Router, 0, &[Bandwidth], Bandwidth),
            scored(Stratum::Router, 1, &[Bandwidth], Congestion),
            scored(Stratum::Router, 2, &[Congestion, Bandwidth], Bandwidth),
            scored(Stratum::Router, 3, &[Congestion], Unknown),
        ];
        let mut runs: Vec<Run> = scored.iter().map(|one| one.run.clone()).collect();
        runs[3].invalid_because.push("late".to_owned());
        let half = Half { seed: 7, is_scored: true, commit: Some("abc".to_owned()) };
        let page = page(Engine::Lab, &half, &runs, &scored);
        assert!(page.contains("| 4 | 1 | 0 | 4 | 1 | 2 of 4: 50.0% | 1 | 1 | 65% |"), "{page}");
        assert!(page.contains("| router 3 |") && page.contains("invalid after 1 attempts: late"));
        assert!(page.contains("The seed is 7, drawn from the commit abc"));
        let (_, wrong) = page.split_once("## What is false").unwrap();
        let (wrong, _) = wrong.split_once("## Causes").unwrap();
        assert!(wrong.contains("| router 1 |") && !wrong.contains("| router 2 |"), "{page}");
    }
}
