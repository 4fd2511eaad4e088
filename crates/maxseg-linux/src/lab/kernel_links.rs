//! Links made of the kernel's qdiscs: whether they are available, what they leave out, and their counters.

use std::sync::OnceLock;

use maxseg_core::engine::Caveat;
use maxseg_core::outcome::LabLink;
use maxseg_core::path::{HopSpec, LinkSpec};
use maxseg_core::rng::Stream;
use maxseg_core::scenario::{End, Scenario};
use maxseg_core::units::{Probability, Time};
use serde::Deserialize;

use super::error::LabError;
use super::netem::{self, Kind, Netem, Plan, PlanOptions, Shortfall};
use super::netem_bridge::NetemBridge;
use super::topology::{DIRECTIONS, link_name};
use crate::sys::NetNs;

/// One direction of a hop.
struct Link<'a> {
    name: String,
    hop: usize,
    to: End,
    spec: &'a LinkSpec,
}

/// Every direction of every hop, in the order of the path.
fn links(scenario: &Scenario) -> impl Iterator<Item = Link<'_>> {
    let numbered = scenario.path.hops.iter().enumerate();
    numbered.flat_map(|(hop, HopSpec { name, forward, reverse })| {
        DIRECTIONS.map(|to| {
            let spec = if to == End::Receiver { forward } else { reverse };
            Link { name: link_name(name, to), hop, to, spec }
        })
    })
}

impl Link<'_> {
    /// Its qdiscs.
    fn plan(&self, scenario: &Scenario, seeds: bool) -> Plan {
        let seed =
            seeds.then(|| Stream::named(scenario.seed, &format!("{}.netem", self.name)).at(0));
        let options =
            PlanOptions { seed, as_netem: scenario.lab.as_netem, ..PlanOptions::default() };
        Plan::of(self.spec, &NetemBridge::place(), &options)
    }
}

/// Differences of the kernel's links from the scenario's on any kernel, each with the names of its links.
pub(super) fn caveats(scenario: &Scenario) -> Vec<Caveat> {
    let mut found: Vec<(Shortfall, Vec<String>)> = Vec::new();
    for link in links(scenario) {
        for shortfall in link.plan(scenario, true).shortfalls {
            match found.iter_mut().find(|(known, _)| *known == shortfall) {
                Some((_, names)) => names.push(link.name.clone()),
                None => found.push((shortfall, vec![link.name.clone()])),
            }
        }
    }
    let of_shortfall = |(shortfall, names): (Shortfall, Vec<String>)| {
        Caveat::new(shortfall.code(), format!("{}: {shortfall}", names.join(", ")))
    };
    let general = Caveat::new(
        "kernel-links",
        "links of the kernel: lateness and the packets of each flow are unknown; each hop takes 2 more from the TTL",
    );
    std::iter::once(general).chain(found.into_iter().map(of_shortfall)).collect()
}

/// Why this scenario has no numbers over the kernel's links, if so: they would be another path's.
pub(super) fn beyond(scenario: &Scenario) -> Option<String> {
    let unequal = scenario.path.hops.iter().find(|hop| hop.forward.mtu != hop.reverse.mtu);
    if let Some(hop) = unequal {
        return Some(format!(
            "the MTU of hop.{} is {} one way and {} the other; netem links need one MTU for both",
            hop.name, hop.forward.mtu, hop.reverse.mtu
        ));
    }
    links(scenario).find_map(|link| {
        let plan = link.plan(scenario, true);
        let missing = plan.shortfalls.into_iter().find(Shortfall::leaves_out)?;
        Some(format!("{}: {missing}", link.name))
    })
}

/// Checks whether this kernel has the qdiscs of the links. Gives the caveats.
///
/// # Errors
/// A qdisc is missing, or this user may not use it.
pub(super) fn check(scenario: &Scenario) -> Result<Option<Caveat>, LabError> {
    let mut unseeded = Vec::new();
    for link in links(scenario) {
        let plan = link.plan(scenario, seeds(scenario)?);
        if plan.shortfalls.contains(&Shortfall::Unseeded) {
            unseeded.push(link.name);
        }
    }
    let shortfall = Shortfall::Unseeded;
    let text = || format!("{}: {shortfall}", unseeded.join(", "));
    Ok((!unseeded.is_empty()).then(|| Caveat::new(shortfall.code(), text())))
}

/// Sets every link up.
///
/// # Errors
/// `tc` refuses a qdisc.
pub(super) fn start(scenario: &Scenario, boxes: &[NetemBridge]) -> Result<(), LabError> {
    let seeds = seeds(scenario)?;
    links(scenario).try_for_each(|link| boxes[link.hop].add(link.to, &link.plan(scenario, seeds)))
}

/// Whether netem can be seeded; not tried where no link needs netem.
fn seeds(scenario: &Scenario) -> Result<bool, LabError> {
    let is_netem = |link: Link<'_>| {
        let plan = link.plan(scenario, true);
        plan.qdiscs.iter().any(|qdisc| matches!(qdisc.kind, Kind::Netem(_)))
    };
    if !links(scenario).any(is_netem) {
        return Ok(true);
    }
    Ok(netem()?.seeds)
}

/// The abilities of this kernel's netem, detected once.
fn netem() -> Result<&'static Netem, LabError> {
    static FOUND: OnceLock<Netem> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found);
    }
    let namespace = NetNs::new().map_err(LabError::Namespace)?;
    let found = netem::detect(|command| namespace.run(|| command.run()));
    let found = found.map_err(LabError::Netem)?;
    Ok(FOUND.get_or_init(|| found))
}

/// The counters of one direction of a hop.
#[derive(Debug, Clone)]
pub(super) struct KernelReport {
    /// Its counts.
    pub(super) link: LabLink,
    /// How long its wire was busy.
    pub(super) busy: Time,
}

/// The counters of every direction of every hop after `elapsed`.
///
/// # Errors
/// `tc` fails, or its statistics cannot be read.
pub(super) fn reports(
    scenario: &Scenario,
    boxes: &[NetemBridge],
    elapsed: Time,
) -> Result<Vec<[KernelReport; 2]>, LabError> {
    let report = |link: Link<'_>| -> Result<KernelReport, LabError> {
        let own = &boxes[link.hop];
        let [wire, pipe] = own.statistics(link.to)?;
        let arrived = own
            .arrived(link.to)
            .map_err(|error| LabError::Link { link: link.name.clone(), error })?;
        let read = |text: &str| qdiscs(text).map_err(LabError::Statistics);
        let (wire, pipe) = (read(&wire)?, read(&pipe)?);
        let root = wire.iter().find(|qdisc| qdisc.root).cloned().unwrap_or_default();
        Ok(KernelReport {
            busy: busy(link.spec, root.bytes).min(elapsed),
            link: counts(&link, &wire, &pipe, (arrived.packets, arrived.bytes), elapsed),
        })
    };
    let reports = links(scenario).map(report).collect::<Result<Vec<_>, _>>()?;
    Ok(reports.chunks_exact(2).map(|hop| [hop[0].clone(), hop[1].clone()]).collect())
}

/// The statistics of a qdisc from `tc`; a kind may lack some.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct QdiscStats {
    kind: String,
    root: bool,
    /// Bytes and packets sent, with sizes of the size table; each packet of a super-packet counts.
    bytes: u64,
    packets: u64,
    /// Packets dropped for any cause, its children's included; a super-packet counts as one.
    drops: u64,
    qlen: u64,
    /// RED's.
    early: u64,
    marked: u64,
    /// `CoDel`'s.
    drop_overlimit: u64,
    ecn_mark: u64,
}

impl QdiscStats {
    /// Packets dropped by the discipline, rather than by a full queue.
    fn dropped_early(&self) -> u64 {
        match self.kind.as_str() {
            "red" => self.early,
            "codel" => self.drops.saturating_sub(self.drop_overlimit),
            _ => 0,
        }
    }
}

/// Reads what `tc -s -j qdisc show` prints.
fn qdiscs(text: &str) -> serde_json::Result<Vec<QdiscStats>> {
    serde_json::from_str(text)
}

fn counts(
    link: &Link<'_>,
    wire: &[QdiscStats],
    pipe: &[QdiscStats],
    (super_packets, bytes): (u64, u64),
    until: Time,
) -> LabLink {
    /// Of an Ethernet frame, as an interface counts it.
    const HEADER: u64 = 14;
    let root = wire.iter().find(|qdisc| qdisc.root).cloned().unwrap_or_default();
    let behind = pipe.iter().find(|qdisc| qdisc.kind == "netem").cloned().unwrap_or_default();
    let early: u64 = wire.iter().map(QdiscStats::dropped_early).sum();
    // netem does not count copies: they are the packets sent beyond those received.
    let given = root.packets;
    let copies = (behind.packets + behind.drops + behind.qlen).saturating_sub(given);
    let doubles = link.spec.duplicate > Probability::NEVER;
    LabLink {
        link: link.name.clone(),
        packets: root.packets + root.drops + root.qlen,
        bytes: bytes.saturating_sub(HEADER * super_packets),
        super_packets,
        damaged: behind.drops,
        // Independent of their size: errors other than per packet are refused.
        damaged_expected: Some(link.spec.loss(link.spec.mtu.bytes(), until).get()),
        refused: root.drops.saturating_sub(early),
        early,
        marked: wire.iter().map(|qdisc| qdisc.marked + qdisc.ecn_mark).sum(),
        doubled: if doubles { copies } else { 0 },
        ..LabLink::default()
    }
}

/// The airtime of bytes counted as on the wire, but for those that a full bucket lets go at once.
fn busy(spec: &LinkSpec, bytes: u64) -> Time {
    let bytes = bytes.saturating_sub(spec.burst.get());
    spec.rate.time_for_bits(bytes.saturating_mul(spec.framing.bits_per_byte()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// iproute2 6.1 on Linux 6.1.
    const WIRE: &str = r#"[{"kind":"tbf","handle":"1:","root":true,"refcnt":2,"options":{"rate":125000,"burst":1500,"lat":0},"bytes":0,"packets":0,"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0},{"kind":"red","handle":"2:","parent":"1:1","options":{"limit":15150,"min":3000,"max":9000,"ecn":true,"harddrop":true,"adaptive":false,"nodrop":false},"bytes":0,"packets":0,"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0,"marked":0,"early":0,"pdrop":0,"other":0}]"#;
    const PIPE: &str = r#"[{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":1000,"delay":{"delay":0.001,"jitter":0,"correlation":0},"loss-random":{"loss":0.01,"correlation":0},"ecn":false,"gap":0},"bytes":0,"packets":0,"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]"#;

    #[test]
    fn what_tc_prints_is_understood() {
        let [tbf, red] = &qdiscs(WIRE).unwrap()[..] else { panic!("two qdiscs") };
        assert_eq!((tbf.kind.as_str(), tbf.root), ("tbf", true));
        assert_eq!((red.kind.as_str(), red.root), ("red", false));
        assert_eq!(qdiscs(PIPE).unwrap()[0].kind, "netem");
        // Before iproute2 knew JSON.
        assert!(qdiscs("qdisc tbf 1: root refcnt 2 rate 1Mbit").is_err());
    }

    #[test]
    fn each_packet_has_one_fate() {
        let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nduplicate = 0.01\n\
                    errors = { model = \"uniform\", per = \"packet\", rate = 0.02 }\n";
        let scenario = Scenario::from_toml("test", text).unwrap();
        let link = links(&scenario).next().unwrap();
        let (mut wire, mut pipe) = (qdiscs(WIRE).unwrap(), qdiscs(PIPE).unwrap());
        // Of 1000 packets 30 are dropped, all but 5 of them early, and 10 wait; of the 960 sent, netem doubles
        // 9, loses 20, and holds 3.
        (wire[0].packets, wire[0].drops, wire[0].qlen) = (960, 30, 10);
        (wire[1].drops, wire[1].early, wire[1].marked) = (30, 25, 7);
        (pipe[0].packets, pipe[0].drops, pipe[0].qlen) = (946, 20, 3);
        let told = counts(&link, &wire, &pipe, (1000, 1000 * 1514), Time::from_secs(1));
        let want = LabLink {
            link: "hop.0".to_owned(),
            packets: 1000,
            bytes: 1_500_000,
            super_packets: 1000,
            damaged: 20,
            damaged_expected: Some(0.02),
            refused: 5,
            early: 25,
            marked: 7,
            doubled: 9,
            ..LabLink::default()
        };
        assert_eq!(told, want);
    }
}
