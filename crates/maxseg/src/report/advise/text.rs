//! Advice on a terminal: limit, change, gain and command first; then the proof and what else there is to know.

use std::fmt::Write as _;

use maxseg_core::advise::{
    Advice, Advised, Change, CommandKind, Ends, Form, GainOver, HostEnd, HowTo, System, Trial,
    limit_in_words,
};
use maxseg_core::units::{Time, approx};
use maxseg_workbench::advise::{PathAdvice, SourceKind};
use maxseg_workbench::report::advise::{front_text, gain_in_words, goal_in_words, is_joint};

use super::guides::guides_text;
use super::trials::{Shown, gain_in_words as gain_of, trial_table};
use crate::printer::Printer;
use crate::wrap::{labelled, wrapped};

/// The answer as text.
pub(crate) fn advise_text(advice: &PathAdvice, printer: Printer) -> String {
    let mut text = Lines { printer, text: String::new() };
    text.line(&printer.bold(&advice.name));
    text.head(advice);
    if let Some(advised) = &advice.advised {
        text.body(advice, advised);
    }
    text.text += &guides_text(&advice.guides, printer);
    for note in &advice.notes {
        text.label("Note:", note);
    }
    if has_roles(advice) {
        text.label(
            "Note:",
            "in commands SENDER and RECEIVER stand for the addresses of the two hosts.",
        );
    }
    if !advice.ignored.is_empty() {
        text.label(
            "Ignored:",
            &format!("{}; `maxseg advise --forget-ignored` undoes it", advice.ignored.join(", ")),
        );
    }
    text.text
}

struct Lines {
    printer: Printer,
    text: String,
}

impl Lines {
    fn label(&mut self, head: &str, what: &str) {
        let lines = labelled(&format!("{head:<10}"), what, self.printer.width());
        self.text += &lines.replacen(head, &self.printer.bold(head), 1);
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// The first lines.
    fn head(&mut self, advice: &PathAdvice) {
        if let Some(unknown) = &advice.unknown {
            self.label("Unknown:", &format!("{}.", unknown.why));
            self.label("Shown by:", &format!("{}.", unknown.shown_by));
            return;
        }
        let Some(advised) = &advice.advised else { return };
        if let Some(first) = advised.trials.first() {
            let limit = observed_limit(advice).map_or_else(|| limit_in_words(first), str::to_owned);
            self.label("Limit:", &format!("{limit}."));
        }
        if advised.advice.is_empty() {
            self.label(
                "Change:",
                &format!(
                    "Leave it as it is: for {} no setting gains what matters.",
                    goal_in_words(advice.goal)
                ),
            );
        }
        let mut is_told = false;
        for piece in &advised.advice {
            self.label("Change:", &format!("{}.", piece.text));
            if is_joint(piece) && is_told {
                self.label("Gain:", "that of all changes together, as above.");
            } else {
                self.label("Gain:", &format!("{}{}.", gain_in_words(piece), alone(advised, piece)));
            }
            is_told |= is_joint(piece);
            for way in first_ways(piece, &advice.ends) {
                self.label("Command:", &format!("{}:", place(way)));
                self.line(&format!("  {}", way.line));
            }
        }
        if let Some(together) = together(advised).filter(|_| !is_told) {
            self.label("Together:", &format!("{together}."));
        }
    }

    fn body(&mut self, advice: &PathAdvice, advised: &Advised) {
        self.trials(advised);
        for row in &advice.lab_rows {
            let changes =
                if row.changes.is_empty() { "as it is".to_owned() } else { row.changes.join(", ") };
            let ping = row
                .ping_s
                .map_or_else(String::new, |ping| format!(", round trip {}", approx::time(ping)));
            let rate = approx::rate(row.goodput_bps);
            self.label(
                "Lab:",
                &format!("{changes}: {rate}{ping} in {} runs of the kernel.", row.runs),
            );
        }
        for piece in &advised.advice {
            self.piece(piece);
        }
        let picture = front_text(advised, self.printer.width());
        if !picture.is_empty() {
            let _ = write!(self.text, "\n{picture}");
        }
        if advised.runs > 0 {
            let what = "simulated, each with a delay up to 3% aside of the path's";
            self.label("Runs:", &format!("{} {what}{}.", advised.runs, lengths(advised)));
        }
    }

    /// What if: the path as it is, with single changes and with all.
    fn trials(&mut self, advised: &Advised) {
        if advised.trials.is_empty() {
            return;
        }
        let shown = Shown {
            pings: advised.trials.iter().any(|trial| trial.ping.n > 0),
            requests: advised.is_requests,
        };
        // What is advised by rule is in none of the runs.
        let shown_by_runs = advised.advice.iter().filter(|piece| !piece.proof.is_empty());
        let changes: Vec<Change> = shown_by_runs.map(|piece| piece.change).collect();
        let width = self.printer.table_width();
        let table = trial_table(&advised.trials, &changes, shown, width).text(width);
        let _ = writeln!(self.text, "\n{table}");
    }

    fn piece(&mut self, piece: &Advice) {
        self.line(&self.printer.bold(&format!("[{}]", piece.id)));
        self.label("Why:", &format!("{}.", piece.reason));
        self.label("Price:", &format!("{}.", price(piece)));
        self.label("Risk:", &format!("{}.", piece.risk.trim_end_matches('.')));
        if let Some(note) = &piece.note {
            self.label("Note:", &format!("{}.", note.trim_end_matches('.')));
        }
        self.label("Source:", &format!("{}.", piece.source));
        if self.printer.is_verbose() {
            for (system, ways) in &piece.commands {
                self.line(&format!("  {system}:"));
                for way in ways {
                    self.way(way);
                }
            }
        } else {
            let systems: Vec<&str> = piece.commands.keys().copied().collect();
            self.label("Commands:", &format!("for {}: add -v.", systems.join(", ")));
        }
    }

    fn way(&mut self, way: &HowTo) {
        let head = format!("# {}, {}", place(way), way.known.word());
        self.text += &wrapped(&head, self.printer.width(), "    ");
        self.text.push('\n');
        for line in way.line.lines() {
            self.line(&format!("    {line}"));
        }
        if let Some(undo) = &way.undo {
            self.line(&format!("    # undo: {undo}"));
        }
    }
}

/// What limited a captured connection, as `explain` says it: a run may have a window in the place of a send buffer.
fn observed_limit(advice: &PathAdvice) -> Option<&str> {
    let conclusion = advice.notes.first().filter(|_| advice.source == SourceKind::Capture)?;
    conclusion.split_once(". ").map(|(limit, _)| limit)
}

/// Whether commands have roles in the place of addresses, as those for a described path.
fn has_roles(advice: &PathAdvice) -> bool {
    let pieces = advice.advised.iter().flat_map(|advised| &advised.advice);
    let mut ways = pieces.flat_map(|piece| piece.commands.values().flatten());
    ways.any(|way| ["SENDER", "RECEIVER"].iter().any(|role| way.line.contains(role)))
}

/// Where a way is gone, and its condition.
fn place(way: &HowTo) -> String {
    let form = match way.form {
        Form::Shell => "",
        Form::Networkd => " in systemd-networkd's file of the interface",
        Form::Setsockopt => " in the program that has the connection",
        Form::Settings => " in the settings",
    };
    let only =
        way.only_where.as_ref().map_or_else(String::new, |only| format!(", only where {only}"));
    format!("on {}{form}{only}", way.on)
}

/// How long the runs are that choose and those that prove, where that is less than the scenario's time.
fn lengths(advised: &Advised) -> String {
    let time = |time: Time| approx::time(time.as_secs_f64());
    match (advised.shortened_to, advised.proof_shortened_to) {
        (None, _) => String::new(),
        (Some(search), None) => format!(
            ": those that choose take {} instead of the scenario's time, those that prove all of it",
            time(search)
        ),
        (Some(search), Some(proof)) => format!(
            ": those that choose take {} instead of the scenario's time, those that prove {}",
            time(search),
            time(proof)
        ),
    }
}

/// What a change gains without the others, where its gain is told beside them and it was run alone.
fn alone(advised: &Advised, piece: &Advice) -> String {
    let is_told = piece.gain.over == GainOver::OtherChanges;
    let before = advised.trials.first().filter(|_| is_told);
    let is_alone = |trial: &&Trial| trial.changes == [piece.change];
    before.zip(advised.trials.iter().find(is_alone)).map_or_else(String::new, |(before, after)| {
        format!("; {} alone", gain_of(before, after, advised.is_requests))
    })
}

/// What all changes gain together, where they are several.
fn together(advised: &Advised) -> Option<String> {
    let (before, after) = (advised.trials.first()?, advised.best()?);
    if after.changes.len() < 2 {
        return None;
    }
    let ping = (before.ping.n > 0 && after.ping.n > 0).then(|| {
        let gain = approx::gain(after.ping.mean / before.ping.mean - 1.0);
        format!(", round trip under load {gain}")
    });
    let of = if advised.is_requests { "time of a request" } else { "goodput" };
    let gain = gain_of(before, after, advised.is_requests);
    let is_bound = advised.advice.iter().any(|piece| piece.gain.runs > 0 && piece.gain.is_bound);
    let least = if is_bound && !advised.is_requests { "at least " } else { "" };
    Some(format!("{of} {least}{gain}{} over the path as it is", ping.unwrap_or_default()))
}

/// The commands that are shown first: of the host's own system where that is FreeBSD, of Linux where it has one, of STCP where that has
/// one, as where its rule for other subnets alone holds segments. One without a condition comes before others, behind those without which
/// it does nothing.
fn first_ways<'a>(piece: &'a Advice, ends: &Ends) -> Vec<&'a HowTo> {
    let runs_freebsd = |host: &HostEnd| {
        host.system == System::FreeBsd && host.address.is_none() && piece.on == host.to_string()
    };
    let own = [&ends.sender, &ends.receiver].into_iter().any(runs_freebsd).then_some("freebsd");
    let preferred =
        own.into_iter().chain(["linux", "stcp"]).filter_map(|name| piece.commands.get(name));
    let systems = preferred.chain(piece.commands.values());
    let first = systems.into_iter().map(|ways| {
        let changes = ways.iter().filter(|way| way.kind == CommandKind::Change);
        let (mut first, others): (Vec<&HowTo>, Vec<&HowTo>) =
            changes.partition(|way| way.with_next);
        let plain = others.iter().find(|way| way.only_where.is_none());
        first.extend(plain.or(others.first()));
        first
    });
    first.into_iter().find(|ways| !ways.is_empty()).unwrap_or_default()
}

fn price(piece: &Advice) -> String {
    let price = &piece.price;
    let mut parts = Vec::new();
    if let (Some(one), Some(all)) = (price.memory_bytes_per_connection, price.memory_bytes) {
        let count = price.connections;
        let bytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        parts.push(if count > 1 {
            format!(
                "up to {} of memory for each connection, {} for {count}",
                bytes(one),
                bytes(all)
            )
        } else {
            format!("up to {} of memory for each connection", bytes(one))
        });
    }
    parts.extend(price.fairness.clone());
    parts.extend(price.side_effects.iter().cloned());
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}
