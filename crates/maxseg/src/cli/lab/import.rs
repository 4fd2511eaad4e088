//! `maxseg lab import`

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::output_file::refuse_stdout;
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::import::{Ends, from_miniedit};
use maxseg_workbench::whole_file::WholeFile;

/// Convert a MiniEdit topology to a scenario
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab import lab13.mn
  maxseg lab import lab13.mn -o lab13.toml && maxseg run lab13.toml
  maxseg lab import campus.mn --from h1 --to h7 -o h1-h7.toml

Each link on the way from one host to the other becomes a hop. What a scenario cannot express is listed on standard \
error and at the head of the scenario. No command of the file is run.")]
pub(crate) struct ImportArgs {
    /// The topology: a .mn file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the scenario to this file; without it, to standard output
    #[arg(long, short, value_name = "SCENARIO")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "out")]
    force: bool,
    /// Sending host, if there are more than two
    #[arg(long, value_name = "HOST")]
    from: Option<String>,
    /// Receiving host
    #[arg(long, value_name = "HOST")]
    to: Option<String>,
}

pub(crate) fn run(args: &ImportArgs, printer: Printer) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        refuse_stdout("--out", "file", out, "lab.toml")?;
    }
    let (name, bytes) = read(&args.file)?;
    let ends = Ends { from: args.from.as_deref(), to: args.to.as_deref() };
    let imported = from_miniedit(&bytes, &name, ends)?;
    match &args.out {
        Some(out) => {
            write(args, out, &imported.text)?;
            printer.note(&format!("{}: the path {}", out.display(), imported.path));
        }
        None => printer.data(&imported.text)?,
    }
    if !imported.notes.is_empty() {
        printer.note("not carried over unchanged:");
    }
    for note in &imported.notes {
        printer.note(&format!("  {note}"));
    }
    Ok(())
}

/// The content of the file, and its name in errors.
fn read(file: &Path) -> Result<(String, Vec<u8>), Failure> {
    if file.as_os_str() != "-" {
        let opened = fs::File::open(file).map_err(|error| Failure::file("read", file, &error))?;
        return Ok((file.display().to_string(), bounded(file, opened)?));
    }
    Ok(("<stdin>".to_owned(), bounded(Path::new("standard input"), io::stdin().lock())?))
}

/// The largest topology that is read, in bytes.
const LARGEST_TOPOLOGY: u64 = 32 << 20;

fn bounded(name: &Path, from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = from.take(LARGEST_TOPOLOGY + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file("read", name, &error))?;
    if bytes.len() as u64 > LARGEST_TOPOLOGY {
        let what = format!("{} is larger than 32 MiB, which no topology is", name.display());
        return Err(Failure::with_hint(what, "name a .mn file that MiniEdit saved"));
    }
    Ok(bytes)
}

/// Writes the scenario. An existing file is kept unless `--force` is given: a scenario may have been edited.
fn write(args: &ImportArgs, out: &Path, text: &str) -> Result<(), Failure> {
    let is_there = fs::metadata(out).is_ok_and(|about| about.is_file());
    if is_there && !args.force {
        let hint = "name another file, or replace it with --force";
        return Err(Failure::with_hint(format!("{} exists", out.display()), hint));
    }
    if is_there && fs::canonicalize(out).ok() == fs::canonicalize(&args.file).ok() {
        let what = format!("{} is the topology itself", out.display());
        return Err(Failure::with_hint(what, "name another file for the scenario"));
    }
    WholeFile::create(out)
        .and_then(|file| file.finish(text.as_bytes()))
        .map_err(|error| Failure::file("write", out, &error))
}
