//! A path as a scenario.

use std::fmt::Write as _;

use maxseg_core::framing::IpVersion;
use maxseg_core::mss::default_mss;

use crate::path::{HopReport, PathReport, PortMss};

/// The rate of links that were not measured, which is said in the file.
const UNMEASURED: &str = "1 Gbit/s";
/// Links with no measurable delay have this one, seconds.
const LEAST_DELAY_S: f64 = 1e-6;

/// The scenario file of a path: hops with their MTU and delay; rates only where they were measured.
pub fn scenario(report: &PathReport) -> String {
    let ip = IpVersion::from(report.address);
    let mut text = format!(
        "# The path to {}, as `maxseg path` found it.\nname = \"Path to {}\"\nip = {}\n",
        report.address,
        report.address,
        ip.number()
    );
    let bottleneck = report.bottleneck.as_ref().and_then(|found| found.forward_bps);
    if bottleneck.is_none() {
        text += "# No rate was measured: a far end can (maxseg responder).\n";
    }
    let rate = bottleneck.map_or_else(|| UNMEASURED.to_owned(), |bps| format!("{bps:.0} bit/s"));
    let links = links(report);
    let last = links.len() - 1;
    for (at, link) in links.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[hop]]\nname = \"hop{}\"\nrate = \"{rate}\"\ndelay = \"{:.3} us\"\n",
            at + 1,
            link.delay_s * 1e6
        );
        if let Some(mtu) = link.mtu {
            let _ = writeln!(text, "mtu = {mtu}");
        }
        if link.is_silent {
            text += "icmp = \"drop\"\n";
        }
        let rtt = &report.rtt;
        if at == last && rtt.lost > 0 && rtt.sent > rtt.lost {
            let share = f64::from(rtt.lost) / f64::from(rtt.sent);
            let _ = writeln!(
                text,
                "# {} of {} small packets were lost, on some link and either way.\n\
                 errors = {{ model = \"uniform\", per = \"packet\", rate = {share:.4} }}",
                rtt.lost, rtt.sent
            );
        }
    }
    // The far side's offer, where it is known: this host's own, as it arrives there, limits the other direction.
    let is_exact = |port: &&PortMss| port.offered_bytes.is_some() && !port.is_at_least;
    let offered = report.mss.ports.iter().find(is_exact).and_then(|port| port.offered_bytes);
    let mss = offered.filter(|mss| *mss != default_mss(ip));
    if let Some(mss) = mss {
        let _ = write!(text, "\n[receiver]\nmss = {mss}\n");
    }
    text += "\n[until]\ntime = \"30 s\"\n";
    text
}

struct Link {
    delay_s: f64,
    mtu: Option<u32>,
    is_silent: bool,
}

/// A link for each hop; one where no hop is known.
fn links(report: &PathReport) -> Vec<Link> {
    let hole = report.path_mtu.black_hole.as_ref();
    let whole = report.rtt.min_s.unwrap_or(LEAST_DELAY_S);
    let (mut before, mut least) = (0.0, u32::MAX);
    let interface = report.path_mtu.interface_bytes;
    let link = |hop: &HopReport| {
        // A router may answer later than one behind it.
        let round_trip = hop.rtt_s.unwrap_or(before).max(before);
        let delay_s = ((round_trip - before) / 2.0).max(LEAST_DELAY_S);
        before = round_trip;
        let is_silent = hole.is_some_and(|hole| hole.before_hop == Some(hop.hop));
        // What comes to a hop is what the narrowest link before it passes: its own may be as wide as this host's.
        let is_narrower = hop.mtu_bytes.is_some_and(|mtu| mtu < least);
        least = hop.mtu_bytes.unwrap_or(least).min(least);
        let mtu = if is_narrower { hop.mtu_bytes } else { interface.or(hop.mtu_bytes) };
        Link { delay_s, mtu, is_silent }
    };
    let links: Vec<Link> = report.path_mtu.hops.iter().map(link).collect();
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
    use crate::path::{BlackHole, MtuReport, RttMethod, RttReport};

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

    #[test]
    fn a_path_is_a_scenario_that_parses() {
        let hole = BlackHole {
            after_hop: Some(1),
            after_address: None,
            before_hop: Some(2),
            before_address: None,
            passes_bytes: 1400,
            vanishes_bytes: 1500,
        };
        let mut report = PathReport {
            target: "192.0.2.7".to_owned(),
            address: "192.0.2.7".parse().unwrap(),
            port: None,
            rtt: RttReport::of(RttMethod::IcmpEcho, &[Some(0.03), None, Some(0.02)]),
            path_mtu: MtuReport {
                forward_bytes: Some(1400),
                interface_bytes: Some(1500),
                hops: vec![hop(1, Some(0.01), 1500), hop(2, Some(0.005), 1400), hop(3, None, 1400)],
                black_hole: Some(hole),
                ..MtuReport::default()
            },
            mss: crate::path::MssReport::default(),
            bottleneck: None,
            under_load: Vec::new(),
            table: None,
            syn_as_received: None,
            rfc6349: None,
            findings: Vec::new(),
            sent_bytes: 0,
            elapsed_s: 0.0,
            notes: Vec::new(),
        };
        let text = scenario(&report);
        let parsed = Draft::parse("path.toml", &text).and_then(|draft| draft.scenario());
        let path = parsed.unwrap_or_else(|error| panic!("{error}\n{text}")).path;
        let mtus: Vec<u16> = path.hops.iter().map(|hop| hop.forward.mtu.get()).collect();
        assert_eq!(mtus, [1500, 1400, 1500], "the last link is not known to be narrow");
        report.path_mtu.hops.clear();
        report.address = "2001:db8::7".parse().unwrap();
        let text = scenario(&report);
        assert!(Draft::parse("path.toml", &text).is_ok(), "{text}");
    }
}
