//! Which of the kernel's rules a path hangs on: where the simulator is beyond tolerance, and is within it without one rule,
//! that rule is named.

use anyhow::Result;

use super::path::Path;
use crate::draws::Congestion;

/// A rule that the `linux` tables of a scenario's hosts can switch.
#[derive(Debug)]
pub(super) struct Rule {
    /// What it is called, and where the kernel has it.
    pub(super) name: &'static str,
    /// The keys that switch it off, or set it otherwise.
    pub(super) keys: &'static str,
}

/// Those that can be switched.
const RULES: [Rule; 6] = [
    Rule { name: "HyStart (`tcp_cubic.c`, `hystart_update`)", keys: "hystart = false\n" },
    Rule {
        name: "RACK (`tcp_recovery.c`, `tcp_rack_detect_loss`)",
        keys: "tcp_recovery = false\n",
    },
    Rule {
        name: "tail loss probes (`tcp_output.c`, `tcp_send_loss_probe`)",
        keys: "tcp_early_retrans = false\n",
    },
    Rule { name: "F-RTO (`tcp_input.c`, `tcp_process_loss`)", keys: "tcp_frto = false\n" },
    Rule {
        name: "restart after idle time (`tcp_output.c`, `tcp_cwnd_restart`)",
        keys: "tcp_slow_start_after_idle = false\n",
    },
    Rule { name: "the tick of timers (`CONFIG_HZ`)", keys: "hz = 1000\n" },
];

/// The only rule without which the simulator is within tolerance, as `suits` tells. Where several are, it is chance, and
/// none is named.
///
/// # Errors
/// Those of `suits`.
pub(super) fn named(mut suits: impl FnMut(&Rule) -> Result<bool>) -> Result<Option<&'static Rule>> {
    let mut found = None;
    for rule in &RULES {
        if suits(rule)? && found.replace(rule).is_some() {
            return Ok(None);
        }
    }
    Ok(found)
}

/// `HyStart`'s train of acknowledgements: how far apart they may come (`hystart_ack_delta_us`, `tcp_cubic.c`), in seconds.
const ACK_DELTA_S: f64 = 2e-3;
/// Closer to that than this, microseconds of the machine's decide whether a train is one.
const EDGE: f64 = 0.03;

/// Whether acknowledgements of two packets come just as far apart as `HyStart`'s trains may have: then the kernel itself leaves
/// slow start in one run, and in the next does not.
pub(super) fn is_on_edge_of_hystart(path: &Path) -> bool {
    let apart_s = 2.0 / path.packets_per_s();
    path.congestion == Congestion::Cubic && (apart_s / ACK_DELTA_S - 1.0).abs() <= EDGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_two_milliseconds_apart_are_on_the_edge() {
        let mut path = Path::draw(1, 0);
        (path.congestion, path.mss_bytes, path.rate_bps) = (Congestion::Cubic, 536, 4_638_309);
        assert!(is_on_edge_of_hystart(&path), "{} s", 2.0 / path.packets_per_s());
        path.rate_bps = 5_000_000;
        assert!(!is_on_edge_of_hystart(&path));
    }

    #[test]
    fn a_rule_is_named_if_it_is_the_only_one() {
        let only = |wanted: &'static str| {
            named(|rule| Ok(rule.keys.starts_with(wanted))).unwrap().map(|rule| rule.keys)
        };
        assert_eq!(only("hystart"), Some("hystart = false\n"));
        assert_eq!(only("tcp_"), None);
        assert_eq!(only("nothing"), None);
    }
}
