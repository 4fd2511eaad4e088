//! Segment sizes and the path's MTU.

use maxseg_core::advise::Change;
use maxseg_core::framing::IpVersion;
use maxseg_core::units::Mss;

use super::{Facts, Remedy, System};

/// The MSS for packets of this length: the option does not count TCP's own options (RFC 6691).
fn mss_for(mtu: u32, ip: IpVersion) -> u32 {
    let headers = match ip {
        IpVersion::V4 => 40,
        IpVersion::V6 => 60,
    };
    mtu.saturating_sub(headers).max(1)
}

fn ip(facts: &Facts<'_>) -> IpVersion {
    if facts.sender.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 }
}

fn size(mss: u32) -> Option<Mss> {
    Mss::new(u64::from(mss)).ok()
}

/// The MTU that hops named, or one that nearly every path takes: IPv6's least.
fn known_mtu(facts: &Facts<'_>) -> Option<u32> {
    let events = facts.case.evidence.path_mtu_events.iter();
    events.map(|event| event.mtu_bytes).filter(|mtu| *mtu >= 68).min()
}

/// Every path takes so much of IPv6 (RFC 8200 §5), and nearly every path of IPv4.
const SAFE_MTU: u32 = 1280;

pub(super) fn path_mtu(facts: &Facts<'_>) -> Remedy {
    let v6 = ip(facts) == IpVersion::V6;
    let mtu = known_mtu(facts).unwrap_or(SAFE_MTU);
    let mss = mss_for(mtu, ip(facts));
    let tables = if v6 { "ip6tables" } else { "iptables" };
    let on = facts.sender;
    let change = match known_mtu(facts) {
        Some(mtu) => format!(
            "let segments fit the path's MTU of {mtu}: clamp the MSS to {mss} at the router before the narrow hop"
        ),
        None => format!(
            "let segments fit the path: clamp the MSS at the router before the narrow hop, or let {on} find the size itself"
        ),
    };
    let mut remedy = Remedy::new(change)
        .linux(
            "the router before the narrow hop",
            format!("{tables} -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"),
        )
        .linux(on, "sysctl -w net.ipv4.tcp_mtu_probing=1")
        .linux(
            on,
            format!("ip {}route change ROUTE mtu lock {mtu} advmss {mss}", if v6 { "-6 " } else { "" }),
        )
        .command(System::FreeBsd, on, "sysctl net.inet.tcp.pmtud_blackhole_detection=1")
        .command(System::MacOs, on, "sysctl -w net.inet.tcp.pmtud_blackhole_detection=1")
        .command(
            System::Windows,
            on,
            format!(
                "netsh interface {} set subinterface \"NAME\" mtu={mtu} store=persistent",
                if v6 { "ipv6" } else { "ipv4" }
            ),
        )
        .note(
            "Where a firewall drops ICMP \"fragmentation needed\" or \"packet too big\", let it pass: without it \
             every host behind that hop stalls like this one.",
        )
        .what_if(Change::IcmpSent);
    if known_mtu(facts).is_some()
        && let Some(mss) = size(mss)
    {
        remedy = remedy.what_if(Change::SegmentSize(mss));
    }
    remedy
}

pub(super) fn small_mss(facts: &Facts<'_>) -> Remedy {
    let (data, acks) = (facts.case.data(), facts.case.acks());
    let (on, sender) = (facts.receiver, facts.sender);
    let mtu = known_mtu(facts).or(facts.path.map(|path| path.mtu.value)).unwrap_or(1500);
    let mss = mss_for(mtu, ip(facts));
    let v6 = if ip(facts) == IpVersion::V6 { "-6 " } else { "" };
    // The receiver's option bounds the sender's segments; where the sender's own is as small, it or something on
    // the way lowers both.
    let options = (acks.mss_option_bytes, data.mss_option_bytes);
    let (who, change) = match options {
        (Some(theirs), Some(own)) if own <= theirs && u32::from(theirs) < mss => (
            format!("{on} and {sender}"),
            format!(
                "find who lowers the MSS: both SYNs say {own} and {theirs}, the path takes {mss}; a router on the way may clamp it"
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
