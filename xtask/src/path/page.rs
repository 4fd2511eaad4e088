//! docs/validation-path.md.

use std::fmt::Write as _;

use super::score::{OURS, is_within_budget};
use super::{Answer, Grade, Run};
use crate::draws::{Half, percent};

const INTRODUCTION: &str = "\
# Path MTU and black holes against networks that are known

Written by `cargo xtask validate path`. Each network is a chain of up to six links of the lab, drawn by chance: IPv4 or IPv6,
MTUs of 552 (1280 for IPv6) to 9216 bytes, round trips of 1 to 300 ms, losses up to 5% each way. A third has routers that withhold
the ICMP message about packets that are too large, a third loses 1% and more, a third is IPv6. In half of them routers and the
receiver send an ICMP error a second at most to each destination, as Linux does by default. In a fifth the receiver's port is
closed; in some a router lowers the MSS of SYNs.

An answer is **right** with the path MTU to the byte and, of this program, with the black hole after the right router or
none where there is none. It is **none** where no path MTU is given. Anything else is **wrong**.

Not drawn: paths whose two directions differ, several equal-cost paths, tunnels, forged messages, hosts that answer nothing at all.
Some of these are tests (`crates/maxseg/tests/cli/`).

";

/// The page.
pub(super) fn page(half: &Half, runs: &[Run]) -> String {
    let mut text = INTRODUCTION.to_owned();
    let _ = writeln!(text, "Seed {}; {} networks.\n", half.drawn(), runs.len());
    summary(&mut text, runs);
    shares(&mut text, runs);
    faults(&mut text, runs);
    text
}

fn summary(text: &mut String, runs: &[Run]) {
    text.push_str("| program | right | none | wrong | median | longest | most bytes sent |\n|---|---|---|---|---|---|---|\n");
    let Some(first) = runs.first() else { return };
    for (index, (who, _)) in first.answers.iter().enumerate() {
        let answers: Vec<(&Answer, Grade)> = runs
            .iter()
            .filter_map(|run| {
                let (_, answer) = run.answers.get(index)?;
                Some((answer, Grade::of(answer, run.truth, OURS.contains(&who.as_str()))))
            })
            .collect();
        let count = |grade| answers.iter().filter(|(_, of)| *of == grade).count();
        let mut times: Vec<f64> = answers.iter().map(|(answer, _)| answer.elapsed_s).collect();
        times.sort_by(f64::total_cmp);
        let sent = answers.iter().filter_map(|(answer, _)| answer.sent_bytes).max();
        let _ = writeln!(
            text,
            "| {who} | {} ({}) | {} | {} | {:.1} s | {:.1} s | {} |",
            count(Grade::Right),
            percent((1e3 * count(Grade::Right) as f64 / answers.len().max(1) as f64).round() / 1e3),
            count(Grade::None),
            count(Grade::Wrong),
            times[times.len() / 2],
            times[times.len() - 1],
            sent.map_or_else(|| "not known".to_owned(), |sent| sent.to_string())
        );
    }
    let slow = runs.iter().filter(|run| !is_within_budget(&run.case, &run.answers[0].1)).count();
    let _ = writeln!(
        text,
        "\n{slow} of this program's answers as root took longer than 10 s or sent more than 200 kB (20 s and 1 MB with an MTU above 1500 or a round trip above 200 ms).\n"
    );
}

/// Networks of a kind: its name, and whether one is of it.
type Kind = (&'static str, fn(&Run) -> bool);

fn shares(text: &mut String, runs: &[Run]) {
    text.push_str("| networks | number | right | none | wrong |\n|---|---|---|---|---|\n");
    let kinds: [Kind; 7] = [
        ("IPv4", |run| !run.case.is_v6),
        ("IPv6", |run| run.case.is_v6),
        ("with a black hole", |run| run.truth.hole.is_some()),
        ("losses of 1% and more", |run| run.case.loss >= 0.01),
        ("port closed", |run| !run.case.has_server),
        ("ICMP limited", |run| run.case.has_icmp_limit),
        ("MTU above 1500 at the sender", |run| run.case.links[0].mtu > 1500),
    ];
    for (name, is_of) in kinds {
        let of: Vec<&Run> = runs.iter().filter(|run| is_of(run)).collect();
        let count = |grade| of.iter().filter(|run| run.grade() == grade).count();
        let [right, none, wrong] = [Grade::Right, Grade::None, Grade::Wrong].map(count);
        let _ = writeln!(text, "| {name} | {} | {right} | {none} | {wrong} |", of.len());
    }
    text.push('\n');
}

fn faults(text: &mut String, runs: &[Run]) {
    text.push_str("## Every answer that was not right\n\n");
    let of_run = |run: &'_ Run| run.own().any(|(.., grade)| grade != Grade::Right);
    let not_right: Vec<&Run> = runs.iter().filter(|run| of_run(run)).collect();
    if not_right.is_empty() {
        text.push_str("None, neither as root nor as an ordinary user.\n");
        return;
    }
    text.push_str(
        "`!` marks a link whose router withholds the message.\n\n\
         | network | who asks | is | said | confidence | |\n|---|---|---|---|---|---|\n",
    );
    for run in not_right {
        for (who, answer, grade) in run.own().filter(|(.., grade)| *grade != Grade::Right) {
            let _ = writeln!(
                text,
                "| {}: {} | {who} | {} | {} | {} | {grade:?} |",
                run.number,
                run.case.words(),
                told(Some(run.truth.mtu), run.truth.hole.map(|hop| hop as u64)),
                told(answer.mtu, answer.hole),
                answer.confidence,
            );
        }
    }
}

/// A path MTU, and where the black hole is.
fn told(mtu: Option<u64>, hole: Option<u64>) -> String {
    let mtu = mtu.map_or_else(|| "–".to_owned(), |mtu| mtu.to_string());
    hole.map_or_else(|| mtu.clone(), |hop| format!("{mtu}, black hole after {hop}"))
}
