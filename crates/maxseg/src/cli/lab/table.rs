//! A lab in tables.

use std::fmt::Write as _;

use comfy_table::Cell;
use maxseg_linux::lab::persistent::LabStatus;

use crate::report::{lines, plain, right};

pub(super) fn json(status: &LabStatus) -> String {
    let text = serde_json::to_string_pretty(status).expect("names and numbers are plain JSON");
    format!("{text}\n")
}

/// Who there is, and on which link each interface is.
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
        let _ = writeln!(text, "{note}");
    }
    text
}

/// What the links did.
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
            "\nof {} packets half left at most {:.0} us after their time, 99 of 100 at most {:.0} us, all {:.0} us",
            late.packets,
            late.p50_s * 1e6,
            late.p99_s * 1e6,
            late.max_s * 1e6
        );
    }
    if status.kernel_drops > 0 {
        let _ = writeln!(text, "the kernel dropped {} packets at interfaces", status.kernel_drops);
    }
    text
}
