//! Sysctls that the catalogue does not have, by what they reach.

/// How the names of sysctls begin of which the machine has one value. The first two every network namespace shows and may write:
/// `struct neigh_table` (`include/net/neighbour.h`), of which there is one for each protocol, and `net/netfilter/nf_hooks_lwtunnel.c`.
/// The others are absent or read-only in a new namespace of Linux 6.18.
const OF_MACHINE: [&str; 21] = [
    "net.ipv4.neigh.default.gc_",
    "net.ipv6.neigh.default.gc_",
    "net.netfilter.nf_hooks_lwtunnel",
    "net.core.",
    "net.ipv4.cipso_",
    "net.ipv4.fib_sync_mem",
    "net.ipv4.inet_peer_",
    "net.ipv4.ipfrag_secret_interval",
    "net.ipv4.route.",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv6.calipso_",
    "net.ipv6.ip6frag_secret_interval",
    "net.ipv6.mld_max_msf",
    "net.ipv6.mld_qrv",
    "net.netfilter.nf_conntrack_buckets",
    "net.netfilter.nf_conntrack_expect_max",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_log_all_netns",
    "net.nf_conntrack_max",
];
/// Names among them of which a network namespace has its own value, at least in Linux 6.18.
const OF_NAMESPACE: [&str; 10] = [
    "net.core.optmem_max",
    "net.core.rps_default_mask",
    "net.core.somaxconn",
    "net.core.tstamp_allow_data",
    "net.core.txrehash",
    "net.core.xfrm_",
    "net.ipv4.route.flush",
    "net.ipv4.route.min_adv_mss",
    "net.ipv4.route.min_pmtu",
    "net.ipv4.route.mtu_expires",
];

/// Whether the machine has one value of a sysctl that the catalogue does not have.
pub(super) fn is_of_machine(name: &str) -> bool {
    let is_among = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    is_among(&OF_MACHINE) && !is_among(&OF_NAMESPACE)
}
