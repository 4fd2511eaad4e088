//! What a change asks for before it is made: what may go wrong, what to consider, and where its rule stands.

use crate::advise::Change;
use crate::advise::remedy::linux::bounded_window;
use crate::units::{Bytes, Mtu};

/// What may go wrong.
pub(super) fn risk(change: Change, is_raise: bool) -> String {
    let text = match change {
        Change::Window(_) if is_raise => {
            "a long queue on another path of this host may fill: round trips under load grow there"
        }
        Change::Window(_) => "too small where the path becomes faster or longer; remove it then",
        Change::ReceiveBuffer(_) | Change::FirstReceiveBuffer(_) | Change::SendBuffer(_) => {
            "many connections that fill their buffers at once need the memory; tcp_mem bounds it"
        }
        Change::SegmentSize(_) if is_raise => {
            "a hop of a smaller MTU that sends no ICMP is a black hole for it: test with `maxseg path` first"
        }
        Change::SegmentSize(_) => {
            "all packets to that address become smaller, also where another path would carry larger ones; remove it then"
        }
        Change::Mtu(_) => {
            "without `lock`: that would clear DF; never above a path MTU that was learnt"
        }
        Change::Clamp(_) => {
            "every connection through the gateway has smaller segments, whatever its path carries"
        }
        Change::Congestion(_) => {
            "the module must be there (`sysctl net.ipv4.tcp_available_congestion_control`)"
        }
        Change::InitialWindow(_) => "losses in the first round trip where a queue is short",
        Change::RtoMin(_) => {
            "too short a timer sends again what is only late, as where the peer delays its ACKs (Linux 40 to 200 ms), too long a one waits \
             after a loss"
        }
        Change::RtoInitial(_) => {
            "too short a timer sends again what is only late, too long a one waits after a loss"
        }
        Change::Pacing(_) => "none but the limit itself",
        Change::MtuProbing => "on a lossy path without a black hole the size may fall without need",
        Change::NoSlowStartAfterIdle => {
            "losses after a pause where the path has become slower meanwhile"
        }
        Change::ReorderingTolerance => "a lost packet is repaired a little later",
        Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => "none of a host's settings",
    };
    text.to_owned()
}

/// What to consider before a change is made.
#[expect(clippy::wildcard_enum_match_arm, reason = "of others nothing is to be considered")]
pub(super) fn note(change: Change, is_raise: bool) -> Option<String> {
    match change {
        Change::Mtu(mtu) if u64::from(mtu.get()) < Mtu::IPV6_MIN.into() => {
            Some("It is set on the route: an interface of an MTU below 1280 has no IPv6.".to_owned())
        }
        Change::Window(window) if !is_raise => Some(format!(
            "Linux offers at most {} with the rule of nftables. The route's `window` alone does not hold it: after the first full \
             segments the kernel offers what the buffer holds (tcp_measure_rcv_mss, net/ipv4/tcp_input.c).",
            Bytes::new(bounded_window(window.get()))
        )),
        Change::RtoMin(_) => Some(
            "Linux adds it to the smoothed round trip: whoever waits for the end of a transfer waits for both after a loss."
                .to_owned(),
        ),
        Change::SegmentSize(_) if !is_raise => Some(
            "The runs set both hosts to it. With Linux the sender's route alone does the same.".to_owned(),
        ),
        _ => None,
    }
}

/// Where the rule stands.
pub(super) const fn source(change: Change) -> &'static str {
    match change {
        Change::Window(_) => {
            "RFC 9293 section 3.8.6, RFC 7323 section 2; tcp_select_initial_window, net/ipv4/tcp_output.c"
        }
        Change::ReceiveBuffer(_) | Change::FirstReceiveBuffer(_) => {
            "tcp_rcv_space_adjust, net/ipv4/tcp_input.c; Documentation/networking/ip-sysctl.rst"
        }
        Change::SendBuffer(_) => "tcp_sndbuf_expand, net/ipv4/tcp_input.c",
        Change::SegmentSize(_) => {
            "RFC 9293 section 3.7.1, RFC 6691; tcp_sync_mss, net/ipv4/tcp_output.c"
        }
        Change::Mtu(_) => "RFC 1191, RFC 8201; ip_dst_mtu_maybe_forward, include/net/ip.h",
        Change::Clamp(_) => {
            "RFC 4459 section 3.4; nft_exthdr_tcp_set_eval, net/netfilter/nft_exthdr.c"
        }
        Change::Congestion(_) => {
            "RFC 9438, draft-cardwell-iccrg-bbr-congestion-control; net/ipv4/tcp_cong.c"
        }
        Change::InitialWindow(_) => "RFC 6928; tcp_init_cwnd, net/ipv4/tcp_input.c",
        Change::RtoMin(_) => "RFC 6298 section 2.4; tcp_rto_min, net/ipv4/tcp_output.c",
        Change::RtoInitial(_) => "RFC 6298 section 2.1; TCP_TIMEOUT_INIT, include/net/tcp.h",
        Change::Pacing(_) => "sk_max_pacing_rate, include/net/sock.h; tc-fq(8)",
        Change::MtuProbing => "RFC 4821 section 7.7; tcp_mtu_probing, net/ipv4/tcp_timer.c",
        Change::NoSlowStartAfterIdle => {
            "RFC 5681 section 4.1; tcp_slow_start_after_idle_check, include/net/tcp.h"
        }
        Change::ReorderingTolerance => "RFC 8985; net/ipv4/tcp_recovery.c",
        Change::ReadsAtOnce => "RFC 9293 section 3.8.6",
        Change::IcmpSent => "RFC 2923, RFC 4890",
        Change::Queue(_) => "RFC 7567",
        Change::FairQueue => "RFC 8290",
        Change::Codel => "RFC 8289",
        Change::NoErrors => "none",
    }
}
