//! `maxseg new`

use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_workbench::file_error::for_shell;
use maxseg_workbench::whole_file::WholeFile;

use super::input::shipped_hint;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::shipped;

/// Write a scenario with comments, to begin from
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg new
  maxseg new branch-office
  maxseg new tunnel.toml --from slow-tunnel
  maxseg new - | maxseg run -

Every line that is commented out is a default or an example. `maxseg guide scenario` describes every key, and `maxseg check \
FILE` reads the result without running it.")]
pub(crate) struct NewArgs {
    /// What the scenario is called, or its file; `-` for standard output
    #[arg(value_name = "NAME|FILE", default_value = "scenario")]
    file: PathBuf,
    /// Begin from a shipped scenario instead
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
}

/// What a new scenario is written from.
const TEMPLATE: &str = include_str!("new/template.toml");

pub(crate) fn run(args: &NewArgs, printer: Printer) -> Result<(), Failure> {
    if args.file.as_os_str() == "-" {
        let text = args.text(Path::new("scenario.toml"))?;
        return Ok(printer.data(&text)?);
    }
    let file = with_ending(&args.file);
    let text = args.text(&file)?;
    if !args.force && file.symlink_metadata().is_ok() {
        return Err(Failure::with_hint(
            format!("{} is there already", file.display()),
            "choose another name, or replace it with --force",
        ));
    }
    WholeFile::create(&file)
        .and_then(|out| out.finish(text.as_bytes()))
        .map_err(|error| Failure::file("write", &file, &error))?;
    let name = as_argument(&file);
    printer.note_verbatim(&format!(
        "{} is written; `maxseg check {name}` reads it, `maxseg run {name}` runs it",
        file.display()
    ));
    Ok(())
}

/// A file's name as a shell and the program take it: a leading dash would be an option.
fn as_argument(file: &Path) -> String {
    let name = file.display().to_string();
    for_shell(&if name.starts_with('-') { format!("./{name}") } else { name })
}

impl NewArgs {
    /// The scenario for a file of this name.
    fn text(&self, file: &Path) -> Result<String, Failure> {
        if let Some(name) = &self.from {
            return Ok(from_shipped(name)?.to_owned());
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let on_a_line =
            |text: &str| -> String { text.chars().filter(|c| !c.is_control()).collect() };
        // Inside a TOML string; the commands are in a comment.
        let in_quotes = on_a_line(&stem).replace(['"', '\\'], "");
        let named = TEMPLATE.replace("{NAME}", &in_quotes);
        Ok(named.replace("{FILE}", &on_a_line(&as_argument(file))))
    }
}

/// A name without an ending is that of a TOML file.
fn with_ending(file: &Path) -> PathBuf {
    if file.extension().is_some() { file.to_owned() } else { file.with_extension("toml") }
}

fn from_shipped(name: &str) -> Result<&'static str, Failure> {
    shipped::scenario(name).ok_or_else(|| {
        let what = format!("no scenario `{}` is shipped", name.escape_debug());
        Failure::with_hint(what, shipped_hint(name))
    })
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    /// What stands behind a `#` without a blank: a key that may be set, or the head of a table.
    fn without_mark(line: &str) -> Option<&str> {
        line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| !c.is_whitespace()))
    }

    fn read(lines: &[&str]) -> Result<Scenario, String> {
        Scenario::from_toml("new", &lines.join("\n")).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_a_scenario_as_it_is_and_with_every_key_that_is_commented_out() {
        let lines: Vec<&str> = TEMPLATE.lines().collect();
        read(&lines).unwrap();
        let whole: Vec<&str> =
            lines.iter().map(|line| without_mark(line).unwrap_or(line)).collect();
        read(&whole).unwrap();
        let keys = lines.iter().filter(|line| without_mark(line).is_some()).count();
        assert!(keys > 20, "{keys}");
    }

    #[test]
    fn each_key_of_a_table_that_is_there_may_be_set_alone() {
        let lines: Vec<&str> = TEMPLATE.lines().collect();
        let mut is_there = true;
        for (place, line) in lines.iter().enumerate() {
            let head = without_mark(line).unwrap_or(line);
            if head.starts_with('[') {
                is_there = head.len() == line.len();
            } else if is_there && let Some(key) = without_mark(line) {
                let mut with = lines.clone();
                with[place] = key;
                read(&with).unwrap_or_else(|error| panic!("{key}: {error}"));
            }
        }
    }

    #[test]
    fn a_name_is_that_of_a_toml_file_and_is_escaped() {
        assert_eq!(with_ending(Path::new("office")), Path::new("office.toml"));
        assert_eq!(with_ending(Path::new("office.toml")), Path::new("office.toml"));
        let args = NewArgs { file: "a\"b\n.toml".into(), from: None, force: false };
        let text = args.text(&args.file).unwrap();
        assert!(text.contains("name = \"ab\"\n"), "{text}");
        Scenario::from_toml("new", &text).unwrap();
    }

    #[test]
    fn commands_name_the_file_as_a_shell_takes_it() {
        for (name, wanted) in [
            ("net.toml", "net.toml"),
            ("my net.toml", "'my net.toml'"),
            ("a;b.toml", "'a;b.toml'"),
            ("-x.toml", "./-x.toml"),
        ] {
            assert_eq!(as_argument(Path::new(name)), wanted);
        }
    }
}
