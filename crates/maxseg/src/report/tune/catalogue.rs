//! The catalogue of tunables on a terminal.

use std::fmt::Write as _;

use maxseg_core::tunables::{ActsBy, Tunable};
use maxseg_workbench::tune::catalogue::{Current, Listed};

use crate::printer::Printer;
use crate::report::{Column, Grid};
use crate::wrap::labelled;

/// A table of tunables; those that differ from the kernel's own value have a mark.
pub(crate) fn list(listed: &[Listed], printer: Printer) -> String {
    let keys = [Column::word("  name")];
    let values = ["current", "default", "range", "scope", "acts", "set by"].map(Column::word);
    let mut grid = Grid::new(keys, values);
    for one in listed {
        let tunable = one.tunable;
        let mark = if one.is_modified == Some(true) { "*" } else { " " };
        grid.push([
            format!("{mark} {}", tunable.sysctl().unwrap_or(&tunable.name)),
            current(one),
            tunable.default.clone().unwrap_or_else(|| "-".to_owned()),
            tunable
                .range
                .to_string()
                .replace("a name of net.ipv4.tcp_available_congestion_control", "a name"),
            tunable.scope.word().to_owned(),
            words(tunable.acts.word()),
            set_by(one).unwrap_or_default(),
        ]);
    }
    let modified = listed.iter().filter(|one| one.is_modified == Some(true)).count();
    format!(
        "{}\n* differs from the kernel's own value: {modified} of {}. `maxseg tune show NAME` describes one.\n",
        grid.text(printer.table_width()),
        listed.len()
    )
}

fn words(word: &str) -> String {
    word.replace('-', " ")
}

fn current(one: &Listed) -> String {
    match &one.current {
        Current::Value(value) => value.clone(),
        Current::Unknown(_) => "unknown".to_owned(),
        Current::Each(all) if all.len() < 3 => {
            all.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        Current::Each(all) => format!("{} interfaces", all.len()),
        Current::ByTarget => format!("by {}", one.tunable.scope.word()),
    }
}

/// The file that set the current value.
fn set_by(one: &Listed) -> Option<String> {
    let last = one.files.last()?;
    let place = format!("{}:{}", last.file.display(), last.line);
    Some(if one.holds() == Some(true) {
        place
    } else {
        format!("not {place}, which says {}", last.value)
    })
}

/// All that is known of a tunable.
pub(crate) fn show(one: &Listed, printer: Printer) -> String {
    let tunable = one.tunable;
    let mut text = format!("{}\n", printer.bold(&tunable.name));
    let mut row = |label: &str, value: &str| {
        if !value.is_empty() {
            text += &labelled(&format!("  {label:14}"), value, printer.width());
        }
    };
    row("meaning", &tunable.meaning);
    row("current", &current_in_full(one));
    row("default", &default(tunable));
    row("range", &format!("{}{}", tunable.range, tunable.unit.after_number()));
    row("numbers", &tunable.items.join(", "));
    row("scope", &scope(tunable));
    row("acts", &acts(tunable));
    row("set by", &owners(one));
    row("coupled with", &tunable.coupled_with.join(", "));
    row("risk", &tunable.risk);
    row("leaves behind", tunable.leaves_behind.as_deref().unwrap_or_default());
    for (system, same) in [
        ("FreeBSD", &tunable.freebsd),
        ("macOS", &tunable.macos),
        ("Windows", &tunable.windows),
        ("historic", &tunable.historic),
    ] {
        row(system, same.as_deref().unwrap_or("no equivalent is known"));
    }
    row("source", &tunable.source.join("; "));
    row("set it", &example(tunable));
    text
}

fn current_in_full(one: &Listed) -> String {
    let unit = one.tunable.unit.after_number();
    match &one.current {
        Current::Value(value) => {
            let mark = match one.is_modified {
                Some(true) => ", not the kernel's own",
                Some(false) => ", the kernel's own",
                None => "",
            };
            format!("{value}{unit}{mark}")
        }
        Current::Unknown(why) => why.clone(),
        Current::Each(all) => {
            all.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        Current::ByTarget if one.tunable.name.starts_with("socket.") => {
            "of each connection: `maxseg why A:port-B:port` shows what bounds one".to_owned()
        }
        Current::ByTarget => "of each route: `ip route` shows what is set".to_owned(),
    }
}

fn default(tunable: &Tunable) -> String {
    let note = tunable.default_note.as_deref();
    match (&tunable.default, note) {
        (Some(value), None) => value.clone(),
        (Some(value), Some(note)) => format!("{value}. {note}"),
        (None, note) => note.unwrap_or_default().to_owned(),
    }
}

fn scope(tunable: &Tunable) -> String {
    use maxseg_core::tunables::ChildNamespace;
    let namespace = match tunable.child_namespace {
        ChildNamespace::Own => "",
        ChildNamespace::ReadOnly => "; read only in network namespaces other than the first",
        ChildNamespace::Absent => "; absent in network namespaces other than the first",
    };
    let since = tunable.since.as_ref().map(|since| format!("; since Linux {since}"));
    format!("{}{namespace}{}", tunable.scope.word(), since.unwrap_or_default())
}

fn acts(tunable: &Tunable) -> String {
    let by = match tunable.acts_by {
        ActsBy::Measured => "measured on Linux 6.18",
        ActsBy::Source => "from the kernel's source",
    };
    let note = tunable.acts_note.as_ref().map(|note| format!(". {note}"));
    format!("{} ({by}){}", words(tunable.acts.word()), note.unwrap_or_default())
}

fn owners(one: &Listed) -> String {
    let mut text = String::new();
    for file in &one.files {
        let why = file.why.as_ref().map(|why| format!(" ({why})"));
        let place = format!("{}:{} = {}", file.file.display(), file.line, file.value);
        let unread = if file.is_read_at_start {
            ""
        } else {
            " (of `sysctl -p` and `sysctl --system`: systemd reads it by a link from /etc/sysctl.d alone)"
        };
        let _ = write!(text, "{place}{}{unread}; ", why.unwrap_or_default());
    }
    match one.holds() {
        Some(false) => text + "something else has changed it since",
        Some(true) => text.trim_end_matches("; ").to_owned(),
        None if one.is_modified == Some(true) => {
            "no file of sysctl.d: a program, a command, or the machine's first namespace".to_owned()
        }
        None => String::new(),
    }
}

/// The argument that sets it.
fn example(tunable: &Tunable) -> String {
    let target = match tunable.name.split_once('.') {
        Some(("route", metric)) => format!("route.10.0.0.0/8.{metric}"),
        Some(("interface", word)) => format!("interface.eth0.{word}"),
        Some(("socket", "mss")) => return String::new(),
        Some(("socket", option)) => {
            return format!("maxseg tune apply --connection A:port-B:port --set {option}=VALUE");
        }
        Some(_) => tunable.name.clone(),
        None => format!("{}.eth0", tunable.name),
    };
    format!("maxseg tune apply --set {target}=VALUE")
}
