//! Arguments that cannot be read, told as every other error is: what, and a hint that would work.

use std::ffi::OsString;
use std::path::Path;

use clap::Arg;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use maxseg_core::similar::closest;

use super::elsewhere::{elsewhere, instead_of};
use crate::failure::Failure;

/// `error` of the command line, which was read by `root`.
pub(super) fn failure(error: &clap::Error, root: &clap::Command) -> Failure {
    let command = called(root);
    let arguments = std::env::args_os().filter_map(|word| word.into_string().ok()).collect();
    let of_value = negative_value(error, &command, arguments)
        .and_then(|joined| root.clone().try_get_matches_from(joined).err());
    let told = Told { error: of_value.as_ref().unwrap_or(error), command };
    let (what, hint) = told.what_and_hint();
    Failure::usage(what, hint)
}

/// The command line with a negative number joined to the option before it: `--seeds=-1`. Apart from it, clap takes the number for an
/// option that is not there, and does not say what `--seeds` takes. `None` where that is not what is wrong.
fn negative_value(
    error: &clap::Error,
    command: &Called<'_>,
    mut arguments: Vec<String>,
) -> Option<Vec<String>> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let takes_value = |word: &str| {
        let mut known =
            command.command.get_arguments().filter(|known| known.get_action().takes_values());
        known.any(|known| {
            known.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || known.get_short().is_some_and(|short| word == format!("-{short}"))
        })
    };
    let of_another_program = arguments.iter().position(|word| word == "--");
    let at = (1..of_another_program.unwrap_or(arguments.len()))
        .find(|&at| looks_negative(&arguments[at]) && takes_value(&arguments[at - 1]))?;
    let number = arguments.remove(at);
    arguments[at - 1] = format!("{}={number}", arguments[at - 1]);
    Some(arguments)
}

/// The command that the arguments of this process name, as far as they do, with its path.
fn called(root: &clap::Command) -> Called<'_> {
    let mut called = Called { command: root, path: root.get_name().to_owned() };
    // `maxseg help stacks show` is about `stacks show`.
    let words = std::env::args_os().skip(1).skip_while(|word| word == "help");
    for argument in words {
        let Some(word) = argument.to_str().filter(|word| !word.starts_with('-')) else { continue };
        match called.command.find_subcommand(word) {
            Some(command) => {
                called.path = format!("{} {word}", called.path);
                called.command = command;
            }
            None => break,
        }
    }
    called
}

struct Called<'a> {
    command: &'a clap::Command,
    /// As typed: `maxseg lab up`.
    path: String,
}

struct Told<'a> {
    error: &'a clap::Error,
    command: Called<'a>,
}

impl Told<'_> {
    fn what_and_hint(&self) -> (String, String) {
        let argument = self.one(ContextKind::InvalidArg);
        let value = self.one(ContextKind::InvalidValue);
        match self.error.kind() {
            ErrorKind::InvalidValue if value.is_empty() => {
                (format!("{argument} needs a value"), self.example_of(&argument))
            }
            ErrorKind::InvalidValue => {
                (format!("`{value}` is not a value of {argument}"), self.choice(&argument, &value))
            }
            ErrorKind::ValueValidation => {
                let why = self.reason(&argument, &value);
                (why, self.example_of(&argument))
            }
            ErrorKind::UnknownArgument => {
                (format!("there is no argument `{argument}` here"), self.options(&argument))
            }
            ErrorKind::InvalidSubcommand => {
                let word = self.one(ContextKind::InvalidSubcommand);
                (format!("there is no command `{word}`"), self.commands(&word))
            }
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                (format!("`{}` needs a command", self.command.path), self.commands(""))
            }
            ErrorKind::MissingRequiredArgument => {
                let is_option = argument.starts_with("--");
                let hint = if is_option { self.example_of(&argument) } else { self.example() };
                (format!("`{}` needs {argument}", self.command.path), hint)
            }
            ErrorKind::ArgumentConflict => {
                let other = self.one(ContextKind::PriorArg);
                if other == argument || other.is_empty() {
                    (format!("{argument} is given twice"), format!("write {argument} once"))
                } else {
                    let leave_out = || format!("leave {argument} out, or {other}");
                    let hint = instead_of(&self.command.path, [&argument, &other]);
                    let hint = hint.map_or_else(leave_out, str::to_owned);
                    (format!("{argument} does not go with {other}"), hint)
                }
            }
            ErrorKind::InvalidUtf8 => {
                self.not_text(std::env::args_os().find(|word| word.to_str().is_none()))
            }
            ErrorKind::NoEquals
            | ErrorKind::TooManyValues
            | ErrorKind::TooFewValues
            | ErrorKind::WrongNumberOfValues
            | _ => (format!("{argument} has the wrong number of values"), self.example()),
        }
    }

    /// An argument that is not UTF-8: which, and how a file of such a name is read.
    fn not_text(&self, word: Option<OsString>) -> (String, String) {
        let write = format!("write it in UTF-8, as in {}", self.example_line());
        let Some(word) = word else {
            return ("an argument is not text in UTF-8".to_owned(), write);
        };
        let quoted = format!("$'{}'", word.as_encoded_bytes().escape_ascii());
        let hint = if self.command.path.ends_with(" explain") && Path::new(&word).exists() {
            format!("give it as standard input: {} - < {quoted}", self.command.path)
        } else {
            write
        };
        (format!("the argument {quoted} is not text in UTF-8"), hint)
    }

    /// What clap knows by this kind, as one text.
    fn one(&self, kind: ContextKind) -> String {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            Some(ContextValue::Strings(texts)) => texts.join(" and "),
            Some(ContextValue::StyledStr(text)) => text.to_string(),
            Some(ContextValue::Number(number)) => number.to_string(),
            Some(_) | None => String::new(),
        }
    }

    /// Why a value is refused, without the words of Rust's parsers.
    fn reason(&self, argument: &str, value: &str) -> String {
        let why =
            std::error::Error::source(self.error).map(ToString::to_string).unwrap_or_default();
        let whole = "invalid digit found in string";
        let of_a_parser = [whole, "cannot parse integer", "number too", "invalid IP address", ".."];
        if value.is_empty() {
            return format!("{argument} needs a value");
        }
        if why.is_empty() || of_a_parser.iter().any(|part| why.contains(part)) {
            return format!("`{value}` is not a value of {argument}{}", range_of(&why));
        }
        format!("`{value}` is not a value of {argument}: {}", why.trim_end())
    }

    /// The values that an argument takes, or the one that was meant.
    fn choice(&self, argument: &str, value: &str) -> String {
        let known = match self.error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(values)) => values.clone(),
            Some(_) | None => Vec::new(),
        };
        match closest(value, known.iter().map(String::as_str)) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None if known.is_empty() => self.example_of(argument),
            None => format!("values of {argument}: {}", known.join(", ")),
        }
    }

    /// A value that the argument takes.
    fn example_of(&self, argument: &str) -> String {
        let name = argument.split([' ', '=']).next().unwrap_or_default();
        let is_named = |known: &&Arg| match known.get_long() {
            Some(long) => name.strip_prefix("--") == Some(long),
            None => argument.contains(&format!("<{}>", value_name(known))),
        };
        let found = self.command.command.get_arguments().find(is_named);
        let values: Vec<String> = found
            .map(|known| {
                let values = known.get_possible_values().into_iter();
                values.map(|value| value.get_name().to_owned()).collect()
            })
            .unwrap_or_default();
        let is_address = found.is_some_and(|known| value_name(known) == "ADDRESS");
        match option_example(name) {
            // A host of a topology, or an address.
            Some(_) if is_address && name == "--to" => {
                format!("write for example {name} 192.0.2.7")
            }
            Some(example) => format!("write for example {name} {example}"),
            None if !values.is_empty() => format!("values of {name}: {}", values.join(", ")),
            None => self.example(),
        }
    }

    /// The option that was meant, or all that the command takes.
    fn options(&self, argument: &str) -> String {
        if let Some(hint) = elsewhere(&self.command.path, argument) {
            return hint.to_owned();
        }
        let longs = || self.command.command.get_arguments().filter_map(Arg::get_long);
        let word = argument.trim_start_matches('-');
        let suggested = self.one(ContextKind::SuggestedArg);
        if !suggested.is_empty() {
            return format!("did you mean `{suggested}`?");
        }
        if let Some(similar) = closest(word, longs()) {
            return format!("did you mean `--{similar}`?");
        }
        if looks_negative(argument) {
            return format!("no argument begins with `-` and a digit; {}", self.example());
        }
        if argument.starts_with('-') {
            let known: Vec<String> = longs().map(|long| format!("--{long}")).collect();
            return format!("`{}` takes {}", self.command.path, known.join(", "));
        }
        self.example()
    }

    /// The command that was meant, or all there are.
    fn commands(&self, word: &str) -> String {
        let names = || {
            let commands = self.command.command.get_subcommands();
            commands.filter(|command| !command.is_hide_set()).map(clap::Command::get_name)
        };
        match closest(word, names()) {
            Some(similar) => format!("did you mean `{} {similar}`?", self.command.path),
            None => format!("commands: {}", names().collect::<Vec<_>>().join(", ")),
        }
    }

    fn example(&self) -> String {
        format!("write for example {}", self.example_line())
    }

    fn example_line(&self) -> &'static str {
        example_of_command(self.command.path.trim_start_matches("maxseg").trim())
    }
}

/// A line that works as it stands, or with a name of the user's own.
fn example_of_command(path: &str) -> &'static str {
    match path {
        "top" => "maxseg top",
        "new" => "maxseg new path.toml",
        "run" => "maxseg run slow-tunnel",
        "check" => "maxseg check slow-tunnel",
        "compare" => "maxseg compare before after",
        "advise" => "maxseg advise slow-tunnel",
        "explain" => "maxseg explain trace.pcapng",
        "capture" => "maxseg capture --interface lo --count 10",
        "connections" => "maxseg connections --port 443",
        "calc" => "maxseg calc bdp rate=10Mbit/s rtt=80ms",
        "stacks" => "maxseg stacks",
        "stacks show" => "maxseg stacks show linux",
        "stacks from-host" => "maxseg stacks from-host --out host.toml",
        "guide" => "maxseg guide scenario",
        "schema" => "maxseg schema scenario",
        "path" => "maxseg path www.example.org:443",
        "responder" => "maxseg responder --listen 0.0.0.0",
        "completions" => "maxseg completions bash",
        "man" => "maxseg man run",
        "doctor" => "maxseg doctor",
        "lab up" => "maxseg lab up slow-tunnel",
        "lab exec" => "maxseg lab exec sender -- ping -c 3 receiver",
        "lab shell" => "maxseg lab shell sender",
        "lab set" => "maxseg lab set hop.0.delay=50ms",
        "lab import" => "maxseg lab import topology.mn",
        "lab status" => "maxseg lab status",
        "lab down" => "maxseg lab down",
        "tune list" => "maxseg tune list",
        "tune show" => "maxseg tune show tcp_rmem",
        "tune apply" => "maxseg tune apply --set route.default.mtu=1400",
        "tune undo" => "maxseg tune undo",
        "tune confirm" => "maxseg tune confirm",
        "tune status" => "maxseg tune status",
        "tune persist" => "maxseg tune persist",
        "tune watch" => "maxseg tune watch",
        "tune import" => "maxseg tune import modem-settings --out modem.toml",
        "tune export" => "maxseg tune export",
        _ => "maxseg demo",
    }
}

/// `0 is not in 1..=65535` as ` (1 to 65535)`.
fn range_of(why: &str) -> String {
    let range = why.rsplit_once(" is not in ").map(|(_, range)| range);
    match range.and_then(|range| range.split_once("..")) {
        Some((from, to)) => match to.trim_start_matches('=') {
            to if to == u64::MAX.to_string() => format!(" ({from} or more)"),
            to => format!(" ({from} to {to})"),
        },
        None => String::new(),
    }
}

/// `-1`, `-2s`, `-.5`.
fn looks_negative(argument: &str) -> bool {
    let number = argument.strip_prefix('-');
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| argument.get_id().to_string(), ToString::to_string)
}

/// A value of an option that has no list of values.
fn option_example(name: &str) -> Option<&'static str> {
    Some(match name {
        "--set" | "-s" => "sender.mss=536",
        "--axis" | "-a" => "sender.mss=536,1460",
        "--mtu" => "1500",
        "--seeds" | "--files" => "10",
        "--jobs" | "-j" => "2",
        "--out" | "-o" => "results",
        "--series" => "100ms",
        "--pcap" => "run.pcapng",
        "--svg" => "chart.svg",
        "--report" => "report.html",
        "--scenario" => "path.toml",
        "--connection" | "-n" => "0",
        "--connections" => "4",
        "--filter" | "-f" => "'host 10.0.0.7 and port 443'",
        "--interface" | "-i" => "lo",
        "--most-connections" => "100000",
        "--host" => "192.0.2.1",
        "--port" => "443",
        "--rotate" => "'100 MB'",
        "--read" | "-r" | "--write" | "-w" => "trace.pcapng",
        "--count" | "-c" => "100",
        "--duration" => "'10 s'",
        "--snaplen" => "96",
        "--buffer" => "'32 MiB'",
        "--name" => "lab",
        "--from" => "h1",
        "--to" => "h2",
        "--dst" => "192.0.2.0/24",
        "--interval" | "--watch" => "'2 s'",
        "--sort" => "rtt",
        "--columns" => "local,remote,rtt",
        "--limit" => "20",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_every_command_is_of_that_command() {
        fn check(command: &clap::Command, path: &str) {
            let inner = || command.get_subcommands().filter(|inner| !inner.is_hide_set());
            for inner in inner() {
                check(inner, format!("{path} {}", inner.get_name()).trim());
            }
            let example = example_of_command(path);
            assert!(
                inner().next().is_some() || example.starts_with(&format!("maxseg {path}")),
                "{path}: {example}"
            );
        }
        check(&crate::cli::command(), "");
    }
}
