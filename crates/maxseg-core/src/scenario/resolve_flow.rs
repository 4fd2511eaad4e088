//! Flows: what an entry of the file says, and whether it fits the run.

use super::problem::{Problem, problem};
use super::request::request_plan;
use super::spec::{EndName, FlowEntry, FlowKindName, RateCounts};
use super::{End, Flow, FlowKind, HopRange, Scenario};
use crate::framing::{ICMP_ECHO_HEADER, IpVersion, UDP_HEADER, ip_header};
use crate::path::Path;
use crate::units::{Bytes, Mtu, Time};

/// More packets in a second than any simulation is asked for.
const MOST_PACKETS_PER_SECOND: u128 = 100_000_000;

/// The flow that `entry` describes, with this index in the file.
pub(super) fn flow(
    index: usize,
    entry: &FlowEntry,
    ip: IpVersion,
    path: &Path,
) -> Result<Flow, Problem> {
    refuse_foreign_keys(index, entry)?;
    let kind = match entry.kind {
        FlowKindName::Bulk => FlowKind::Bulk,
        FlowKindName::Cbr => cbr(index, entry, ip)?,
        FlowKindName::Ping => ping(index, entry, ip)?,
        FlowKindName::Request => request_plan(index, entry)?,
    };
    let from = match entry.from {
        None | Some(EndName::Sender) => End::Sender,
        Some(EndName::Receiver) => End::Receiver,
    };
    let start = entry.start.unwrap_or_default();
    let stop = entry.stop.unwrap_or(Time::NEVER);
    if stop <= start {
        let what = format!("the flow stops at {stop} but begins at {start}");
        return Err(problem(format!("flow.{index}.stop"), what, "let it stop after its start"));
    }
    let hops = match &entry.hops {
        None => HopRange::all(path),
        Some(names) => HopRange::of_names(index, names, path)?,
    };
    Ok(Flow { kind, from, hops, start, stop })
}

/// A key that the kind does not know is a mistake, although another kind has it.
fn refuse_foreign_keys(index: usize, entry: &FlowEntry) -> Result<(), Problem> {
    let given = [
        ("stop", entry.stop.is_some()),
        ("rate", entry.rate.is_some()),
        ("rate_counts", entry.rate_counts.is_some()),
        ("size", entry.size.is_some()),
        ("header", entry.header.is_some()),
        ("interval", entry.interval.is_some()),
        ("request", entry.request.is_some()),
        ("reply", entry.reply.is_some()),
        ("pause", entry.pause.is_some()),
        ("think", entry.think.is_some()),
        ("connection", entry.connection.is_some()),
        ("count", entry.count.is_some()),
    ];
    let (kind, known): (_, &[&str]) = match entry.kind {
        FlowKindName::Bulk => ("bulk", &[]),
        FlowKindName::Cbr => ("cbr", &["stop", "rate", "rate_counts", "size", "header"]),
        FlowKindName::Ping => ("ping", &["stop", "size", "header", "interval"]),
        FlowKindName::Request => {
            ("request", &["stop", "request", "reply", "pause", "think", "connection", "count"])
        }
    };
    match given.iter().find(|(key, given)| *given && !known.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let known = [&["kind", "from", "hops", "start"], known].concat().join(", ");
            let what = format!("a {kind} flow has no `{key}`");
            Err(problem(format!("flow.{index}.{key}"), what, format!("known here: {known}")))
        }
    }
}

fn cbr(index: usize, entry: &FlowEntry, ip: IpVersion) -> Result<FlowKind, Problem> {
    let missing = |key: &str, example: &str| {
        let what = format!("a cbr flow needs `{key}`");
        problem(format!("flow.{index}"), what, format!("add {example}"))
    };
    let rate = entry.rate.ok_or_else(|| missing("rate", "rate = \"250 kbit/s\""))?;
    let size = entry.size.ok_or_else(|| missing("size", "size = 536"))?;
    let size = Bytes::new(u64::from(size.0));
    let header = header(entry.header, ip, UDP_HEADER);
    let counted = match entry.rate_counts {
        None | Some(RateCounts::Payload) => size,
        Some(RateCounts::Packet) => size + header,
    };
    if counted == Bytes::ZERO {
        let hint = "give it a payload, or rate_counts = \"packet\"";
        let what = "a rate that counts payload needs some";
        return Err(problem(format!("flow.{index}.size"), what, hint));
    }
    let per_second = u128::from(rate.get()) / u128::from(counted.bits());
    if per_second > MOST_PACKETS_PER_SECOND {
        let what = format!("{rate} in datagrams of {counted} are {per_second} packets a second");
        return Err(problem(
            format!("flow.{index}"),
            what,
            "make the rate lower or the datagrams larger",
        ));
    }
    Ok(FlowKind::Cbr { size, header, rate, counted })
}

fn ping(index: usize, entry: &FlowEntry, ip: IpVersion) -> Result<FlowKind, Problem> {
    let interval = entry.interval.unwrap_or(Time::from_secs(1));
    if interval < Time::from_nanos(10_000) {
        let what = format!("an echo request each {interval} is no ping");
        return Err(problem(format!("flow.{index}.interval"), what, "write interval = \"1 s\""));
    }
    Ok(FlowKind::Ping {
        size: Bytes::new(entry.size.map_or(56, |size| u64::from(size.0))),
        header: header(entry.header, ip, ICMP_ECHO_HEADER),
        interval,
    })
}

fn header(given: Option<u16>, ip: IpVersion, inner: Bytes) -> Bytes {
    given.map_or(ip_header(ip) + inner, |bytes| Bytes::new(u64::from(bytes)))
}

/// Flows that begin in time, of a size that IP carries, with something to count.
pub(super) fn check_flows_fit(scenario: &Scenario) -> Result<(), Problem> {
    for (index, flow) in scenario.flows.iter().enumerate() {
        if flow.start >= scenario.until.time {
            let what = format!(
                "the flow starts at {}, when the run is over ({})",
                flow.start, scenario.until.time
            );
            return Err(problem(
                format!("flow.{index}.start"),
                what,
                "start it earlier, or run longer",
            ));
        }
        if let FlowKind::Cbr { size, header, .. } | FlowKind::Ping { size, header, .. } = flow.kind
            && (size + header).get() > u64::from(Mtu::MAX)
        {
            let what = format!(
                "a packet of {} bytes is larger than IP allows (65535)",
                (size + header).get()
            );
            return Err(problem(format!("flow.{index}.size"), what, "make it smaller"));
        }
    }
    let has_bulk = scenario.flows.iter().any(|flow| flow.kind == FlowKind::Bulk);
    if scenario.until.bytes.is_some() && !has_bulk {
        let what = "there is no bulk flow whose bytes could end the run";
        return Err(problem("until.bytes", what, "write until.time, or add a bulk flow"));
    }
    Ok(())
}
