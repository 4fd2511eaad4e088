//! Tests of paths as text: the verdict, what to do, then the details.

mod far_end;
mod forget;
mod hops;
mod segments;

pub(crate) use forget::forget_text;

use maxseg_core::units::approx;
use maxseg_workbench::path::{MtuReport, PathFinding, PathReport, RttMethod, RttReport, flush};
use maxseg_workbench::report::path::{sentence, told_fault, untold};
use maxseg_workbench::report::words;

use crate::printer::Printer;
use crate::wrap::{hanging, wrapped};

/// The text of these reports.
pub(crate) fn path_text(reports: &[PathReport], printer: Printer) -> String {
    let each = reports.iter().map(|report| one(report, reports.len() > 1, printer));
    each.collect::<Vec<_>>().join("\n")
}

fn one(report: &PathReport, is_one_of_several: bool, printer: Printer) -> String {
    let width = printer.width();
    let mut text = String::new();
    if is_one_of_several {
        text += &printer.bold(&name(report));
        text += "\n";
    }
    text += &wrapped(&sentence(report), width, "");
    if let Some(remedy) = told_fault(report).and_then(|finding| finding.remedy.as_ref()) {
        text += &wrapped(&format!("{}.", words::capital(remedy)), width, "");
    }
    text += &far_end::verdicts(report, printer);
    text += "\n";
    for line in lines(report) {
        text += &hanging(&line, width, "  ");
    }
    text += &hops::table(report, printer);
    text += &far_end::far_end_text(report, printer);
    let others: Vec<&PathFinding> = untold(report).collect();
    if !others.is_empty() {
        text += "\nAlso\n";
    }
    for finding in others {
        let remedy =
            finding.remedy.as_ref().map_or_else(String::new, |remedy| format!("; {remedy}"));
        let line = format!("  {}: {}{remedy}", finding.kind.word(), finding.text);
        text += &hanging(&line, width, "  ");
    }
    text
}

/// The host as it was named, and its address.
fn name(report: &PathReport) -> String {
    let address = report.address.to_string();
    if report.target == address { address } else { format!("{} ({address})", report.target) }
}

/// What was measured, a line each.
fn lines(report: &PathReport) -> Vec<String> {
    let mut lines = vec![round_trip(&report.rtt)];
    lines.push(path_mtu(&report.path_mtu));
    lines.push(segments::line(&report.mss));
    lines.extend(report.mss.remark.clone().map(|remark| format!("MSS: {remark}")));
    lines.extend(flows(&report.path_mtu));
    lines.extend(taught(report));
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    let transfers = if report.bottleneck.is_some() { ", transfers aside," } else { "" };
    lines.push(format!(
        "sent: {}{transfers} in {}",
        words::size(report.sent_bytes),
        approx::time(report.elapsed_s)
    ));
    lines
}

fn round_trip(rtt: &RttReport) -> String {
    let (Some(method), Some(least), Some(median), Some(p99)) =
        (rtt.method, rtt.min_s, rtt.median_s, rtt.p99_s)
    else {
        return "round trip: unknown, nothing answered echoes, SYNs or UDP in time".to_owned();
    };
    let method = match method {
        RttMethod::IcmpEcho => "ICMP echo",
        RttMethod::TcpSyn => "TCP SYN",
        RttMethod::UdpUnreachable => "UDP, port unreachable",
    };
    format!(
        "round trip: least {}, median {}, p99 {} ({method}, {} of {} lost{}{})",
        approx::time(least),
        approx::time(median),
        approx::time(p99),
        rtt.lost,
        rtt.sent,
        if rtt.answers_limited { "; answers limited" } else { "" },
        rtt.first_s
            .map_or_else(String::new, |first| format!("; the first took {}", approx::time(first)))
    )
}

fn path_mtu(mtu: &MtuReport) -> String {
    let Some(size) = mtu.forward_bytes else {
        let why = mtu.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        return format!("path MTU: unknown{why}");
    };
    let method = mtu.method.map_or_else(String::new, |method| format!(", by {}", method.word()));
    let chance = chance(mtu.error_chance);
    let reason = mtu.reason.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
    format!("path MTU: {size} bytes ({}{method}{chance}{reason})", mtu.confidence.word())
}

/// The chance that losses look like a limit, as a clause; nothing where there is none.
fn chance(chance: Option<f64>) -> String {
    /// Rarer than this is said to be so: the estimate rests on independent losses.
    const RARE: f64 = 1e-6;
    match chance.filter(|chance| *chance > 0.0) {
        None => String::new(),
        Some(chance) if chance <= RARE => {
            "; the chance that losses explain it is below one in a million".to_owned()
        }
        Some(chance) => format!(
            "; the chance that losses explain it is one in {}",
            words::grouped(times(chance))
        ),
    }
}

/// One by a chance, in two digits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a million")]
fn times(chance: f64) -> u64 {
    let times = (1.0 / chance).clamp(1.0, 1e6);
    let scale = 10_f64.powf((times.log10() - 1.0).floor().max(0.0));
    ((times / scale).round() * scale) as u64
}

/// How many flows agree.
fn flows(mtu: &MtuReport) -> Option<String> {
    let known: Vec<u32> = mtu.flows.iter().filter_map(|flow| flow.mtu_bytes).collect();
    let (least, most) = (known.iter().min()?, known.iter().max()?);
    let several = mtu.flows.len();
    if several < 2 {
        return None;
    }
    Some(if least == most {
        let vanish: Vec<u32> = mtu.flows.iter().filter_map(|flow| flow.vanishes_bytes).collect();
        let vanishing = vanish.first().map_or_else(String::new, |size| {
            format!("; on {} packets of {size} bytes vanish", vanish.len())
        });
        let silent = several - known.len() - vanish.len();
        let silent = if silent > 0 {
            format!("; {silent} {} not answered", if silent == 1 { "was" } else { "were" })
        } else {
            String::new()
        };
        let have = if known.len() == 1 { "has" } else { "have" };
        format!(
            "flows: {} of {several} {have} that MTU, each with ports of its own{vanishing}{silent}",
            known.len()
        )
    } else {
        let each: Vec<String> = mtu
            .flows
            .iter()
            .filter_map(|flow| Some(format!("port {} {}", flow.destination_port, flow.mtu_bytes?)))
            .collect();
        format!("flows: {}", each.join(", "))
    })
}

/// What the test has left in this host.
fn taught(report: &PathReport) -> Option<String> {
    let taught = report.path_mtu.taught_the_kernel?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    let left = (taught.until_s - now.as_secs_f64()).max(0.0);
    let removes = if taught.is_locked {
        format!("the kernel has locked it, and {}", flush(report.address))
    } else {
        "`maxseg path --forget` removes that (root)".to_owned()
    };
    Some(format!(
        "left behind: this host remembers a path MTU of {} to {} for {} more: connections there send no larger packets; {removes}",
        taught.mtu_bytes,
        report.address,
        approx::time(left.round())
    ))
}
