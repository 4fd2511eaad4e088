//! What each key is on Linux.

use maxseg_core::tune::{Prefix, RouteMetricName, Target, Value};

use super::times::{of_retries, of_syn_retries, retries, syn_retries};
use super::{Context, HEADERS};

/// What a key is on Linux: a setting, or the nearest thing in words, or both.
pub(super) struct Meaning {
    pub(super) setting: Option<(Target, String)>,
    pub(super) note: Option<String>,
}

/// Every key, for "did you mean".
pub(super) const NAMES: [&str; 31] = [
    "tcp_mss_max",
    "tcp_mss_min",
    "tcp_mss_def",
    "tcp_rwin_mss_multiplier",
    "tcp_rwin_credit_pct",
    "tcp_rexmit_interval_initial",
    "tcp_rexmit_interval_min",
    "tcp_rexmit_interval_max",
    "tcp_rexmit_interval_extra",
    "tcp_conn_grace_period",
    "tcp_deferred_ack_interval",
    "tcp_deferred_acks_max",
    "tcp_keepalive_interval",
    "tcp_ip_abort_interval",
    "tcp_ip_abort_cinterval",
    "tcp_ip_abort_linterval",
    "tcp_ip_notify_interval",
    "tcp_ip_notify_cinterval",
    "tcp_ip_ttl",
    "tcp_recv_hiwater_mark",
    "tcp_xmit_hiwater_mark",
    "tcp_xmit_lowater_mark",
    "tcp_slow_start_initial",
    "tcp_dupack_fast_retransmit",
    "tcp_close_wait_interval",
    "tcp_fin_wait_2_timeout",
    "tcp_conn_request_max",
    "tcp_naglim_def",
    "tcp_wscale_always",
    "tcp_tstamp_always",
    "ip_path_mtu_discovery",
];

fn sysctl(name: &str, value: u64) -> (Target, String) {
    (Target::Sysctl(format!("net.{name}")), value.to_string())
}

fn route(prefix: Prefix, metric: RouteMetricName, value: u64) -> (Target, String) {
    (Target::Route { prefix, metric }, value.to_string())
}

/// The meaning of a key; `None` of one that Open Transport does not have.
pub(super) fn meaning(key: &str, number: u64, context: &Context) -> Option<Meaning> {
    if let Some(note) = nearest(key, number) {
        return Some(Meaning { setting: None, note: Some(note.to_owned()) });
    }
    let (setting, note) = same(key, number, context)?;
    Some(Meaning { setting: Some(setting), note: Some(note).filter(|note| !note.is_empty()) })
}

/// A setting that does the same, and what is different about it.
fn same(key: &str, number: u64, context: &Context) -> Option<((Target, String), String)> {
    use RouteMetricName as Metric;
    let by_route = |metric, value| route(context.route, metric, value);
    let (setting, note) = match key {
        "tcp_mss_max" => (
            by_route(Metric::Mtu, number.saturating_add(HEADERS)),
            "an MTU of 40 more on the route: it bounds what is sent at once, and what new connections announce",
        ),
        "tcp_rwin_mss_multiplier" => {
            let window = number.saturating_mul(context.mss);
            let of = context.mss;
            let note = format!(
                "{number} segments of {of} bytes: the route's window is {window}, for new connections"
            );
            return Some((by_route(Metric::Window, window), note));
        }
        "tcp_rexmit_interval_min" => (
            by_route(Metric::RtoMin, number),
            "the route's rto_min: lower at once, higher on new connections",
        ),
        "tcp_rexmit_interval_max" => {
            let taken = number.clamp(1000, 120_000);
            let is_same = taken == number;
            let note = format!("Linux takes 1000 to 120000 ms: {taken} is the nearest");
            let note = if is_same { String::new() } else { note };
            return Some((sysctl("ipv4.tcp_rto_max_ms", taken), note));
        }
        "tcp_deferred_ack_interval" => {
            (by_route(Metric::QuickAck, 1), "no delay: the route's quickack")
        }
        "tcp_mss_min" => (sysctl("ipv4.tcp_min_snd_mss", number), ""),
        "tcp_keepalive_interval" => (
            sysctl("ipv4.tcp_keepalive_time", number.div_ceil(1000)),
            "in seconds, for sockets with SO_KEEPALIVE",
        ),
        "tcp_ip_abort_interval" => (
            sysctl("ipv4.tcp_retries2", retries(number)),
            "a count here: the fewest retransmissions that go on for as long, with timeouts from 200 ms",
        ),
        "tcp_ip_abort_cinterval" => (
            sysctl("ipv4.tcp_syn_retries", syn_retries(number)),
            "a count here: the fewest retries that go on for as long",
        ),
        "tcp_ip_ttl" => (sysctl("ipv4.ip_default_ttl", number), ""),
        "tcp_slow_start_initial" => (by_route(Metric::InitCwnd, number), "for new connections"),
        "tcp_dupack_fast_retransmit" => (
            sysctl("ipv4.tcp_reordering", number),
            "at first: each connection learns its own, and RACK goes by time",
        ),
        "tcp_fin_wait_2_timeout" => {
            (sysctl("ipv4.tcp_fin_timeout", number.div_ceil(1000)), "in seconds")
        }
        "tcp_conn_request_max" => (sysctl("core.somaxconn", number), ""),
        "tcp_wscale_always" => (sysctl("ipv4.tcp_window_scaling", number.min(1)), ""),
        "tcp_tstamp_always" => (sysctl("ipv4.tcp_timestamps", number.min(1)), ""),
        "ip_path_mtu_discovery" => (
            sysctl("ipv4.ip_no_pmtu_disc", u64::from(number == 0)),
            "the opposite here: 1 turns it off",
        ),
        _ => return None,
    };
    Some((setting, note.to_owned()))
}

/// What is nearest to a key without a setting of its own.
fn nearest(key: &str, number: u64) -> Option<&'static str> {
    Some(match key {
        "tcp_rexmit_interval_initial" => {
            "the first timeout is 1 s and has no setting (a BPF program can change it: sock_ops, TIMEOUT_INIT). \
             Nearest: tcp_rexmit_interval_min, since after the handshake the timeout follows the measured round trip"
        }
        "tcp_conn_grace_period" | "tcp_rexmit_interval_extra" => {
            "no time is added to timeouts here. Nearest: tcp_rexmit_interval_min, which no timeout is below"
        }
        "tcp_deferred_ack_interval" if number > 0 => {
            "delayed ACKs adapt themselves from 40 to 200 ms. Nearest, for one connection: socket.….delack_max \
             (microseconds)"
        }
        "tcp_deferred_acks_max" => "every second segment is acknowledged (RFC 5681): no setting",
        "tcp_mss_def" => {
            "536 for a peer that announces nothing (RFC 9293), without a setting. Nearest: route.….mtu"
        }
        "tcp_rwin_credit_pct" => "window updates are the kernel's own rule: no setting",
        "tcp_ip_abort_linterval" => "a count here: net.ipv4.tcp_synack_retries (5: 63 s)",
        "tcp_ip_notify_interval" | "tcp_ip_notify_cinterval" => {
            "after net.ipv4.tcp_retries1 timeouts the route is looked up anew: a count, not a time"
        }
        "tcp_recv_hiwater_mark" => {
            "the middle number of net.ipv4.tcp_rmem; autotuning makes it needless on most paths"
        }
        "tcp_xmit_hiwater_mark" => "the middle number of net.ipv4.tcp_wmem, which grows by itself",
        "tcp_xmit_lowater_mark" => "nearest: net.ipv4.tcp_notsent_lowat",
        "tcp_close_wait_interval" => "TIME-WAIT lasts 60 s and has no setting",
        "tcp_naglim_def" => {
            "Nagle's algorithm has no limit here; programs turn it off (TCP_NODELAY)"
        }
        _ => return None,
    })
}

/// The key of a setting and its value, the other way; `None` of what Open Transport does not have.
pub(super) fn pair(target: &Target, value: &Value, mss: u64) -> Option<(&'static str, u64)> {
    use RouteMetricName as Metric;
    let number = value.number()?;
    match target {
        Target::Route { metric, .. } => match metric {
            Metric::Mtu => Some(("tcp_mss_max", number.checked_sub(HEADERS)?)),
            // A window of less than a segment is one.
            Metric::Window => Some(("tcp_rwin_mss_multiplier", (number / mss).max(1))),
            Metric::RtoMin => Some(("tcp_rexmit_interval_min", number)),
            Metric::InitCwnd => Some(("tcp_slow_start_initial", number)),
            Metric::QuickAck if number == 1 => Some(("tcp_deferred_ack_interval", 0)),
            Metric::QuickAck | Metric::Advmss | Metric::InitRwnd | Metric::CongestionControl => {
                None
            }
        },
        Target::Sysctl(name) => match name.as_str() {
            "net.ipv4.tcp_rto_min_us" => Some(("tcp_rexmit_interval_min", number.div_ceil(1000))),
            "net.ipv4.tcp_rto_max_ms" => Some(("tcp_rexmit_interval_max", number)),
            "net.ipv4.tcp_min_snd_mss" => Some(("tcp_mss_min", number)),
            "net.ipv4.tcp_keepalive_time" => {
                Some(("tcp_keepalive_interval", number.checked_mul(1000)?))
            }
            "net.ipv4.tcp_fin_timeout" => {
                Some(("tcp_fin_wait_2_timeout", number.checked_mul(1000)?))
            }
            "net.ipv4.tcp_retries2" => Some(("tcp_ip_abort_interval", of_retries(number))),
            "net.ipv4.tcp_syn_retries" => Some(("tcp_ip_abort_cinterval", of_syn_retries(number))),
            "net.ipv4.ip_default_ttl" => Some(("tcp_ip_ttl", number)),
            "net.ipv4.tcp_reordering" => Some(("tcp_dupack_fast_retransmit", number)),
            "net.core.somaxconn" => Some(("tcp_conn_request_max", number)),
            "net.ipv4.tcp_window_scaling" => Some(("tcp_wscale_always", number)),
            "net.ipv4.tcp_timestamps" => Some(("tcp_tstamp_always", number.min(1))),
            "net.ipv4.ip_no_pmtu_disc" => Some(("ip_path_mtu_discovery", u64::from(number == 0))),
            _ => None,
        },
        Target::InterfaceMtu(_) | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => {
            None
        }
    }
}
