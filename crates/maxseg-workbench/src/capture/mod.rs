//! A run as a capture file: a simulated one with an interface for each point of the path, here; the lab's
//! in `lab`.
//!
//! ```text
//! Sim → Sighting → Packets: headers as bytes → pcapng::Writer → temporary file → FILE
//! ```

#[cfg(feature = "lab")]
mod lab;
mod packets;
mod places;

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use maxseg_core::engine::{Caveat, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::{CapturePoint, Loss, PacketForm, Sighting, Sim, Tap};
use maxseg_wire::pcapng::{Direction, Interface, Packet, Section, Writer, link_type};

use crate::error::Error;
use crate::whole_file::WholeFile;
use packets::Packets;
use places::Places;

#[cfg(feature = "lab")]
pub use lab::run as run_lab;

/// The lab is not in this build.
///
/// # Errors
/// [`Error::NoLab`].
#[cfg(not(feature = "lab"))]
pub fn run_lab(
    _scenario: &Scenario,
    _watch: &mut dyn Watch,
    _file: &Path,
) -> Result<(Outcome, Vec<Caveat>), Error> {
    Err(Error::NoLab)
}

/// Simulates `scenario`, and writes every packet to `file` as it passes each point of the path. The
/// file appears when it is whole.
///
/// # Errors
/// A flow's packets have no bytes; the file cannot be written; `watch` put an end to the run.
pub fn run(scenario: &Scenario, watch: &mut dyn Watch, file: &Path) -> Result<Outcome, Error> {
    let mut recorder = Recorder::create(scenario, file)?;
    let outcome = Sim.run_tapped(scenario, watch, &mut recorder)?;
    recorder.finish()?;
    Ok(outcome)
}

/// No header is longer: 40 bytes of IPv6, 60 of TCP. A notice's quotation may be, and is cut.
const HEADERS: usize = 128;
/// Fragments are there to the end.
const SNAP_LEN: u32 = 65_535;

/// Writes what the tap shows.
struct Recorder {
    packets: Packets,
    places: Places,
    writer: Writer<BufWriter<WholeFile>>,
    path: PathBuf,
    bytes: Vec<u8>,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl Recorder {
    fn create(scenario: &Scenario, path: &Path) -> Result<Self, Error> {
        let packets = Packets::new(scenario)?;
        let fail = |error| Error::file("write", path, error);
        let file = WholeFile::create(path).map_err(fail)?;
        let places = Places::new(scenario);
        let writer = begin(scenario, &places, file).map_err(fail)?;
        Ok(Self { packets, places, writer, path: path.to_owned(), bytes: Vec::new(), error: None })
    }

    fn finish(self) -> Result<(), Error> {
        let Self { writer, path, error, .. } = self;
        let finish = || {
            if let Some(error) = error {
                return Err(error);
            }
            let file = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.publish()
        };
        finish().map_err(|error| Error::file("write", &path, error))
    }

    fn write(&mut self, sighting: &Sighting) -> io::Result<()> {
        self.bytes.clear();
        let encoded = self.packets.encode(&self.places, sighting, &mut self.bytes);
        let length = encoded.map_err(io::Error::other)?;
        if !matches!(sighting.form, PacketForm::Fragment(_)) {
            self.bytes.truncate(HEADERS);
        }
        let interface = self.places.interface(sighting);
        self.writer.packet(&Packet {
            interface: u32::try_from(interface).map_err(io::Error::other)?,
            at_nanos: sighting.at.as_nanos(),
            original_len: u32::try_from(length).map_err(io::Error::other)?,
            data: self.bytes.as_slice().into(),
            direction: direction(sighting),
            comment: sighting.lost.map(|loss| remark(loss).into()),
        })
    }
}

/// Whether a host sends what is seen there; unknown at a hop, where both directions are seen.
fn direction(sighting: &Sighting) -> Option<Direction> {
    let CapturePoint::Host(end) = sighting.point else {
        return None;
    };
    let is_news = matches!(sighting.form, PacketForm::TooBig { .. });
    let is_sent = sighting.packet.from == end && !is_news;
    Some(if is_sent { Direction::Outbound } else { Direction::Inbound })
}

/// The remark on a packet that is seen no further.
const fn remark(loss: Loss) -> &'static str {
    match loss {
        Loss::Damaged => "damaged on this link",
        Loss::Dropped => "dropped by the queue discipline of this link",
    }
}

impl Tap for Recorder {
    fn on_packet(&mut self, sighting: &Sighting) {
        if self.error.is_none() {
            self.error = self.write(sighting).err();
        }
    }
}

/// Says what the file holds, and names its capture points.
fn begin(
    scenario: &Scenario,
    places: &Places,
    out: WholeFile,
) -> io::Result<Writer<BufWriter<WholeFile>>> {
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
    for (name, description) in places.interfaces(&scenario.path.hops) {
        writer.interface(&Interface {
            name: Some(name.into()),
            description: Some(description.into()),
            link_type: link_type::RAW,
            snap_len: SNAP_LEN,
        })?;
    }
    Ok(writer)
}

/// Says so where a capture lacks packets.
pub fn incomplete(outcome: &Outcome) -> Vec<Caveat> {
    let missing = outcome.lab.as_ref().and_then(|lab| lab.capture_drops).unwrap_or(0);
    if missing == 0 {
        return Vec::new();
    }
    let text = format!(
        "{missing} packets came too fast for the capture and are not in it; the run itself did not wait for it"
    );
    vec![Caveat::new("capture", text)]
}
