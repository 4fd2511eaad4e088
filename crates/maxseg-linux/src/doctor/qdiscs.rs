//! The qdiscs of `--lab-backend netem`.

use std::process::{Command, Stdio};

use super::host::Host;
use super::{Check, State, find_program};
use crate::sys::NamespaceAccess;
use crate::sys::probe::with_steps;

/// The qdiscs that emulate a hop, with their required arguments.
const KINDS: [(&str, &[&str]); 2] = [
    ("netem", &["delay", "1ms"]),
    ("tbf", &["rate", "10mbit", "burst", "32kb", "latency", "100ms"]),
];

/// Tries each qdisc on the loopback interface of a temporary namespace.
pub(super) fn check(way: Option<NamespaceAccess>, host: &Host) -> Check {
    let check = Check::new("qdiscs", "`--lab-backend netem`; the relay does not use it", "");
    let Some(tc) = find_program("tc") else {
        return Check { found: "tc is not installed".to_owned(), ..check }
            .state(State::Missing)
            .mend(["sudo apt install iproute2"]);
    };
    let Some(way) = way else {
        let found = "not tried: no network namespace".to_owned();
        return Check { found, ..check }.state(State::Missing);
    };
    let takes = |(kind, arguments): &(&str, &[&str])| {
        let mut command = Command::new(&tc);
        command.args(["qdisc", "add", "dev", "lo", "root", kind]).args(*arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        with_steps(&mut command, way.steps()).status().is_ok_and(|status| status.success())
    };
    let (have, lack): (Vec<_>, Vec<_>) = KINDS.into_iter().partition(takes);
    let [have, lack] =
        [have, lack].map(|kinds| kinds.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>());
    judged(check, &have, &lack, host)
}

fn judged(check: Check, have: &[&str], lack: &[&str], host: &Host) -> Check {
    let check = check.value("available", have);
    if lack.is_empty() {
        return Check { found: have.join(", "), ..check };
    }
    let has = if have.is_empty() { String::new() } else { format!("; it has {}", have.join(", ")) };
    let lacking = lack.join(" and no ");
    let found = format!("the kernel has no {lacking}{has}{}", host.lacks_modules());
    let mend = lack.iter().filter_map(|kind| host.modprobe(&format!("sch_{kind}")));
    Check { found, ..check }.state(State::Missing).mend(mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_lacks_is_named() {
        let check = || Check::new("qdiscs", "", "");
        let host = Host::of(true, None);
        let lacking = judged(check(), &["tbf"], &["netem"], &host);
        assert_eq!(lacking.found, "the kernel has no netem; it has tbf");
        assert_eq!(
            (lacking.state, &lacking.mend[..]),
            (State::Missing, &["sudo modprobe sch_netem".to_owned()][..])
        );
        assert_eq!(judged(check(), &["netem", "tbf"], &[], &host).state, State::Ok);
        let built_in = judged(check(), &["tbf"], &["netem"], &Host::without_modules());
        assert_eq!(
            built_in.found,
            "the kernel has no netem; it has tbf; there are no modules for it in /lib/modules"
        );
        assert!(built_in.mend.is_empty(), "nothing can be loaded: {built_in:?}");
    }
}
