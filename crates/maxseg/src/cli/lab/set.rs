//! `maxseg lab set`

use std::fmt::Write as _;

use clap::Args;
use maxseg_linux::lab::persistent::Changed;
use serde_json::Value;

use super::NameArgs;
use crate::failure::Failure;
use crate::printer::Printer;

/// Change links and hosts of a running lab
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab set hop.radio.errors.rate=5%
  maxseg lab set \"hop.radio.rate=1 Mbit/s\" \"hop.radio.delay=300 ms\"
  maxseg lab set hop.*.mtu=9000
  maxseg lab set hop.radio.errors.rate=0

Keys are those of the scenario, as for `maxseg run --set`. All keys are set, or none. Packets already on the link keep \
their departure times; later packets meet the new link.

sender.mss, receiver.window and congestion control apply to new connections. The number and names of hops, flows and \
seed are fixed: `maxseg lab down`, then `maxseg lab up` with --set.")]
pub(crate) struct SetArgs {
    /// Key and value, such as hop.radio.errors.rate=5%
    #[arg(value_name = "KEY=VALUE", required = true)]
    assignments: Vec<String>,
    #[command(flatten)]
    name: NameArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SetArgs, printer: Printer) -> Result<(), Failure> {
    let changed = args.name.connect()?.set(&args.assignments)?;
    if args.json {
        let text = serde_json::to_string_pretty(&changed).expect("keys and values are plain JSON");
        printer.data(&format!("{text}\n"))?;
    } else if changed.is_empty() {
        printer.note("nothing to change: the values are already set");
    } else {
        printer.text(&lines(&changed))?;
    }
    Ok(())
}

fn lines(changed: &[Changed]) -> String {
    let mut text = String::new();
    for Changed { key, old, new } in changed {
        let _ = writeln!(text, "{key}: {} -> {}", written(old), written(new));
    }
    text
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "(default)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
