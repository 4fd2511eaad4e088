//! Sysctls of which more depends than their value.

use super::facts::V6Loss;
use super::plan::Value;
use super::reach::is_of_machine;
use super::target::Target;

/// What a sysctl changes beside its value, so that the value before would not bring it back; `None` where nothing is known.
///
/// Sources: `net/ipv4/devinet.c` (`inet_forward_change`, `devinet_sysctl_forward`), `net/ipv6/addrconf.c`
/// (`addrconf_fixup_forwarding`, `addrconf_disable_ipv6`, `addrconf_sysctl_addr_gen_mode`), `net/ipv4/route.c`
/// (`ipv4_sysctl_rtcache_flush`), `net/netfilter/nf_hooks_lwtunnel.c` (`nf_hooks_lwtunnel_set`).
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
        "nf_hooks_lwtunnel" if is_on => Some(
            "it turns hooks on for the whole machine, and the kernel takes no 0 again until the next boot",
        ),
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

/// Whether nothing tells if a sysctl is of one network namespace or of the machine: the catalogue does not have it, and it is none of an
/// interface, which is in one namespace.
pub fn is_of_unknown_reach(target: &Target) -> bool {
    let Target::Sysctl(name) = target else { return false };
    let mut words = name.split('.').skip(2);
    let is_of_interface = matches!(words.next(), Some("conf" | "neigh"));
    target.tunable().is_none() && !is_of_interface && !is_of_machine(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Scope;

    #[test]
    fn what_a_sysctl_reaches_is_known_or_said_to_be_unknown() {
        for (name, scope, is_unknown) in [
            ("net.ipv4.tcp_rmem", Scope::Namespace, false),
            ("net.core.rmem_max", Scope::Machine, false),
            ("net.netfilter.nf_hooks_lwtunnel", Scope::Machine, false),
            ("net.ipv4.neigh.default.gc_thresh3", Scope::Machine, false),
            ("net.ipv4.neigh.default.retrans_time_ms", Scope::Namespace, false),
            ("net.ipv4.conf.eth0.rp_filter", Scope::Namespace, false),
            ("net.core.netdev_budget", Scope::Machine, false),
            ("net.core.txrehash", Scope::Namespace, true),
            ("net.ipv4.route.flush", Scope::Namespace, true),
            ("net.netfilter.nf_conntrack_tcp_loose", Scope::Namespace, true),
        ] {
            let target = Target::Sysctl(name.to_owned());
            assert_eq!(
                (target.scope(), is_of_unknown_reach(&target)),
                (scope, is_unknown),
                "{name}"
            );
        }
    }
}
