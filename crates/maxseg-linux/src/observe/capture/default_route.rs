//! Which interface leads out of here.

use std::fs;

/// The interface of the default route, IPv4's before IPv6's; of several the one that the kernel prefers.
pub(super) fn interface() -> Option<String> {
    // Of the calling thread's namespace, which need not be the process's.
    let read = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).ok();
    let v4 = read("route").and_then(|text| of_v4(&text));
    v4.or_else(|| read("ipv6_route").and_then(|text| of_v6(&text)))
}

/// `RTF_REJECT` of `include/uapi/linux/route.h`: unreachable, prohibited or a black hole.
const REJECT: u32 = 0x200;

/// `/proc/net/route`: interface, destination, gateway, flags, …, metric, mask.
fn of_v4(text: &str) -> Option<String> {
    let rows = text.lines().skip(1).filter_map(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let [name, destination, _, flags, _, _, metric, mask, ..] = row[..] else { return None };
        let leads = u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & REJECT == 0);
        // A route of no interface is an asterisk.
        let is_default = destination == "00000000" && mask == "00000000" && leads && name != "*";
        Some((metric.parse::<u32>().ok()?, name)).filter(|_| is_default)
    });
    Some(rows.min_by_key(|(metric, _)| *metric)?.1.to_owned())
}

/// `/proc/net/ipv6_route`: destination, its length, source, its length, next hop, metric, …, interface.
fn of_v6(text: &str) -> Option<String> {
    let rows = text.lines().filter_map(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let [_, "00", _, _, _, metric, .., name] = row[..] else { return None };
        // The kernel's own "no route" stands here too, on the loopback.
        let metric = u32::from_str_radix(metric, 16).ok().filter(|_| name != "lo")?;
        Some((metric, name))
    });
    Some(rows.min_by_key(|(metric, _)| *metric)?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_default_route_is_taken() {
        let text = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
                    wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n\
                    eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
                    eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
        assert_eq!(of_v4(text).as_deref(), Some("eth0"));
        assert_eq!(of_v4("Iface\tDestination\n"), None);
        let unreachable = "Iface\n*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n";
        assert_eq!(of_v4(unreachable), None, "packets of IPv6 may leave");
        let with_next = text.replace("eth0\t00000000\t0102A8C0\t0003", "*\t00000000\t0\t0201");
        assert_eq!(of_v4(&with_next).as_deref(), Some("wlan0"));
        let zero = "00000000000000000000000000000000";
        let row = |metric, name| {
            format!("{zero} 00 {zero} 00 {zero} {metric} 00000001 00000000 00000003     {name}\n")
        };
        let text =
            [row("ffffffff", "lo"), row("00000400", "eth0"), row("00000100", "eth1")].concat();
        assert_eq!(of_v6(&text).as_deref(), Some("eth1"));
        assert_eq!(of_v6(&row("ffffffff", "lo")), None);
    }
}
