//! What a lab proves of itself, point by point: links, lateness, and what flows asked for and got.

use maxseg_core::engine::EngineName;
use maxseg_core::outcome::{LabFlow, LabLink, LabProof, Lateness};
use maxseg_core::results::Group;
use maxseg_core::units::Bytes;

use super::marks::point_words;
use super::words;

/// All runs of the lab at one point, as one account.
#[derive(Debug, Clone, PartialEq)]
pub struct PointProof {
    /// The swept keys with their values; empty where nothing is swept.
    pub point: Vec<String>,
    /// How many runs it is of.
    pub runs: usize,
    /// What its links drew for.
    pub unit: LossUnit,
    /// Counts of all of them, the worst lateness, and the first one's flows.
    pub proof: LabProof,
}

/// What the links of a lab lose at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossUnit {
    /// A packet of the wire.
    Packet,
    /// What segmentation offload handed down (`lab.as_netem`).
    SuperPacket,
}

impl LossUnit {
    /// By the engine's own word.
    fn of(group: &Group<'_>) -> Self {
        let caveats = || group.rows.iter().flat_map(|row| &row.caveats);
        if caveats().any(|caveat| caveat.code == "as-netem") {
            Self::SuperPacket
        } else {
            Self::Packet
        }
    }

    /// As a heading of the number of damaged ones.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Packet => "damaged",
            Self::SuperPacket => "super-packets damaged",
        }
    }

    /// The share of what came to the wire that was damaged there: what the queue took or the policer is not
    /// the wire's loss.
    pub fn share_damaged(self, link: &LabLink) -> Option<f64> {
        let came = match self {
            Self::Packet => link.packets.saturating_sub(link.too_big),
            Self::SuperPacket => link.super_packets,
        };
        let before = link.refused + link.policed + link.early;
        let on_the_wire = came.saturating_sub(before) + link.doubled;
        (on_the_wire > 0).then(|| link.damaged as f64 / on_the_wire as f64)
    }
}

/// An account for each point where the lab gave one.
pub fn point_proofs(groups: &[Group<'_>]) -> Vec<PointProof> {
    let of_lab = groups.iter().filter(|group| group.engine == EngineName::Lab);
    let of_point = |group: &Group<'_>| {
        let proofs = group.rows.iter().filter_map(|row| row.outcome.lab.as_deref());
        let runs = proofs.clone().count();
        let proof = proofs.cloned().reduce(together)?;
        let unit = LossUnit::of(group);
        Some(PointProof { point: point_words(group.point), runs, unit, proof })
    };
    of_lab.filter_map(of_point).collect()
}

/// Two runs of one point.
fn together(mut sum: LabProof, other: LabProof) -> LabProof {
    sum.invalid_because.extend(other.invalid_because);
    for (mine, theirs) in sum.links.iter_mut().zip(&other.links) {
        add_link(mine, theirs);
    }
    sum.lateness = match (sum.lateness, other.lateness) {
        (Some(a), Some(b)) => Some(a.merged(&b)),
        (a, b) => a.or(b),
    };
    sum.kernel_drops += other.kernel_drops;
    sum.capture_drops = match (sum.capture_drops, other.capture_drops) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    sum.cpu_s += other.cpu_s;
    sum.relay_cpu_s = sum.relay_cpu_s.zip(other.relay_cpu_s).map(|(a, b)| a + b);
    sum
}

fn add_link(sum: &mut LabLink, other: &LabLink) {
    let (mine, theirs) = (sum.packets as f64, other.packets as f64);
    sum.damaged_expected = match (sum.damaged_expected, other.damaged_expected) {
        (Some(a), Some(b)) if mine + theirs > 0.0 => {
            Some((a * mine + b * theirs) / (mine + theirs))
        }
        (a, b) => a.or(b),
    };
    for (mine, theirs) in [
        (&mut sum.packets, other.packets),
        (&mut sum.bytes, other.bytes),
        (&mut sum.super_packets, other.super_packets),
        (&mut sum.damaged, other.damaged),
        (&mut sum.refused, other.refused),
        (&mut sum.policed, other.policed),
        (&mut sum.early, other.early),
        (&mut sum.marked, other.marked),
        (&mut sum.doubled, other.doubled),
        (&mut sum.too_big, other.too_big),
        (&mut sum.withheld, other.withheld),
    ] {
        *mine += theirs;
    }
}

/// Packets of all points by lateness; `None` where the relay was not there.
pub(super) fn lateness_of_all(proofs: &[PointProof]) -> Option<Lateness> {
    let latenesses = proofs.iter().filter_map(|point| point.proof.lateness.clone());
    latenesses.reduce(|a, b| a.merged(&b)).filter(|lateness| lateness.packets > 0)
}

/// More flows of a point than anyone reads on a terminal unasked.
const MOST_FLOWS: usize = 4;

impl PointProof {
    /// Which point it is, where several are shown.
    pub fn heading(&self) -> String {
        let runs = (self.runs > 1).then(|| format!("{} runs together", self.runs));
        self.point.iter().cloned().chain(runs).collect::<Vec<_>>().join(", ")
    }

    /// All of it, or the flows that anyone reads.
    pub fn lines(&self, with_all_flows: bool) -> Vec<String> {
        let mut lines: Vec<String> =
            self.proof.links.iter().map(|link| link_line(link, self.unit)).collect();
        lines.push(self.relay_line());
        let shown = if with_all_flows { usize::MAX } else { MOST_FLOWS };
        lines.extend(self.proof.flows.iter().take(shown).flat_map(flow_lines));
        let more = self.proof.flows.len().saturating_sub(shown);
        if more > 0 {
            lines.push(format!("and {more} more flows: -v"));
        }
        lines
    }

    fn relay_line(&self) -> String {
        let worst = if self.runs > 1 { "at the worst " } else { "" };
        let lateness = self.proof.lateness.as_ref().map_or_else(
            || "the kernel kept the time".to_owned(),
            |late| {
                let [p50, p99, max] = [late.p50_s, late.p99_s, late.max_s].map(words::time);
                format!("lateness {worst}p50 {p50}, p99 {p99}, max {max}")
            },
        );
        let drops = match self.proof.kernel_drops {
            0 => "the kernel dropped nothing".to_owned(),
            n => format!("the kernel dropped {}", words::grouped(n)),
        };
        let relay = self
            .proof
            .relay_cpu_s
            .map_or_else(String::new, |cpu| format!(", {} of it the relay's", words::time(cpu)));
        format!("{lateness}; {drops}; CPU {}{relay}", words::time(self.proof.cpu_s))
    }
}

/// What can become of packets but damage.
pub(super) struct Cause {
    /// What happened to them.
    pub(super) words: &'static str,
    /// How many.
    pub(super) count: fn(&LabLink) -> u64,
}

/// In the order in which a link comes to them.
pub(super) const CAUSES: [Cause; 7] = [
    Cause { words: "found the queue full", count: |link| link.refused },
    Cause { words: "dropped early (AQM)", count: |link| link.early },
    Cause { words: "above the policed rate", count: |link| link.policed },
    Cause { words: "above the MTU", count: |link| link.too_big },
    Cause { words: "ICMP too-big not sent", count: |link| link.withheld },
    Cause { words: "marked", count: |link| link.marked },
    Cause { words: "doubled", count: |link| link.doubled },
];

/// `hop.0: 100 000 packets in 8 113 super-packets, 1 003 damaged (1.003%, 1% configured)`.
fn link_line(link: &LabLink, unit: LossUnit) -> String {
    let packets = words::grouped(link.packets);
    let is_joined = (1..link.packets).contains(&link.super_packets);
    let mut parts = vec![if is_joined {
        format!("{packets} packets in {} super-packets", words::grouped(link.super_packets))
    } else {
        format!("{packets} packets")
    }];
    parts.extend(damaged(link, unit));
    for Cause { words, count } in CAUSES {
        let count = count(link);
        parts.extend((count > 0).then(|| format!("{} {words}", words::grouped(count))));
    }
    if parts.len() == 1 {
        parts.push("nothing lost".to_owned());
    }
    format!("{}: {}", link.link, parts.join(", "))
}

fn damaged(link: &LabLink, unit: LossUnit) -> Option<String> {
    let configured = link.damaged_expected.filter(|share| *share > 0.0);
    if link.damaged == 0 && configured.is_none() {
        return None;
    }
    let shares = [
        unit.share_damaged(link).map(words::share),
        configured.map(|share| format!("{} configured", words::share(share))),
    ];
    let shares: Vec<String> = shares.into_iter().flatten().collect();
    Some(format!("{} {} ({})", words::grouped(link.damaged), unit.words(), shares.join(", ")))
}

fn flow_lines(flow: &LabFlow) -> [String; 2] {
    let of = |reason: &Option<String>| {
        reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"))
    };
    let congestion = flow.congestion.as_deref().unwrap_or("congestion control unknown");
    [
        format!(
            "flow.{} ({congestion}): MSS {}{}",
            flow.flow,
            mss_words(flow),
            of(&flow.mss_reason)
        ),
        format!("flow.{}: window {}{}", flow.flow, window_words(flow), of(&flow.window_reason)),
    ]
}

fn mss_words(flow: &LabFlow) -> String {
    let asked = flow.mss_asked.map(|asked| format!("asked {asked}"));
    let effective = flow.mss_effective.map(|mss| format!("effective {mss}"));
    [asked, mss_advertised(flow).map(|mss| format!("advertised {mss}")), effective]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// Both ends' options, once where they are the same.
pub(super) fn mss_advertised(flow: &LabFlow) -> Option<String> {
    match (flow.mss_advertised_by_sender, flow.mss_advertised_by_receiver) {
        (Some(a), Some(b)) if a != b => Some(format!("{a} by the sender and {b} by the receiver")),
        (a, b) => a.or(b).map(|mss| mss.to_string()),
    }
}

fn window_words(flow: &LabFlow) -> String {
    let bytes =
        |what: &str, bytes: Option<u64>| bytes.map(|bytes| format!("{what} {}", Bytes::new(bytes)));
    [
        bytes("asked", flow.window_asked),
        bytes("advertised", flow.window_advertised),
        bytes("most in flight", flow.window_effective),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}
