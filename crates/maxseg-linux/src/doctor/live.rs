//! What `maxseg connections` and `maxseg explain HOST` can read as this user, and the right that the rest takes.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use super::host::Host;
use super::programs::installed;
use super::{Check, State};
use crate::netlink::SockDiag;
use crate::observe::path::{Clamps, NotRead};
use crate::observe::sockets::{NotIterated, Processes, Selection, SocketLister, probe_task_files};
use crate::sys::NetNs;
use maxseg_wire::inet_diag::{Filter, StateSet};

pub(super) fn check(host: &Host) -> [Check; 6] {
    [
        sockets(host),
        processes(probe_task_files()),
        options(Rights::here(), host.is_root),
        firewall(&Clamps::read()),
        installed("nft", "`maxseg explain HOST`: clamps of the MSS option", "nftables"),
        installed("iptables", "`maxseg explain HOST`: clamps of iptables", "iptables"),
    ]
}

/// The kernel's list, which everyone may read.
fn sockets(host: &Host) -> Check {
    let purpose = "`maxseg connections`, `maxseg explain HOST`: the kernel's list of TCP sockets";
    match SockDiag::open().and_then(|mut list| list.probe()) {
        Ok(()) => Check::new("sockets", purpose, "the kernel lists its TCP sockets"),
        Err(error) => {
            let found =
                format!("the kernel lists no TCP sockets ({error}){}", host.lacks_modules());
            Check::new("sockets", purpose, found)
                .state(State::Missing)
                .mend(host.modprobe("tcp_diag"))
        }
    }
}

/// Which way the processes of many sockets are found. Both find the same.
fn processes(by_kernel: Result<(), &NotIterated>) -> Check {
    let purpose = "`maxseg connections`: the processes of thousands of sockets";
    let found = match by_kernel {
        Ok(()) => "the kernel goes through all files at once (a BPF iterator)".to_owned(),
        Err(why) => format!("through /proc, a descriptor at a time: {why}"),
    };
    Check::new("processes", purpose, found).value("bpf_iterator", by_kernel.is_ok())
}

/// What root may, and others may who have the capability; root without it may not.
#[derive(Debug, Clone, Copy)]
struct Rights {
    /// Processes whose sockets are hidden: `CAP_SYS_PTRACE` shows them.
    hidden_processes: usize,
    /// Whether the kernel tells the marks of sockets: `CAP_NET_ADMIN`.
    marks: bool,
    /// Whether another network namespace may be entered: `CAP_SYS_ADMIN`.
    namespaces: bool,
}

impl Rights {
    /// What works.
    fn here() -> Self {
        Self {
            hidden_processes: Processes::find(1).hidden(),
            marks: tells_marks().unwrap_or(false),
            // To enter the own one takes the same right.
            namespaces: NetNs::current().and_then(|own| own.run(|| Ok(()))).is_ok(),
        }
    }
}

/// Whether the mark of a socket of our own is in the kernel's list.
pub(super) fn tells_marks() -> io::Result<bool> {
    let own = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let filter = Filter::port(own.local_addr()?.port());
    let states = StateSet::NONE.with(maxseg_wire::tcp_info::State::Listen);
    let mut tells = false;
    SocketLister::list_here(&Selection { states, filter: Some(filter) }, |socket| {
        tells |= socket.mark.is_some();
    })?;
    Ok(tells)
}

/// What only the socket itself tells, and whose it is.
fn options(rights: Rights, is_root: bool) -> Check {
    let purpose = "process, TCP_WINDOW_CLAMP, and whether SO_RCVBUF was set, of each connection";
    let Rights { hidden_processes, marks, namespaces } = rights;
    let processes = match hidden_processes {
        0 => "process, clamp and buffers of every connection".to_owned(),
        count => format!(
            "process, clamp and buffers but for the sockets of {count} {}, which are hidden (CAP_SYS_PTRACE is missing, or an LSM \
             forbids it)",
            if count == 1 { "process" } else { "processes" }
        ),
    };
    let marks_found = if marks { "marks" } else { "no marks (CAP_NET_ADMIN)" };
    let others_found =
        if namespaces { "other namespaces" } else { "no other namespace (CAP_SYS_ADMIN)" };
    let check =
        Check::new("options", purpose, format!("{processes}; {marks_found}; {others_found}"))
            .value("hidden_processes", hidden_processes)
            .value("marks", marks)
            .value("other_namespaces", namespaces);
    if hidden_processes == 0 && marks && namespaces {
        return check;
    }
    let check = check.state(State::Limited);
    if is_root { check } else { check.mend(["sudo maxseg connections"]) }
}

/// Rules that change the MSS option.
fn firewall(clamps: &Clamps) -> Check {
    let purpose = "`maxseg explain HOST`: rules of the firewall that change the MSS option";
    let found = match (&clamps.unknown, clamps.rules.len()) {
        (Some(why), _) => format!("clamps are unknown: {why}"),
        (None, 0) => "no rule changes the MSS option".to_owned(),
        (None, 1) => "1 rule changes the MSS option".to_owned(),
        (None, count) => format!("{count} rules change the MSS option"),
    };
    let check = Check::new("firewall", purpose, found).value("rules", clamps.rules.len());
    match &clamps.unknown {
        None => check,
        Some(NotRead::NoProgram(_)) => check.state(State::Limited),
        Some(_) => check.state(State::Limited).mend(["sudo nft list ruleset"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_root_is_told_with_the_way_to_it() {
        let all = Rights { hidden_processes: 0, marks: true, namespaces: true };
        assert_eq!(options(all, true).state, State::Ok);
        let none = Rights { hidden_processes: 80, marks: false, namespaces: false };
        let check = options(none, false);
        assert_eq!((check.state, check.required), (State::Limited, false));
        assert!(check.found.contains("clamp") && check.mend[0].starts_with("sudo "), "{check:?}");
        for (lacking, capability) in [
            (Rights { hidden_processes: 1, ..all }, "CAP_SYS_PTRACE"),
            (Rights { marks: false, ..all }, "CAP_NET_ADMIN"),
            (Rights { namespaces: false, ..all }, "CAP_SYS_ADMIN"),
        ] {
            let check = options(lacking, true);
            assert_eq!(
                (check.state, check.mend.len()),
                (State::Limited, 0),
                "root is root already"
            );
            assert!(check.found.contains(capability), "{check:?}");
        }
        let by_proc = processes(Err(&NotIterated::NoRight));
        assert_eq!(by_proc.state, State::Ok, "nothing is missing from what is found");
        assert!(by_proc.found.starts_with("through /proc") && by_proc.found.contains("CAP_BPF"));
        let none = Clamps { rules: Vec::new(), unknown: None };
        assert_eq!(firewall(&none).found, "no rule changes the MSS option");
        let denied = Clamps { rules: Vec::new(), unknown: Some(NotRead::Denied) };
        let check = firewall(&denied);
        assert!(check.found.starts_with("clamps are unknown: "), "{check:?}");
        assert_eq!(check.mend, ["sudo nft list ruleset"]);
    }
}
