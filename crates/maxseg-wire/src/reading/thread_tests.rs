//! Threads make no difference.

use maxseg_core::evidence::Direction;
use proptest::prelude::*;

use super::*;
use crate::flow::FlowOptions;
use crate::synthetic::{DialogueLoad, Load, LossyLoad};

/// What a reading comes to, but for the order in which a hash table is printed.
fn told<C: Iterator<Item = Evidence>>(mut reading: Reading<C>) -> (String, String, Vec<Evidence>) {
    let connections: Vec<Evidence> = reading.connections.collect();
    let tshark = std::mem::take(&mut reading.summary.tshark);
    let directions = [Direction::Forward, Direction::Reverse];
    let counts = connections
        .iter()
        .flat_map(|one| directions.map(|direction| format!("{:?}", tshark.find(one, direction))));
    (format!("{:?}", reading.summary), counts.collect(), connections)
}

/// Checks that a capture comes to the same however many threads follow its connections.
fn threads_agree(capture: &[u8], options: &ReadOptions<'_>) {
    let alone = told(read(capture, options).unwrap());
    for threads in [1, 2, 3, 9] {
        let reading = read_in_threads(capture, options, threads).unwrap();
        let together = told(reading.expect("few connections"));
        assert_eq!((&together.0, &together.1), (&alone.0, &alone.1), "{threads} threads");
        for (one, other) in together.2.iter().zip(&alone.2) {
            assert_eq!(one, other, "{threads} threads");
        }
        assert_eq!(together.2.len(), alone.2.len(), "{threads} threads");
    }
}

/// Where the records of such a capture begin, and where it ends.
fn records(capture: &[u8]) -> Vec<usize> {
    let mut begins = vec![24];
    while let Some(length) = begins.last().and_then(|at| capture.get(at + 8..at + 12)) {
        let length = u32::from_ne_bytes(length.try_into().unwrap()) as usize;
        begins.push(begins[begins.len() - 1] + 16 + length);
    }
    begins
}

/// The capture with records in another order: each `swaps` names one that changes places with a later one.
fn in_disorder(capture: &[u8], swaps: &[(prop::sample::Index, usize)]) -> Vec<u8> {
    let begins = records(capture);
    let mut order: Vec<&[u8]> = begins.windows(2).map(|pair| &capture[pair[0]..pair[1]]).collect();
    for (which, by) in swaps {
        let one = which.index(order.len());
        let other = (one + by).min(order.len() - 1);
        order.swap(one, other);
    }
    [&capture[..24], &order.concat()].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Connections that take turns in any way, with packets out of order, and a file that may be cut anywhere.
    #[test]
    fn connections_in_turn(
        connections in 1..60_u32,
        rounds in 1..12_u32,
        at_once in 1..60_u32,
        rounds_a_turn in 1..4_u32,
        ends: bool,
        tshark: bool,
        swaps in prop::collection::vec((any::<prop::sample::Index>(), 1..40_usize), 0..30),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut capture = Vec::new();
        Load { connections, rounds, at_once, rounds_a_turn, ends }.write(&mut capture).unwrap();
        let mut capture = in_disorder(&capture, &swaps);
        if let Some(cut) = cut {
            capture.truncate(24 + cut.index(capture.len() - 24));
        }
        let flows = FlowOptions { trace: rounds % 2 == 0, ..FlowOptions::default() };
        threads_agree(&capture, &ReadOptions { flows, tshark, ..ReadOptions::default() });
    }
}

/// More batches than wait for a thread at once, and connections that are packed meanwhile.
#[test]
fn many_packets_of_many_connections() {
    let mut capture = Vec::new();
    DialogueLoad { connections: 3_000, turns: 3 }.write(&mut capture).unwrap();
    threads_agree(&capture, &ReadOptions::default());
    capture.clear();
    LossyLoad { connections: 7, segments: 2_000, one_in: 50 }.write(&mut capture).unwrap();
    threads_agree(&capture, &ReadOptions::default());
}

#[test]
fn a_capture_that_is_damaged_in_the_middle_is_read_up_to_there() {
    let mut capture = Vec::new();
    let load = Load { connections: 30, rounds: 50, at_once: 9, rounds_a_turn: 1, ends: true };
    load.write(&mut capture).unwrap();
    let begins = records(&capture);
    let middle = begins[begins.len() / 2];
    capture[middle + 8..middle + 12].copy_from_slice(&u32::MAX.to_ne_bytes());
    threads_agree(&capture, &ReadOptions::default());
    assert!(read(capture.as_slice(), &ReadOptions::default()).unwrap().summary.fault().is_some());
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    let mut capture = Vec::new();
    let load = Load { connections: 3, rounds: 5, at_once: 3, rounds_a_turn: 1, ends: true };
    load.write(&mut capture).unwrap();
    let options = ReadOptions { interface: Some("eth7"), ..ReadOptions::default() };
    assert!(read_in_threads(capture.as_slice(), &options, 2).is_err());
}

/// Which connections are followed where there are too many is for one thread to say.
#[test]
fn too_many_connections_are_left_to_one_thread() {
    let mut capture = Vec::new();
    let load = Load { connections: 9, rounds: 5, at_once: 3, rounds_a_turn: 1, ends: true };
    load.write(&mut capture).unwrap();
    let whole = |most_connections| {
        let flows = FlowOptions { most_connections, ..FlowOptions::default() };
        let options = ReadOptions { flows, ..ReadOptions::default() };
        read_in_threads(capture.as_slice(), &options, 2).unwrap().is_some()
    };
    assert_eq!((whole(8), whole(9)), (false, true));
}
