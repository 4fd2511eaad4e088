//! What connections take of memory: nothing is timed.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use allocation_counter::measure;
use maxseg_wire::reading::{ReadOptions, read};
use maxseg_wire::synthetic::Load;

/// Most bytes that are allocated at once while such a capture is read and every connection looked at.
fn peak(load: Load) -> u64 {
    let mut bytes = Vec::new();
    load.write(&mut bytes).unwrap();
    let allocations = measure(|| {
        let reading = read(bytes.as_slice(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.summary.problems, []);
        let seen = reading.connections.filter(|it| it.forward.unique_bytes > 0).count();
        assert_eq!(seen, load.connections as usize);
    });
    assert_eq!(allocations.bytes_current, 0);
    allocations.bytes_max
}

/// Those in use, and more intervals for the others.
const MOST_LONG: u64 = 20_000;
/// A million connections are to fit into 900 MiB, with all that the program adds.
const MOST_EACH: u64 = 600;

#[test]
fn connections_that_are_quiet_take_little() {
    for ends in [true, false] {
        let load =
            |connections| Load { connections, rounds: 2, at_once: 25, rounds_a_turn: 1, ends };
        // Those that are held as they are take the same in both.
        let (fewer, more) = (peak(load(20_000)), peak(load(60_000)));
        let each = (more - fewer) / 40_000;
        assert!(each < MOST_EACH, "{each} bytes for each connection");
    }
}

/// With all of them in use at once, most are packed and unpacked again for every packet.
#[test]
fn connections_that_take_turns_take_no_more() {
    let load = |connections| Load {
        connections,
        rounds: 2,
        at_once: u32::MAX,
        rounds_a_turn: 1,
        ends: true,
    };
    // The handshakes take the longer the more there are, so those that are held as they are have more intervals.
    let each = peak(load(20_000)) / 20_000;
    assert!(each < MOST_LONG, "{each} bytes for each connection");
}

#[test]
fn a_connection_takes_no_more_when_it_is_longer() {
    let load = |rounds| Load { connections: 1, rounds, at_once: 1, rounds_a_turn: 1, ends: true };
    // What grows at first: intervals, up to a bounded number.
    assert_eq!(peak(load(150_000)), peak(load(300_000)));
}
