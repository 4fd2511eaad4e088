//! Sysctls of which more depends than their value.

use super::facts::V6Loss;
use super::plan::Value;
use super::target::Target;

/// What a sysctl changes beside its value, so that the value before would not bring it back; `None` where nothing is known.
///
/// Sources: `net/ipv4/devinet.c` (`inet_forward_change`, `devinet_sysctl_forward`), `net/ipv6/addrconf.c`
/// (`addrconf_fixup_forwarding`, `addrconf_disable_ipv6`, `addrconf_sysctl_addr_gen_mode`), `net/ipv4/route.c`
/// (`ipv4_sysctl_rtcache_flush`).
pub(super) fn loses(target: &Target, after: &Value) -> Option<&'static str> {
    let Target::Sysctl(name) = target else { return None };
    let words: Vec<&str> = name.split('.').collect();
    let (is_all, is_v6) = (words.contains(&"all"), words.contains(&"ipv6"));
    let is_on = after.text() != Some("0");
    match *words.last()? {
        // What new interfaces begin with.
        _ if words.contains(&"default") => None,
        "disable_ipv6" | "addr_gen_mode" | "ignore_routes_with_linkdown" if is_all => {
            Some("it overwrites the value of every interface")
        }
        "disable_ipv6" if is_on => {
            Some("the interface loses its IPv6 addresses and routes, and does not get them back")
        }
        "forwarding" if is_v6 && is_all => Some(
            "it overwrites the value of every interface, and a router drops the default routes that router \
             advertisements gave it",
        ),
        "forwarding" if is_v6 && is_on => {
            Some("a router drops the default routes that router advertisements gave it")
        }
        "ip_forward" => {
            Some("it overwrites accept_redirects and the forwarding of every interface")
        }
        "forwarding" if !is_v6 && is_all => {
            Some("it overwrites accept_redirects and the forwarding of every interface")
        }
        "forwarding" if !is_v6 && is_on => Some("it turns LRO off, and nothing turns it on again"),
        "flush" => Some("the routes and path MTUs that the kernel has learnt are forgotten"),
        _ => None,
    }
}

/// The same of IPv6 and the MTU of an interface (`addrconf_notify` in `net/ipv6/addrconf.c`).
pub(super) const fn loses_of_v6(loss: V6Loss) -> &'static str {
    match loss {
        V6Loss::Sysctls => {
            "below 1280 bytes the kernel forgets the interface's sysctls of IPv6 (net.ipv6.conf.IFACE), such as \
             disable_ipv6, and begins above with those of new interfaces"
        }
        V6Loss::Held => {
            "IPv6's own MTU of the interface (net.ipv6.conf.IFACE.mtu), or routes of IPv6 by it, change with it, and \
             /proc/sys, where they are held, is read-only here"
        }
    }
}

/// Whether a sysctl may cut off connections, as far as is known here: what the catalogue does not have, such as `rp_filter`.
pub(super) fn may_cut_off(target: &Target) -> bool {
    matches!(target, Target::Sysctl(_)) && target.tunable().is_none()
}
