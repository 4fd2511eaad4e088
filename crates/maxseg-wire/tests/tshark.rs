//! `tshark` against tshark 4.0: what it said of the captures that have a truth, and what the
//! installed one says of every capture, frame by frame.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "the contract is to print how much was checked")]
#![expect(clippy::disallowed_types, reason = "the library opens no files; its tests do")]

mod tshark {
    pub(crate) mod fields;
    pub(crate) mod made;
    pub(crate) mod segments;
    pub(crate) mod truth;
}

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::thread;

use maxseg_testkit::captures::{Capture, captures};
use maxseg_testkit::sampled;
use maxseg_wire::tshark::{Counts, Tshark};

use tshark::fields::Said;
use tshark::{fields, made, segments, truth};

/// Of the sample, one capture in so many: tshark starts for each.
const SAMPLED: u64 = 4;

/// The captures but those of another format, which are told.
fn readable() -> Vec<Capture> {
    let mut captures = captures();
    captures.retain(|capture| {
        let foreign = segments::foreign(capture.open());
        if let Some(format) = foreign {
            println!("SKIPPED: {} is {format}", capture.name);
        }
        foreign.is_none()
    });
    assert!(!captures.is_empty(), "no capture at all");
    captures
}

#[test]
fn every_truth_is_met() {
    let mut faults = Vec::new();
    let (mut files, mut numbers) = (0, 0);
    for capture in readable() {
        let Some(truth) = &capture.truth else { continue };
        let mut tshark = Tshark::new();
        segments::each(capture.open(), |seen| {
            tshark.on_segment(seen);
        });
        let mut differ = Vec::new();
        numbers += truth::compare(&tshark, truth, &mut differ);
        faults.extend(differ.into_iter().map(|fault| format!("{}: {fault}", capture.name)));
        files += 1;
    }
    println!("checked {numbers} numbers in {files} captures that have a truth");
    assert!(files == 0 || numbers > 0, "there are truths, and nothing of them was compared");
    none(&faults);
}

#[test]
fn the_installed_tshark_says_the_same_of_every_frame() {
    if let Some(why) = fields::missing() {
        println!("SKIPPED: {why}");
        return;
    }
    let captures = sampled("captures", readable(), SAMPLED);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = |first: usize| {
        let mut faults = Vec::new();
        let shared = captures.iter().skip(first).step_by(cores);
        let frames: u64 = shared.map(|c| packets(&compared(&c.path, &mut faults))).sum();
        (frames, faults)
    };
    let shares: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|first| scope.spawn(move || share(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let frames: u64 = shares.iter().map(|(frames, _)| frames).sum();
    let faults: Vec<_> = shares.into_iter().flat_map(|(_, faults)| faults).collect();
    println!("checked {frames} frames in {} captures", captures.len());
    none(&faults);
    assert!(frames > 0, "no TCP in any capture");
}

#[test]
fn the_installed_tshark_says_the_same_of_segments_at_random() {
    const CAPTURES: u64 = 8;
    const SEGMENTS: usize = 3_000;
    /// Each flag must come so often that its rule can be said to have been tried.
    const LEAST: usize = 10;
    if let Some(why) = fields::missing() {
        println!("SKIPPED: {why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    let mut said = BTreeMap::<_, usize>::new();
    for seed in 0..CAPTURES {
        let capture = folder.path().join(format!("seed-{seed}.pcapng"));
        made::write(&capture, seed, SEGMENTS);
        let tshark = compared(&capture, &mut faults);
        assert_eq!(packets(&tshark), SEGMENTS as u64);
        let counts = tshark.streams().iter().flat_map(|stream| &stream.directions);
        for (flag, frames) in counts.flat_map(Counts::flags) {
            *said.entry(flag.name()).or_default() += frames.len();
        }
    }
    none(&faults);
    println!("{said:?}");
    let few: Vec<_> = said.iter().filter(|(_, frames)| **frames < LEAST).collect();
    assert!(few.is_empty(), "hardly tried: {few:?}");
}

fn packets(tshark: &Tshark) -> u64 {
    tshark.streams().iter().flat_map(|stream| &stream.directions).map(|counts| counts.packets).sum()
}

/// Reads a capture; adds the frames of which tshark says another thing.
fn compared(capture: &Path, faults: &mut Vec<String>) -> Tshark {
    let wanted = fields::of(capture);
    let mut tshark = Tshark::new();
    let mut got = BTreeMap::new();
    segments::each(File::open(capture).unwrap(), |seen| {
        got.insert(seen.frame, Said::from(tshark.on_segment(seen)));
    });
    let all: BTreeSet<&u64> = wanted.keys().chain(got.keys()).collect();
    let differ = all.into_iter().filter(|frame| wanted.get(frame) != got.get(frame));
    faults.extend(differ.map(|frame| {
        let (got, wanted) = (got.get(frame), wanted.get(frame));
        format!("{} frame {frame}:\n  {got:?}, not\n  {wanted:?}", capture.display())
    }));
    tshark
}

/// Stops at faults; shows the first of them.
fn none(faults: &[String]) {
    let first = faults.iter().take(20).map(String::as_str).collect::<Vec<_>>();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), first.join("\n"));
}
