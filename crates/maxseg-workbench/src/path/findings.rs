//! What a reader of a path test should know.

use std::net::IpAddr;

use maxseg_core::path_mtu::Confidence;
use maxseg_linux::probe::RouteToHost;

use super::mss::segment_in;
use super::mtu::MUCH_LOSS;
use super::remedies::{flush, message, of_black_hole, of_dropped, of_large_loss, of_the_way_back};

use super::misleading::misleading;
use super::routing_loop::routing_loop;
use super::silent_host::silent_host;
use super::{
    BlackHole, DroppedBy, DroppedHere, LargeLoss, LossBoundary, PathFinding, PathFindingKind,
    PathReport, PortMssState,
};

/// The facts of a report, the gravest first. `has_echo` says whether this user may send echoes.
pub(super) fn of(report: &PathReport, route: &RouteToHost, has_echo: bool) -> Vec<PathFinding> {
    let mtu = &report.path_mtu;
    let mut found: Vec<PathFinding> = circle(report).into_iter().collect();
    found.extend(silent_host(report, route, has_echo).or_else(|| dead_port(report)));
    found.extend(mtu.dropped_here.as_ref().map(|dropped| dropped_here(dropped, report, route)));
    if let Some(hole) = &mtu.black_hole {
        found.push(black_hole(hole, report, route));
    }
    found.extend(hole_on_the_way_back(report));
    if let Some(text) = &mtu.wrong_message {
        found.push(PathFinding {
            kind: PathFindingKind::WrongMessage,
            confidence: Confidence::Confirmed,
            text: text.clone(),
            remedy: Some(flush(report.address)),
        });
    }
    let told = mtu.misleading.as_ref();
    found.extend(told.and_then(|told| misleading(told, report, route)));
    found.extend(unequal_flows(report));
    found.extend(mtu.large_loss.and_then(|loss| large_loss(&loss, report)));
    found.extend(small_mtu(report, route));
    found.extend(route_mtu(report, route));
    found.extend(learnt(report, route));
    let rtt = &report.rtt;
    let is_much = f64::from(rtt.lost) >= MUCH_LOSS * f64::from(rtt.sent);
    if rtt.sent >= 10 && rtt.is_lossy() && is_much {
        found.push(PathFinding {
            kind: PathFindingKind::Loss,
            confidence: Confidence::Confirmed,
            text: format!("{} of {} small packets were lost", rtt.lost, rtt.sent),
            remedy: None,
        });
    }
    found.extend(report.mss.clamped_by.as_ref().map(|text| PathFinding {
        kind: PathFindingKind::MssClamped,
        confidence: Confidence::Confirmed,
        text: text.clone(),
        remedy: None,
    }));
    found
}

/// Routers between which packets go round until their TTL ends.
fn circle(report: &PathReport) -> Option<PathFinding> {
    let circle = routing_loop(report)?;
    let (to, from) = (report.address, circle.first_hop);
    let ip = if to.is_ipv4() { "ip" } else { "ip -6" };
    Some(PathFinding {
        kind: PathFindingKind::RoutingLoop,
        confidence: Confidence::Confirmed,
        text: format!(
            "routing loop {} (from hop {from} on): packets to {to} go round until their TTL ends, and never arrive",
            circle.between()
        ),
        remedy: Some(format!(
            "mend the routes to {to} of these routers (look there with `{ip} route get {to}`): one of them has to lead on, or to say that \
             it is unreachable"
        )),
    })
}

/// The port that was named, where it takes no connections although the host or the way to it answers.
fn dead_port(report: &PathReport) -> Option<PathFinding> {
    let named = report.port.filter(|_| report.is_answered() && routing_loop(report).is_none())?;
    let port = report.mss.ports.iter().find(|port| port.port == named)?;
    let to = report.address;
    let (kind, text, remedy) = match port.state {
        PortMssState::Open => return None,
        PortMssState::Closed => (
            PathFindingKind::PortRefused,
            format!(
                "{to} refuses connections to port {named}: nothing listens there, or a firewall rejects them"
            ),
            format!("start the service, or name its port (`ss -ltn` on {to} lists what listens)"),
        ),
        PortMssState::Rejected => (
            PathFindingKind::PortRefused,
            format!(
                "a SYN to port {named} of {to} is rejected by ICMP, which says that the host is unreachable or that a rule prohibits it"
            ),
            "look for the rule or the route there, and at the router that says so: `tcpdump -ni any icmp or icmp6` on this host shows its \
             address and the code"
                .to_owned(),
        ),
        PortMssState::NoAnswer => (
            PathFindingKind::PortSilent,
            format!(
                "nothing answers a SYN to port {named} of {to}: a firewall drops it, or the service's queue of connections is full"
            ),
            "look there with `ss -ltn` (Recv-Q against Send-Q) and `nft list ruleset`".to_owned(),
        ),
    };
    Some(PathFinding { kind, confidence: Confidence::Confirmed, text, remedy: Some(remedy) })
}

/// Routers' messages that this host drops.
fn dropped_here(dropped: &DroppedHere, report: &PathReport, route: &RouteToHost) -> PathFinding {
    let kind = message(report.address);
    let who = match dropped.by {
        DroppedBy::Firewall => "a firewall of this host",
        DroppedBy::ReversePathFilter => "this host's reverse path filter",
    };
    let router = dropped.router.map_or_else(|| "a router".to_owned(), |at| at.to_string());
    let router = match dropped.hop {
        Some(hop) => format!("{router} (hop {hop})"),
        None => router,
    };
    let known = report.path_mtu.forward_bytes.or(Some(dropped.stated_mtu_bytes));
    let mtu = known.filter(|mtu| *mtu > 0).map_or_else(
        || "that larger packets vanish".to_owned(),
        |mtu| format!("that packets above {mtu} bytes vanish"),
    );
    let (name, messages) =
        (dropped.interface.as_ref().unwrap_or(&route.interface), dropped.messages);
    let text = if dropped.is_certain {
        format!(
            "{who} drops {kind}: {messages} such messages of {router} came to {name}, none to a socket; this host's connections never \
             learn {mtu}"
        )
    } else {
        format!(
            "{who} likely drops {kind}: each time packets of {} bytes were sent, this host dropped packets that came in ({messages} in \
             all), and none in between; its connections never learn {mtu}",
            dropped.size_bytes
        )
    };
    let confidence = if dropped.is_certain { Confidence::Confirmed } else { Confidence::Unknown };
    let remedy = Some(of_dropped(dropped, report, route));
    PathFinding { kind: PathFindingKind::MessageDroppedHere, confidence, text, remedy }
}

/// A black hole that only the far end's packets meet.
fn hole_on_the_way_back(report: &PathReport) -> Option<PathFinding> {
    let reverse = report.path_mtu.reverse.as_ref()?;
    let (passes, vanishes) = (reverse.bytes?, reverse.vanishes_bytes?);
    let (kind, mss) = (message(report.address), segment_in(passes, report.address));
    let offered = report.mss.received_bytes.filter(|offered| *offered > mss);
    let offered = offered.map_or_else(String::new, |offered| {
        format!("; this host's SYN arrives there with an MSS of {offered}, which nothing on the way lowers")
    });
    Some(PathFinding {
        kind: PathFindingKind::BlackHole,
        confidence: reverse.confidence,
        text: format!(
            "on the way back packets of {vanishes} bytes vanish without {kind}; {passes} bytes pass{offered}"
        ),
        remedy: Some(of_the_way_back(report, passes)),
    })
}

fn black_hole(hole: &BlackHole, report: &PathReport, route: &RouteToHost) -> PathFinding {
    let address = report.address;
    let host = |number: Option<u8>, at: Option<IpAddr>| match (number, at) {
        (Some(0), _) => "this host".to_owned(),
        (Some(number), Some(at)) if at == address => {
            format!("{at} (hop {number}, the destination)")
        }
        (Some(number), Some(at)) => format!("{at} (hop {number})"),
        (Some(number), None) => format!("hop {number}"),
        (None, _) => "an unknown hop".to_owned(),
    };
    let place = if hole.before_hop.is_some() {
        let after = host(hole.after_hop, hole.after_address);
        format!(" between {after} and {}", host(hole.before_hop, hole.before_address))
    } else {
        String::new()
    };
    let (kind, name) = (message(address), report.path_mtu.name());
    let said = hole.said.as_ref().map_or_else(String::new, |said| format!("; {said}"));
    PathFinding {
        kind: PathFindingKind::BlackHole,
        confidence: report.path_mtu.confidence,
        text: format!(
            "packets of {} bytes vanish{place} without {kind}{said}; {} bytes pass{name}",
            hole.vanishes_bytes, hole.passes_bytes
        ),
        remedy: Some(of_black_hole(hole, report, route)),
    }
}

fn unequal_flows(report: &PathReport) -> Option<PathFinding> {
    let flows = &report.path_mtu.flows;
    let vanish: Vec<u32> = flows.iter().filter_map(|flow| flow.vanishes_bytes).collect();
    if let Some(size) = vanish.first() {
        let (count, all, kind) = (vanish.len(), flows.len(), message(report.address));
        return Some(PathFinding {
            kind: PathFindingKind::UnequalFlows,
            // That of the finding: which size all of them take need not be known.
            confidence: if report.path_mtu.confidence == Confidence::Unknown {
                Confidence::Confirmed
            } else {
                report.path_mtu.confidence
            },
            text: format!(
                "paths of equal cost differ: on {count} of {all} flows packets of {size} bytes vanish without {kind}, and small ones arrive"
            ),
            remedy: Some(format!(
                "give the links of all these paths the same MTU, or let {kind} pass there; with an open TCP port (HOST:PORT, as root) the test \
                 finds which size passes and where"
            )),
        });
    }
    let mut sizes: Vec<u32> =
        report.path_mtu.flows.iter().filter_map(|flow| flow.mtu_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (least, most) = (sizes.first()?, sizes.last()?);
    (least != most).then(|| PathFinding {
        kind: PathFindingKind::UnequalFlows,
        confidence: report.path_mtu.confidence,
        text: format!("paths of equal cost differ: flows have path MTUs of {least} and {most}"),
        remedy: Some(format!(
            "give the links of both paths the same MTU, or use {least} at both ends"
        )),
    })
}

/// Losses that go by the size of a packet.
fn large_loss(loss: &LargeLoss, report: &PathReport) -> Option<PathFinding> {
    let LargeLoss { size_bytes, large, small, is_both_ways, boundary } = *loss;
    if !loss.is_certain() {
        return None;
    }
    let way = if is_both_ways { ", there or on the way back" } else { "" };
    let none = if small.lost == 0 { "none".to_owned() } else { small.lost.to_string() };
    let sizes = boundary.map_or_else(String::new, |found| found.clause(size_bytes));
    Some(PathFinding {
        kind: PathFindingKind::LargeLoss,
        confidence: Confidence::Confirmed,
        text: format!(
            "{} of {} packets of {size_bytes} bytes to {} were lost{way}, and {none} of {} small ones between them{sizes}: a link that damages or \
             drops large packets, or links that share the packets of a flow, of which one takes less",
            large.lost, large.sent, report.address, small.sent
        ),
        remedy: Some(of_large_loss(loss, report.address)),
    })
}

impl LossBoundary {
    /// Where the losses begin, beside those of packets of `size` bytes.
    fn clause(self, size: u32) -> String {
        let none = format!(
            "; of {} packets of {} bytes none was lost",
            self.none_lost_sent, self.none_lost_bytes
        );
        if self.some_lost_bytes == size {
            return none;
        }
        format!(
            "{none}, of {} packets of {} bytes {}",
            self.some_lost_sent, self.some_lost_bytes, self.some_lost
        )
    }
}

fn small_mtu(report: &PathReport, route: &RouteToHost) -> Option<PathFinding> {
    let mtu = report.path_mtu.forward_bytes?;
    // A test that was not finished does not say what the path takes.
    let is_known = report.path_mtu.confidence != Confidence::AtLeast;
    // The loopback interface takes a byte more than a packet's length says.
    let most = route.interface_mtu.min(u16::MAX.into());
    let is_told = report.path_mtu.black_hole.is_some() || report.path_mtu.misleading.is_some();
    let is_small = is_known && mtu < most && !is_told;
    let name = report.path_mtu.name();
    is_small.then(|| PathFinding {
        kind: PathFindingKind::SmallMtu,
        confidence: report.path_mtu.confidence,
        text: format!(
            "the path takes {mtu} bytes, the interface {} of this host {}{name}",
            route.interface, route.interface_mtu
        ),
        remedy: None,
    })
}

fn learnt(report: &PathReport, route: &RouteToHost) -> Option<PathFinding> {
    let learnt = route.learnt?;
    let mtu = report.path_mtu.forward_bytes?;
    (learnt.mtu < mtu).then(|| PathFinding {
        kind: PathFindingKind::LearntMtu,
        confidence: report.path_mtu.confidence,
        text: format!(
            "before the test this host's route cache had a path MTU of {}, and the path takes {mtu}: its connections send less \
             than they could",
            learnt.mtu
        ),
        remedy: Some(flush(report.address)),
    })
}

fn route_mtu(report: &PathReport, route: &RouteToHost) -> Option<PathFinding> {
    let mtu = report.path_mtu.forward_bytes?;
    let set = route.route_mtu.filter(|set| *set < mtu)?;
    Some(PathFinding {
        kind: PathFindingKind::RouteMtu,
        confidence: report.path_mtu.confidence,
        text: format!(
            "this host's route to {} has an MTU of {set}, and the path takes {mtu}: its connections send less than they could",
            report.address
        ),
        remedy: Some(format!(
            "look with `ip route show to match {}` and `maxseg tune status` who has set it, and for what; `maxseg tune undo` takes back what \
             `maxseg tune` has",
            report.address
        )),
    })
}
