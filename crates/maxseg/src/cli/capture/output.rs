//! Where packets go: lines, a file, or both; and what is said in the end.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use maxseg_linux::observe::capture::{
    Capture, CapturedPacket, Direction, Interface, InterfaceChoice,
};
use maxseg_wire::pcapng::{self, Packet, Section, Statistics, Writer};
use serde::Serialize;

use super::CaptureArgs;
use crate::failure::Failure;
use crate::growing_file::GrowingFile;
use crate::monitor::{Monitor, View, json_line, link_type_of};
use crate::printer::Printer;

/// Everything that a capture gives.
pub(super) struct Output {
    printer: Printer,
    lines: Option<Lines>,
    file: Option<CaptureFile>,
    json: bool,
    packets: u64,
    bytes: u64,
    began: Instant,
}

/// Lines that are printed a batch at a time.
struct Lines {
    monitor: Monitor,
    pending: String,
}

/// A pcapng file that grows.
pub(super) struct CaptureFile {
    writer: Writer<GrowingFile>,
    path: PathBuf,
    /// How many of the capture's interfaces are described.
    interfaces: usize,
    snap_len: u32,
}

/// The first line and the last of `--json-stream`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum StreamLine<'a> {
    Capture { schema_version: u32, interface: Option<&'a str>, snap_len_bytes: u32 },
    Summary(Summary),
}

/// What it came to.
#[derive(Debug, Serialize)]
struct Summary {
    /// Packets that were shown or written.
    packets: u64,
    /// Their bytes, link headers included, whatever was kept of them.
    bytes: u64,
    /// Packets that passed the kernel's filter.
    received_packets: u64,
    /// Those of them that the kernel had no room for.
    dropped_packets: u64,
    duration_s: f64,
}

impl Output {
    /// Begins lines, or `file`, or both.
    pub(super) fn begin(
        args: &CaptureArgs,
        capture: &Capture,
        printer: Printer,
        file: Option<CaptureFile>,
    ) -> Result<Self, Failure> {
        let options = capture.options();
        let manner = args.manner(options.place == InterfaceChoice::Any);
        let prints = file.is_none() || args.print || args.json_stream;
        let lines = prints
            .then(|| Lines { monitor: Monitor::new(printer, manner), pending: String::new() });
        let (json, began) = (args.json_stream, Instant::now());
        let mut output = Self { printer, lines, file, json, packets: 0, bytes: 0, began };
        if let Some(file) = &mut output.file {
            file.describe(capture.interfaces())?;
            file.flush()?;
        }
        if output.json {
            let interface = match &options.place {
                InterfaceChoice::Interface(name) => Some(&**name),
                InterfaceChoice::Any => None,
            };
            let snap_len_bytes = options.snap_len;
            let line = StreamLine::Capture { schema_version: 1, interface, snap_len_bytes };
            printer.data(&json_line(&line))?;
        }
        Ok(output)
    }

    /// Whether standard output takes packets, as lines or as a file.
    pub(super) fn is_to_stdout(&self) -> bool {
        self.lines.is_some() || self.file.as_ref().is_some_and(CaptureFile::is_stdout)
    }

    /// How many packets there were.
    pub(super) const fn packets(&self) -> u64 {
        self.packets
    }

    /// Takes a packet, for the next [`Output::flush`].
    pub(super) fn packet(
        &mut self,
        sighting: &CapturedPacket<'_>,
        interface: &Interface,
    ) -> Result<(), Failure> {
        self.packets += 1;
        self.bytes += u64::from(sighting.original_len);
        if let Some(Lines { monitor, pending }) = &mut self.lines {
            monitor.show(&View::live(sighting, interface), pending);
        }
        if let Some(file) = &mut self.file {
            file.packet(sighting, interface)?;
        }
        Ok(())
    }

    /// Everything that was taken is where it belongs.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        if let Some(lines) = self.lines.as_mut().filter(|lines| !lines.pending.is_empty()) {
            self.printer.text(&lines.pending)?;
            lines.pending.clear();
        }
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        Ok(())
    }

    /// Writes the counts, and says them.
    pub(super) fn end(&mut self, capture: &mut Capture) -> Result<(), Failure> {
        let (received_packets, dropped_packets) = capture.counts()?;
        if let Some(file) = &mut self.file {
            file.statistics(capture.interfaces(), received_packets, dropped_packets)?;
            file.flush()?;
        }
        let duration_s = self.began.elapsed().as_secs_f64();
        let (packets, bytes) = (self.packets, self.bytes);
        let summary = Summary { packets, bytes, received_packets, dropped_packets, duration_s };
        self.printer.note(&summary.words());
        if self.json {
            self.printer.data(&json_line(&StreamLine::Summary(summary)))?;
        }
        Ok(())
    }
}

impl Summary {
    fn words(&self) -> String {
        let Self { packets, bytes, received_packets, dropped_packets, duration_s } = self;
        let dropped = match dropped_packets {
            0 => "none dropped by the kernel".to_owned(),
            n => format!(
                "{n} dropped by the kernel: a larger --buffer, a smaller --snaplen, or a filter"
            ),
        };
        format!(
            "{packets} packets, {bytes} bytes in {duration_s:.1} s; {received_packets} passed the filter, {dropped}"
        )
    }
}

impl CaptureFile {
    /// The file that is asked for, if one is, opened with the rights that there are now. `user` is who they are, if
    /// they are not those that the program began with.
    pub(super) fn of(
        args: &CaptureArgs,
        user: Option<(u32, u32)>,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.write else { return Ok(None) };
        let is_stdout = is_stdout(path);
        if is_stdout && (args.json_stream || args.print) {
            let what = "standard output takes packets or lines, not both";
            return Err(Failure::with_hint(what, "--write FILE"));
        }
        let fail = |error| refused(path, &error, user);
        let out = if is_stdout { GrowingFile::stdout() } else { GrowingFile::create(path) };
        let section = Section {
            application: Some(concat!("maxseg ", env!("CARGO_PKG_VERSION")).into()),
            comment: None,
        };
        let writer = Writer::new(out.map_err(fail)?, &section).map_err(fail)?;
        Ok(Some(Self { writer, path: path.clone(), interfaces: 0, snap_len: args.snaplen }))
    }

    fn is_stdout(&self) -> bool {
        is_stdout(&self.path)
    }

    /// Whoever read our output may have gone; a file's errors are told with its name.
    fn fail(path: &Path, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::BrokenPipe
        } else {
            Failure::file("write", path, error)
        }
    }

    /// Describes the interfaces that are not yet.
    fn describe(&mut self, interfaces: &[Interface]) -> Result<(), Failure> {
        for interface in interfaces.get(self.interfaces..).unwrap_or_default() {
            self.describe_next(interface)?;
        }
        Ok(())
    }

    fn describe_next(&mut self, interface: &Interface) -> Result<(), Failure> {
        let described = self.writer.interface(&pcapng::Interface {
            name: Some((&*interface.name).into()),
            description: None,
            link_type: link_type_of(interface.link),
            snap_len: self.snap_len,
        });
        described.map_err(|error| Self::fail(&self.path, &error))?;
        self.interfaces += 1;
        Ok(())
    }

    fn packet(
        &mut self,
        sighting: &CapturedPacket<'_>,
        interface: &Interface,
    ) -> Result<(), Failure> {
        // Interfaces are numbered in the order in which they are seen first.
        if sighting.interface == self.interfaces {
            self.describe_next(interface)?;
        }
        let direction = match sighting.direction {
            Direction::In | Direction::Broadcast | Direction::Multicast => {
                Some(pcapng::Direction::Inbound)
            }
            Direction::Out => Some(pcapng::Direction::Outbound),
            Direction::OtherHost => None,
        };
        let written = self.writer.packet(&Packet {
            interface: u32::try_from(sighting.interface).unwrap_or(u32::MAX),
            at_nanos: sighting.at_nanos,
            original_len: sighting.original_len,
            data: sighting.bytes.into(),
            direction,
            comment: None,
        });
        written.map_err(|error| Self::fail(&self.path, &error))
    }

    /// What interfaces counted. The kernel counts drops at the socket: at which of several interfaces it dropped
    /// something is not known.
    fn statistics(
        &mut self,
        interfaces: &[Interface],
        received: u64,
        dropped: u64,
    ) -> Result<(), Failure> {
        let at_nanos = now_nanos();
        for (n, interface) in (0..).zip(interfaces) {
            let (received, dropped) = match (interfaces.len(), dropped) {
                (1, dropped) => (Some(received), Some(dropped)),
                (_, 0) => (Some(interface.seen), Some(0)),
                _ => (None, None),
            };
            let counts = Statistics { interface: n, at_nanos, received, dropped };
            self.writer.statistics(&counts).map_err(|error| Self::fail(&self.path, &error))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| Self::fail(&self.path, &error))
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file cannot be opened; what the user who called sudo may not write is told with a way out.
fn refused(path: &Path, error: &io::Error, user: Option<(u32, u32)>) -> Failure {
    match user {
        Some((user, group)) if error.kind() == io::ErrorKind::PermissionDenied => {
            Failure::with_hint(
                format!("cannot write {}: {error}", path.display()),
                format!(
                    "it is opened by the user who called sudo (user {user}, group {group} alone), after root's privileges are dropped: \
                     name a file that this user may write, or begin as root without sudo"
                ),
            )
        }
        _ => Failure::file("write", path, error),
    }
}

fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
