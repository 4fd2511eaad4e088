//! Handshake, options, start-up, and the capture itself.

use super::{Facts, Host, Remedy, System, linux, middlebox};
use crate::evidence::Ending;
use crate::units::approx;

pub(super) fn paced(facts: &Facts<'_>) -> Remedy {
    let on = &facts.sender_host;
    let port = facts.case.evidence.sender(facts.direction).port();
    Remedy::new(format!(
        "find what paces {on}: the program's writes, SO_MAX_PACING_RATE, or a shaper of the host"
    ))
    .look_linux(on, format!("ss -tinm 'sport = :{port}' | grep -o 'pacing_rate [^ ]*\\|app_limited'"))
    .look_linux(on, "tc -s qdisc show")
    .wanted(format!("a capture at {on} shows whether segments are spaced before its shaper or by it"))
    .note(
        "app_limited in `ss` means that the program writes at this rate; a pacing_rate near the goodput, that TCP paces; \
         a qdisc with a backlog, that the host shapes.",
    )
}

pub(super) fn start_up(facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    let has_ended = match facts.case.evidence.ending {
        Ending::Closed | Ending::ResetByClient | Ending::ResetByServer => true,
        Ending::Refused
        | Ending::NoAnswer
        | Ending::GoneSilent
        | Ending::HalfClosed
        | Ending::StillOpen => false,
    };
    Remedy::new(if has_ended {
        "reuse connections: this one ended during start-up"
    } else {
        "transfer more over one connection: a new one begins with slow start"
    })
        .look_linux(on, format!("{}; {}", linux::show_tcp(to), linux::show_route(to)))
        .note(format!(
            "A larger initial window (initcwnd of a route) speeds up short transfers{} and can overflow a short queue: \
             RFC 6928 allows 10 segments.",
            saved_round_trips(facts)
        ))
}

/// An initial window that hosts of short transfers have: three times what RFC 6928 allows.
const LARGE_INITIAL: u64 = 30;

/// What a large initial window saves of a transfer that ended in slow start: `, with 30 segments by about 160 ms of 240 ms,`.
fn saved_round_trips(facts: &Facts<'_>) -> String {
    let Some(path) = facts.path else { return String::new() };
    let segment = u64::from(path.segment.value.max(1));
    let first = path.initial_window.as_ref().map_or(10, |first| first.value.div_ceil(segment));
    let segments = path.bytes.div_ceil(segment);
    let saved = flights(segments, first).saturating_sub(flights(segments, LARGE_INITIAL));
    let seconds = saved as f64 * path.rtt_s.value;
    if saved == 0 || seconds >= path.seconds {
        return String::new();
    }
    format!(
        ", with {LARGE_INITIAL} segments by about {} of {},",
        approx::time(seconds),
        approx::time(path.seconds)
    )
}

/// How many flights of slow start, each twice the one before, bring so many segments.
fn flights(segments: u64, first: u64) -> u64 {
    let (mut flights, mut flight, mut sent) = (0, first.max(1), 0);
    while sent < segments {
        (flights, sent, flight) = (flights + 1, sent + flight, 2 * flight);
    }
    flights
}

pub(super) fn options(facts: &Facts<'_>) -> Remedy {
    if let Some(remedy) = middlebox::of_options(facts) {
        return remedy;
    }
    let evidence = facts.case.evidence;
    let mut remedy =
        Remedy::new("enable the missing options, and check for a middlebox that strips them");
    for (host, stats) in
        [(&facts.client_host, &evidence.forward), (&facts.server_host, &evidence.reverse)]
    {
        let scales = stats.syn.map_or(stats.window_scale, |syn| syn.window_scale);
        for (offers, linux_key, free_bsd_key) in [
            (scales.is_some(), "net.ipv4.tcp_window_scaling", "net.inet.tcp.rfc1323"),
            (stats.sack_permitted, "net.ipv4.tcp_sack", "net.inet.tcp.sack.enable"),
            (stats.timestamps, "net.ipv4.tcp_timestamps", "net.inet.tcp.rfc1323"),
        ] {
            if !offers {
                remedy = remedy
                    .look_linux(host, format!("sysctl {linux_key}"))
                    .linux(host, linux::raise(linux_key, 1))
                    .look(System::FreeBsd, host, format!("sysctl {free_bsd_key}"))
                    .change(System::FreeBsd, host, format!("sysctl {free_bsd_key}=1"));
            }
        }
    }
    remedy.commands.dedup();
    remedy.wanted(
        "a capture at each end shows whether an option leaves one and does not reach the other",
    )
}

pub(super) fn syn(facts: &Facts<'_>) -> Remedy {
    let server = &facts.server_host;
    let port = facts.case.evidence.server.port();
    Remedy::new(format!(
        "check for a firewall, for a full listen queue on {server}, and for loss on the path"
    ))
    .look_linux(
        server,
        format!("nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -lnt 'sport = :{port}'"),
    )
    .look(System::FreeBsd, server, "netstat -L -n -p tcp; netstat -s -p tcp")
    .look(System::MacOs, server, "netstat -L -n; netstat -s -p tcp")
    .look(System::Windows, server, format!("netstat -ano | findstr :{port}"))
    .wanted(format!("a capture at {server} shows whether each SYN arrives"))
}

pub(super) fn bad_option(facts: &Facts<'_>) -> Remedy {
    Remedy::new(format!(
        "find the source of the value: the TCP stack of {}, or a middlebox that rewrites options",
        facts.sender
    ))
    .wanted(format!("a capture at {} shows whether its SYN leaves with that value", facts.sender))
}

pub(super) fn capture_quality(facts: &Facts<'_>) -> Remedy {
    let is_offloaded = facts.case.evidence.marks.offloaded;
    let remedy = match &facts.case.diagnosis.quality.wanted {
        Some(wanted) => Remedy::new(format!("take {wanted}")),
        None if is_offloaded => Remedy::new(
            "no other capture is needed for this verdict; without offload it would show the packets of the wire",
        ),
        None => Remedy::new("no other capture is needed for this verdict"),
    };
    if is_offloaded {
        let capturing = Host::role("the capturing host");
        return remedy
            .look_linux(&capturing, "ethtool -k DEVICE")
            .linux(&capturing, "ethtool -K DEVICE gro off gso off tso off")
            .note("Without offload (gro, gso and tso of `ethtool -K`) captured packets are those of the wire.");
    }
    remedy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_its_flights() {
        assert_eq!([70, 71].map(|segments| flights(segments, 10)), [3, 4]);
        assert_eq!([30, 31, 90, 91].map(|segments| flights(segments, 30)), [1, 2, 2, 3]);
    }
}
