//! Requests and replies: what the ends wait for.

use super::{Facts, Remedy};

pub(super) fn server(facts: &Facts<'_>) -> Remedy {
    let server = facts.case.evidence.server.ip().to_canonical();
    Remedy::new(format!("examine the program on {server}: the time to its replies"))
        .linux(server, "top -H; iostat -x 1; strace -c -f -p \"$(pgrep -n PROGRAM)\"")
}

pub(super) fn client(facts: &Facts<'_>) -> Remedy {
    let client = facts.case.evidence.client.ip().to_canonical();
    Remedy::new(format!(
        "examine the program on {client}: the time until it sends the next request"
    ))
}

pub(super) fn round_trips(facts: &Facts<'_>) -> Remedy {
    let client = facts.case.evidence.client.ip().to_canonical();
    Remedy::new(format!(
        "let the program on {client} send requests without waiting for each reply: pipelining, larger requests or \
         parallel connections"
    ))
    .note("No window or buffer shortens a round trip.")
}

pub(super) fn application_window(facts: &Facts<'_>) -> Remedy {
    let on = facts.receiver;
    Remedy::new(format!(
        "let the program on {on} grant a larger window of its own (SSH: HPN-SSH's), or use several connections"
    ))
    .note("It is no limit of TCP: neither socket buffers nor sysctls change it.")
}

pub(super) fn nagle(facts: &Facts<'_>) -> Remedy {
    let client = facts.case.evidence.client.ip().to_canonical();
    let server = facts.case.evidence.server.ip().to_canonical();
    Remedy::new(format!(
        "let the program on {client} or {server} that writes twice before it reads write once, or set TCP_NODELAY"
    ))
    .note("Where the program cannot be changed, TCP_QUICKACK on the other end shortens the wait.")
}

pub(super) fn restarts(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    Remedy::new(format!("let {on} keep its congestion window over pauses (no slow start after idle)"))
        .linux(on, "sysctl net.ipv4.tcp_slow_start_after_idle")
        .linux(on, "sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
        .only_where("the first command prints 1")
        .note(
            "The setting belongs to a network namespace: in a container, set it there. After long pauses the path may \
             carry less than before, and a burst of the old window may overflow its queue.",
        )
}
