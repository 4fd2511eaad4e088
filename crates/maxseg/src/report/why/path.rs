//! The path of a connection, as this host knows it.

use maxseg_core::framing::{GreFields, IpVersion, Tunnel, TunnelKind};
use maxseg_core::units::{Mtu, approx};
use maxseg_linux::observe::path::{Clamp, Clamps, InterfaceReading, PathReading, RouteReading};

use crate::wrap::hanging;

/// Routes that lost are told up to so many.
const MOST_LOST: usize = 4;

pub(super) fn text(path: &PathReading, width: usize) -> String {
    let mut lines = vec![match &path.route {
        Ok(chosen) => format!("route: {}", route(chosen)),
        Err(error) => format!("route: not known: {error}"),
    }];
    lines.extend(path.lost.iter().take(MOST_LOST).map(|lost| format!("lost: {}", route(lost))));
    if let Some(more) = path.lost.len().checked_sub(MOST_LOST).filter(|more| *more > 0) {
        lines.push(format!("lost: {more} more"));
    }
    lines.push(match &path.interface {
        Ok(found) => interface(found),
        Err(error) => format!("interface: not known: {error}"),
    });
    lines.extend(clamps(&path.clamps));
    lines.push(match &path.remembered {
        Ok(all) if all.is_empty() => "remembered of the peer: nothing".to_owned(),
        Ok(all) => {
            let all: Vec<String> =
                all.iter().map(|(key, value)| format!("{key} {value}")).collect();
            format!("remembered of the peer (tcp_metrics): {}", all.join(", "))
        }
        Err(why) => format!("remembered of the peer: not known: {why}"),
    });
    let shown = ["net.ipv4.tcp_rmem", "net.core.rmem_max", "net.ipv4.tcp_mtu_probing"];
    let values = shown.iter().filter_map(|name| Some(format!("{name} {}", path.sysctl(name)?)));
    let values = values.collect::<Vec<_>>().join(", ");
    lines.push(format!(
        "sysctls: {}",
        if values.is_empty() { "not readable here" } else { &values }
    ));
    let told = lines
        .iter()
        .map(|line| hanging(&format!("  {}", maxseg_core::excerpt::escaped(line)), width, "  "));
    format!("\nPath\n{}", told.collect::<String>())
}

fn route(route: &RouteReading) -> String {
    let mut words = vec![route.destination.clone()];
    words.extend(route.gateway.map(|gateway| format!("via {gateway}")));
    words.extend(route.interface.as_ref().map(|name| format!("dev {name}")));
    words.push(match route.table {
        254 => "table main".to_owned(),
        255 => "table local".to_owned(),
        number => format!("table {number}"),
    });
    if route.preference != 0 {
        words.push(format!("metric {}", route.preference));
    }
    for (name, value) in &route.metrics {
        let lock = if *name == "mtu" && route.is_mtu_locked { "lock " } else { "" };
        words.push(format!("{name} {lock}{value}"));
    }
    let text = words.join(" ");
    match route.learnt {
        None => text,
        Some((mtu, seconds)) => {
            format!("{text}; learnt path MTU {mtu}, for {} more", approx::time(seconds))
        }
    }
}

fn interface(found: &InterfaceReading) -> String {
    let mtu = found.mtu.map_or_else(String::new, |mtu| format!(", MTU {mtu}"));
    let kind = found.kind.as_deref().map_or_else(String::new, |kind| format!(", {kind}"));
    let wrapped = found.kind.as_deref().zip(found.mtu).and_then(|(kind, mtu)| below(kind, mtu));
    format!("interface: {}{mtu}{kind}{}", found.name, wrapped.unwrap_or_default())
}

/// What a full packet of a tunnel becomes below it.
fn below(kind: &str, mtu: u32) -> Option<String> {
    let kind = match kind {
        "wireguard" => TunnelKind::Wireguard,
        "vxlan" => TunnelKind::Vxlan,
        "geneve" => TunnelKind::Geneve,
        "gre" | "ip6gre" => TunnelKind::Gre(GreFields::default()),
        "ipip" | "ip6tnl" => TunnelKind::Ipip,
        "sit" => TunnelKind::SixInFour,
        "gtp" => TunnelKind::GtpU,
        _ => return None,
    };
    let mtu = Mtu::new(mtu.into()).ok()?;
    let outer = |outer| Tunnel { kind, outer }.wrap(mtu.bytes(), mtu).length().get();
    Some(format!(
        ": a full packet becomes {} bytes below the tunnel over IPv4, {} over IPv6",
        outer(IpVersion::V4),
        outer(IpVersion::V6)
    ))
}

/// Rules that change the MSS option: one line each, and what is not known of them.
fn clamps(clamps: &Clamps) -> Vec<String> {
    let mut lines: Vec<String> = clamps.rules.iter().map(clamp).collect();
    match (&clamps.unknown, lines.is_empty()) {
        (Some(why), true) => lines.push(format!("clamps: unknown: {why}")),
        (Some(why), false) => lines.push(format!("clamps: there may be more: {why}")),
        (None, true) => lines.push("clamps: none on this host for this IP version".to_owned()),
        (None, false) => {}
    }
    lines
}

fn clamp(rule: &Clamp) -> String {
    let to = rule.mss.map_or_else(|| "the path MTU's".to_owned(), |mss| mss.to_string());
    let bounds = match rule.hook.as_deref() {
        Some("output" | "postrouting") => ", which bounds what the peer sends where it matches",
        Some("input" | "prerouting") => ", which bounds what this host sends where it matches",
        Some(_) | None => "",
    };
    let hook = rule.hook.as_deref().map_or_else(String::new, |hook| format!(" at {hook}"));
    format!("clamp: {} {} {}: MSS {to}{hook}{bounds}", rule.by, rule.family, rule.chain)
}
