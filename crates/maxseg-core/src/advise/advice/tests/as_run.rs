//! What is shown is what is run, and what is gained is no matter of where the run ends.

use super::advised;
use crate::advise::{Change, Goal, changed};
use crate::path::Discipline;
use crate::scenario::Scenario;
use crate::units::Mss;

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test", text).unwrap()
}

const SLOW: &str = "[[hop]]\nrate = \"128 kbit/s\"\ndelay = \"10 ms\"\n";

#[test]
fn a_full_link_has_no_goodput_to_gain() {
    // At the end nine seconds of the link's time are queued, and a hole before them is not repaired.
    let text = format!("{SLOW}queue = \"100 packets\"\n[until]\ntime = \"30 s\"");
    let advised = advised(&text, Goal::Throughput);
    let said: Vec<&str> = advised.advice.iter().map(|piece| piece.text.as_str()).collect();
    assert!(said.is_empty(), "{said:?}");
    let carried = advised.trials[0].goodput.mean / 128e3;
    // 1448 of 1500 bytes are payload.
    assert!((0.94..0.97).contains(&carried), "{carried}");
}

#[test]
fn one_needless_retransmission_is_no_reason_for_a_longer_timer() {
    let text = "[[hop]]\nrate = \"28.8 kbit/s\"\ndelay = \"60 ms\"\nqueue = \"20 packets\"\n[until]\ntime = \"60 s\"";
    let advised = advised(text, Goal::Throughput);
    let said: Vec<&str> = advised.advice.iter().map(|piece| piece.text.as_str()).collect();
    assert!(!advised.advice.iter().any(|piece| piece.id.starts_with("rto")), "{said:?}");
}

#[test]
fn pings_that_wait_in_the_queue_count() {
    // The queue has 60 s of the link's time: only pings before it fills are answered.
    let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"50 packets\"\nframing = \"atm-aal5\"\n\
                [hop.reverse]\nrate = \"0.01 Mbit/s\"\n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n[until]\ntime = \"30 s\"";
    let advised = advised(text, Goal::Throughput);
    assert!(advised.trials[0].ping.mean > 5.0, "{:?}", advised.trials[0].ping);
}

#[test]
fn a_segment_size_is_set_as_it_is_shown() {
    let path = scenario(&format!("{SLOW}[until]\ntime = \"10 s\""));
    let change = Change::SegmentSize(Mss::new(1000).unwrap());
    let shown = change.describe_in(&path);
    assert_eq!(shown, "sender.mss = 1000, receiver.mss = 1000");
    let keys = shown.replace(", ", "\n");
    let by_hand = scenario(&format!("{keys}\n{SLOW}[until]\ntime = \"10 s\""));
    let run = changed(&path, &[change]);
    assert_eq!((run.sender.mss, run.receiver.mss), (by_hand.sender.mss, by_hand.receiver.mss));
}

#[test]
fn the_queues_of_both_directions_have_codel_and_their_own_room() {
    let text = "[[hop]]\nrate = \"16 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"64 KiB\"\n[hop.reverse]\nrate = \"1 Mbit/s\"\n\
                queue = { limit = \"20 packets\", discipline = \"codel\", target = \"9 ms\" }\n[until]\ntime = \"10 s\"";
    let path = scenario(text);
    let run = changed(&path, &[Change::Codel]);
    let [before, after] = [&path, &run].map(|run| &run.path.hops[0]);
    assert!(matches!(after.forward.discipline, Discipline::Codel(_)));
    assert_eq!(after.forward.queue, before.forward.queue);
    assert_eq!(after.reverse, before.reverse, "what has CoDel keeps its own");
    let plain = scenario(&format!("{SLOW}[until]\ntime = \"10 s\""));
    let hop = &changed(&plain, &[Change::Codel]).path.hops[0];
    assert!(matches!(hop.reverse.discipline, Discipline::Codel(_)));
    assert_eq!(Change::Codel.describe_in(&path), "CoDel in every queue of the path");
}

#[test]
fn below_a_policers_rate_no_other_congestion_control_is_needed() {
    let text = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"1 MiB\"\n\
                policer = { rate = \"20 Mbit/s\", burst = \"64 KiB\" }\n[until]\ntime = \"20 s\"";
    let advised = advised(text, Goal::Throughput);
    let ids: Vec<&str> = advised.advice.iter().map(|piece| piece.id.as_str()).collect();
    assert_eq!(ids, ["pacing-sender"]);
}
