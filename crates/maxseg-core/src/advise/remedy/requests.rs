//! Requests and replies: what the ends wait for.

use super::{Facts, Host, Remedy, System};
use crate::advise::Change;
use crate::units::{Time, approx};

/// Shows the load of a host, and which program has the port.
fn with_load(remedy: Remedy, on: &Host, port: u16) -> Remedy {
    remedy
        .look_linux(
            on,
            format!("ss -tnp 'sport = :{port}'; top -b -H -n 1 | head -n 20; iostat -x 1 2"),
        )
        .look(System::FreeBsd, on, format!("sockstat -p {port}; top -b 20; iostat -x -c 2"))
        .look(System::MacOs, on, format!("lsof -nP -iTCP:{port}; top -l 1 -n 20"))
        .look(System::Windows, on, format!("netstat -ano | findstr :{port}"))
}

pub(super) fn server(facts: &Facts<'_>) -> Remedy {
    let (server, port) = (&facts.server_host, facts.case.evidence.server.port());
    let remedy = Remedy::new(format!("examine the program on {server}: the time to its replies"));
    with_load(remedy, server, port)
        .wanted(format!("a capture at {server} shows when the request arrives there"))
}

pub(super) fn client(facts: &Facts<'_>) -> Remedy {
    let (client, port) = (&facts.client_host, facts.case.evidence.client.port());
    let remedy = Remedy::new(format!(
        "examine the program on {client}: the time until it sends the next request"
    ));
    with_load(remedy, client, port)
        .wanted(format!("a capture at {client} shows when the reply arrives there"))
}

pub(super) fn round_trips(facts: &Facts<'_>) -> Remedy {
    Remedy::new(format!(
        "let the program on {} send requests without waiting for each reply: pipelining, larger requests or \
         parallel connections",
        facts.client_host
    ))
    .note("No window or buffer shortens a round trip.")
}

pub(super) fn application_window(facts: &Facts<'_>) -> Remedy {
    let on = facts.receiver;
    Remedy::new(format!(
        "let the program on {on} grant a larger window of its own (SSH: HPN-SSH's), or use several connections"
    ))
    .note("It is not a limit of TCP: neither socket buffers nor sysctls change it.")
}

pub(super) fn nagle(facts: &Facts<'_>) -> Remedy {
    let requests = facts.case.evidence.requests.as_ref();
    let (held, of_client) = requests.map_or((0, 0), |it| (it.nagle.count, it.held_of_client));
    let (client, server) = (&facts.client_host, &facts.server_host);
    let program = match of_client {
        0 if held > 0 => format!("the program on {server}, which writes twice before it reads,"),
        _ if of_client == held && held > 0 => {
            format!("the program on {client}, which writes twice before it reads,")
        }
        _ => format!("the program on {client} or {server} that writes twice before it reads"),
    };
    let saves = saved(facts).map_or_else(String::new, |(seconds, span)| {
        format!(": that saves about {} of {}", approx::time(seconds), approx::time(span))
    });
    Remedy::new(format!("let {program} write once, or set TCP_NODELAY{saves}")).note(
        "Where the program cannot be changed, TCP_QUICKACK on the other end shortens the wait.",
    )
}

pub(super) fn corked(facts: &Facts<'_>) -> Remedy {
    let requests = facts.case.evidence.requests.as_ref();
    let (held, of_client) = requests.map_or((0, 0), |it| (it.corked.count, it.corked_of_client));
    let on = match of_client {
        0 => format!("{}", facts.server_host),
        _ if of_client == held => format!("{}", facts.client_host),
        _ => format!("{} or {}", facts.client_host, facts.server_host),
    };
    let saves =
        requests.filter(|it| it.corked.total_s < it.span_s).map_or_else(String::new, |it| {
            let (seconds, span) = (approx::time(it.corked.total_s), approx::time(it.span_s));
            format!(": that saves about {seconds} of {span}")
        });
    Remedy::new(format!(
        "let the program on {on} remove the cork (TCP_CORK, MSG_MORE; `tcp_nopush` of a web server) behind each message{saves}"
    ))
    .wanted(format!(
        "`strace -f -e trace=network` of the program on {on} shows the option, or that it writes the rest so late itself"
    ))
}

/// How long segments were held back, and of how long a dialogue, in seconds: each until an acknowledgement had come over the path, after the
/// delay of the host that sent it.
fn saved(facts: &Facts<'_>) -> Option<(f64, f64)> {
    let evidence = facts.case.evidence;
    let requests = evidence.requests.as_ref()?;
    let trip = evidence.handshake.rtt().map(Time::as_secs_f64).or(facts.data.path_rtt_min_s)?;
    let seconds = requests.nagle.total_s + f64::from(requests.nagle.count) * trip;
    (requests.nagle.count > 0 && seconds < requests.span_s).then_some((seconds, requests.span_s))
}

pub(super) fn restarts(facts: &Facts<'_>) -> Remedy {
    const KEY: &str = "net.ipv4.tcp_slow_start_after_idle";
    let on = &facts.sender_host;
    let remedy = Remedy::new(format!(
        "let {on} keep its congestion window over pauses (no slow start after idle)"
    ));
    let place = if on.may_be_linux() {
        "The setting belongs to a network namespace: in a container, set it there. "
    } else {
        ""
    };
    // Only runs of requests have the pauses.
    let remedy = if facts.path.is_some_and(|path| path.dialogue.is_some()) {
        remedy.tries(Change::NoSlowStartAfterIdle)
    } else {
        remedy.advises(Change::NoSlowStartAfterIdle)
    };
    remedy
        .look_linux(on, format!("sysctl {KEY}"))
        .linux(on, format!("sysctl -w {KEY}=0"))
        .only_where("the first command prints 1")
        .undo(format!("sysctl -w {KEY}=1"))
        .wanted("a capture at the sender shows the burst behind each pause")
        .note(format!(
            "{place}After long pauses the path may carry less than before, and a burst of the old window may overflow its queue."
        ))
}
