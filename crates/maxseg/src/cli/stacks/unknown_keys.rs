//! Sysctls that a stack has no key for.

/// Their names, and what the simulator's Linux has in their place (`Host` of `maxseg_core::tcp::linux`); `None` where
/// it has nothing of the kind.
pub(super) const SYSCTLS: [(&str, Option<&str>); 23] = [
    ("net.core.rmem_max", None),
    ("net.core.wmem_max", None),
    ("net.core.default_qdisc", None),
    ("net.ipv4.tcp_mem", None),
    ("net.ipv4.tcp_limit_output_bytes", None),
    ("net.ipv4.tcp_notsent_lowat", None),
    ("net.ipv4.tcp_no_metrics_save", None),
    ("net.ipv4.tcp_adv_win_scale", None),
    ("net.ipv4.tcp_shrink_window", None),
    ("net.ipv4.tcp_fastopen", None),
    ("net.ipv4.tcp_dsack", Some("1")),
    ("net.ipv4.tcp_moderate_rcvbuf", Some("1")),
    ("net.ipv4.tcp_reordering", Some("3")),
    ("net.ipv4.tcp_max_reordering", Some("300")),
    ("net.ipv4.tcp_comp_sack_nr", Some("44")),
    ("net.ipv4.tcp_comp_sack_delay_ns", Some("1000000")),
    ("net.ipv4.tcp_comp_sack_slack_ns", Some("100000")),
    ("net.ipv4.tcp_tso_win_divisor", Some("3")),
    ("net.ipv4.tcp_min_tso_segs", Some("2")),
    ("net.ipv4.tcp_tso_rtt_log", Some("9")),
    ("net.ipv4.tcp_pacing_ss_ratio", Some("200")),
    ("net.ipv4.tcp_pacing_ca_ratio", Some("120")),
    ("net.ipv4.tcp_syn_linear_timeouts", Some("4")),
];
