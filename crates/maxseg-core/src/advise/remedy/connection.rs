//! Handshake, options, start-up, and the capture itself.

use super::{Facts, Remedy, System};

pub(super) fn paced(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let port = facts.case.evidence.sender(facts.direction).port();
    Remedy::new(format!(
        "find what paces {on}: the program's writes, SO_MAX_PACING_RATE, or a shaper of the host"
    ))
    .linux(on, format!("ss -tinm 'sport = :{port}' | grep -o 'pacing_rate [^ ]*\\|app_limited'"))
    .linux(on, "tc -s qdisc")
    .note(
        "app_limited in `ss` means that the program writes at this rate; a pacing_rate near the goodput, that TCP paces; \
         a qdisc with a backlog, that the host shapes.",
    )
}

pub(super) fn start_up(facts: &Facts<'_>) -> Remedy {
    Remedy::new("reuse connections: this one ended during start-up")
        .linux(facts.sender, "sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
        .linux(facts.sender, "ip route change ROUTE initcwnd 20")
        .note(
            "A larger initial window speeds up short transfers and can overflow a short queue: RFC 6928 allows 10 \
             segments.",
        )
}

pub(super) fn options(facts: &Facts<'_>) -> Remedy {
    let evidence = facts.case.evidence;
    let (forward, reverse) = (&evidence.forward, &evidence.reverse);
    let (client, server) = (evidence.client.ip(), evidence.server.ip());
    let lacks = |has_client: bool, has_server: bool| match (has_client, has_server) {
        (false, false) => Some(format!("{client} and {server}")),
        (false, true) => Some(client.to_string()),
        (true, false) => Some(server.to_string()),
        (true, true) => None,
    };
    let mut remedy =
        Remedy::new("enable the missing options, and check for a middlebox that strips them");
    for (host, key) in [
        (
            lacks(forward.window_scale.is_some(), reverse.window_scale.is_some()),
            "tcp_window_scaling",
        ),
        (lacks(forward.sack_permitted, reverse.sack_permitted), "tcp_sack"),
        (lacks(forward.timestamps, reverse.timestamps), "tcp_timestamps"),
    ] {
        if let Some(host) = host {
            remedy = remedy.linux(host, format!("sysctl -w net.ipv4.{key}=1"));
        }
    }
    remedy.command(
        System::FreeBsd,
        "the same host",
        "sysctl net.inet.tcp.rfc1323=1 net.inet.tcp.sack.enable=1",
    )
}

pub(super) fn syn(facts: &Facts<'_>) -> Remedy {
    let server = facts.case.evidence.server.ip().to_canonical();
    Remedy::new(format!(
        "check for a firewall, for a full listen queue on {server}, and for loss on the path"
    ))
    .linux(server, "nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -lnt")
}

pub(super) fn bad_option(facts: &Facts<'_>) -> Remedy {
    Remedy::new(format!(
        "find the source of the value: the TCP stack of {}, or a middlebox that rewrites options",
        facts.sender
    ))
}

pub(super) fn capture_quality(facts: &Facts<'_>) -> Remedy {
    let remedy = Remedy::new(format!(
        "capture at the sender {}, both directions, from before the handshake",
        facts.sender
    ));
    if facts.case.evidence.marks.offloaded {
        return remedy
            .linux("the capturing host", "ethtool -K DEVICE gro off gso off tso off")
            .note("The command disables offload, so that captured packets are those of the wire.");
    }
    remedy
}
