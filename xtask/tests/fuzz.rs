//! Every decoder, on its corpus and on thousands of mutations of it: nothing panics, and nothing allocates
//! much more than its input is long.

use allocation_counter::measure;
use maxseg_wire::fuzz::Target;
use xtask::fuzz::{Mutator, corpus, folder, targets};

const MUTATIONS: usize = 3000;
const SEED: u64 = 5;

/// Runs a target, and holds what it allocates at once to what it may.
fn attempt(target: &Target, input: &[u8]) {
    let allocated = measure(|| (target.run)(input)).bytes_max;
    let most = most_allocated(target, input);
    assert!(
        allocated <= most,
        "{} allocates {allocated} bytes for {} where {most} may be: {input:02x?}",
        target.name,
        input.len()
    );
}

/// What a decoder owns whatever comes, and a small multiple of its input.
fn most_allocated(target: &Target, input: &[u8]) -> u64 {
    /// The window on a capture file (1 MiB), buffers of decompression, and an error's text.
    const FILE: u64 = 3 << 19;
    /// The catalogue of tunables, which is read once, and the excerpt of an error.
    const CATALOGUE: u64 = 4 << 20;
    /// zstd: as far as a frame may refer back, and the decoder's tables.
    const ZSTD: u64 = 160 << 20;
    /// What a gzip or zstd file of 1 MiB, as far as it is read, says of its interfaces.
    const UNPACKED: u64 = 16 << 20;
    let reads_files =
        matches!(target.name, "capture_file" | "joined" | "whole_chain" | "pcapng_blocks");
    let own = match target.name {
        _ if reads_files => FILE,
        "documents" => CATALOGUE,
        _ => 4096,
    };
    let unpacked = match input {
        [0x1f, 0x8b, ..] if reads_files => UNPACKED,
        [0x28, 0xb5, ..] | [0x50..=0x5f, 0x2a, ..] if reads_files => UNPACKED + ZSTD,
        _ => 0,
    };
    // A setting is a name and a value of some bytes, and is held as text, tree, and list.
    let per_byte = if matches!(target.name, "documents" | "journal") { 1024 } else { 64 };
    own + unpacked + per_byte * input.len() as u64
}

#[test]
fn no_decoder_breaks_on_mutations_of_its_corpus() {
    for target in targets() {
        let corpus = corpus(target).unwrap();
        for input in &corpus {
            attempt(target, input);
        }
        let mut mutator = Mutator::new(SEED, target.name, &corpus);
        for _ in 0..MUTATIONS {
            attempt(target, &mutator.next_input());
        }
    }
}

/// The bound is one that can be broken.
#[test]
#[should_panic(expected = "allocates")]
fn a_decoder_that_believes_a_length_is_found() {
    let believe = |bytes: &[u8]| {
        let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        std::hint::black_box(vec![0_u8; length as usize]);
    };
    attempt(&Target { name: "credulous", run: believe }, &(1_u32 << 20).to_le_bytes());
}

/// cargo-fuzz knows the same targets.
#[test]
fn every_target_has_its_program() {
    let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let programs = manifest["bin"].as_array().unwrap();
    let names: Vec<&str> = programs.iter().map(|bin| bin["name"].as_str().unwrap()).collect();
    let targets: Vec<&str> = targets().map(|target| target.name).collect();
    assert_eq!(names, targets);
    for program in programs {
        let (name, path) = (program["name"].as_str().unwrap(), program["path"].as_str().unwrap());
        let source = std::fs::read_to_string(folder().join(path)).unwrap();
        let is_there = ["wire", "workbench"]
            .iter()
            .any(|of| source.contains(&format!("maxseg_{of}::fuzz::{name}(")));
        assert!(is_there, "{path}");
    }
}
