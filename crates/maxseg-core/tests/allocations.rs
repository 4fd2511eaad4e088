//! A packet costs no allocation: a run of twice the length allocates what one of half the length does.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use allocation_counter::measure;
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

const PATH: &str = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"49 packets\"\n\
                    [[hop]]\nname = \"radio\"\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\nqueue = \"49 packets\"\nframe = 128\n";

/// A packet is looked at where it lies, and what it owns is taken out of it there: nothing may be left.
#[test]
fn a_run_leaves_nothing_allocated() {
    let options = "stack = \"rfc\"\nsack = true\ntimestamps = true\n";
    let slow_host = format!("{options}packet_cost = \"10 us\"\n");
    let losses = "errors = { model = \"uniform\", per = \"packet\", rate = \"2%\" }\n";
    let jitter =
        "errors = { model = \"uniform\", per = \"packet\", rate = \"2%\" }\njitter = \"1 ms\"\n";
    let flows = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n[[flow]]\nkind = \"ping\"\n\
                 [[flow]]\nkind = \"request\"\nrequest = \"700 B\"\nreply = \"20 kB\"\n";
    let linux = "stack = \"linux\"\n";
    let bbr = "stack = \"linux\"\ncongestion = \"bbr\"\n";
    let slow_linux = format!("{linux}packet_cost = \"10 us\"\n");
    for (hop, settings) in [
        ("", options),
        (losses, options),
        (jitter, options),
        (losses, &slow_host),
        ("", linux),
        (losses, bbr),
        (jitter, linux),
        (losses, &slow_linux),
    ] {
        let ends = format!("[sender]\nmss = 536\n{settings}[receiver]\nmss = 536\n{settings}");
        let text = format!("{PATH}{hop}{ends}{flows}[until]\ntime = \"60 s\"\n");
        let scenario = Scenario::from_toml("test", &text).unwrap();
        let allocations = measure(|| {
            Sim.run(&scenario, &mut Unwatched).unwrap();
        });
        assert!(allocations.count_total > 100, "{text}");
        assert_eq!(allocations.count_current, 0, "{text}");
    }
}

/// Allocations, data packets and retransmitted ones of a run of so many seconds, both ends with these settings.
fn run(settings: &str, flows: &str, seconds: u32) -> [u64; 3] {
    let ends = format!("[sender]\nmss = 536\n{settings}[receiver]\nmss = 536\n{settings}");
    let text = format!("{PATH}{ends}{flows}[until]\ntime = \"{seconds} s\"\n");
    let scenario = Scenario::from_toml("test", &text).unwrap();
    let mut packets = [0; 2];
    let allocations = measure(|| {
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        packets = [outcome.data_packets.unwrap(), outcome.retransmitted_packets.unwrap()];
    });
    [allocations.count_total, packets[0], packets[1]]
}

#[test]
fn a_run_of_twice_the_length_allocates_no_more() {
    let plain = "stack = \"ns2-reno\"\n";
    let with_options = "stack = \"rfc\"\nsack = true\ntimestamps = true\n";
    let bulk_and_ping = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"ping\"\n";
    let bulk_and_requests = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"request\"\nrequest = \"700 B\"\n\
                             reply = \"20 kB\"\n";
    let cubic = "stack = \"linux\"\n";
    let bbr = "stack = \"linux\"\ncongestion = \"bbr\"\n";
    for (settings, flows) in [
        (plain, ""),
        (plain, bulk_and_ping),
        (with_options, ""),
        (with_options, bulk_and_requests),
        (cubic, ""),
        (cubic, bulk_and_ping),
        (bbr, ""),
    ] {
        let [once, packets, repeated] = run(settings, flows, 500);
        let [twice, more_packets, more_repeated] = run(settings, flows, 1000);
        assert!(more_packets > packets + 100_000, "{packets} and {more_packets} packets");
        // What may grow with time: a ring that doubles, and what a lost segment took with it.
        let more = (more_packets - packets) / 1000 + (more_repeated - repeated);
        assert!(twice <= once + more, "{once} allocations in 500 s, {twice} in 1000 s");
    }
}
