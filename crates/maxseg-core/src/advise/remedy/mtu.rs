//! Segment sizes and the path MTU.

use super::{Facts, Remedy, System};
use crate::advise::Change;
use crate::advise::path::{Confidence, ETHERNET};
use crate::diagnose::FindingKind;
use crate::evidence::BlackHole;
use crate::framing::{Headers, IpVersion};
use crate::units::{Mss, Time, approx};

/// Every host receives packets of this size, in bytes (RFC 791).
const LEAST_MTU: u32 = 576;

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

/// The path MTU that hops reported for this direction.
fn reported_mtu(facts: &Facts<'_>) -> Option<u32> {
    facts.case.evidence.reported_mtu(facts.direction)
}

/// A size that passes: the reported MTU, or the largest packet that arrived while larger ones were lost.
fn passing_mtu(facts: &Facts<'_>) -> Option<u32> {
    let arrived = facts.data.black_hole.filter(|hole| hole.passed_bytes > 0);
    let headers = facts.case.evidence.headers().octets();
    reported_mtu(facts)
        .or_else(|| arrived.map(|hole| hole.passed_bytes + headers))
        .filter(|mtu| *mtu <= 65_535)
}

/// `lower the MTU of 10.0.0.1 (packets of 1358 bytes arrive)`: as far as the capture shows what arrives.
fn lower_mtu(facts: &Facts<'_>) -> String {
    let headers = facts.case.evidence.headers().octets();
    let largest = |hole: BlackHole| hole.passed_bytes.max(hole.passed_before_bytes) + headers;
    let arrived = facts.data.black_hole.map(largest).filter(|packet| *packet >= LEAST_MTU);
    let known = arrived.map_or_else(String::new, |mtu| format!(" (packets of {mtu} bytes arrive)"));
    format!("lower the MTU of {}{known}", facts.sender)
}

/// The duration of a black hole that ended with a smaller segment without any ICMP message: the sender probes
/// (RFC 4821).
fn recovered_by_probing_after(facts: &Facts<'_>) -> Option<Time> {
    let hole = facts.data.black_hole.filter(|hole| hole.passed_bytes > 0)?;
    // A lasting hole extends to the end of the capture, beyond the last acknowledgement.
    let has_ended = facts.data.last_ack.is_some_and(|last| hole.to <= last);
    let has_icmp = facts.case.evidence.path_mtu_events_of(facts.direction).next().is_some();
    (has_ended && !has_icmp).then(|| hole.to.since(hole.from))
}

pub(super) fn path_mtu(facts: &Facts<'_>) -> Remedy {
    let v6 = ip(facts) == IpVersion::V6;
    let passing = passing_mtu(facts);
    let tables = if v6 { "ip6tables" } else { "iptables" };
    let on = facts.sender;
    let recovered = recovered_by_probing_after(facts);
    let is_unheeded = facts.has(FindingKind::BlackHole);
    let change = match (reported_mtu(facts), recovered) {
        (Some(mtu), _) if is_unheeded => format!(
            "clamp the MSS to {} at the router before the narrow hop (the path MTU is {mtu}), and let its ICMP reach {on}: \
             a load balancer may hand it to another server",
            mss_for(mtu, ip(facts))
        ),
        (Some(mtu), _) => format!(
            "clamp the MSS to {} at the router before the narrow hop: the path MTU is {mtu}",
            mss_for(mtu, ip(facts))
        ),
        (None, Some(stalled)) => format!(
            "clamp the MSS at the router before the narrow hop, {}, or let its ICMP through: MTU probing of {on} took {}",
            lower_mtu(facts),
            approx::time(stalled.as_secs_f64())
        ),
        (None, None) => format!(
            "clamp the MSS at the router before the narrow hop, {}, or enable MTU probing there",
            lower_mtu(facts)
        ),
    };
    let mut remedy = Remedy::new(change).linux(
        "the router before the narrow hop",
        format!("{tables} -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"),
    );
    if recovered.is_none() {
        remedy = remedy.linux(on, "sysctl -w net.ipv4.tcp_mtu_probing=1");
    }
    if let Some(mtu) = passing {
        let mss = mss_for(mtu, ip(facts));
        let v6 = if v6 { "-6 " } else { "" };
        remedy = remedy.linux(on, format!("ip {v6}route change ROUTE mtu lock {mtu} advmss {mss}"));
    }
    if recovered.is_none() {
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
            "Allow ICMP \"fragmentation needed\" and \"packet too big\" in firewalls: path MTU discovery needs them \
             (RFC 2923, RFC 4890).",
        )
        .what_if(Change::IcmpSent);
    if let Some(mss) = reported_mtu(facts).and_then(|mtu| size(mss_for(mtu, ip(facts)))) {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}

pub(super) fn small_mss(facts: &Facts<'_>) -> Remedy {
    let (data, acks) = (facts.data, facts.acks);
    let (on, sender) = (facts.receiver, facts.sender);
    let seen = facts.path.map(|path| &path.mtu).filter(|mtu| mtu.confidence > Confidence::Low);
    let shown = reported_mtu(facts).or(seen.map(|mtu| mtu.value));
    let mtu = shown.unwrap_or(ETHERNET);
    let allows = if shown.is_some() { "the path allows" } else { "Ethernet allows" };
    let mss = mss_for(mtu, ip(facts));
    let v6 = if ip(facts) == IpVersion::V6 { "-6 " } else { "" };
    // The receiver's option limits the sender's segments. If the sender's is as small, the sender or a middlebox
    // lowers both.
    let options = (acks.mss_option_bytes, data.mss_option_bytes);
    let (who, change) = match options {
        (Some(theirs), Some(own)) if own <= theirs && u32::from(theirs) < mss => (
            format!("{on} and {sender}"),
            format!(
                "find what lowers the MSS, perhaps a router that clamps it: both SYNs carry {own} and {theirs}, \
                 {allows} {mss}"
            ),
        ),
        (Some(theirs), _) if u32::from(theirs) < mss => {
            (on.to_string(), format!("let {on} announce an MSS of {mss}: its SYN carries {theirs}"))
        }
        _ => (
            sender.to_string(),
            format!("let {sender} send segments of {mss} bytes: the peer's MSS option allows it"),
        ),
    };
    let mut remedy = Remedy::new(change)
        .linux(&who, format!("ip {v6}route change ROUTE advmss {mss}"))
        .linux(&who, format!("ip {v6}route get PEER; ip link show; iptables-save -t mangle | grep TCPMSS"))
        .command(System::FreeBsd, &who, format!("sysctl net.inet.tcp.mssdflt={mss}; route get PEER"))
        .note(
            "Verify first that the path carries packets of that size in both directions: a tunnel is the usual reason \
             for a small MSS.",
        );
    if let Some(mss) = size(mss) {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}
