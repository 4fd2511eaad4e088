//! Loss, reordering, queues.

use super::{Facts, Remedy, System};
use crate::advise::Change;
use crate::diagnose::LossCause;

/// The command that shows drops and errors of a hop's interfaces.
pub(super) const SHOW_DROPS: &str =
    "ip -s link; ethtool -S DEVICE | grep -iE 'err|drop|crc'; tc -s qdisc";

pub(super) fn congestion(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let change = match facts.case.diagnosis.loss.cause {
        LossCause::Queue => {
            "use a fair queue at the bottleneck link or pacing at the sender: its queue overflows"
        }
        LossCause::Errors => {
            "find the hop that loses packets: without queueing, the cause is bit errors or a policer, not a full queue"
        }
        LossCause::Policer => {
            "pace the sender at the policer's rate: it drops what is above, and has no queue"
        }
        LossCause::Reordering | LossCause::Needless => return reordering(facts),
        LossCause::None | LossCause::Unknown => {
            "look at the drop counters of each hop: the capture does not show whether a queue, errors or a policer \
             drops packets"
        }
    };
    Remedy::new(change)
        .linux(
            on,
            "sysctl -w net.core.default_qdisc=fq && sysctl -w net.ipv4.tcp_congestion_control=bbr",
        )
        .linux("each hop", SHOW_DROPS)
        .command(
            System::FreeBsd,
            on,
            "kldload tcp_bbr && sysctl net.inet.tcp.functions_default=bbr",
        )
        .command(System::Windows, on, "netsh int tcp set supplemental internet congestionprovider=bbr2")
        .note(
            "The first command treats the symptom: BBR does not reduce its rate at every loss. On a shared link it can \
             take more than its fair share from Reno and CUBIC.",
        )
        .what_if(Change::NoErrors)
}

pub(super) fn reordering(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    Remedy::new(format!(
        "make {on} tolerate reordering (RACK, RFC 8985), or route each connection over one path"
    ))
    .linux(on, "sysctl -w net.ipv4.tcp_recovery=1 net.ipv4.tcp_max_reordering=300")
    .note("Per-packet load balancing over parallel links is the usual cause.")
}

pub(super) fn bufferbloat(facts: &Facts<'_>) -> Remedy {
    const ROUTER: &str = "the router before the bottleneck link";
    Remedy::new("limit the queue at the bottleneck link: use fq_codel or CAKE on its router")
        .linux(ROUTER, "tc qdisc replace dev DEVICE root cake bandwidth RATE")
        .command(
            System::FreeBsd,
            ROUTER,
            "dnctl pipe 1 config bw RATE && dnctl sched 1 config pipe 1 type fq_codel",
        )
        .note(format!(
            "The goodput of {} stays the same; the delay of all traffic on the link falls.",
            facts.sender
        ))
}

/// Marks alone kept the congestion window small.
pub(super) fn slowed_by_marks(facts: &Facts<'_>) -> Remedy {
    Remedy::new("look at the marking threshold of the bottleneck's queue: it marks before the link is full, or others fill it")
        .linux("each hop", "tc -s qdisc")
        .note(format!(
            "A threshold below the bandwidth-delay product costs {} a part of the rate and keeps the delay short.",
            facts.sender
        ))
}

pub(super) fn marked() -> Remedy {
    Remedy::new("no change needed: ECN signals congestion without loss (RFC 3168)")
}
