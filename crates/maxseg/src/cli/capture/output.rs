//! Where packets go: lines, a file, or both; and what is said in the end.

use std::time::Instant;

use maxseg_linux::observe::capture::{Capture, CapturedPacket, Interface, InterfaceChoice};
use serde::Serialize;

use super::CaptureArgs;
use super::file::CaptureFile;
use crate::failure::Failure;
use crate::monitor::{Monitor, View, json_line};
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

/// The first line and the last of `--json-stream`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum StreamLine<'a> {
    Capture {
        schema_version: u32,
        /// `null` where there are several.
        interface: Option<&'a str>,
        /// Where there are several that were asked for.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        interfaces: &'a [String],
        snap_len_bytes: u32,
    },
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
        let manner = args.manner(!matches!(options.place, InterfaceChoice::Interface(_)));
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
            let (interface, interfaces) = match &options.place {
                InterfaceChoice::Interface(name) => (Some(&**name), &[][..]),
                InterfaceChoice::Several(names) => (None, &names[..]),
                InterfaceChoice::Any => (None, &[][..]),
            };
            let snap_len_bytes = options.snap_len;
            let line =
                StreamLine::Capture { schema_version: 1, interface, interfaces, snap_len_bytes };
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
        if let Some(words) = self.file.as_ref().and_then(CaptureFile::ring_words) {
            self.printer.note(&words);
        }
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
        let [packet, byte] = [("packet", packets), ("byte", bytes)]
            .map(|(thing, count)| if *count == 1 { thing.to_owned() } else { format!("{thing}s") });
        format!(
            "{packets} {packet}, {bytes} {byte} in {duration_s:.1} s; {received_packets} passed the filter, {dropped}"
        )
    }
}
