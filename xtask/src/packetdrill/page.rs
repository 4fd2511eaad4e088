//! The scoreboard, and docs/validation-packetdrill.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::known::known;
use super::verdict::{NotRun, Verdict};
use super::{Judged, Tally};

/// Scripts by subject: passed, failed, not run.
pub(super) fn tallies(judged: &[Judged]) -> BTreeMap<&str, Tally> {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for script in judged {
        let tally = tallies.entry(&script.subject).or_default();
        match script.verdict {
            Verdict::Passed => tally.passed += 1,
            Verdict::Failed(..) => tally.failed += 1,
            Verdict::NotRun(_) => tally.not_run += 1,
        }
    }
    tallies
}

/// The table by subject, and its sum.
pub(super) fn scoreboard(judged: &[Judged]) -> String {
    let mut text = String::from("| subject | passed | failed | not run |\n|---|---|---|---|\n");
    let mut sum = Tally::default();
    for (subject, tally) in tallies(judged) {
        let Tally { passed, failed, not_run } = tally;
        let _ = writeln!(text, "| {subject} | {passed} | {failed} | {not_run} |");
        sum.add(tally);
    }
    let Tally { passed, failed, not_run } = sum;
    let _ = writeln!(text, "| all | {passed} | {failed} | {not_run} |");
    text
}

/// The whole page.
pub(super) fn page(judged: &[Judged]) -> String {
    let mut text = format!("{INTRODUCTION}{}", scoreboard(judged));
    text +=
        "\n## Where the two part\n\n| script | line | what differs | why |\n|---|---|---|---|\n";
    for script in judged {
        if let Verdict::Failed(line, what) = &script.verdict {
            let why = known(&script.path).unwrap_or_default();
            let _ = writeln!(text, "| {} | {line} | {what} | {why} |", script.path);
        }
    }
    text += "\n## What is not run\n\n| reason | scripts |\n|---|---|\n";
    let mut reasons: BTreeMap<&'static str, Vec<&Judged>> = BTreeMap::new();
    for script in judged {
        if let Verdict::NotRun(reason) = &script.verdict {
            reasons.entry(reason.reason()).or_default().push(script);
        }
    }
    for (reason, scripts) in &reasons {
        let _ = writeln!(text, "| {reason} | {} |", scripts.len());
    }
    let rules = judged.iter().filter_map(|script| match &script.verdict {
        Verdict::NotRun(NotRun::Rule(rule)) => Some(format!("| {} | {rule} |\n", script.path)),
        Verdict::Passed | Verdict::Failed(..) | Verdict::NotRun(_) => None,
    });
    let rules: String = rules.collect();
    if !rules.is_empty() {
        text += "\nRules that the simulator's socket has not:\n\n| script | rule |\n|---|---|\n";
        text += &rules;
    }
    text
}

const INTRODUCTION: &str = "\
# The simulator's Linux against packetdrill's scripts

Written by `MAXSEG_PACKETDRILL=FOLDER cargo xtask validate packetdrill`.

packetdrill's scripts (github.com/google/packetdrill, `gtests/net`) say what a Linux kernel does, packet by packet:
segments that reach it, segments that it has to send and when, and what `tcp_info` has to show in between. A reader in
`xtask/src/packetdrill` plays them in virtual time against the socket of `stack = \"linux\"`
(`crates/maxseg-core/src/tcp/linux`) alone: no path, no simulator's world. The scripts are GPL-2.0: they are read where
the variable says, and no line of them is in this project.

- The host has a thousand ticks a second, and what the scripts' `defaults.sh` sets. IPv6 where a script says so,
  else IPv4. A connection goes by a changed route's MTU once it has sent a packet.
- Times may be 4 ms off, or an eighth of the time since the event before where that is more: packetdrill's own rule. A
  call takes effect 20 µs after its time and a packet 30 µs: no kernel is faster.
- How a burst is cut into packets counts only where a script says so, as with packetdrill.
- Where a script sets the queue `fq`, the host has it.
- HyStart begins its rounds as earlier kernels do, from a window of 16 segments on, because the scripts of `cubic`
  assert it (`hystart_rounds_need_window`); the stack's own rule is that of 6.12.117: at any window.

";
