//! Connections that were refused, not answered, reset, or that fell silent.

use super::{Facts, Host, Remedy, System, linux, others};

pub(super) fn refused(facts: &Facts<'_>) -> Remedy {
    let (on, port) = (&facts.server_host, facts.case.evidence.server.port());
    Remedy::new(format!(
        "start the program that listens on port {port} of {on}, or let its firewall accept the port"
    ))
    .look_linux(on, format!("ss -lnt 'sport = :{port}'; nft list ruleset | grep -n reject"))
    .look(System::FreeBsd, on, format!("sockstat -l -p {port}"))
    .look(System::MacOs, on, format!("lsof -nP -iTCP:{port} -sTCP:LISTEN"))
    .look(System::Windows, on, format!("netstat -ano | findstr :{port}"))
    .wanted(format!(
        "a capture at {on} shows whether the host or a firewall before it sent the RST"
    ))
}

pub(super) fn no_answer(facts: &Facts<'_>) -> Remedy {
    let (on, port) = (&facts.server_host, facts.case.evidence.server.port());
    let client = facts.case.evidence.client.ip().to_canonical();
    let watch = format!("tcpdump -c 5 -ni any 'tcp port {port} and host {client}'");
    Remedy::new(format!(
        "find out whether the SYN arrives at {on}: if it does, look at its firewall and listen queue, otherwise at the \
         path"
    ))
    .look_linux(on, watch.clone())
    .look_linux(on, "nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -lnt")
    .look(System::MacOs, on, watch)
    .wanted(format!("a capture at {on} shows whether the SYN arrives"))
}

pub(super) fn gone_silent(facts: &Facts<'_>) -> Remedy {
    let (on, silent) = (&facts.sender_host, facts.receiver);
    let middle = Host::role("each firewall and NAT");
    let ping = linux::ping(silent);
    let route = others::get_route(silent.into(), silent);
    let bsd = format!("{} -c 3 {silent}; {route}", others::ping(silent));
    Remedy::new(format!(
        "find out whether {silent} or the path to it is down, or whether a NAT or firewall forgot the connection"
    ))
    .look_linux(on, format!("{ping} -c 3 {silent}; {}", linux::show_route(silent)))
    .look(System::FreeBsd, on, bsd.as_str())
    .look(System::MacOs, on, bsd)
    .look(System::Windows, on, format!("ping {silent}"))
    .look_linux(&middle, linux::tracked(silent.into(), on, silent))
    .wanted(format!("a capture at {silent} shows whether the segments arrive"))
    .note(
        "Keep-alives, or TCP_USER_TIMEOUT in the program (RFC 5482), end such a connection earlier.",
    )
}

pub(super) fn reset(facts: &Facts<'_>) -> Remedy {
    let evidence = facts.case.evidence;
    Remedy::new(format!(
        "check the logs of the programs on {} and {}, and middleboxes for expired connection state",
        evidence.client.ip().to_canonical(),
        evidence.server.ip().to_canonical()
    ))
    .wanted(
        "captures at both ends show it: a RST that arrives and was never sent is of a middlebox",
    )
}

pub(super) fn keep_alive() -> Remedy {
    Remedy::new("no change needed: keep-alives show that the idle connection is still there")
}
