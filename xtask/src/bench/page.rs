//! docs/performance.md.

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use super::profile::Share;
use super::{Line, Measured};
use crate::root;

pub(super) const CASES_HEAD: &str = "\
| case | delivered by ns-2 | by maxseg | ns-2 µs | maxseg µs | ratio | asked | |
|---|---|---|---|---|---|---|---|";

pub(super) const WHOLE_HEAD: &str = "| what | measured | asked | |\n|---|---|---|---|";

pub(super) fn row(line: &Line) -> String {
    let verdict = match line.reached {
        None => "",
        Some(true) => "reached",
        Some(false) => "**missed**",
    };
    format!("| {} | {} | {} | {verdict} |", line.what, line.figures.join(" | "), line.asked)
}

pub(super) fn write(measured: &Measured) -> Result<()> {
    fs::write(root().join("docs/performance.md"), page(measured))?;
    Ok(())
}

fn page(measured: &Measured) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let repeat = measured.repeat;
    let rows = |lines: &[Line]| lines.iter().map(row).collect::<Vec<_>>().join("\n");
    format!(
        "# How fast the simulator is\n\n\
         Written by\n\n```\ncargo xtask bench --write --repeat {repeat}\n```\n\n\
         on {cpu} ({system} {architecture}). Absolute figures are this machine's; the ratios are what carries\n\
         over.\n\n\
         ## A packet\n\n\
         CPU time for each data packet that was delivered, its acknowledgement included, by each simulator's\n\
         own count; medians of {repeat} runs, ours and ns-2's in turn, on one core, everything included that a run\n\
         costs. The ratio is ns-2's time over ours. What both do is the same to the packet where nothing is\n\
         random, exact ties aside (docs/validation.md). `asked` is what the project has set itself. In the short\n\
         run hardly any packet arrives: it measures what a run costs at least, ns-2's start included.\n\n\
         {CASES_HEAD}\n{}\n\n\
         ## A whole run\n\n{WHOLE_HEAD}\n{}\n\n{}",
        rows(&measured.cases),
        rows(&measured.whole),
        where_it_goes(&measured.profile),
    )
}

fn where_it_goes(profile: &[Share]) -> String {
    let mut text = String::from("## Where it goes, and what the limit is\n\n");
    if profile.is_empty() {
        text += "Not measured: valgrind was not installed.\n\n";
    } else {
        text += "Instructions of one data packet and its acknowledgement on the cellular path without errors: four\n\
                 passages of a link, two arrivals, one segment and one acknowledgement sent.\n\n\
                 | part | instructions |\n|---|---|\n";
        for Share { part, instructions } in profile {
            let _ = writeln!(text, "| {part} | {instructions:.0} |");
        }
        text.push('\n');
    }
    text += "A throw-away prototype that did the same without statistics, options, taps, slow readers and\n\
             special links took 410 instructions, and 578 with statistics: that is the limit of this structure\n\
             (docs/decisions/0002-whole-path-admission.md). What is above it is the price of asking, for every\n\
             packet, whether any of those is there.\n\n\
             A packet of the stack `linux` costs twice what was asked of it. A third goes to links and to the world,\n\
             as with ns-2's stack; a fifth to what the drops at the queue bring about: SACK, RACK, retransmissions. The\n\
             rest are the rules that every packet and every acknowledgement passes, a few instructions each: buffers\n\
             and windows of both ends, timers, round trips, rates, bursts. `cargo xtask test` holds what is reached.\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_how_it_was_made_and_what_was_missed() {
        let line = |what: &str, reached| Line {
            what: what.to_owned(),
            figures: vec!["1".to_owned()],
            asked: "2".to_owned(),
            reached,
            fault: None,
        };
        let page = page(&Measured {
            repeat: 7,
            cases: vec![line("a case", Some(false))],
            whole: vec![line("a run", Some(true))],
            profile: vec![Share { part: "links", instructions: 123.4 }],
        });
        for wanted in [
            "cargo xtask bench --write --repeat 7",
            "| a case | 1 | 2 | **missed** |",
            "| a run | 1 | 2 | reached |",
            "| links | 123 |",
            std::env::consts::ARCH,
        ] {
            assert!(page.contains(wanted), "{wanted}\n{page}");
        }
    }
}
