//! The reader of packetdrill's language, by scripts of our own; and packetdrill's, where `MAXSEG_PACKETDRILL` says.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::path::Path;

use xtask::packetdrill::{NotRun, Verdict, judge, judge_all, known};
use xtask::root;

/// So many scripts are run at least: fewer are read no longer.
const LEAST_RUN: usize = 40;
/// Subjects that the stack is to have whole.
const WHOLE: [&str; 6] =
    ["sack", "fast_recovery", "slow_start", "limited_transmit", "cubic", "tcp_info"];

fn own(name: &str) -> String {
    std::fs::read_to_string(root().join("testdata/packetdrill").join(name)).unwrap()
}

#[test]
fn scripts_of_our_own_pass() {
    for name in ["opening.pkt", "loss.pkt", "client.pkt", "user_timeout.pkt", "route_mtu.pkt"] {
        assert_eq!(judge(&own(name)), Verdict::Passed, "{name}");
    }
}

#[test]
fn a_script_that_asks_for_something_else_fails_there() {
    let Verdict::Failed(line, what) = judge(&own("early.pkt")) else { panic!("it passed") };
    assert_eq!(line, 12);
    assert!(what.contains("2001:3001 was to be sent"), "{what}");
}

#[test]
fn each_change_of_a_packet_is_seen() {
    let whole = own("loss.pkt");
    for (from, to) in [
        ("> . 1001:2001(1000) ack 1", "> . 1001:2001(1000) ack 2"),
        ("> . 1001:2001(1000) ack 1", "> . 2001:3001(1000) ack 1"),
        ("> . 1001:2001(1000) ack 1", "> . 1001:2001(1000) ack 1 win 1"),
        ("> . 1001:2001(1000) ack 1", "> . 1001:2001(1000) ack 1 <sack 1:2>"),
        ("> . 1001:2001(1000) ack 1", "> R. 1001:2001(1000) ack 1"),
        ("> S. 0:0(0) ack 1 <...>", "> S. 0:0(0) ack 1 <mss 1400,nop,nop,sackOK,nop,wscale 8>"),
        ("tcpi_sacked == 2", "tcpi_sacked == 3"),
        ("7 * 10 / 10", "(7 + 1) * 10 // 10 - 0x2"),
    ] {
        assert!(whole.contains(from), "{from}");
        let changed = judge(&whole.replace(from, to));
        assert!(matches!(changed, Verdict::Failed(..)), "{to}: {changed:?}");
    }
}

#[test]
fn each_flag_of_an_end_is_seen() {
    let whole = own("client.pkt");
    for (from, to, what) in [
        ("> F. 201:201(0) ack 51", "> . 201:201(0) ack 51", "FIN of 201:201"),
        ("> . 202:202(0) ack 52", "> W. 202:202(0) ack 52", "CWR of 202:202"),
        ("write(3, ..., 100) = 100", "write(3, ..., 100) = 200", "200 bytes are written of 100"),
    ] {
        assert!(whole.contains(from), "{from}");
        let Verdict::Failed(_, said) = judge(&whole.replacen(from, to, 1)) else { panic!("{to}") };
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn a_connection_that_times_out_is_seen() {
    let whole = own("user_timeout.pkt");
    for (from, to, what) in [
        ("[1500]", "[0]", "has not timed out"),
        ("[1500]", "[1000]", "has timed out"),
        ("= -1 ETIMEDOUT", "= -1 EPIPE", "has timed out"),
    ] {
        assert!(whole.contains(from), "{from}");
        let Verdict::Failed(_, said) = judge(&whole.replacen(from, to, 1)) else { panic!("{to}") };
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn what_is_not_understood_is_not_run_and_says_why() {
    let whole = own("loss.pkt");
    for (from, to, why) in [
        ("write(4, ..., 8000)", "splice(4, ..., 8000)", "splice()"),
        ("`../common/defaults.sh`", "`sysctl -q net.ipv4.tcp_mtu_prober=2`", "tcp_mtu_prober"),
        ("sackOK,", "sackOK,exp-x,", "the TCP option exp-x"),
        ("tcpi_sacked == 2", "tcpi_nothing == 2", "tcpi_nothing is not known"),
        ("+.04 < . 1:1(0) ack 1 win 500", "+.04 < . 1:2(0) ack 1 win 500", "1:2(0)"),
    ] {
        assert!(whole.contains(from), "{from}");
        match judge(&whole.replace(from, to)) {
            Verdict::NotRun(NotRun::Rule(said)) => assert!(said.contains(why), "{said}"),
            other @ (Verdict::Passed | Verdict::Failed(..) | Verdict::NotRun(_)) => {
                panic!("{to}: {other:?}")
            }
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many scripts were checked")]
fn packetdrills_scripts_pass() {
    let Some(folder) = std::env::var_os("MAXSEG_PACKETDRILL") else {
        println!("skipped: MAXSEG_PACKETDRILL names no folder with packetdrill's scripts");
        return;
    };
    let judged = judge_all(Path::new(&folder)).unwrap();
    let run = judged.iter().filter(|script| !matches!(script.verdict, Verdict::NotRun(_))).count();
    println!("checked {run} scripts, skipped {}", judged.len() - run);
    assert!(run >= LEAST_RUN, "{run} scripts were run");
    let is_whole = |subject: &str| WHOLE.contains(&subject);
    let faults: Vec<_> = judged
        .iter()
        .filter(|script| match &script.verdict {
            Verdict::Passed => false,
            Verdict::Failed(..) => is_whole(&script.subject) || known(&script.path).is_none(),
            Verdict::NotRun(_) => is_whole(&script.subject),
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
