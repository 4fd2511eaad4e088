//! The less common keys of hops, and flows over a part of the path.

use super::super::*;
use super::{CELLULAR, complain};
use crate::path::{Discipline, IcmpPolicy};

#[test]
fn what_cannot_stand_together_is_said_where_it_stands() {
    let hop = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let with = |line: &str| format!("{hop}{line}\n");
    let cases = [
        (
            &with("jitter = \"2 ms\""),
            "4:10 a jitter of 2 ms is above the delay of 1 ms: no packet arrives before it leaves | each delay lies between delay - jitter and delay + jitter",
        ),
        (
            &with("policer = { rate = \"1 Mbit/s\", burst = \"1000 B\" }"),
            "4:40 a bucket of 1 kB never lets a packet of 1.5 kB on the wire (MTU 1500) pass | write burst = \"1.5 kB\" or more",
        ),
        (
            &with("arq = true"),
            "4:7 `arq` needs a table | write arq = { retries = 3, delay = \"20 ms\" }",
        ),
        (
            &with("pad = true"),
            "4:7 the last frame of a packet is padded, and this link has no frames | add frame = 128 (bytes), or take pad out",
        ),
        (
            &with("arq = { retries = 3, delay = \"10 h\" }"),
            "4:30 3 repeats that are each 36000 s late are beyond 86400 s | write delay = \"20 ms\"",
        ),
        (&with("arq = { retries = 3 }"), "4:7 hop.0.arq has no `delay` | add delay = \"20 ms\""),
        (
            &with(
                "frame = 128\narq = { retries = 3, delay = \"20 ms\" }\nerrors = { model = \"uniform\", rate = 0.1 }",
            ),
            "6:10 arq repeats frames here, and these errors hit whole packets | write per = \"frame\", or take frame out: then packets are repeated",
        ),
        (
            &with(
                "arq = { retries = 3, delay = \"20 ms\" }\nerrors = { model = \"list\", lost = [3] }",
            ),
            "4:7 a list names packets that are lost, and arq would repeat them | take arq out, or use errors of another model",
        ),
        (
            &with("queue = { limit = \"64 KiB\", discipline = \"codel\", max_p = 0.1 }"),
            "4:9 `max_p` goes with discipline = \"red\" | for example queue = \"100 packets\"",
        ),
        (
            &with("queue = { limit = \"64 KiB\", discipline = \"red\", min = \"9 kB\" }"),
            "4:9 `min` and `max` count the same: both packets, or both bytes | for example queue = \"100 packets\"",
        ),
        (
            &with("queue = { limit = \"64 KiB\", discipline = \"coddle\" }"),
            "4:42 `coddle` is not a value of `discipline` | did you mean `codel`?",
        ),
        // Flows on a part of the path.
        (
            &with("name = \"radio\"\n[[flow]]\nkind = \"bulk\"\nhops = [\"radoi\"]"),
            "7:9 no hop is called `radoi` | did you mean `radio`?",
        ),
        (
            &with("[[flow]]\nkind = \"bulk\"\nhops = []"),
            "6:8 a flow crosses one hop at least | name some of: 0; or leave it out for all",
        ),
        (
            &[
                with("[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\""),
                hop.to_owned(),
                "[[flow]]\nkind = \"bulk\"\nhops = [\"0\", \"2\"]".to_owned(),
            ]
            .concat(),
            "12:8 0, 2 are no run of neighbours | the path's order is 0, 1, 2",
        ),
    ];
    let got = cases.map(|(text, _)| complain(text, &[]));
    assert_eq!(got.as_slice(), cases.map(|(_, want)| want.to_owned()).as_slice());
}

#[test]
fn what_a_link_does_it_does_both_ways_but_for_errors() {
    let text = r#"
[[hop]]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { limit = "64 KiB", discipline = "codel", target = "10 ms" }
arq = { retries = 3, delay = "20 ms" }
policer = { rate = "5 Mbit/s", burst = "15 kB" }
jitter = "5 ms"
reorder = "1%"
duplicate = 0.02
burst = "10 kB"
ecn = true
icmp = "drop"

[hop.reverse]
policer = false
jitter = "0 s"
queue = "10 packets"

[sender]
df = false
"#;
    let scenario = Scenario::from_toml("test.toml", text).unwrap();
    let hop = &scenario.path.hops[0];
    let Discipline::Codel(codel) = hop.forward.discipline else { panic!("CoDel") };
    assert_eq!((codel.target, codel.interval), (Time::from_millis(10), Time::from_millis(100)));
    assert_eq!(hop.reverse.discipline, Discipline::TailDrop);
    assert!(hop.forward.policer.is_some() && hop.reverse.policer.is_none());
    assert_eq!(hop.reverse.jitter, Time::ZERO);
    assert_eq!(hop.reverse.arq, hop.forward.arq);
    assert_eq!((hop.reverse.burst, hop.reverse.icmp), (Bytes::new(10_000), IcmpPolicy::Drop));
    assert!(hop.reverse.ecn && scenario.is_random());
    assert!(!scenario.forbids_fragments(End::Sender) && scenario.forbids_fragments(End::Receiver));
}

#[test]
fn a_flow_may_cross_a_part_of_the_path() {
    let text =
        CELLULAR.replace("[sender]", "[[flow]]\nkind = \"bulk\"\nhops = [\"wired\"]\n[sender]");
    let mut draft = Draft::parse("test.toml", &text).unwrap();
    draft.set_argument("sender.mss=1460").unwrap();
    draft.set_argument("receiver.mss=1460").unwrap();
    let scenario = draft.scenario().unwrap();
    assert!(!scenario.is_end_to_end());
    // The radio's MTU of 576 does not concern it; timestamps take 12 bytes.
    assert_eq!(scenario.mss(&scenario.flows[0]).effective.get(), 1448);
    let (near, far) = scenario.first_links(&scenario.flows[0]);
    assert_eq!(near.rate, far.rate);
}
