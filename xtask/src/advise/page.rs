//! docs/validation-advise.md

use std::fmt::Write as _;

use maxseg_core::stats::median;

use super::draw::Kind;
use super::proof::Rate;
use super::results::Results;
use super::score::{LEAST_RATE, MOST_PING};
use super::sweep::AS_IT_IS;
use crate::draws::Half;

const INTRODUCTION: &str = "\
# Advice against exhaustive sweeps

Written by `cargo xtask validate advise`. Paths are drawn (fast, long, lossy, framed, with a small MTU, bufferbloated, tunnelled,
slow), with hosts as somebody may have left them. For each, `maxseg advise` is asked for the most goodput and for the shortest round
trip under load; and a sweep runs every combination of segment size, window and congestion control in the simulator. The twelve
points of the most goodput are run again with three other draws, and the four best of these with five to forty, until the mean has a
standard error of 1%: the best of many single runs would be the luckiest, and \"80% of the best\" a matter of luck. The winner
by these means, what is advised, and the path as it is are then scored with draws that chose nothing: a seed, and a delay of the path
that is up to 3% aside, the same for both sides. (Where nothing is left to chance, how times fall together decides, and a seed
changes nothing: the best of a sweep would be the luck of one delay.) There are five draws at least, and up to forty until the
ratio of the two sides has a standard error of 1%.

- **Goodput**: what is advised reaches at least 95% of the sweep's best.
- **Round trip**: what is advised has at most 1.15 times the sweep's shortest round trip among points that keep 80% of its best goodput,
  by the draws that score, too. What is advised is to keep 95% of that goodput.
- **Leaving it alone**: on 200 other paths, for the three goals in turn, what is advised is not worse by more than 2% beyond chance
  (one-sided, 95%). Short round trips are to keep 80% of the most goodput that the search found: where the path as it is, or what is
  advised, lacks that beyond chance, the path is judged by goodput.
- **In the lab**: eight of the paths are run by the kernel as they are, as advised, and as the sweep has it: what is advised reaches
  95% of the sweep's best, and 98% of leaving it alone, but for chance (Welch's test, one-sided, 95%). This part may run later than the others, on a
  quiet machine: what was drawn and scored is kept (`--lab 0 --keep DIR`, then `--keep DIR --commit COMMIT`).
- **Cost**: at most 60 runs and 30 s for a path.

";

/// The page.
pub(super) fn page(half: &Half, results: &Results) -> String {
    let mut text = String::from(INTRODUCTION);
    let _ = writeln!(text, "Seed of the draws: {}.\n", half.drawn());
    let scored = &results.scored;
    let reached = scored.iter().filter(|one| one.rate.value >= LEAST_RATE).count();
    let short = scored.iter().filter(|one| one.ping.value <= MOST_PING).count();
    let worse = results.beside.iter().filter(|one| one.is_worse()).count();
    let changed = results.beside.iter().filter(|one| one.words != AS_IT_IS).count();
    let answers = || scored.iter().flat_map(|one| [&one.throughput, &one.latency]);
    let runs = answers().map(|answer| answer.runs).max().unwrap_or(0);
    let seconds = answers().map(|answer| answer.seconds).fold(0.0, f64::max);
    let points: usize = scored.iter().map(|one| one.swept.points).sum();
    let _ = writeln!(
        text,
        "| bar | reached |\n|---|---|\n| goodput at least 95% of the best of {points} points | {reached} of {0} |\n\
         | round trip at most 1.15 times the least | {short} of {0} |\n\
         | worse than leaving it alone | {worse} of {1} ({changed} with a change) |\n\
         | most runs of a search, longest search | {runs}, {seconds:.1} s |\n",
        scored.len(),
        results.beside.len(),
    );
    let misses = results.misses();
    if misses.is_empty() {
        text += "No bar is missed.\n\n";
    } else {
        text += "Missed:\n\n";
        for miss in misses {
            let _ = writeln!(text, "- {miss}");
        }
        text.push('\n');
    }
    text += "## Paths\n\n| path | | as it is | advised for goodput | of the sweep's best | advised for round trips | times the \
             sweep's least | keeps |\n|---|---|---|---|---|---|---|---|\n";
    for one in scored {
        let mega = |bps: f64| format!("{:.3} Mbit/s", bps / 1e6);
        let milli = |seconds: f64| format!("{:.1} ms", 1e3 * seconds);
        let _ = writeln!(
            text,
            "| {} {} | {} | {}, {} | {}: {} | {:.1}% ±{:.1}% ({}) | {}: {} | {:.2} ({}) | {:.0}% |",
            one.drawn.number,
            one.drawn.kind.word(),
            one.drawn.words,
            mega(one.as_it_is.rate),
            milli(one.as_it_is.ping_s),
            one.throughput.words,
            mega(one.throughput.standing.rate),
            100.0 * one.rate.value,
            196.0 * one.rate.error,
            one.swept.most_words,
            one.latency.words,
            milli(one.latency.standing.ping_s),
            one.ping.value,
            one.swept.least_words,
            100.0 * one.kept.value
        );
    }
    by_kind(&mut text, results);
    lab(&mut text, results);
    text
}

fn by_kind(text: &mut String, results: &Results) {
    text.push_str("\n## Beside leaving it alone\n\n| kind | paths | changed | worse | median ratio of what changed |\n|---|---|---|---|---|\n");
    for kind in Kind::ALL {
        let of_kind: Vec<_> = results.beside.iter().filter(|one| one.drawn.kind == kind).collect();
        let ratios: Vec<f64> =
            of_kind.iter().filter(|one| one.words != AS_IT_IS).map(|one| one.ratio).collect();
        let changed = ratios.len();
        let median = median(ratios).map_or_else(
            || "–".to_owned(),
            |ratio| match ratio {
                // As it is, nothing arrives.
                ratio if ratio > 900.0 => "from nothing".to_owned(),
                ratio => format!("{ratio:.2}"),
            },
        );
        let worse = of_kind.iter().filter(|one| one.is_worse()).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {worse} | {median} |",
            kind.word(),
            of_kind.len(),
            changed
        );
    }
}

fn lab(text: &mut String, results: &Results) {
    if results.proofs.is_empty() {
        text.push_str("\n## In the lab\n\nNot run (`--lab 0`).\n");
        return;
    }
    text.push_str(
        "\n## In the lab\n\nThe kernel, three runs each of at most 10 s, with half of their 95% interval; goodput as it is, as advised \
         for the most of it, and with the best of the simulator's sweep.\n\n\
         | path | as it is | as advised | gain | promised | the sweep's best | of it |\n|---|---|---|---|---|---|---|\n",
    );
    for proof in &results.proofs {
        let Some([before, after, best]) = proof.rates else {
            let why = proof.why.lines().next().unwrap_or_default();
            let _ = writeln!(text, "| {} | – | – | – | – | – | {why} |", proof.name);
            continue;
        };
        let mega = |rate: Rate| format!("{:.3} ±{:.3} Mbit/s", rate.mean / 1e6, rate.half / 1e6);
        // Of a path that carries nothing as it is there is no ratio.
        let percent = |percent: f64| {
            if percent.is_finite() { format!("{percent:+.0}%") } else { "from nothing".to_owned() }
        };
        let _ = writeln!(
            text,
            "| {} | {} | {}: {} | {} | {} | {} | {:.1}% |",
            proof.name,
            mega(before),
            proof.words,
            mega(after),
            percent(100.0 * (after.mean / before.mean - 1.0)),
            proof.promised_pct.map_or_else(|| "–".to_owned(), percent),
            mega(best),
            100.0 * after.mean / best.mean
        );
    }
}
