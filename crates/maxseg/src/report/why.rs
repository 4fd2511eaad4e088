//! Explained connections on a terminal.

mod path;

use std::fmt::Write as _;

use maxseg_core::advise::{CommandKind, Remedy};
use maxseg_core::excerpt::escaped;
use maxseg_core::units::Bytes;
use maxseg_core::why::{Chain, Link, Source};
use maxseg_workbench::connections::{Connection, Listener};
use maxseg_workbench::report::words;
use maxseg_workbench::why::{Why, explain_listener};

use super::{Column, Grid};
use crate::printer::Printer;
use crate::wrap::{hanging, wrapped};

/// The listening sockets, each in a sentence; those whose queue is full or has dropped with what to change.
pub(crate) fn listeners_text(listeners: &[Listener], printer: Printer) -> String {
    let width = printer.width();
    let text = |listener: &Listener| {
        let verdict = explain_listener(listener);
        let sentence = wrapped(&escaped(&verdict.sentence), width, "");
        verdict.remedy.as_ref().map_or(sentence.clone(), |remedy| sentence + &change(remedy, width))
    };
    listeners.iter().map(text).collect()
}

/// The connections, each with its explanation.
pub(crate) fn why_text(explained: &[(Connection, Option<Why>)], printer: Printer) -> String {
    if !explained.is_empty() && explained.iter().all(|(connection, _)| connection.is_remnant()) {
        return remnants(explained, printer.width());
    }
    let text = |(connection, why): &(Connection, Option<Why>)| {
        why.as_ref().map_or_else(|| half_open(connection), |why| one(connection, why, printer))
    };
    explained.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Connections of which the kernel keeps no more than their ends: there is nothing to explain of any.
fn remnants(explained: &[(Connection, Option<Why>)], width: usize) -> String {
    let mut text = wrapped(
        "No connection that matches is open: the kernel keeps the ends of closed ones until their time is over, and no tcp_info.",
        width,
        "",
    );
    text += "\n";
    for (connection, _) in explained {
        text += &hanging(&title(connection), width, "  ");
    }
    text
}

fn half_open(connection: &Connection) -> String {
    let state = connection.state_name();
    format!("{}\n\nThe kernel has no tcp_info of it: its state is {state}.\n", title(connection))
}

fn title(connection: &Connection) -> String {
    let mut parts = vec![format!("{} to {}", connection.local, connection.remote)];
    if let Some(owner) = &connection.process {
        parts.push(format!("{}/{}", owner.name, owner.pid));
    }
    parts.push(connection.state_name().to_owned());
    parts.extend(connection.congestion.as_deref().map(str::to_owned));
    parts.extend(connection.netns.as_deref().map(|netns| format!("namespace {netns}")));
    // A name may hold line breaks, and a title is one line.
    escaped(&parts.join(", ")).into_owned()
}

fn one(connection: &Connection, why: &Why, printer: Printer) -> String {
    let width = printer.width();
    let mut text = String::new();
    if connection.is_closed {
        text += "This connection closed while it was looked at.\n";
    }
    text += &wrapped(&why.verdict.sentence, width, "");
    if let Some(remedy) = &why.verdict.remedy {
        text += &change(remedy, width);
    }
    text += "\n";
    text += &hanging(&title(connection), width, "  ");
    text += &chain("Segments that this host sends", "bytes of payload", &why.mss.sent, printer);
    text += &hidden(why, width);
    text += &chain("MSS option of this host", "bytes", &why.mss.advertised, printer);
    text += &chain("Receive window of this host", "bytes", &why.window, printer);
    text += &path::text(&why.path, width);
    if !why.findings.is_empty() {
        text += "\nFindings\n";
        for finding in &why.findings {
            text += &hanging(&format!("  {}: {}", finding.kind.word(), finding.text), width, "  ");
        }
    }
    text
}

/// What to change, with the commands as they are to be pasted.
fn change(remedy: &Remedy, width: usize) -> String {
    let mut text = wrapped(&format!("{}.", remedy.sentence()), width, "");
    for command in &remedy.commands {
        let what = match command.kind {
            CommandKind::Look => "look",
            CommandKind::Change => "change",
        };
        let condition = command.only_where.as_ref();
        let only = condition.map_or_else(String::new, |only| format!(", only if {only}"));
        text += &hanging(&format!("  {what}, on {}{only}:", command.on), width, "  ");
        let _ = writeln!(text, "    {}", command.line);
    }
    if let Some(note) = &remedy.note {
        text += &wrapped(note, width, "  ");
    }
    text
}

/// A number with its bounds, the one that holds marked.
fn chain(name: &str, unit: &str, chain: &Chain, printer: Printer) -> String {
    let number = |bytes: Option<Bytes>| bytes.map(|bytes| words::grouped(bytes.get()));
    let told = |link: &Link, bytes: Option<Bytes>| match number(bytes) {
        Some(number) if link.is_least => format!("≥ {number}"),
        Some(number) => number,
        None => "-".to_owned(),
    };
    let heading = format!("{name}: {} {unit}", words::grouped(chain.effective.get()));
    let mut text = format!("\n{}\n", printer.bold(&heading));
    let mut table = Grid::new(
        [Column::word("bound")],
        [Column::number("set to"), Column::number("allows"), Column::word("")],
    );
    for link in &chain.links {
        let mark = if link.wins { "holds" } else { "" };
        table.push([
            label(link.source).to_owned(),
            told(link, link.value),
            told(link, link.allows),
            mark.to_owned(),
        ]);
    }
    text += &table.text(printer.table_width());
    for link in chain.links.iter().filter(|link| link.note.is_some()) {
        let note = link.note.as_deref().unwrap_or_default();
        text += &hanging(&format!("  {}: {note}.", label(link.source)), printer.width(), "  ");
    }
    if let Some(why) = &chain.unexplained {
        text += &wrapped(
            &format!("Which bound is effective is not known: {why}."),
            printer.width(),
            "  ",
        );
    }
    text
}

/// What a running socket does not tell apart, and what shows more of it.
fn hidden(why: &Why, width: usize) -> String {
    let Some(link) = why.mss.sent.link(Source::MssClamp) else { return String::new() };
    // Before the peer's SYN there is nothing to tell apart.
    if link.one_of.is_empty() {
        return String::new();
    }
    let members: Vec<&str> = link.one_of.iter().map(|source| label(*source)).collect();
    let text = if link.wins {
        format!(
            "One of {} holds: a running socket does not tell which. The next SYN shows both MSS options as they are here, the \
             peer's behind any clamp on the way:",
            words::listed(&members)
        )
    } else {
        format!(
            "mss_clamp is the least of {}; a running socket shows only that it is no less than this. The next SYN shows it:",
            words::listed(&members)
        )
    };
    format!("{}    {}\n", wrapped(&text, width, "  "), why.next_syn)
}

/// A bound's name, as `ip`, the kernel or socket(7) has it.
const fn label(source: Source) -> &'static str {
    match source {
        Source::InterfaceMtu => "interface MTU",
        Source::RouteMtu => "route mtu",
        Source::PathMtu => "learnt path MTU",
        Source::MssClamp => "mss_clamp",
        Source::PeerOption => "the peer's MSS option",
        Source::PathClamp => "a clamp on the way",
        Source::UserMss => "TCP_MAXSEG",
        Source::MtuProbing => "tcp_mtu_probing",
        Source::PeerWindow => "half of the peer's window",
        Source::Floor => "tcp_min_snd_mss",
        Source::RouteAdvmss => "route advmss",
        Source::WindowScale => "window scale",
        Source::RouteWindow => "route window",
        Source::WindowClamp => "TCP_WINDOW_CLAMP",
        Source::SocketBuffer => "receive buffer (SO_RCVBUF)",
        Source::RmemMax => "rmem_max",
        Source::TcpRmem => "tcp_rmem, maximum",
        Source::Autotuning => "receive buffer (autotuned)",
        Source::Growth => "rcv_ssthresh",
        Source::UnreadData => "data not read",
    }
}
