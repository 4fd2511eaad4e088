//! Captures of made-up connections, for tests.

use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{ReadOptions, Reading, read};
use maxseg_wire::synthetic::Load;

use super::Capture;

/// A capture of these connections, whatever its packets.
pub(crate) fn capture(connections: Vec<Evidence>) -> Capture<'static> {
    made(connections, 0)
}

/// The same, of a file that ends within its last packet.
pub(crate) fn cut_capture(connections: Vec<Evidence>) -> Capture<'static> {
    made(connections, 1)
}

fn made(connections: Vec<Evidence>, missing: usize) -> Capture<'static> {
    let load = Load { connections: 1, rounds: 1, at_once: 1, rounds_a_turn: 1, ends: true };
    let mut bytes = Vec::new();
    load.write(&mut bytes).unwrap();
    bytes.truncate(bytes.len() - missing);
    let summary = read(bytes.as_slice(), &ReadOptions::default()).unwrap().summary;
    Capture::new("made.pcap", Reading { summary, connections: connections.into_iter() })
}
