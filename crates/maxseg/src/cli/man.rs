//! `maxseg man`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;

use super::output_file::refuse_stdout;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::reference::{FILE as SCENARIO_PAGE, Reference};
use crate::roff::{escape, in_ascii};
use maxseg_workbench::whole_file::WholeFile;

/// Print the manual page of the program or a command
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg man run | man -l -
  maxseg man scenario | man -l -
  maxseg man --out ~/.local/share/man/man1 && man maxseg-run")]
pub(crate) struct ManArgs {
    /// Command, or `scenario` for the scenario file; default: the program itself
    #[arg(value_name = "COMMAND")]
    of: Vec<String>,
    /// Write all pages to this folder; beside one called `man1`, those of section 5 to `man5`
    #[arg(long, short, value_name = "DIR", conflicts_with = "of")]
    out: Option<PathBuf>,
}

/// A manual page.
#[derive(Debug)]
pub struct ManPage {
    /// What it is of, as typed: `maxseg stacks from-host`.
    pub of: String,
    /// Its file: `maxseg-run.1`.
    pub file: String,
    /// Its text, for roff.
    pub text: String,
}

pub(crate) fn run(args: &ManArgs, printer: Printer) -> Result<(), Failure> {
    let pages = man_pages();
    let Some(folder) = &args.out else {
        printer.data(&page_of(&pages, &args.of)?.text)?;
        return Ok(());
    };
    refuse_stdout("--out", "folder", folder, "man1")?;
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for page in &pages {
        let folder = folder_of(page, folder);
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::file("make the folder", &folder, &error))?;
        let file = folder.join(&page.file);
        WholeFile::create(&file)
            .and_then(|out| out.finish(page.text.as_bytes()))
            .map_err(|error| Failure::file("write", &file, &error))?;
        *counts.entry(folder).or_default() += 1;
    }
    for (folder, count) in counts {
        let pages = if count == 1 { "page" } else { "pages" };
        printer.note(&format!("{count} {pages} in {}", folder.display()));
    }
    Ok(())
}

/// The folder of a page: man(1) finds those of section 5 only in `man5`, beside `man1`. A folder of any other name has all of them.
fn folder_of(page: &ManPage, folder: &Path) -> PathBuf {
    let section = page.file.rsplit_once('.').map_or("1", |(_, section)| section);
    if folder.file_name().is_some_and(|name| name == "man1") {
        return folder.with_file_name(format!("man{section}"));
    }
    folder.to_owned()
}

/// The page of a command: in words, each its own argument or not, or by the name that man(1) knows, `maxseg-run`.
fn page_of<'a>(pages: &'a [ManPage], command: &[String]) -> Result<&'a ManPage, Failure> {
    let words = command.join(" ");
    let is_wanted = |page: &&ManPage| {
        let name = page.file.rsplit_once('.').map_or("", |(name, _)| name);
        let is_named = page.command() == words && words.is_empty() == command.is_empty();
        is_named || name == words || name.strip_prefix("maxseg-") == Some(&words)
    };
    pages.iter().find(is_wanted).ok_or_else(|| {
        let commands = || pages.iter().map(ManPage::command).filter(|command| !command.is_empty());
        let hint = match maxseg_core::similar::closest(&words, commands()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("commands: {}", commands().collect::<Vec<_>>().join(", ")),
        };
        Failure::with_hint(format!("there is no command `{words}`"), hint)
    })
}

impl ManPage {
    /// What it is of, without the program's name.
    fn command(&self) -> &str {
        self.of.strip_prefix("maxseg").unwrap_or(&self.of).trim_start()
    }
}

/// Every manual page: the program's, one for each command and command of a command, and that of the scenario file.
///
/// # Panics
/// Never: memory takes what is written to it.
pub fn man_pages() -> Vec<ManPage> {
    // Without the commit, so that a page changes only with what it says.
    let version = env!("CARGO_PKG_VERSION");
    let mut program = super::command().version(version).disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, &mut pages);
    pages.push(ManPage {
        of: "maxseg scenario".to_owned(),
        file: SCENARIO_PAGE.to_owned(),
        text: Reference::new().to_roff(version),
    });
    pages
}

fn collect(command: &clap::Command, pages: &mut Vec<ManPage>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let of = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let text = render(command).expect("memory takes what is written to it");
    pages.push(ManPage { of: of.to_owned(), file: format!("{name}.1"), text });
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, pages);
    }
}

/// The sections in the order of man-pages(7). What stands behind a help page's options is set here:
/// examples keep their lines.
fn render(command: &clap::Command) -> io::Result<String> {
    let program = concat!("maxseg ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(program);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut page = String::from_utf8_lossy(&page).into_owned();
    if let Some(more) = command.get_after_long_help() {
        page += &notes(&more.to_string());
    }
    Ok(in_ascii(&page))
}

/// Paragraphs are filled, indented lines are kept as they are.
fn notes(text: &str) -> String {
    let mut roff = String::new();
    let mut section = "";
    let mut open = |roff: &mut String, title: &'static str| {
        if section != title {
            let _ = writeln!(roff, ".SH {title}");
            section = title;
        }
    };
    let mut is_kept = false;
    for line in text.lines() {
        let indented = line.starts_with("  ");
        if indented != is_kept {
            roff += if indented { ".RS 4\n.nf\n" } else { ".fi\n.RE\n" };
            is_kept = indented;
        }
        match line.trim() {
            "" => roff += ".PP\n",
            "Examples:" => open(&mut roff, "EXAMPLES"),
            words => {
                if !indented {
                    open(&mut roff, "NOTES");
                }
                let _ = writeln!(roff, "{}", escape(words));
            }
        }
    }
    if is_kept {
        roff += ".fi\n.RE\n";
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page_with_its_options_and_examples() {
        let pages = man_pages();
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        for wanted in ["maxseg.1", "maxseg-run.1", "maxseg-stacks-show.1", "maxseg-man.1"] {
            assert!(files.contains(&wanted), "{files:?}");
        }
        assert!(!files.iter().any(|file| file.contains("help")), "{files:?}");
        let run = page_of(&pages, &["run".to_owned()]).unwrap();
        assert!(run.text.contains(".SH EXAMPLES\n.RS 4\n.nf\nmaxseg run slow\\-tunnel\n"));
        assert!(run.text.contains("\\-\\-seeds"), "{}", run.text);
        assert!(run.text.contains(".SH NOTES\n"));
        let scenario = page_of(&pages, &["scenario".to_owned()]).unwrap();
        assert_eq!(scenario.file, "maxseg-scenario.5");
        assert!(scenario.text.contains(".TP\n.B delay\nPropagation delay, one way.\n"));
    }

    #[test]
    fn pages_of_section_5_are_where_man_finds_them() {
        let pages = man_pages();
        let folders = |into: &str| {
            let [command, file] = ["maxseg-run.1", "maxseg-scenario.5"].map(|file| {
                let page = pages.iter().find(|page| page.file == file).unwrap();
                folder_of(page, Path::new(into)).display().to_string()
            });
            (command, file)
        };
        let both = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(folders("share/man/man1"), both("share/man/man1", "share/man/man5"));
        assert_eq!(folders("man1"), both("man1", "man5"));
        assert_eq!(folders("pages"), both("pages", "pages"));
    }

    #[test]
    fn a_wrong_command_is_told_with_the_nearest() {
        let failure = page_of(&man_pages(), &["runn".to_owned()]).unwrap_err().render();
        assert!(failure.contains("no command `runn`") && failure.contains("`run`?"), "{failure}");
        let failure = page_of(&man_pages(), &["stacks from host".to_owned()]).unwrap_err().render();
        assert!(failure.contains("did you mean `stacks from-host`?"), "{failure}");
    }

    #[test]
    fn a_command_of_a_command_is_named_in_one_word_or_in_several() {
        let pages = man_pages();
        for words in [
            &["stacks", "from-host"][..],
            &["stacks from-host"],
            &["maxseg-stacks-from-host"],
            &["stacks-from-host"],
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(page_of(&pages, &words).unwrap().file, "maxseg-stacks-from-host.1");
        }
    }
}
