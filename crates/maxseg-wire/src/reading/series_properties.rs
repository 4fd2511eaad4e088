//! However a capture is cut into files, they come to the same; what is missing is neither lost nor in flight.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use maxseg_core::diagnose::diagnose;
use maxseg_core::evidence::DirectionStats;
use proptest::collection::vec;
use proptest::prelude::*;

use super::series_tests::{begins, part, series, whole};
use super::*;
use crate::synthetic::{DialogueLoad, Load, LossyLoad};

/// Captures of transfers, of transfers with losses, and of requests and replies.
fn captures() -> [Vec<u8>; 3] {
    let mut captures = [const { Vec::new() }; 3];
    let [bulk, lossy, talk] = &mut captures;
    let load = Load { connections: 12, rounds: 30, at_once: 12, rounds_a_turn: 2, ends: true };
    load.write(bulk).unwrap();
    LossyLoad { connections: 3, segments: 400, one_in: 40 }.write(lossy).unwrap();
    DialogueLoad { connections: 80, turns: 12 }.write(talk).unwrap();
    captures
}

/// Places of these thousandths of all packets, in order.
fn places(cuts: &[usize], packets: usize) -> Vec<usize> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut * packets / 1000).collect();
    places.extend([0, packets]);
    places.sort_unstable();
    places.dedup();
    places
}

fn compressed(file: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(file).unwrap();
    out.finish().unwrap()
}

/// What a connection sent and what became of it, but for the numbers of its packets.
fn told(all: &[Evidence]) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let way = |it: &DirectionStats| {
        let counts = (it.packets, it.acked_bytes, it.retransmitted_packets, it.in_flight_max_bytes);
        (counts, it.timeouts, it.path_rtt_min_s, it.bins.as_slice().len())
    };
    all.iter().map(|it| (it.begin, it.end, way(&it.forward), way(&it.reverse))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cuts_come_to_the_same(
        which in 0..3_usize,
        cuts in vec(0..1000_usize, 1..7),
        are_compressed in vec(any::<bool>(), 8),
        threads in 0..3_usize,
    ) {
        let capture = &captures()[which];
        let places = places(&cuts, begins(capture).len() - 1);
        let files: Vec<Vec<u8>> = places.windows(2).zip(are_compressed).map(|(ends, is_compressed)| {
            let file = part(capture, ends[0], ends[1]);
            if is_compressed { compressed(&file) } else { file }
        }).collect();
        let (summary, connections) = series(&files, threads).unwrap();
        prop_assert_eq!(summary.problems, []);
        prop_assert!(connections == whole(capture).1);
        // Their first packets tell the order.
        let order = files.iter().map(|file| Beginning::of(file.as_slice()).unwrap());
        prop_assert!(order.is_sorted());
    }

    #[test]
    fn what_two_files_hold_counts_once(
        which in 0..3_usize,
        cut in 100..900_usize,
        shared in 0..300_usize,
        is_compressed in any::<bool>(),
    ) {
        let capture = &captures()[which];
        let packets = begins(capture).len() - 1;
        let end = cut * packets / 1000;
        let begin = end - shared * end / 1000;
        // What passes several interfaces has one time, and that does not tell one from two.
        let micros = |place: usize| &capture[begins(capture)[place]..][..8];
        prop_assume!(begin == end || micros(begin) != micros(end - 1));
        let mut files = [part(capture, 0, end), part(capture, begin, packets)];
        if is_compressed {
            files[1] = compressed(&files[1]);
        }
        match series(&files, 0) {
            Ok((summary, connections)) => {
                let all = whole(capture).1;
                prop_assert!(summary.file.holes.is_empty());
                prop_assert_eq!(told(&connections), told(&all));
            }
            // More than half of the first, by its times.
            Err(error) => {
                let is_overlap = matches!(error, ReadingError::Overlap { .. });
                prop_assert!(is_overlap && shared > 100, "{}", error);
            }
        }
    }

    #[test]
    fn what_is_missing_is_neither_lost_nor_in_flight(
        which in 0..3_usize,
        from in 0..1000_usize,
        to in 0..1000_usize,
        threads in 0..2_usize,
    ) {
        let capture = &captures()[which];
        let places = places(&[from, to], begins(capture).len() - 1);
        prop_assume!(places.len() == 4);
        let files = [part(capture, 0, places[1]), part(capture, places[2], places[3])];
        let (summary, connections) = series(&files, threads).unwrap();
        let all = whole(capture).1;
        for one in &connections {
            drop(diagnose(one));
            let is_same = |it: &&Evidence| (it.client, it.server) == (one.client, one.server);
            let swapped = |it: &&Evidence| (it.server, it.client) == (one.client, one.server);
            let (there, back) = match all.iter().find(is_same) {
                Some(it) => (&it.forward, &it.reverse),
                None => all.iter().find(swapped).map(|it| (&it.reverse, &it.forward)).unwrap(),
            };
            if summary.file.holes.is_empty() {
                continue;
            }
            for (part, whole) in [(&one.forward, there), (&one.reverse, back)] {
                prop_assert!(
                    part.in_flight_max_bytes <= whole.in_flight_max_bytes,
                    "{} of {}: {:?}", part.in_flight_max_bytes, whole.in_flight_max_bytes, part.holes
                );
                prop_assert!(part.retransmitted_packets <= whole.retransmitted_packets);
                prop_assert!(part.timeouts <= whole.timeouts);
                prop_assert!(part.outage.is_none() || whole.outage.is_some());
            }
        }
    }
}

/// Whatever bytes two files consist of.
#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    let [capture, ..] = captures();
    let begins = begins(&capture);
    for place in (0..begins.len() - 2).step_by(7) {
        let mut files = [part(&capture, 0, 300), part(&capture, 350, usize::MAX)];
        for file in &mut files {
            let at = (24 + 61 * place) % file.len();
            file[at..].iter_mut().take(3).for_each(|byte| *byte ^= 0x5a);
        }
        let names = ["a".to_owned(), "b".to_owned()];
        let mut open = |place: usize| Ok(Cursor::new(files[place].clone()));
        if let Ok(Some(reading)) = read_series(&names, &mut open, &ReadOptions::default(), 0) {
            reading.connections.for_each(|one| drop(diagnose(&one)));
        }
    }
}
