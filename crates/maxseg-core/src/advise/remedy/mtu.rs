//! Segment sizes and the path MTU.

use std::net::IpAddr;

use super::{Facts, Host, Remedy, System, linux, middlebox, others};
use crate::advise::Change;
use crate::advise::path::{Confidence, ETHERNET};
use crate::diagnose::FindingKind;
use crate::framing::{Headers, IpVersion};
use crate::mss::default_mss;
use crate::units::{Mss, Mtu, Time, approx};

/// The MSS for packets of this length: the option does not count TCP's own options (RFC 6691).
fn mss_for(mtu: u32, ip: IpVersion) -> u32 {
    mtu.saturating_sub(Headers::plain(ip).octets()).max(1)
}

fn ip(facts: &Facts<'_>) -> IpVersion {
    facts.sender.into()
}

fn size(mss: u32) -> Option<Mss> {
    Mss::new(u64::from(mss)).ok()
}

/// The path MTU that hops reported for this direction; `None` where a hop behind them is narrower.
fn reported_mtu(facts: &Facts<'_>) -> Option<u32> {
    facts.case.evidence.path_mtu_reported(facts.direction)
}

/// A size that passes: the reported MTU, or the largest packet that ever arrived, if that is below the size that was lost.
fn passing_mtu(facts: &Facts<'_>) -> Option<u32> {
    let headers = facts.case.evidence.headers().octets();
    let arrived = facts.data.black_hole.and_then(|hole| {
        // After the hole most payload was acknowledged in segments of the size in use.
        let in_use = facts.data.mss_used_bytes.filter(|_| hole.passed_bytes > 0).unwrap_or(0);
        let sizes = [hole.passed_bytes, hole.passed_before_bytes, in_use];
        let passed = sizes.into_iter().filter(|size| (1..hole.segment_bytes).contains(size));
        passed.max().map(|largest| largest + headers)
    });
    // Less is rather what a program wrote than a hop's limit.
    reported_mtu(facts)
        .or(arrived.filter(|mtu| *mtu >= least_likely_mtu(facts)))
        .filter(|mtu| *mtu <= 65_535)
}

/// A smaller packet is hardly a hop's limit, in bytes: what every host of IPv4 receives, though a hop of it need pass 68 only (RFC 791
/// §3.2), and every link of IPv6 carries (RFC 8200 §5).
fn least_likely_mtu(facts: &Facts<'_>) -> u32 {
    let ip = ip(facts);
    default_mss(ip) + Headers::plain(ip).octets()
}

/// `lower the MTU of 10.0.0.1 (packets of 1358 bytes arrive)`: as far as the capture shows what arrives.
fn lower_mtu(facts: &Facts<'_>) -> String {
    let arrived = passing_mtu(facts).filter(|packet| *packet >= least_likely_mtu(facts));
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

/// A command that sends packets of this length that may not be fragmented.
fn ping(to: IpAddr, packet: u32) -> String {
    // ICMP's header takes eight bytes.
    let headers = if to.is_ipv6() { 48 } else { 28 };
    format!("{} -c 3 -M do -s {} {to}", linux::ping(to), packet.saturating_sub(headers))
}

/// The length of the packets that were lost for their size, in bytes: never more than one packet of the sender can have, as a
/// ping of that size would fail on its host already.
fn refused_packet(facts: &Facts<'_>) -> u32 {
    let evidence = facts.case.evidence;
    let headers = evidence.headers().octets();
    let hole = facts.data.black_hole.map(|hole| hole.segment_bytes + headers);
    let reported = evidence.path_mtu_events_of(facts.direction).next();
    let refused = reported.map(|event| event.packet_bytes).or(hole).unwrap_or(ETHERNET);
    evidence.packet_on_wire(facts.direction, refused).unwrap_or(ETHERNET).min(65_535)
}

pub(super) fn path_mtu(facts: &Facts<'_>) -> Remedy {
    let v6 = ip(facts) == IpVersion::V6;
    let (on, to) = (&facts.sender_host, facts.receiver);
    let router = Host::role("the router before the narrow hop");
    let recovered = recovered_by_probing_after(facts);
    let is_unheeded = facts.has(FindingKind::BlackHole);
    let came_late = facts.case.evidence.told_only_after(facts.direction);
    if let Some(mtu) = reported_mtu(facts).filter(|mtu| v6 && *mtu < u32::from(Mtu::IPV6_MIN)) {
        return Remedy::new(format!(
            "let the hop of an MTU of {mtu} carry packets of {} bytes: IPv6 needs them (RFC 8200 section 5), and no setting of {on} goes \
             below",
            Mtu::IPV6_MIN
        ))
        .look_linux(on, linux::show_route(to));
    }
    let change = match (reported_mtu(facts), recovered) {
        (Some(mtu), _) if is_unheeded && came_late.is_some() => format!(
            "clamp the MSS to {} at the router before the narrow hop (the path MTU is {mtu}), and find what kept its ICMP from {on} for {}",
            mss_for(mtu, ip(facts)),
            came_late.map_or_else(String::new, |after| approx::time(after.as_secs_f64()))
        ),
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
        (None, None) => match facts.case.evidence.reported_mtu(facts.direction) {
            Some(mtu) => format!(
                "measure the path MTU (`maxseg path {to}`): packets of the {mtu} bytes that a hop reports are lost behind it without a \
                 message. Clamp the MSS at the router before that narrower hop, or enable MTU probing on {on}"
            ),
            None => format!(
                "clamp the MSS at the router before the narrow hop, {}, or enable MTU probing there",
                lower_mtu(facts)
            ),
        },
    };
    let shown = others::get_route(ip(facts), to);
    let bsd = format!("{shown}; sysctl net.inet.tcp.pmtud_blackhole_detection");
    let may_be_gone = facts.case.evidence.is_silent_behind_hole(facts.direction);
    let mut pings = ping(to, refused_packet(facts));
    if may_be_gone {
        pings = format!("{} -c 3 {to}; {pings}", linux::ping(to));
    }
    let mut remedy = Remedy::new(change)
        .look_linux(on, format!("{}; {pings}", linux::show_route(to)))
        .look(System::FreeBsd, on, bsd.as_str())
        .look(System::MacOs, on, bsd)
        .look(System::Windows, on, others::show_interfaces(ip(facts)));
    let lowered = passing_mtu(facts).filter(|mtu| !v6 || *mtu >= u32::from(Mtu::IPV6_MIN));
    let route = lowered.and_then(|mtu| Mtu::new(mtu.into()).ok());
    remedy = remedy.advises(route.map_or(Change::MtuProbing, Change::Mtu));
    if let Some(mtu) = lowered {
        // Without `lock`, which would clear DF.
        remedy = remedy.linux_route(on, to, &format!("mtu {mtu}"), None);
    }
    if recovered.is_none() && reported_mtu(facts).is_none() {
        remedy = remedy
            .linux(on, linux::raise("net.ipv4.tcp_mtu_probing", 1))
            .change(System::FreeBsd, on, "sysctl net.inet.tcp.pmtud_blackhole_detection=1")
            .change(System::MacOs, on, "sysctl -w net.inet.tcp.pmtud_blackhole_detection=1");
    }
    remedy = with_clamp(remedy, &router, v6)
        .wanted(format!("a capture on each side of the narrow hop shows where packets of {} bytes end", refused_packet(facts)))
        .note(
            "Allow ICMP \"fragmentation needed\" and \"packet too big\" in firewalls: path MTU discovery needs them \
             (RFC 2923, RFC 4890).",
        )
        .what_if(Change::IcmpSent);
    if may_be_gone {
        remedy = remedy.changes_only_where("a small ping is answered and a large one is not");
    }
    if let Some(mss) = reported_mtu(facts).and_then(|mtu| size(mss_for(mtu, ip(facts)))) {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}

/// The rule that clamps the MSS, once.
fn with_clamp(remedy: Remedy, router: &Host, v6: bool) -> Remedy {
    let tables = if v6 { "ip6tables" } else { "iptables" };
    // By its comment the undo takes away this rule alone, and none that was there before.
    let rule = "FORWARD -p tcp --tcp-flags SYN,RST SYN -m comment --comment maxseg -j TCPMSS --clamp-mss-to-pmtu";
    remedy
        // With `-t` the legacy variant would make the table, where it is to be looked at only.
        .look_linux(router, format!("{tables}-save | grep TCPMSS; ip link"))
        .linux(
            router,
            format!("{tables} -t mangle -C {rule} 2>/dev/null || {tables} -t mangle -A {rule}"),
        )
        .undo(format!("{tables} -t mangle -D {rule}"))
}

pub(super) fn small_mss(facts: &Facts<'_>) -> Remedy {
    let (data, acks) = (facts.data, facts.acks);
    let seen = facts.path.map(|path| &path.mtu).filter(|mtu| mtu.confidence > Confidence::Low);
    let shown = reported_mtu(facts).or(seen.map(|mtu| mtu.value));
    let mtu = shown.unwrap_or(ETHERNET);
    let allows = if shown.is_some() { "the path allows" } else { "Ethernet allows" };
    let mss = mss_for(mtu, ip(facts));
    if let Some(remedy) = middlebox::of_mss(facts, size(mss)) {
        return remedy;
    }
    let (receiver, sender) = (&facts.receiver_host, &facts.sender_host);
    let to_receiver = (sender, facts.receiver);
    let to_sender = (receiver, facts.sender);
    // The receiver's option limits the sender's segments. If the sender's is as small, the sender or a middlebox
    // lowers both.
    let options = (acks.mss_option_bytes, data.mss_option_bytes);
    let (hosts, change) = match options {
        (Some(theirs), Some(own)) if own <= theirs && u32::from(theirs) < mss => (
            vec![to_sender, to_receiver],
            format!(
                "find what lowers the MSS, perhaps a router that clamps it, or the programs (TCP_MAXSEG): both SYNs carry {own} and {theirs}, \
                 {allows} {mss}"
            ),
        ),
        (Some(theirs), _) if u32::from(theirs) < mss => (
            vec![to_sender],
            format!(
                "let {receiver} announce an MSS of {mss}: its SYN carries {theirs}, by its route, its interface or its program \
                 (TCP_MAXSEG), or a router on the way clamps it"
            ),
        ),
        (_, Some(own)) if u32::from(own) < mss => (
            vec![to_receiver],
            format!(
                "let {sender} announce an MSS of {mss} and use it: its own SYN carries {own}, by its program (TCP_MAXSEG), its route or its \
                 interface, or a router on the way clamps it"
            ),
        ),
        _ => (
            vec![to_receiver],
            format!("let {sender} send segments of {mss} bytes: the peer's MSS option allows it"),
        ),
    };
    let mut remedy = Remedy::new(change);
    for (on, peer) in hosts {
        let bsd = format!("{}; sysctl net.inet.tcp.mssdflt", others::get_route(ip(facts), peer));
        remedy = remedy
            .look_linux(on, format!("{}; ip link; {}", linux::show_route(peer), ping(peer, mtu)))
            .linux_route(
                on,
                peer,
                &format!("advmss {mss}"),
                Some("the ping passes, and the route or the interface has a smaller MTU or advmss"),
            )
            .look(System::FreeBsd, on, bsd.as_str())
            .look(System::MacOs, on, bsd)
            .look(System::Windows, on, others::show_interfaces(ip(facts)));
    }
    let routers = Host::role("each router on the way");
    remedy = remedy
        .look_linux(&routers, "iptables-save | grep TCPMSS; nft list ruleset | grep maxseg")
        .wanted("a capture at each end shows which SYN leaves with a larger MSS than arrives")
        .note(
            "Verify first that the path carries packets of that size in both directions: a tunnel is the usual reason \
             for a small MSS.",
        );
    if let Some(mss) = size(mss) {
        remedy = remedy.tries(Change::SegmentSize(mss));
    }
    remedy
}
