//! Tables of a lab.

use std::fmt::Write as _;

use maxseg_core::outcome::LabLink;
use maxseg_linux::lab::persistent::{DEFAULT_NAME, LabStatus};

use crate::printer::Printer;
use crate::report::{Column, Grid};
use crate::wrap::hanging;

pub(super) fn json(status: &LabStatus) -> String {
    let text = serde_json::to_string_pretty(status).expect("names and numbers are plain JSON");
    format!("{text}\n")
}

/// Hosts, interfaces and addresses, with the link of each interface.
pub(super) fn hosts(status: &LabStatus, printer: Printer) -> String {
    let keys = ["host", "interface"].map(Column::word);
    let values = [
        Column::word("address"),
        Column::number("MTU"),
        Column::word("sends over"),
        Column::word("to"),
    ];
    let mut table = Grid::new(keys, values);
    for host in &status.hosts {
        for (nth, plug) in host.interfaces.iter().enumerate() {
            let name = if nth == 0 { host.host.clone() } else { String::new() };
            let (address, mtu) = (plug.address.to_string(), plug.mtu.to_string());
            let (link, towards) = (plug.link.clone(), plug.towards.clone());
            table.push([name, plug.interface.clone(), address, mtu, link, towards]);
        }
    }
    let scenario = match status.scenario.as_str() {
        "" => String::new(),
        name => format!(" ({name})"),
    };
    let mut text = format!(
        "{}{scenario}, process {}, up for {:.0} s\n\n",
        status.name, status.process, status.up_s
    );
    text += &table.text(printer.table_width());
    for note in &status.notes {
        text += &hanging(note, printer.width(), "  ");
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

/// What the table has no column for: packets above a link's MTU, and ICMP messages about such packets.
fn too_large(lab: &str, link: &LabLink) -> Option<String> {
    let which = if lab == DEFAULT_NAME { String::new() } else { format!(" --name {lab}") };
    let name = &link.link;
    let too_big = (link.too_big > 0).then(|| {
        format!(
            "{} packets larger than its MTU were dropped: maxseg lab set{which} \"{name}.mtu=BYTES\" changes link and \
             interface",
            link.too_big
        )
    });
    let withheld = (link.withheld > 0)
        .then(|| format!("{} ICMP messages about packets too large were withheld", link.withheld));
    let both: Vec<String> = [too_big, withheld].into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("{name}: {}", both.join("; ")))
}

/// The links' counters, and the lateness of their packets.
pub(super) fn links(status: &LabStatus, printer: Printer) -> String {
    let counts = ["packets", "bytes", "damaged", "refused", "policed", "dropped early", "marked"];
    let mut table = Grid::new([Column::word("link")], counts.map(Column::number));
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
        let counts = counts.iter().map(u64::to_string);
        table.push(std::iter::once(link.link.clone()).chain(counts));
    }
    let mut text = table.text(printer.table_width());
    let too_large: Vec<String> =
        status.links.iter().filter_map(|link| too_large(&status.name, link)).collect();
    if !too_large.is_empty() {
        text.push('\n');
    }
    for line in &too_large {
        text += &hanging(line, printer.width(), "  ");
    }
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
    fn packets_above_the_mtu_are_told_with_what_changes_it() {
        let link = |too_big, withheld| LabLink {
            link: "hop.wan.reverse".to_owned(),
            too_big,
            withheld,
            ..LabLink::default()
        };
        assert_eq!(too_large("lab", &link(0, 0)), None);
        let told = too_large("other", &link(3, 0)).unwrap();
        let want = "hop.wan.reverse: 3 packets larger than its MTU were dropped: maxseg lab set --name other \
                    \"hop.wan.reverse.mtu=BYTES\"";
        assert!(told.starts_with(want), "{told}");
        let told = too_large("lab", &link(3, 4)).unwrap();
        assert!(
            told.ends_with("; 4 ICMP messages about packets too large were withheld"),
            "{told}"
        );
    }

    #[test]
    fn lateness_has_a_unit_that_fits() {
        let told = [33e-6, 999e-6, 1.9e-3, 8.7e-3].map(lateness);
        assert_eq!(told, ["33 us", "999 us", "1.9 ms", "8.7 ms"]);
    }
}
