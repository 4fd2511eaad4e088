//! `maxseg tune export`

use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_core::tune::{Entry, EntryState, Prefix, Target, Value};
use maxseg_linux::tune::{Journal, moment, state_folder, survey};
use maxseg_workbench::tune::documents::{Document, Format, Setting};

use super::document;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::{hidden_from_user, own_command};

/// Write what is set, or a document, in another format
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune export
  maxseg tune export --as sysctl.d
  maxseg tune export modem.toml --as open-transport

Without a file, it writes what `tune apply` has set here and still holds. What the format cannot express is listed on standard error.")]
pub(super) struct ExportArgs {
    /// A document; default: what is set
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// toml, sysctl.d, open-transport or stcp
    #[arg(long = "as", value_name = "FORMAT", value_parser = document::format, default_value = "toml")]
    format: Format,
}

pub(super) fn run(args: &ExportArgs, printer: Printer) -> Result<(), Failure> {
    let document = given_or_set(args.file.as_deref(), |_| None, printer)?;
    let written = args.format.write(&document);
    document::tell(&written.left_out, printer);
    document::tell(&written.widened, printer);
    if written.text.is_empty() || written.left_out.len() >= document.settings.len() {
        return Err(Failure::with_hint(
            format!("{} has none of these settings", args.format.word()),
            "--as toml has all of them",
        ));
    }
    printer.data(&written.text)?;
    Ok(())
}

/// The document in this file; without one, what is set, but for what there is a reason to leave out.
pub(super) fn given_or_set(
    file: Option<&Path>,
    left_out: impl Fn(&Entry) -> Option<&'static str>,
    printer: Printer,
) -> Result<Document, Failure> {
    match file {
        Some(file) => document::read(file, None, Prefix::ALL_V4, printer),
        None => what_is_set(left_out, printer),
    }
}

/// What this program has set here, and what still holds of it.
fn what_is_set(
    left_out: impl Fn(&Entry) -> Option<&'static str>,
    printer: Printer,
) -> Result<Document, Failure> {
    let mut entries = entries_that_hold()?;
    // Files are how something else was made permanent.
    entries.retain(|entry| !matches!(entry.step.target, Target::File(_)));
    entries.retain(|entry| {
        let cut_off = (!entry.plan_is_complete).then_some("its plan was cut off");
        let why = cut_off.or_else(|| left_out(entry));
        if let Some(why) = why {
            printer.note(&format!("left out: {}: {why}", entry.step.target));
        }
        why.is_none()
    });
    let allows_router = entries.iter().any(|entry| entry.allows_router);
    let settings: Vec<Setting> = entries.into_iter().map(setting).collect();
    if settings.is_empty() {
        let unseen = hidden_from_user("tune export");
        let whom = if unseen.is_some() { "user" } else { "program" };
        let listed = || format!("`{}` lists past changes", own_command("tune status --all"));
        return Err(Failure::with_hint(
            format!("nothing is set here by this {whom}"),
            unseen.unwrap_or_else(listed),
        ));
    }
    Ok(Document { settings, allows_router, ..Document::default() })
}

/// The changes that hold, in the order of their numbers.
fn entries_that_hold() -> Result<Vec<Entry>, Failure> {
    let history = Journal::read(&state_folder()?)?;
    let all = survey(&history, &moment()?);
    Ok(all.into_iter().filter(|one| one.state == EntryState::Set).map(|one| one.entry).collect())
}

fn setting(entry: Entry) -> Setting {
    let after = entry.step.after;
    let value = if after == Value::Absent { Value::Unset } else { after };
    Setting { target: entry.step.target, value, why: entry.why, line: 0 }
}
