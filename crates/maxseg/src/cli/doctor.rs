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

The last lines say what of the lab and of each command is missing or limited.

Exit codes: 0 the lab can run, 1 it cannot, whatever else can.")]
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

/// Commands beside the lab, with the checks of what they need.
const COMMANDS: [(&str, &[&str]); 5] = [
    ("capture", &["packets"]),
    ("connections", &["sockets", "processes", "options"]),
    ("explain HOST", &["firewall", "nft", "iptables"]),
    ("path", &["path"]),
    ("tune", &["sysctls", "routes", "state"]),
];

fn text(diagnosis: &Diagnosis, printer: Printer) -> String {
    let lines: String = diagnosis.checks.iter().map(|check| lines(check, printer)).collect();
    let of_commands: Vec<&str> = COMMANDS.iter().flat_map(|(_, names)| *names).copied().collect();
    let of_lab = |check: &&Check| !of_commands.contains(&check.name);
    let can = if diagnosis.able { "The lab can run here" } else { "The lab cannot run here" };
    let lab = match problems(diagnosis.checks.iter().filter(of_lab)) {
        Some(problems) => format!(" ({problems})"),
        None => String::new(),
    };
    let others: Vec<String> = COMMANDS
        .iter()
        .filter_map(|(command, names)| {
            let mut checks =
                diagnosis.checks.iter().filter(|check| names.contains(&check.name)).peekable();
            checks.peek()?;
            Some(format!("{command}: {}", problems(checks).unwrap_or_else(|| "ok".to_owned())))
        })
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        wrapped(&format!("Other commands: {}.", others.join("; ")), WIDTH, "")
    };
    let lab = wrapped(&format!("{can}{lab}."), WIDTH, "");
    format!("{lines}\n{}{others}", lab.replacen(can, &printer.bold(can), 1))
}

/// What is missing and what is limited, by the names of the checks; `None` where nothing is.
fn problems<'c>(checks: impl Iterator<Item = &'c Check>) -> Option<String> {
    let checks: Vec<&Check> = checks.collect();
    let of = |(state, word): (State, &str)| {
        let found = checks.iter().filter(|check| check.state == state);
        let names: Vec<&str> = found.map(|check| check.name).collect();
        (!names.is_empty()).then(|| format!("{} {word}", names.join(" and ")))
    };
    let problems: Vec<String> = [(State::Missing, "missing"), (State::Limited, "limited")]
        .into_iter()
        .filter_map(of)
        .collect();
    (!problems.is_empty()).then(|| problems.join(", "))
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
            text(&limited, Printer::silent())
                .ends_with("\nThe lab can run here (buffers limited).\n")
        );
        let missing = diagnosis(false, vec![check(State::Missing)]);
        let failure = verdict(&missing).unwrap_err();
        assert_eq!(failure.exit_code(), 1);
        assert!(failure.render().contains("missing: buffers"), "{}", failure.render());
        assert!(text(&missing, Printer::silent()).starts_with("MISSING  buffers"));
    }

    #[test]
    fn the_last_lines_say_what_of_each_command_lacks() {
        let of = |name, state| Check { name, required: false, ..check(state) };
        let checks = vec![
            of("kernel", State::Ok),
            of("qdiscs", State::Missing),
            of("wake-up", State::Limited),
            of("packets", State::Missing),
            of("path", State::Ok),
            of("sysctls", State::Limited),
            of("routes", State::Limited),
            of("state", State::Missing),
        ];
        let diagnosis = Diagnosis { schema_version: 1, able: true, checks };
        let text = text(&diagnosis, Printer::silent());
        let want = "
The lab can run here (qdiscs missing, wake-up limited).
Other commands: capture: packets missing; path: ok; tune: state missing, sysctls
and routes limited.
";
        assert!(text.ends_with(want), "{text}");
    }
}
