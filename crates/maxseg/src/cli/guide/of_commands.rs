//! Which page of the documentation belongs to which command.

use clap::Command;

/// A command, or one of its own as `lab up`, with the pages that go on where its help ends.
const PAGES: [(&str, &[&str]); 20] = [
    ("top", &["connections"]),
    ("connections", &["connections"]),
    ("capture", &["capture"]),
    ("explain", &["explain", "explain-live"]),
    ("path", &["path", "rfc6349"]),
    ("responder", &["path"]),
    ("advise", &["advise"]),
    ("new", &["scenario"]),
    ("run", &["scenario", "data-frames", "pcap"]),
    ("check", &["scenario"]),
    ("compare", &["compare"]),
    ("lab", &["lab", "lab-up"]),
    ("lab import", &["lab-import"]),
    ("tune", &["tune"]),
    ("calc", &["glossary"]),
    ("demo", &["scenario"]),
    ("doctor", &["lab"]),
    ("stacks", &["scenario"]),
    ("schema", &["scenario", "data-frames"]),
    ("man", &["scenario"]),
];

/// The command with the page of each of its commands named where its long help ends.
pub(crate) fn with_guides(program: Command) -> Command {
    named_below(program, "")
}

fn named_below(command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}").trim_start().to_owned();
        command.mut_subcommand(name, |below| named_below(with_guide(below, &path), &path))
    })
}

fn with_guide(command: Command, path: &str) -> Command {
    let said = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let said = said.map_or_else(String::new, |said| format!("{said}\n\n"));
    let topics = pages(path).iter().map(|topic| format!("`maxseg guide {topic}`"));
    let topics = topics.collect::<Vec<_>>().join(", ");
    let guide = match topics.as_str() {
        "" => "Guide: `maxseg guide` lists the pages".to_owned(),
        topics => format!("Guide: {topics}"),
    };
    command.after_long_help(format!("{said}{guide}"))
}

/// The pages of a command; those of the command above it where it has none.
fn pages(path: &str) -> &'static [&'static str] {
    let of =
        |path: &str| PAGES.iter().find(|(command, _)| *command == path).map(|(_, pages)| *pages);
    let above = || path.split(' ').next().and_then(of);
    of(path).or_else(above).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_named_is_there_and_every_command_names_one() {
        for (_, topics) in PAGES {
            for topic in topics {
                assert!(super::super::page(topic).is_ok(), "no page {topic}");
            }
        }
        let mut unseen = vec![("maxseg".to_owned(), crate::cli::command())];
        while let Some((path, command)) = unseen.pop() {
            for below in command.get_subcommands() {
                let path = format!("{path} {}", below.get_name());
                let help = below.clone().render_long_help().to_string();
                assert!(help.contains("Guide: `maxseg guide"), "{path}: {help}");
                unseen.push((path, below.clone()));
            }
        }
    }
}
