//! A simulated run as a capture file, one interface for each point of the path.
//!
//! ```text
//! Sim → Sighting → Packets: headers as bytes → pcapng::Writer → FILE.tmp → FILE
//! ```

mod packets;

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use maxseg_core::engine::Watch;
use maxseg_core::outcome::Outcome;
use maxseg_core::path::{HopSpec, LinkSpec};
use maxseg_core::scenario::{End, Scenario};
use maxseg_core::sim::{CapturePoint, Sighting, Sim, Tap};
use maxseg_wire::pcapng::{Direction, Interface, Packet, Section, Writer, link_type};

use crate::failure::Failure;
use crate::whole_file::WholeFile;
use packets::Packets;

/// Simulates `scenario`, and writes every packet to `file` as it passes each point of the path. The
/// file appears when it is whole.
///
/// # Errors
/// A flow's packets have no bytes; the file cannot be written; `watch` put an end to the run.
pub(crate) fn run(
    scenario: &Scenario,
    watch: &mut dyn Watch,
    file: &Path,
) -> Result<Outcome, Failure> {
    let mut recorder = Recorder::create(scenario, file)?;
    let outcome = Sim.run_tapped(scenario, watch, &mut recorder)?;
    recorder.finish()?;
    Ok(outcome)
}

/// No header is longer: 40 bytes of IPv6, 60 of TCP.
const SNAP_LEN: u32 = 128;

/// Writes what the tap shows.
struct Recorder {
    packets: Packets,
    writer: Writer<BufWriter<WholeFile>>,
    path: PathBuf,
    /// The number of the receiver's interface; the sender's is 0, the hops are between.
    last: usize,
    bytes: Vec<u8>,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl Recorder {
    fn create(scenario: &Scenario, path: &Path) -> Result<Self, Failure> {
        let packets = Packets::new(scenario)?;
        let fail = |error| Failure::file("write", path, &error);
        let file = WholeFile::create(path).map_err(fail)?;
        let writer = begin(scenario, file).map_err(fail)?;
        let last = scenario.path.hops.len() + 1;
        Ok(Self { packets, writer, path: path.to_owned(), last, bytes: Vec::new(), error: None })
    }

    fn finish(self) -> Result<(), Failure> {
        let Self { writer, path, error, .. } = self;
        let finish = || {
            if let Some(error) = error {
                return Err(error);
            }
            let file = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.publish()
        };
        finish().map_err(|error| Failure::file("write", &path, &error))
    }

    fn write(&mut self, sighting: &Sighting) -> io::Result<()> {
        self.bytes.clear();
        self.packets.encode(sighting, &mut self.bytes).map_err(io::Error::other)?;
        let (interface, direction) = match sighting.point {
            CapturePoint::Hop(hop) => (hop + 1, None),
            CapturePoint::Host(end) => {
                let interface = if end == End::Sender { 0 } else { self.last };
                let outbound = sighting.packet.from == end;
                let direction = if outbound { Direction::Outbound } else { Direction::Inbound };
                (interface, Some(direction))
            }
        };
        self.writer.packet(&Packet {
            interface: u32::try_from(interface).map_err(io::Error::other)?,
            at_nanos: sighting.at.as_nanos(),
            original_len: sighting.packet.ip_len,
            data: self.bytes.as_slice().into(),
            direction,
            comment: sighting.damaged.then(|| DAMAGED.into()),
        })
    }
}

/// The remark on a packet that is seen no further.
const DAMAGED: &str = "damaged on this link";

impl Tap for Recorder {
    fn on_packet(&mut self, sighting: &Sighting) {
        if self.error.is_none() {
            self.error = self.write(sighting).err();
        }
    }
}

/// Says what the file holds, and names its capture points.
fn begin(scenario: &Scenario, out: WholeFile) -> io::Result<Writer<BufWriter<WholeFile>>> {
    let comment = format!(
        "{}simulated, seed {}, scenario {}; time 0 is the run's beginning",
        match scenario.name.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        },
        scenario.seed,
        scenario.content_hash()
    );
    let section = Section {
        application: Some(concat!("maxseg ", env!("CARGO_PKG_VERSION")).into()),
        comment: Some(comment.into()),
    };
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 16, out), &section)?;
    let mut add = |name: &str, description: String| {
        writer.interface(&Interface {
            name: Some(name.to_owned().into()),
            description: Some(description.into()),
            link_type: link_type::RAW,
            snap_len: SNAP_LEN,
        })
    };
    add("sender", "at the sender".to_owned())?;
    for hop in &scenario.path.hops {
        add(&name_of(hop), describe(hop))?;
    }
    add("receiver", "at the receiver".to_owned())?;
    Ok(writer)
}

/// As keys name it: `radio`, or `hop.1` where the file gives no name.
fn name_of(hop: &HopSpec) -> String {
    let unnamed = hop.name.parse::<usize>().is_ok();
    if unnamed { format!("hop.{}", hop.name) } else { hop.name.clone() }
}

fn describe(hop: &HopSpec) -> String {
    let link = |link: &LinkSpec| format!("{}, {}", link.rate, link.delay);
    let (forward, reverse) = (link(&hop.forward), link(&hop.reverse));
    let back = if forward == reverse { String::new() } else { format!("; back: {reverse}") };
    format!("where packets enter the link {}: {forward}{back}", name_of(hop))
}
