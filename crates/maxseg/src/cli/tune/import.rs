//! `maxseg tune import`

use std::path::PathBuf;

use clap::Args;
use maxseg_core::tune::Prefix;
use maxseg_workbench::tune::documents::Format;
use maxseg_workbench::whole_file::WholeFile;

use super::document;
use crate::cli::output_file::refuse_stdout;
use crate::failure::Failure;
use crate::printer::Printer;

/// Read settings from another program's document
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune import modem-settings --out modem.toml
  maxseg tune import /etc/sysctl.d/90-net.conf
  maxseg tune import start_stcp.cm --route 10.0.0.0/8
  maxseg tune apply ./modem.toml

It reads settings files of Open Transport's tuner (#auto … #end), STCP's requests (set_stcp_param min_mss), sysctl.d, \
and documents of its own, and writes TOML that `tune apply` takes. What has no equivalent is listed with the nearest setting; so are lines of sysctl.d that \
sysctl or the kernel would not take. Nothing is changed.")]
pub(super) struct ImportArgs {
    /// The document; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Its format: toml, sysctl.d, open-transport or stcp
    #[arg(long = "as", value_name = "FORMAT", value_parser = document::format)]
    format: Option<Format>,
    /// The destinations of what Linux has by route
    #[arg(long, value_name = "PREFIX", default_value_t = Prefix::ALL_V4)]
    route: Prefix,
    /// Write to this file; default: standard output
    #[arg(long, short, value_name = "FILE.toml")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &ImportArgs, printer: Printer) -> Result<(), Failure> {
    let document = document::read(&args.file, args.format, args.route, printer)?;
    if document.settings.is_empty() {
        return Err(if document.notes.is_empty() {
            Failure::with_hint(
                format!("{} sets nothing", args.file.display()),
                "it has no line that sets anything, such as net.ipv4.tcp_mtu_probing = 1",
            )
        } else {
            Failure::with_hint(
                format!("nothing in {} has an equivalent here", args.file.display()),
                "the lines above say why, and name the nearest settings",
            )
        });
    }
    let text = Format::Toml.write(&document).text;
    let Some(out) = &args.out else {
        printer.data(&text)?;
        return Ok(());
    };
    refuse_stdout("--out", "file", out, "settings.toml")?;
    WholeFile::create(out)
        .and_then(|file| file.finish(text.as_bytes()))
        .map_err(|error| Failure::file("write", out, &error))?;
    printer.note(&format!("set it by: maxseg tune apply {}", with_slash(out)));
    Ok(())
}

/// A file's name as `tune apply` knows it from an ID.
fn with_slash(file: &std::path::Path) -> String {
    let name = file.display().to_string();
    if document::is_named(&name) { name } else { format!("./{name}") }
}
