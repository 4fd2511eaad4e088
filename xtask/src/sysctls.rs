//! Sysctls of a simulated host, by their names below `net.ipv4`.

use anyhow::{Context, Result, bail};
use maxseg_core::tcp::linux::Host;

/// Sets one of them.
///
/// # Errors
/// The host has no such sysctl, or that has no such value.
pub(crate) fn set(host: &mut Host, name: &str, value: &str) -> Result<()> {
    let number = || value.parse::<u64>().with_context(|| format!("{name}={value}"));
    let flag = || number().map(|number| number != 0);
    let three = || -> Result<[u64; 3]> {
        let list: Vec<u64> = value.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        list.try_into().ok().context("three numbers")
    };
    match name {
        "tcp_ecn" => host.tcp_ecn = u8::try_from(number()?)?,
        "tcp_sack" => host.tcp_sack = flag()?,
        "tcp_timestamps" => host.tcp_timestamps = flag()?,
        "tcp_dsack" => host.tcp_dsack = flag()?,
        "tcp_recovery" => host.tcp_recovery = number()? & 1 == 1,
        "tcp_early_retrans" => host.tcp_early_retrans = number()? >= 3,
        "tcp_frto" => host.tcp_frto = flag()?,
        "tcp_reordering" => host.tcp_reordering = number()?,
        "tcp_rto_min_us" => host.tcp_rto_min_us = number()?,
        "tcp_comp_sack_nr" => host.tcp_comp_sack_nr = u32::try_from(number()?)?,
        "tcp_comp_sack_delay_ns" => host.tcp_comp_sack_delay_ns = number()?,
        "tcp_comp_sack_slack_ns" => host.tcp_comp_sack_slack_ns = number()?,
        "tcp_window_scaling" => host.tcp_window_scaling = flag()?,
        "tcp_rmem" => host.tcp_rmem = three()?,
        "tcp_wmem" => host.tcp_wmem = three()?,
        "tcp_moderate_rcvbuf" => host.tcp_moderate_rcvbuf = flag()?,
        "tcp_tso_win_divisor" => host.tcp_tso_win_divisor = number()?,
        "tcp_min_tso_segs" => host.tcp_min_tso_segs = number()?,
        "tcp_mtu_probing" => host.tcp_mtu_probing = u8::try_from(number()?)?,
        "tcp_base_mss" => host.mtu_search.tcp_base_mss = u16::try_from(number()?)?,
        "tcp_mtu_probe_floor" => host.mtu_search.tcp_mtu_probe_floor = u16::try_from(number()?)?,
        "tcp_probe_interval" => host.mtu_search.tcp_probe_interval = u16::try_from(number()?)?,
        "tcp_probe_threshold" => host.mtu_search.tcp_probe_threshold = u16::try_from(number()?)?,
        "tcp_tso_rtt_log" => host.tcp_tso_rtt_log = u8::try_from(number()?)?,
        "tcp_pacing_ss_ratio" => host.tcp_pacing_ss_ratio = number()?,
        "tcp_pacing_ca_ratio" => host.tcp_pacing_ca_ratio = number()?,
        "tcp_slow_start_after_idle" => host.tcp_slow_start_after_idle = flag()?,
        other => bail!("no sysctl {other:?}"),
    }
    Ok(())
}
