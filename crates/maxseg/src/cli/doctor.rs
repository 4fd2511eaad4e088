//! `maxseg doctor`

use std::fmt::Write as _;

use clap::Args;
use maxseg_linux::doctor::{Check, Diagnosis, State};

use crate::failure::Failure;
use crate::printer::Printer;

/// Check whether the lab can run, and how to fix it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Tries each step of the lab as the current user, in child processes that leave nothing behind.
Each check that fails is printed with the command that fixes it; -v prints what each check is for.
Exit code: 0 the lab can run, 1 it cannot.

Examples:
  maxseg doctor
  maxseg doctor -v
  maxseg doctor --json | jq '.checks[] | select(.state != \"ok\")'")]
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

/// An error where the lab cannot run.
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

/// The width of a terminal that everybody has.
const WIDTH: usize = 80;
/// The columns of state and name; what was found stands to the right of them.
const STATE: usize = 9;
const NAME: usize = 13;

fn text(diagnosis: &Diagnosis, printer: Printer) -> String {
    let lines: String = diagnosis.checks.iter().map(|check| lines(check, printer)).collect();
    let count = |state| diagnosis.checks.iter().filter(|check| check.state == state).count();
    let can = if diagnosis.able { "The lab can run here" } else { "The lab cannot run here" };
    let amiss = [(State::Missing, "missing"), (State::Limited, "limited")]
        .map(|(state, word)| (count(state), word))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect::<Vec<_>>();
    let amiss = if amiss.is_empty() { String::new() } else { format!(" ({})", amiss.join(", ")) };
    format!("{lines}\n{}{amiss}.\n", printer.bold(can))
}

/// A check: state, name, finding; below them, unless all is well, what it is for and how to mend it.
fn lines(check: &Check, printer: Printer) -> String {
    let padded = format!("{:STATE$}", word(check));
    let state = if check.state == State::Ok { padded } else { printer.bold(&padded) };
    let mut text = format!("{state}{:NAME$}", check.name);
    let mut paragraphs = vec![check.found.clone()];
    if check.state != State::Ok || printer.is_verbose() {
        paragraphs.push(format!("why: {}", check.purpose));
    }
    let indent = STATE + NAME;
    let found = paragraphs.iter().flat_map(|paragraph| wrapped(paragraph, WIDTH - indent));
    for (n, line) in found.enumerate() {
        let margin = if n == 0 { 0 } else { indent };
        let _ = writeln!(text, "{:margin$}{line}", "");
    }
    for line in check.mend.iter().flat_map(|command| command.lines()) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// What is missing without need reads otherwise than what is missed.
fn word(check: &Check) -> &'static str {
    match check.state {
        State::Ok => "ok",
        State::Limited => "limited",
        State::Missing if check.required => "MISSING",
        State::Missing => "missing",
    }
}

/// Lines of at most so many characters, broken at blanks; a word that is longer stays whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
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
    fn what_is_amiss_says_what_for_and_how_to_mend_it() {
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
