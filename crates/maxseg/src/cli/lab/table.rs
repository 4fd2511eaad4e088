//! Tables of a lab.

use std::fmt::Write as _;

use comfy_table::Cell;
use maxseg_linux::lab::persistent::LabStatus;

use crate::report::{lines, plain, right};

pub(super) fn json(status: &LabStatus) -> String {
    let text = serde_json::to_string_pretty(status).expect("names and numbers are plain JSON");
    format!("{text}\n")
}

/// Hosts, interfaces and addresses, with the link of each interface.
pub(super) fn hosts(status: &LabStatus) -> String {
    let mut table = plain();
    table.set_header(["host", "interface", "address", "MTU", "sends over", "to"]);
    for host in &status.hosts {
        for (nth, plug) in host.interfaces.iter().enumerate() {
            let name = if nth == 0 { &host.host } else { "" };
            let cells = [name, &plug.interface, &plug.address.to_string()].map(Cell::new);
            let sends = [&plug.link, &plug.towards].map(Cell::new);
            let mtu = [right(plug.mtu.to_string())];
            table.add_row(cells.into_iter().chain(mtu).chain(sends));
        }
    }
    let mut text = format!(
        "{} ({}), process {}, up for {:.0} s\n\n",
        status.name, status.scenario, status.process, status.up_s
    );
    text += &lines(&table);
    for note in &status.notes {
        let _ = writeln!(text, "{}", wrapped(note));
    }
    text
}

/// Lines of at most 80 columns; a longer word stays whole.
fn wrapped(note: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in note.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 80 {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text += word;
        width += length;
    }
    text
}

/// Seconds in microseconds below one millisecond, in milliseconds with one decimal from there.
fn lateness(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} us", seconds * 1e6)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

/// The links' counters, and the lateness of their packets.
pub(super) fn links(status: &LabStatus) -> String {
    let mut table = plain();
    let counts = ["packets", "bytes", "damaged", "refused", "policed", "early", "marked"];
    table.set_header(std::iter::once(Cell::new("link")).chain(counts.map(right)));
    for link in &status.links {
        let counts = [
            link.packets,
            link.bytes,
            link.damaged,
            link.refused,
            link.policed,
            link.early,
            link.marked,
        ];
        let counts = counts.iter().map(|count| right(count.to_string()));
        table.add_row(std::iter::once(Cell::new(&link.link)).chain(counts));
    }
    let mut text = lines(&table);
    let late = &status.lateness;
    if late.packets > 0 {
        let _ = writeln!(
            text,
            "\nlateness p50 {}, p99 {}, max {} ({} packets)",
            lateness(late.p50_s),
            lateness(late.p99_s),
            lateness(late.max_s),
            late.packets
        );
    }
    if status.kernel_drops > 0 {
        let _ = writeln!(text, "the kernel dropped {} packets at interfaces", status.kernel_drops);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_has_a_unit_that_fits() {
        let told = [33e-6, 999e-6, 1.9e-3, 8.7e-3].map(lateness);
        assert_eq!(told, ["33 us", "999 us", "1.9 ms", "8.7 ms"]);
    }

    #[test]
    fn notes_end_at_80_columns() {
        let note = "sender: new connections use bbr, not cubic: cubic is not an allowed congestion control \
                    (operation not permitted); sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='reno cubic'";
        let text = wrapped(note);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            note.split_whitespace().collect::<Vec<_>>()
        );
    }
}
