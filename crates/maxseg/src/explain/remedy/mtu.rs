//! Segment sizes and the path's MTU.

use maxseg_core::advise::Change;
use maxseg_core::evidence::PathMtuEvent;
use maxseg_core::framing::{Headers, IpVersion};
use maxseg_core::units::{Mss, Time, approx};

use super::{Facts, Remedy, System};
use crate::explain::Case;
use crate::explain::path::{Confidence, ETHERNET};

/// The MSS for packets of this length: the option does not count TCP's own options (RFC 6691).
fn mss_for(mtu: u32, ip: IpVersion) -> u32 {
    mtu.saturating_sub(Headers::plain(ip).octets()).max(1)
}

fn ip(facts: &Facts<'_>) -> IpVersion {
    if facts.sender.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 }
}

fn size(mss: u32) -> Option<Mss> {
    Mss::new(u64::from(mss)).ok()
}

/// The least MTU that hops named.
fn told_mtu(facts: &Facts<'_>) -> Option<u32> {
    let events = facts.case.evidence.path_mtu_events.iter();
    events.filter_map(PathMtuEvent::told_mtu).min()
}

/// What surely passes: the MTU that hops named, or the largest packet that arrived where larger ones vanished.
fn passing_mtu(facts: &Facts<'_>) -> Option<u32> {
    let arrived = facts.case.data().black_hole.filter(|hole| hole.passed_bytes > 0);
    let headers = facts.case.evidence.headers().octets();
    told_mtu(facts)
        .or_else(|| arrived.map(|hole| hole.passed_bytes + headers))
        .filter(|mtu| *mtu <= 65_535)
}

/// How long the sender stood before a smaller segment of its own got through, with no message from a hop to tell
/// it: it probes (RFC 4821), though late.
pub(in crate::explain) fn probing_healed_after(case: &Case<'_>) -> Option<Time> {
    let data = case.data();
    let hole = data.black_hole.filter(|hole| hole.passed_bytes > 0)?;
    // A hole that stayed lasts to the end of the capture, which no acknowledgement of its payload reaches.
    let has_healed = data.last_ack.is_some_and(|last| hole.to <= last);
    (has_healed && case.evidence.path_mtu_events.is_empty()).then(|| hole.to.since(hole.from))
}

pub(super) fn path_mtu(facts: &Facts<'_>) -> Remedy {
    let v6 = ip(facts) == IpVersion::V6;
    let passing = passing_mtu(facts);
    let tables = if v6 { "ip6tables" } else { "iptables" };
    let on = facts.sender;
    let healed = probing_healed_after(facts.case);
    let change = match (told_mtu(facts), healed) {
        (Some(mtu), _) => format!(
            "let segments fit the path's MTU of {mtu}: clamp the MSS to {} at the router before the narrow hop",
            mss_for(mtu, ip(facts))
        ),
        (None, Some(waited)) => format!(
            "MTU probing seems to be on at {on}, and healed it after {}: clamp the MSS at the router before the \
             narrow hop, or let its ICMP through, and nothing waits",
            approx::time(waited.as_secs_f64())
        ),
        (None, None) => format!(
            "let segments fit the path: clamp the MSS at the router before the narrow hop, or let {on} find the \
             size itself"
        ),
    };
    let mut remedy = Remedy::new(change).linux(
        "the router before the narrow hop",
        format!("{tables} -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"),
    );
    if healed.is_none() {
        remedy = remedy.linux(on, "sysctl -w net.ipv4.tcp_mtu_probing=1");
    }
    if let Some(mtu) = passing {
        let mss = mss_for(mtu, ip(facts));
        let v6 = if v6 { "-6 " } else { "" };
        remedy = remedy.linux(on, format!("ip {v6}route change ROUTE mtu lock {mtu} advmss {mss}"));
    }
    if healed.is_none() {
        remedy = remedy
            .command(System::FreeBsd, on, "sysctl net.inet.tcp.pmtud_blackhole_detection=1")
            .command(System::MacOs, on, "sysctl -w net.inet.tcp.pmtud_blackhole_detection=1");
    }
    if let Some(mtu) = passing {
        let family = if v6 { "ipv6" } else { "ipv4" };
        remedy = remedy.command(
            System::Windows,
            on,
            format!(
                "netsh interface {family} set subinterface \"NAME\" mtu={mtu} store=persistent"
            ),
        );
    }
    remedy = remedy
        .note(
            "Where a firewall drops ICMP \"fragmentation needed\" or \"packet too big\", let it pass: without it \
             every host behind that hop stalls like this one.",
        )
        .what_if(Change::IcmpSent);
    if let Some(mss) = told_mtu(facts).and_then(|mtu| size(mss_for(mtu, ip(facts)))) {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}

pub(super) fn small_mss(facts: &Facts<'_>) -> Remedy {
    let (data, acks) = (facts.case.data(), facts.case.acks());
    let (on, sender) = (facts.receiver, facts.sender);
    let seen = facts.path.map(|path| &path.mtu).filter(|mtu| mtu.confidence > Confidence::Low);
    let shown = told_mtu(facts).or(seen.map(|mtu| mtu.value));
    let mtu = shown.unwrap_or(ETHERNET);
    let takes = if shown.is_some() { "the path takes" } else { "Ethernet would take" };
    let mss = mss_for(mtu, ip(facts));
    let v6 = if ip(facts) == IpVersion::V6 { "-6 " } else { "" };
    // The receiver's option bounds the sender's segments; where the sender's own is as small, it or something on
    // the way lowers both.
    let options = (acks.mss_option_bytes, data.mss_option_bytes);
    let (who, change) = match options {
        (Some(theirs), Some(own)) if own <= theirs && u32::from(theirs) < mss => (
            format!("{on} and {sender}"),
            format!(
                "find who lowers the MSS: both SYNs say {own} and {theirs}, {takes} {mss}; a router on the way may clamp it"
            ),
        ),
        (Some(theirs), _) if u32::from(theirs) < mss => {
            (on.to_string(), format!("let {on} announce an MSS of {mss}: its SYN says {theirs}"))
        }
        _ => (
            sender.to_string(),
            format!(
                "let {sender} send segments of {mss} bytes: nothing in the other side's SYN keeps it from it"
            ),
        ),
    };
    let mut remedy = Remedy::new(change)
        .linux(&who, format!("ip {v6}route change ROUTE advmss {mss}"))
        .linux(&who, format!("ip {v6}route get PEER; ip link show; iptables-save -t mangle | grep TCPMSS"))
        .command(System::FreeBsd, &who, format!("sysctl net.inet.tcp.mssdflt={mss}; route get PEER"))
        .note(
            "Be sure that the path takes packets of that size both ways before raising it: a tunnel on the way \
             is the usual reason for a small MSS.",
        );
    if let Some(mss) = size(mss) {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}
