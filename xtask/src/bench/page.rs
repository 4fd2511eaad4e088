//! docs/performance.md.

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use super::profile::{Profile, Share};
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

fn where_it_goes(profile: &Profile) -> String {
    let mut text = String::from("## Where it goes, and what the limit is\n\n");
    if profile.ns2.is_empty() {
        text += "Not measured: valgrind was not installed.\n\n";
    }
    if !profile.ns2.is_empty() {
        text += "Instructions of one data packet and its acknowledgement on the cellular path without errors: four\n\
                 passages of a link, two arrivals, one segment and one acknowledgement sent.\n\n";
        text += &table(&profile.ns2);
    }
    text += "A throw-away prototype that did the same without statistics, options, taps, slow readers and\n\
             special links took 410 instructions, and 578 with statistics: that is the limit of this structure\n\
             (docs/decisions/0002-whole-path-admission.md). What is above it is the price of asking, for every\n\
             packet, whether any of those is there.\n\n";
    if !profile.linux.is_empty() {
        text += "The same with the stack `linux` and CUBIC, whose packets have 0.6 acknowledgements each:\n\n";
        text += &table(&profile.linux);
    }
    text + LINUX
}

/// What is known of the limit of Linux's stack.
const LINUX: &str = "\
A packet of the stack `linux` costs nearly twice what was asked of it. Nothing of that is large: no
line of the source has a hundredth.
By what brings it about:

- **Carrying packets** costs about 600, as with ns-2's stack: each packet and its share of an acknowledgement
  pass 3.2 links, are written, measured and put on their way, and come to their hosts.
- **Losses at the queue** cost about 510: on a path whose queue never overflows a packet costs 1770. There is
  one recovery in seven seconds; in it each packet is told of by an acknowledgement of its own, which waits on
  a timer before it goes, and has the sender look packets up, cut and mark them.
- **What each arrival, acknowledgement and burst passes while nothing is lost** costs about 1170: windows and
  buffers of both ends, the delayed acknowledgement, round trips and timeouts, the delivery rate, CUBIC, the
  pacing rate that sizes bursts, Nagle, segmentation offload, the timer of the tail's probe.

Header prediction, the short way of ordinary acknowledgements, and searches that begin where the last one
ended are in it. To come near what was asked, rules would have to be given up, and with them that outcomes are the
kernel's to the packet: what is carried, and rules without losses, are more than was asked by themselves. What
outcomes tell of the sender (time under each limit, bytes in flight, round trips, bytes on the wire) is some 60.
One record for a burst instead of one for a packet would bring little: bursts have 1.7 segments here, and a slow link
lets them arrive 2.4 ms apart, each with an event, a clock and timers of its own. `cargo xtask test` holds what is
reached.
";

fn table(shares: &[Share]) -> String {
    let mut table = String::from("| part | instructions |\n|---|---|\n");
    for Share { part, instructions } in shares {
        let _ = writeln!(table, "| {part} | {instructions:.0} |");
    }
    table.push('\n');
    table
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
            profile: Profile {
                ns2: vec![Share { part: "links", instructions: 123.4 }],
                linux: vec![Share { part: "timers", instructions: 56.7 }],
            },
        });
        for wanted in [
            "cargo xtask bench --write --repeat 7",
            "| a case | 1 | 2 | **missed** |",
            "| a run | 1 | 2 | reached |",
            "| links | 123 |",
            "| timers | 57 |",
            std::env::consts::ARCH,
        ] {
            assert!(page.contains(wanted), "{wanted}\n{page}");
        }
    }
}
