//! `maxseg doctor`

use std::fmt::Write as _;

use clap::Args;
use maxseg_linux::doctor::{Check, Diagnosis, State};

use crate::failure::Failure;
use crate::printer::Printer;
use crate::wrap::wrapped;

/// Check what this user can run and see here, and how to fix it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Tries each step of the lab as the current user, in child processes that leave nothing behind. Each check that fails is \
printed with the command that fixes it; -v prints the purpose of each check. The last checks are of what `maxseg \
connections` and `maxseg explain HOST` can read, what `maxseg path` can send, and what `maxseg tune` can set and keep, and of the \
privilege that the rest needs.

Examples:
  maxseg doctor
  maxseg doctor -v
  maxseg doctor --json | jq '.checks[] | select(.state != \"ok\")'

Exit codes: 0 the lab can run, 1 it cannot.")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DoctorArgs, printer: Printer) -> Result<(), Failure> {
    let diagnosis = Diagnosis::here();
    let text = if args.json {
        let document = serde_json::to_string_pretty(&diagnosis);
        format!("{}\n", document.expect("names and numbers are plain JSON"))
    } else {
        text(&diagnosis, printer)
    };
    printer.data(&text)?;
    verdict(&diagnosis)
}

/// An error if the lab cannot run.
fn verdict(diagnosis: &Diagnosis) -> Result<(), Failure> {
    if diagnosis.able {
        return Ok(());
    }
    let lacks = |check: &&Check| check.required && check.state == State::Missing;
    let names: Vec<&str> = diagnosis.checks.iter().filter(lacks).map(|check| check.name).collect();
    let what = format!("the lab cannot run here; missing: {}", names.join(", "));
    Err(Failure::with_hint(
        what,
        "`maxseg doctor` prints the commands that fix it; --engine sim and --engine model run without",
    ))
}

/// Columns of the output.
const WIDTH: usize = 80;
/// Widths of the columns of state and name, to the left of the finding.
const STATE: usize = 9;
const NAME: usize = 13;

fn text(diagnosis: &Diagnosis, printer: Printer) -> String {
    let lines: String = diagnosis.checks.iter().map(|check| lines(check, printer)).collect();
    let count = |state| diagnosis.checks.iter().filter(|check| check.state == state).count();
    let can = if diagnosis.able { "The lab can run here" } else { "The lab cannot run here" };
    let problems = [(State::Missing, "missing"), (State::Limited, "limited")]
        .map(|(state, word)| (count(state), word))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect::<Vec<_>>();
    let problems =
        if problems.is_empty() { String::new() } else { format!(" ({})", problems.join(", ")) };
    format!("{lines}\n{}{problems}.\n", printer.bold(can))
}

/// A check: state, name and finding; unless its state is ok, also its purpose and the commands that fix it.
fn lines(check: &Check, printer: Printer) -> String {
    let padded = format!("{:STATE$}", word(check));
    let state = if check.state == State::Ok { padded } else { printer.bold(&padded) };
    let mut text = format!("{state}{:NAME$}", check.name);
    let mut paragraphs = vec![check.found.clone()];
    if check.state != State::Ok || printer.is_verbose() {
        paragraphs.push(format!("why: {}", check.purpose));
    }
    let margin = " ".repeat(STATE + NAME);
    let found: String =
        paragraphs.iter().map(|paragraph| wrapped(paragraph, WIDTH, &margin)).collect();
    text += found.trim_start();
    for line in check.mend.iter().flat_map(|command| command.lines()) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// The word for a state; in capitals where the lab cannot run without it.
fn word(check: &Check) -> &'static str {
    match check.state {
        State::Ok => "ok",
        State::Limited => "limited",
        State::Missing if check.required => "MISSING",
        State::Missing => "missing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(state: State) -> Check {
        Check {
            name: "buffers",
            state,
            required: true,
            purpose: "windows that a scenario sets, by SO_RCVBUF and SO_SNDBUF, of any size at all",
            found: "receive up to 208 KiB, send up to 208 KiB".to_owned(),
            mend: vec!["one |\n  two".to_owned(), "three".to_owned()],
            values: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn a_failed_check_has_its_purpose_and_the_commands_that_fix_it() {
        let want = "\
limited  buffers      receive up to 208 KiB, send up to 208 KiB
                      why: windows that a scenario sets, by SO_RCVBUF and
                      SO_SNDBUF, of any size at all
    one |
      two
    three
";
        assert_eq!(lines(&check(State::Limited), Printer::silent()), want);
        let well = Check { mend: Vec::new(), ..check(State::Ok) };
        let want = "ok       buffers      receive up to 208 KiB, send up to 208 KiB\n";
        assert_eq!(lines(&well, Printer::silent()), want);
    }

    #[test]
    fn only_what_is_required_keeps_the_lab_from_running() {
        let diagnosis = |able, checks| Diagnosis { schema_version: 1, able, checks };
        let limited = diagnosis(true, vec![check(State::Limited)]);
        assert!(verdict(&limited).is_ok());
        assert!(
            text(&limited, Printer::silent()).ends_with("\nThe lab can run here (1 limited).\n")
        );
        let missing = diagnosis(false, vec![check(State::Missing)]);
        let failure = verdict(&missing).unwrap_err();
        assert_eq!(failure.exit_code(), 1);
        assert!(failure.render().contains("missing: buffers"), "{}", failure.render());
        assert!(text(&missing, Printer::silent()).starts_with("MISSING  buffers"));
    }
}
