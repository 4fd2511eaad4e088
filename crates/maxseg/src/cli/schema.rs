//! `maxseg schema`

use clap::{Args, ValueEnum};
use maxseg_core::scenario::ScenarioSpec;

use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::report::advise::AdviseDocument;
use maxseg_workbench::report::compare::CompareDocument;
use maxseg_workbench::report::connections::ConnectionsDocument;
use maxseg_workbench::report::document::Document;
use maxseg_workbench::report::explain::ExplainDocument;
#[cfg(feature = "lab")]
use maxseg_workbench::report::path::PathDocument;
use maxseg_workbench::report::stream::StreamLine;
#[cfg(feature = "lab")]
use maxseg_workbench::report::tune::{CatalogueDocument, StatusDocument};
#[cfg(feature = "lab")]
use maxseg_workbench::report::why::WhyDocument;

/// Print the JSON Schema of a scenario or a document
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg schema > scenario.schema.json
  maxseg schema results
  maxseg schema stream
  maxseg schema explain
  maxseg schema advise
  maxseg schema compare
  maxseg schema connections
  maxseg schema why
  maxseg schema path
  maxseg schema tune-status
  maxseg schema tune-list")]
pub(crate) struct SchemaArgs {
    /// Document to describe
    #[arg(value_enum, default_value_t)]
    what: What,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum What {
    /// A scenario file
    #[default]
    Scenario,
    /// The document of `run --json`
    Results,
    /// A line of `run --json-stream`
    Stream,
    /// The document of `explain --json`
    Explain,
    /// The document of `advise --json`
    Advise,
    /// The document of `compare --json`
    Compare,
    /// The document of `connections --json`
    Connections,
    /// The document of `explain HOST --json`
    #[cfg(feature = "lab")]
    Why,
    /// The document of `path --json`
    #[cfg(feature = "lab")]
    Path,
    /// The document of `tune status --json`
    #[cfg(feature = "lab")]
    TuneStatus,
    /// The document of `tune list --json` and `tune show --json`
    #[cfg(feature = "lab")]
    TuneList,
}

pub(crate) fn run(args: &SchemaArgs, printer: Printer) -> Result<(), Failure> {
    let schema = match args.what {
        What::Scenario => scenario_schema(),
        What::Results => results_schema(),
        What::Stream => stream_schema(),
        What::Explain => explain_schema(),
        What::Advise => advise_schema(),
        What::Compare => compare_schema(),
        What::Connections => connections_schema(),
        #[cfg(feature = "lab")]
        What::Why => why_schema(),
        #[cfg(feature = "lab")]
        What::Path => path_schema(),
        #[cfg(feature = "lab")]
        What::TuneStatus => tune_status_schema(),
        #[cfg(feature = "lab")]
        What::TuneList => tune_list_schema(),
    };
    printer.data(&schema)?;
    Ok(())
}

/// The JSON Schema of a scenario file.
pub fn scenario_schema() -> String {
    pretty(&schemars::schema_for!(ScenarioSpec))
}

/// The JSON Schema of what `run --json` prints.
pub fn results_schema() -> String {
    pretty(&schemars::schema_for!(Document))
}

/// The JSON Schema of what `connections --json` prints.
pub fn connections_schema() -> String {
    pretty(&schemars::schema_for!(ConnectionsDocument<'static>))
}

/// The JSON Schema of what `explain HOST --json` prints.
#[cfg(feature = "lab")]
pub fn why_schema() -> String {
    pretty(&schemars::schema_for!(WhyDocument<'static>))
}

/// The JSON Schema of what `path --json` prints.
#[cfg(feature = "lab")]
pub fn path_schema() -> String {
    pretty(&schemars::schema_for!(PathDocument<'static>))
}

/// The JSON Schema of what `tune status --json` prints.
#[cfg(feature = "lab")]
pub fn tune_status_schema() -> String {
    pretty(&schemars::schema_for!(StatusDocument))
}

/// The JSON Schema of what `tune list --json` prints.
#[cfg(feature = "lab")]
pub fn tune_list_schema() -> String {
    pretty(&schemars::schema_for!(CatalogueDocument<'static>))
}

/// The JSON Schema of a line that `run --json-stream` prints.
pub fn stream_schema() -> String {
    pretty(&schemars::schema_for!(StreamLine<'_>))
}

/// The JSON Schema of what `explain --json` prints.
pub fn explain_schema() -> String {
    pretty(&schemars::schema_for!(ExplainDocument<'_>))
}

/// The JSON Schema of what `advise --json` prints.
pub fn advise_schema() -> String {
    pretty(&schemars::schema_for!(AdviseDocument<'_>))
}

/// The JSON Schema of what `compare --json` prints.
pub fn compare_schema() -> String {
    pretty(&schemars::schema_for!(CompareDocument<'_>))
}

fn pretty(schema: &schemars::Schema) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}
