//! Runs with a capture, and what they leave.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use maxseg_wire::pcapng::{Block, Interface, Packet, Reader, Section, Writer};
use serde_json::Value;

/// Every kind of flow in both directions, over a short queue, then errors in both directions.
pub(crate) const BUSY: &str = include_str!("../../../../testdata/scenarios/busy.toml");

pub(crate) fn maxseg(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The document of a run; `scenario` is a shipped one's name, or a text.
pub(crate) fn json(scenario: &str, arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    let name = if scenario.contains('\n') {
        std::fs::write(&file, scenario).unwrap();
        file.to_str().unwrap()
    } else {
        scenario
    };
    let output = maxseg(&[&["run", name, "--json"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A capture with the simulator's outcome.
pub(crate) struct Capture {
    bytes: Vec<u8>,
    pub(crate) outcome: Value,
}

/// A simulated run's capture.
pub(crate) fn captured(scenario: &str, arguments: &[&str]) -> Capture {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.pcapng");
    let more = ["--engine", "sim", "--pcap", file.to_str().unwrap()];
    let document = json(scenario, &[&more, arguments].concat());
    let capture = Capture::read(std::fs::read(&file).unwrap());
    Capture { outcome: document["rows"][0]["outcome"].clone(), ..capture }
}

impl Capture {
    pub(crate) fn read(bytes: Vec<u8>) -> Self {
        Self { bytes, outcome: Value::Null }
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        Reader::new(&self.bytes).map(Result::unwrap)
    }

    /// The capture points' names.
    pub(crate) fn interfaces(&self) -> Vec<String> {
        let name = |block| match block {
            Block::Interface(Interface { name, .. }) => Some(name.unwrap().into_owned()),
            Block::Section(_)
            | Block::Packet(_)
            | Block::SimplePacket(_)
            | Block::Statistics(_)
            | Block::Other(_) => None,
        };
        self.blocks().filter_map(name).collect()
    }

    /// All packets in order.
    pub(crate) fn packets(&self) -> Vec<Packet<'_>> {
        let packet = |block| match block {
            Block::Packet(packet) => Some(packet),
            Block::Section(_)
            | Block::Interface(_)
            | Block::SimplePacket(_)
            | Block::Statistics(_)
            | Block::Other(_) => None,
        };
        self.blocks().filter_map(packet).collect()
    }

    /// The packets at the point of this name.
    pub(crate) fn at(&self, point: &str) -> Vec<Packet<'_>> {
        let number = self.interfaces().iter().position(|name| name == point).unwrap();
        let mut packets = self.packets();
        packets.retain(|packet| packet.interface as usize == number);
        packets
    }

    /// One point's packets in a file of their own, their payloads' zeros put back.
    pub(crate) fn write_whole(&self, point: &str, file: &Path) -> usize {
        let out = std::fs::File::create(file).unwrap();
        let mut writer = Writer::new(std::io::BufWriter::new(out), &Section::default()).unwrap();
        let link_type = maxseg_wire::pcapng::link_type::RAW;
        writer.interface(&Interface { link_type, ..Interface::default() }).unwrap();
        let packets = self.at(point);
        for packet in &packets {
            let mut data = packet.data.to_vec();
            data.resize(packet.original_len as usize, 0);
            let data = data.into();
            writer.packet(&Packet { interface: 0, data, ..packet.clone() }).unwrap();
        }
        writer.finish().unwrap();
        packets.len()
    }

    /// One point's packets as they are, in the classic format: for peers that read no other.
    pub(crate) fn write_classic(&self, point: &str, file: &Path) {
        let mut bytes = Vec::new();
        let [magic, version, zone, accuracy, snap_len, link] =
            [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 101];
        let header = [magic, version, zone, accuracy, snap_len, link];
        bytes.extend(header.iter().flat_map(|number| number.to_le_bytes()));
        for packet in self.at(point) {
            let small = |n: u64| u32::try_from(n).unwrap();
            let micros = packet.at_nanos / 1000;
            let head = [
                small(micros / 1_000_000),
                small(micros % 1_000_000),
                small(packet.data.len() as u64),
                packet.original_len,
            ];
            bytes.extend(head.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend_from_slice(&packet.data);
        }
        std::fs::write(file, bytes).unwrap();
    }

    pub(crate) fn write(&self, file: &Path) {
        std::fs::write(file, &self.bytes).unwrap();
    }
}
