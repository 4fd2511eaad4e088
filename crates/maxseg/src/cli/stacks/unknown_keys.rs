//! Sysctls that a stack has no key for.

use maxseg_core::mss::linux::MIN_SND_MSS;
use maxseg_core::tcp::linux::Host;

/// Those of which the simulator's Linux has nothing.
const NOT_SIMULATED: [&str; 10] = [
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.default_qdisc",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_fastopen",
];

/// Their names, and what the simulator's Linux has in their place; `None` where it has nothing of the kind.
pub(super) fn sysctls() -> impl Iterator<Item = (&'static str, Option<String>)> {
    let host = Host::default();
    let fixed = [
        ("net.ipv4.tcp_probe_interval", host.mtu_search.tcp_probe_interval.into()),
        ("net.ipv4.tcp_probe_threshold", host.mtu_search.tcp_probe_threshold.into()),
        ("net.ipv4.tcp_min_snd_mss", MIN_SND_MSS.get()),
        ("net.ipv4.tcp_dsack", u64::from(host.tcp_dsack)),
        ("net.ipv4.tcp_moderate_rcvbuf", u64::from(host.tcp_moderate_rcvbuf)),
        ("net.ipv4.tcp_reordering", host.tcp_reordering),
        ("net.ipv4.tcp_max_reordering", host.tcp_max_reordering.into()),
        ("net.ipv4.tcp_comp_sack_nr", host.tcp_comp_sack_nr.into()),
        ("net.ipv4.tcp_comp_sack_delay_ns", host.tcp_comp_sack_delay_ns),
        ("net.ipv4.tcp_comp_sack_slack_ns", host.tcp_comp_sack_slack_ns),
        ("net.ipv4.tcp_tso_win_divisor", host.tcp_tso_win_divisor),
        ("net.ipv4.tcp_min_tso_segs", host.tcp_min_tso_segs),
        ("net.ipv4.tcp_tso_rtt_log", u64::from(host.tcp_tso_rtt_log)),
        ("net.ipv4.tcp_pacing_ss_ratio", host.tcp_pacing_ss_ratio),
        ("net.ipv4.tcp_pacing_ca_ratio", host.tcp_pacing_ca_ratio),
        ("net.ipv4.tcp_syn_linear_timeouts", host.tcp_syn_linear_timeouts.into()),
    ];
    let simulated = fixed.into_iter().map(|(name, value)| (name, Some(value.to_string())));
    NOT_SIMULATED.into_iter().map(|name| (name, None)).chain(simulated)
}
