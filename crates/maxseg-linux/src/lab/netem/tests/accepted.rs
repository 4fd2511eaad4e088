//! The installed `tc` and this kernel take the commands, in a network namespace made for the test.

#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::fmt::Write as _;
use std::process::Command as Process;

use super::*;
use crate::lab::netem::{Kind, Unavailable, clear, detect};

/// `unshare` for a network namespace: as root, or in a user namespace.
fn namespace() -> Option<Vec<&'static str>> {
    [vec!["--net"], vec!["--user", "--map-root-user", "--net"]].into_iter().find(|way| {
        let probe = Process::new("unshare").args(way).args(["tc", "qdisc", "show"]).output();
        probe.is_ok_and(|output| output.status.success())
    })
}

/// What `script` prints in a namespace of its own with two connected interfaces, `w0` and `p0`.
fn inside(way: &[&str], script: &str) -> String {
    let setup = "set -e; ip link add w0 type veth peer name p0; ip link set w0 up; ip link set p0 up; set +e\n";
    let output =
        Process::new("unshare").args(way).args(["sh", "-c", &format!("{setup}{script}")]).output();
    let output = output.unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn this_kernels_tc_takes_what_it_knows() {
    let Some(way) = namespace() else {
        println!("skipped: no `tc` and `unshare` that may make a network namespace");
        return;
    };
    let has = |kind: &str| {
        let try_it = format!("tc qdisc add dev w0 root {kind} && echo there");
        inside(&way, &try_it).contains("there")
    };
    let known: Vec<&str> = [
        ("netem", "netem limit 1"),
        ("tbf", "tbf rate 8bit burst 1500 limit 1500"),
        ("pfifo", "pfifo"),
        ("codel", "codel"),
        ("red", "red limit 150000 min 7500 max 22500 avpkt 1500 burst 48"),
    ]
    .into_iter()
    .filter(|(_, example)| has(example))
    .map(|(kind, _)| kind)
    .collect();
    let mut taken = 0;
    for row in golden() {
        // A seed is not for every tc; it is tried where it is detected.
        let plan = Plan::of(&row.link, &row.place, &PlanOptions { seed: None, ..row.options });
        let known_ones = plan.qdiscs.iter().take_while(|q| known.contains(&q.kind.word()));
        let mut script = String::new();
        let commands: Vec<_> = known_ones.map(|qdisc| qdisc.add().to_string()).collect();
        for command in &commands {
            writeln!(script, "{command} || echo FAILED").unwrap();
        }
        script.push_str("tc qdisc show\n");
        let said = inside(&way, &script);
        assert!(!said.contains("FAILED"), "{}: {commands:#?}\n{said}", row.what);
        for qdisc in plan.qdiscs.iter().take(commands.len()) {
            let shown =
                format!("qdisc {} {}: dev {}", qdisc.kind.word(), qdisc.handle, qdisc.device);
            assert!(said.contains(&shown), "{}: no `{shown}` in\n{said}", row.what);
            if let Kind::Pfifo { limit } = qdisc.kind {
                assert!(said.contains(&format!("limit {limit}p")), "{said}");
            }
        }
        taken += commands.len();
    }
    println!("{taken} commands taken; this kernel has {}", known.join(", "));
    assert!(taken > 0 || known.is_empty(), "a kernel with {known:?} took nothing");
}

#[test]
fn netem_is_there_or_its_absence_is_explained() {
    let Some(way) = namespace() else {
        println!("skipped: no `tc` and `unshare` that may make a network namespace");
        return;
    };
    // Each command in a namespace of its own would forget; so only the first failure is told apart here.
    let found = detect(|command| {
        let all = format!("{command} && echo OK");
        let output = Process::new("unshare").args(&way).args(["sh", "-c", &all]).output()?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // Nothing is left to take out where a namespace has ended.
        let success = stdout.contains("OK") || *command == clear("lo");
        Ok(super::super::TcReply { success, stdout, stderr })
    });
    match found {
        Ok(netem) => println!("netem is there: {netem:?}"),
        Err(Unavailable::Refused(fault)) => {
            println!("netem is not there: {fault}");
            assert_eq!(fault, super::super::TcError::UnknownKind, "in a namespace of our own");
        }
        Err(other) => panic!("{other}"),
    }
}
