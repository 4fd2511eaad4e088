//! What `maxseg connections` and `maxseg explain HOST` can read as this user, and the right that the rest takes.

use nix::unistd::Uid;

use super::programs::installed;
use super::{Check, State};
use crate::netlink::SockDiag;
use crate::observe::path::{Clamps, NotRead};
use crate::observe::sockets::{NotIterated, probe_task_files};

pub(super) fn check() -> [Check; 6] {
    [
        sockets(),
        processes(probe_task_files()),
        options(Uid::effective().is_root()),
        firewall(&Clamps::read()),
        installed("nft", "`maxseg explain HOST`: clamps of the MSS option", "nftables"),
        installed("iptables", "`maxseg explain HOST`: clamps of iptables", "iptables"),
    ]
}

/// The kernel's list, which everyone may read.
fn sockets() -> Check {
    let purpose = "`maxseg connections`, `maxseg explain HOST`: the kernel's list of TCP sockets";
    match SockDiag::open().and_then(|mut list| list.probe()) {
        Ok(()) => Check::new("sockets", purpose, "the kernel lists its TCP sockets"),
        Err(error) => {
            Check::new("sockets", purpose, format!("the kernel lists no TCP sockets ({error})"))
                .state(State::Missing)
                .mend(["sudo modprobe tcp_diag"])
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

/// What only the socket itself tells, and whose it is.
fn options(is_root: bool) -> Check {
    let purpose = "process, TCP_WINDOW_CLAMP, and whether SO_RCVBUF was set, of each connection";
    if is_root {
        let found = "process, clamp and buffers of every connection; marks; other namespaces";
        return Check::new("options", purpose, found);
    }
    let found = "process, clamp and buffers of this user's own connections; of those of others segment sizes, windows, timers and \
                 counters alone. No marks, no other namespace";
    Check::new("options", purpose, found).state(State::Limited).mend(["sudo maxseg connections"])
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
        assert_eq!(options(true).state, State::Ok);
        let check = options(false);
        assert_eq!((check.state, check.required), (State::Limited, false));
        assert!(check.found.contains("clamp") && check.mend[0].starts_with("sudo "), "{check:?}");
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
