//! `maxseg calc`

use clap::Args;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use crate::calc::{answered, described, list};
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::calc::{self, ENTRIES, Inputs};

/// Compute one formula, with its source and range
#[derive(Debug, Args)]
#[command(after_long_help = "\
A name without values says what the formula needs, where it holds, and gives an example.

Examples:
  maxseg calc --list
  maxseg calc pftk
  maxseg calc bdp rate=10Mbit/s rtt=80ms
  maxseg calc pftk loss=2% rtt=80ms rto=1s --json")]
pub(crate) struct CalcArgs {
    /// Which formula; without it, all are listed
    #[arg(value_name = "NAME", value_parser = Names, hide_possible_values = true)]
    name: Option<String>,
    /// Values with their units, such as rate=10Mbit/s, rtt=80ms, loss=1%, window=64KiB
    #[arg(value_name = "KEY=VALUE")]
    values: Vec<String>,
    /// List all formulas
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CalcArgs, printer: Printer) -> Result<(), Failure> {
    let text = match &args.name {
        None if args.json => calc::list_json(),
        None => list(printer),
        Some(name) => of_entry(calc::entry(name)?, args, printer)?,
    };
    printer.data(&text)?;
    Ok(())
}

fn of_entry(entry: &calc::Entry, args: &CalcArgs, printer: Printer) -> Result<String, Failure> {
    if args.values.is_empty() {
        return Ok(if args.json { calc::described_json(entry) } else { described(entry, printer) });
    }
    let inputs = Inputs::parse(entry, &args.values)?;
    let answer = entry.answer(&inputs)?;
    Ok(if args.json {
        calc::answered_json(entry, &inputs, &answer)
    } else {
        answered(entry, &answer, printer)
    })
}

/// Takes any word, so that a wrong one is told as all mistakes are, and gives shells the right ones.
#[derive(Debug, Clone, Copy)]
struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(ENTRIES.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about))))
    }
}
