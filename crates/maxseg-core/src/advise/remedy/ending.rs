//! Connections that were refused, not answered, reset, or that fell silent.

use super::{Facts, Remedy, System};

/// The address and port that the client connected to.
fn server(facts: &Facts<'_>) -> (std::net::IpAddr, u16) {
    let server = facts.case.evidence.server;
    (server.ip().to_canonical(), server.port())
}

pub(super) fn refused(facts: &Facts<'_>) -> Remedy {
    let (on, port) = server(facts);
    Remedy::new(format!(
        "start the program that listens on port {port} of {on}, or let its firewall accept the port"
    ))
    .linux(on, format!("ss -lnt 'sport = :{port}'; nft list ruleset | grep -n reject"))
    .command(System::Windows, on, format!("netstat -ano | findstr :{port}"))
}

pub(super) fn no_answer(facts: &Facts<'_>) -> Remedy {
    let (on, port) = server(facts);
    let client = facts.case.evidence.client.ip().to_canonical();
    Remedy::new(format!(
        "find out whether the SYN arrives at {on}: if it does, look at its firewall and listen queue, otherwise at the \
         path"
    ))
    .linux(on, format!("tcpdump -ni any 'tcp port {port} and host {client}'"))
    .linux(on, "nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -lnt")
}

pub(super) fn gone_silent(facts: &Facts<'_>) -> Remedy {
    let (sender, receiver) = (facts.sender, facts.receiver);
    Remedy::new(format!(
        "find out whether {receiver} or the path to it is down, or whether a NAT or firewall forgot the connection"
    ))
    .linux(sender, format!("ping -c 3 {receiver}; ip route get {receiver}"))
    .linux("each firewall and NAT", format!("conntrack -L -s {sender} -d {receiver}"))
    .note(
        "A capture at the silent end shows whether the segments arrive. Keep-alives, or TCP_USER_TIMEOUT in the program \
         (RFC 5482), end such a connection earlier.",
    )
}

pub(super) fn reset(facts: &Facts<'_>) -> Remedy {
    let evidence = facts.case.evidence;
    Remedy::new(format!(
        "check the logs of the programs on {} and {}, and middleboxes for expired connection state",
        evidence.client.ip().to_canonical(),
        evidence.server.ip().to_canonical()
    ))
}

pub(super) fn keep_alive() -> Remedy {
    Remedy::new("no change needed: keep-alives show that the idle connection is still there")
}
