//! A path as a scenario.

use std::fmt::Write as _;

use maxseg_core::framing::IpVersion;
use maxseg_core::mss::default_mss;
use maxseg_core::path_mtu::Confidence;

use super::bottleneck::QueueCounts;
use super::{BottleneckRate, HopReport, MtuReport, PathReport, RttReport};

/// The rate of links that were not measured, which is said in the file.
const UNMEASURED: &str = "1 Gbit/s";
/// Links with no measurable delay have this one, seconds.
const LEAST_DELAY_S: f64 = 1e-6;

/// The scenario file of a path: hops with their MTU and delay; rates and queues only where they were measured.
pub fn scenario(report: &PathReport) -> String {
    let ip = IpVersion::from(report.address);
    let mut text = path_part(report);
    // The far side's offer, where it is known: this host's own, as it arrives there, limits the other direction.
    let mss = report.mss.exact_offer().filter(|mss| *mss != default_mss(ip));
    if let Some(mss) = mss {
        let _ = write!(text, "\n[receiver]\nmss = {mss}\n");
    }
    text += "\n[until]\ntime = \"30 s\"\n";
    text
}

/// The path alone, without hosts, flows and an end.
pub(super) fn path_part(report: &PathReport) -> String {
    let ip = IpVersion::from(report.address);
    let mut text = format!(
        "# The path to {}, as `maxseg path` found it.\nname = \"Path to {}\"\nip = {}\n",
        report.address,
        report.address,
        ip.number()
    );
    let rates = Rates::of(report);
    text += match &rates {
        None => "# No rate was measured: a far end can (maxseg responder).\n",
        Some(_) => {
            "# Which link is the narrowest was not measured: it is the last one here, and the others are ten times as fast.\n"
        }
    };
    let links = links(report);
    let last = links.len() - 1;
    for (at, link) in links.iter().enumerate() {
        let is_last = at == last;
        let rate = match rates {
            None => UNMEASURED.to_owned(),
            Some(Rates { forward, .. }) if is_last => bits(forward),
            Some(Rates { forward, reverse, .. }) => bits(10.0 * forward.max(reverse)),
        };
        let remark = rates.as_ref().filter(|_| is_last).map_or("", |rates| rates.remarks[0]);
        let _ = write!(
            text,
            "\n[[hop]]\nname = \"hop{}\"\n{remark}rate = \"{rate}\"\ndelay = \"{:.3} us\"\n",
            at + 1,
            link.delay_s * 1e6
        );
        if let Some(mtu) = link.mtu {
            let remark = mtu_remark(&report.path_mtu, mtu);
            let _ = writeln!(text, "{remark}mtu = {mtu}");
            text += &is_last.then(|| way_back(&report.path_mtu)).flatten().unwrap_or_default();
        }
        if link.is_silent {
            text += "icmp = \"drop\"\n";
        }
        if is_last {
            text += &losses(&report.rtt);
        }
        if let Some(rates) = rates.as_ref().filter(|_| is_last) {
            text += &rates.narrowest();
        }
    }
    text
}

/// Losses, where they are more than chance.
fn losses(rtt: &RttReport) -> String {
    let (lost, sent) = (rtt.lost, rtt.sent);
    match rtt.loss_share().filter(|_| lost > 0) {
        None if rtt.answers_limited => {
            "# Some echoes were not answered: the destination limits its answers, which is no loss.\n".to_owned()
        }
        None => String::new(),
        Some(share) if rtt.is_lossy() => format!(
            "# {lost} of {sent} small packets were lost, on some link and either way.\n\
             errors = {{ model = \"uniform\", per = \"packet\", rate = {share:.4} }}\n"
        ),
        Some(_) => {
            format!("# {lost} of {sent} small packets was lost: that may be chance, and is left out.\n")
        }
    }
}

/// What is said above an MTU that is not certain.
fn mtu_remark(found: &MtuReport, mtu: u32) -> &'static str {
    match found.confidence {
        _ if found.forward_bytes != Some(mtu) => "",
        Confidence::AtLeast => "# At least: whether larger packets arrive is not known.\n",
        Confidence::IcmpOnly => "# A router's message alone says so.\n",
        Confidence::Confirmed | Confidence::Unknown => "",
    }
}

/// What is said where larger packets arrive there than come back: a hop has one MTU.
fn way_back(found: &MtuReport) -> Option<String> {
    let back = found.reverse.as_ref()?;
    let bytes =
        back.bytes.filter(|back| found.forward_bytes.is_some_and(|forward| *back < forward))?;
    let vanish = if back.vanishes_bytes.is_some() { ", and larger ones vanish" } else { "" };
    Some(format!(
        "# Of the way back packets up to {bytes} bytes arrive{vanish}: a hop here has one MTU for both ways.\n"
    ))
}

fn bits(bps: f64) -> String {
    format!("{bps:.0} bit/s")
}

/// The narrowest link, as a far end measured it.
#[derive(Debug, Clone, Copy)]
struct Rates {
    forward: f64,
    reverse: f64,
    /// What waited before it under load, bytes.
    queues: [Option<f64>; 2],
    /// Bytes of a packet, where the queue counts packets.
    packet: Option<u32>,
    /// What is said above each rate.
    remarks: [&'static str; 2],
}

/// What is said above a rate that is a lower bound, and above one of the other direction.
const AT_LEAST: &str =
    "# Lower bound: losses, an end host or the responder's --max-rate limited the transfer.\n";
const OTHER_WAY: &str = "# Not measured: the other direction's rate is used.\n";

/// Fewer bytes in a queue are not told from what hosts take: two packets.
const LEAST_QUEUE: f64 = 3000.0;

/// A ping that is lost comes with its retransmission, so much later at the least (`TCP_RTO_MIN` in the kernel's `include/net/tcp.h`).
const LEAST_TIMEOUT_S: f64 = 0.2;

impl Rates {
    /// `None` where no rate was measured; the same both ways where one alone was.
    fn of(report: &PathReport) -> Option<Self> {
        let found = report.bottleneck?;
        let forward = found.forward_bps().or(found.reverse_bps())?;
        let reverse = found.reverse_bps().unwrap_or(forward);
        let row = |load: &str| report.under_load.iter().find(|row| row.load == load);
        let idle = row("idle").and_then(|row| row.rtt_min_s);
        let queue = |load, bps: f64| {
            // The queue is nearly full for a tenth of the time; the longest pings were lost, or waited for a host.
            let (most, median) = (row(load)?.rtt_p90_s?, row(load)?.rtt_median_s);
            let waited = median.filter(|median| most - median >= LEAST_TIMEOUT_S).unwrap_or(most);
            let rise = waited - idle?;
            Some(rise * bps / 8.0).filter(|bytes| *bytes >= LEAST_QUEUE)
        };
        let remark = |rate: Option<&BottleneckRate>| match rate {
            None => OTHER_WAY,
            Some(rate) if rate.is_lower_bound() => AT_LEAST,
            Some(_) => "",
        };
        Some(Self {
            forward,
            reverse,
            remarks: [remark(found.forward.as_ref()), remark(found.reverse.as_ref())],
            queues: [queue("upload", forward), queue("download", reverse)],
            packet: report
                .table
                .as_ref()
                .filter(|table| table.queue_counts == Some(QueueCounts::Packets))
                .and(report.path_mtu.reverse_bytes().or(report.path_mtu.forward_bytes)),
        })
    }

    /// Its queue, and what differs on the way back.
    fn narrowest(&self) -> String {
        let queue = |bytes: Option<f64>| match (bytes, self.packet) {
            (None, _) => String::new(),
            (Some(bytes), None) => format!("queue = \"{bytes:.0} B\"\n"),
            (Some(bytes), Some(packet)) => {
                format!("queue = \"{:.0} packets\"\n", (bytes / f64::from(packet)).max(1.0))
            }
        };
        let [forward, reverse] = self.queues.map(queue);
        let mut text = String::new();
        if self.queues.iter().any(Option::is_some) {
            text += "# The queue by the pings beside bulk data (90th percentile).\n";
        }
        if self.packet.is_some() {
            text += "# It counts packets, as small segments fill it with fewer bytes than large ones.\n";
        }
        text += &forward;
        let is_other = self.reverse.to_bits() != self.forward.to_bits() || forward != reverse;
        if is_other || self.remarks[0] != self.remarks[1] {
            let (remark, rate) = (self.remarks[1], bits(self.reverse));
            let _ = write!(text, "[hop.reverse]\n{remark}rate = \"{rate}\"\n{reverse}");
        }
        text
    }
}

struct Link {
    delay_s: f64,
    mtu: Option<u32>,
    is_silent: bool,
}

/// A link for each hop; one where no hop is known. Together they have the least round trip of the path.
fn links(report: &PathReport) -> Vec<Link> {
    let hole = report.path_mtu.black_hole.as_ref();
    let whole = report.rtt.min_s.unwrap_or(LEAST_DELAY_S);
    let (mut before, mut least) = (0.0, u32::MAX);
    let interface = report.path_mtu.interface_bytes;
    let hops = &report.path_mtu.hops;
    let link = |(at, hop): (usize, &HopReport)| {
        // One probe tells a hop's round trip, and a router may answer later than what is behind it.
        let behind = hops[at..].iter().filter_map(|hop| hop.rtt_s).fold(whole, f64::min);
        let is_last = at + 1 == hops.len();
        let round_trip = if is_last { whole } else { hop.rtt_s.map_or(before, |_| behind) };
        let delay_s = ((round_trip - before) / 2.0).max(LEAST_DELAY_S);
        before = round_trip.max(before);
        let is_silent = hole.is_some_and(|hole| hole.before_hop == Some(hop.hop));
        // What comes to a hop is what the narrowest link before it passes: its own may be as wide as this host's.
        let is_narrower = hop.mtu_bytes.is_some_and(|mtu| mtu < least);
        least = hop.mtu_bytes.unwrap_or(least).min(least);
        let mtu = if is_narrower { hop.mtu_bytes } else { interface.or(hop.mtu_bytes) };
        Link { delay_s, mtu, is_silent }
    };
    let links: Vec<Link> = hops.iter().enumerate().map(link).collect();
    if links.is_empty() {
        let mtu = report.path_mtu.forward_bytes;
        return vec![Link { delay_s: whole / 2.0, mtu, is_silent: hole.is_some() }];
    }
    links
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Draft;

    use super::*;
    use crate::path::{
        BlackHole, Bottleneck, BottleneckConfidence, BottleneckMethod, RttMethod, UnderLoadRow,
    };

    fn hop(number: u8, rtt_s: Option<f64>, mtu: u32) -> HopReport {
        HopReport {
            hop: number,
            address: None,
            rtt_s,
            mtu_bytes: Some(mtu),
            stated_mtu_bytes: None,
            note: None,
        }
    }

    /// A path of one hop: what is said of it in the file, which is one that parses.
    fn said(trips: &[Option<f64>], mtu: Confidence, rate: BottleneckConfidence) -> String {
        let path_mtu = MtuReport {
            forward_bytes: Some(1430),
            confidence: mtu,
            interface_bytes: Some(1500),
            hops: vec![hop(1, Some(0.02), 1430)],
            ..MtuReport::default()
        };
        let rtt = RttReport::of(RttMethod::IcmpEcho, trips);
        let address = "192.0.2.7".parse().unwrap();
        let mut report = PathReport::begun("192.0.2.7".to_owned(), address, rtt, path_mtu);
        let forward = BottleneckRate { bps: 5e6, method: BottleneckMethod::Tcp, confidence: rate };
        report.bottleneck = Some(Bottleneck { forward: Some(forward), reverse: None });
        let text = scenario(&report);
        let parsed = Draft::parse("path.toml", &text).and_then(|draft| draft.scenario());
        assert!(parsed.is_ok(), "{text}");
        text
    }

    #[test]
    fn bounds_and_chance_are_no_facts() {
        let (mut one, whole) = (vec![Some(0.02); 20], vec![Some(0.02); 20]);
        one[7] = None;
        let text = said(&one, Confidence::AtLeast, BottleneckConfidence::AtLeast);
        assert!(!text.contains("errors") && text.contains("# 1 of 20"), "{text}");
        assert!(text.contains(&format!("{AT_LEAST}rate = \"5000000 bit/s\"")), "{text}");
        assert!(text.contains(&format!("{OTHER_WAY}rate = \"5000000 bit/s\"")), "{text}");
        assert!(text.contains("larger packets arrive is not known.\nmtu = 1430"), "{text}");
        one[8] = None;
        let text = said(&one, Confidence::Confirmed, BottleneckConfidence::Confirmed);
        assert!(text.contains("per = \"packet\", rate = 0.1000"), "{text}");
        assert!(!text.contains("At least"), "{text}");
        let text = said(&whole, Confidence::Confirmed, BottleneckConfidence::OneMethod);
        assert!(!text.contains("errors") && !text.contains("lost"), "{text}");
    }

    #[test]
    fn a_path_is_a_scenario_that_parses() {
        let hole = BlackHole {
            after_hop: Some(1),
            after_address: None,
            before_hop: Some(2),
            before_address: None,
            passes_bytes: 1400,
            vanishes_bytes: 1500,
            said: None,
        };
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[Some(0.03), None, Some(0.02)]);
        let path_mtu = MtuReport {
            forward_bytes: Some(1400),
            interface_bytes: Some(1500),
            hops: vec![hop(1, Some(0.01), 1500), hop(2, Some(0.005), 1400), hop(3, None, 1400)],
            black_hole: Some(hole),
            ..MtuReport::default()
        };
        let address = "192.0.2.7".parse().unwrap();
        let mut report = PathReport::begun("192.0.2.7".to_owned(), address, rtt, path_mtu);
        let text = scenario(&report);
        let parsed = Draft::parse("path.toml", &text).and_then(|draft| draft.scenario());
        let path = parsed.unwrap_or_else(|error| panic!("{error}\n{text}")).path;
        let mtus: Vec<u16> = path.hops.iter().map(|hop| hop.forward.mtu.get()).collect();
        assert_eq!(mtus, [1500, 1400, 1500], "the last link is not known to be narrow");
        let delays: Vec<u64> =
            path.hops.iter().map(|hop| hop.forward.delay.as_nanos() / 1000).collect();
        assert_eq!(delays, [2500, 1, 7500], "the first router answered late; 20 ms there and back");
        let of = |bps| {
            let (method, confidence) = (BottleneckMethod::Both, BottleneckConfidence::Confirmed);
            Some(BottleneckRate { bps, method, confidence })
        };
        report.bottleneck = Some(Bottleneck { forward: of(5e6), reverse: of(20e6) });
        let row = |load: &str, rtt_s| UnderLoadRow {
            load: load.to_owned(),
            rate_bps: None,
            pings: 1,
            rtt_min_s: Some(rtt_s),
            rtt_median_s: None,
            rtt_mean_s: None,
            rtt_p90_s: Some(rtt_s),
            rtt_p99_s: None,
            round_trips_per_minute: None,
            grade: None,
        };
        report.under_load = vec![row("idle", 0.02), row("upload", 0.12), row("download", 0.021)];
        let text = scenario(&report);
        let parsed = Draft::parse("path.toml", &text).and_then(|draft| draft.scenario());
        let path = parsed.unwrap_or_else(|error| panic!("{error}\n{text}")).path;
        let last = path.hops.last().unwrap();
        assert_eq!((last.forward.rate.get(), last.reverse.rate.get()), (5_000_000, 20_000_000));
        assert!(text.contains("queue = \"62500 B\""), "0.1 s at 5 Mbit/s: {text}");
        report.bottleneck = None;
        report.path_mtu.hops.clear();
        report.address = "2001:db8::7".parse().unwrap();
        let text = scenario(&report);
        assert!(Draft::parse("path.toml", &text).is_ok(), "{text}");
    }
}
