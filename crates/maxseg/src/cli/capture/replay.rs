//! `maxseg capture --read`: the packets of a file as if they passed now.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use maxseg_wire::bpf::Selection;
use maxseg_wire::capture_file::{CaptureFile, OpenError, ReadError, Record};
use maxseg_wire::link_type;
use maxseg_wire::reading::ProblemKind;
use maxseg_workbench::file_error::what_it_is;
use maxseg_workbench::report::words;

use super::CaptureArgs;
use crate::cli::broken_capture;
use crate::failure::Failure;
use crate::monitor::{Monitor, View};
use crate::printer::Printer;

/// So many characters are printed at once.
const BATCH: usize = 1 << 16;

pub(super) fn run(args: &CaptureArgs, path: &Path, printer: Printer) -> Result<(), Failure> {
    let replay = Replay { args, path, selection: args.selection()?, printer };
    if path == Path::new("-") {
        return replay.show(io::stdin().lock());
    }
    let open = || File::open(path).map_err(|error| Failure::file("read", path, &error));
    let file = open()?;
    // Twice, so that nothing is printed of a file that is broken further on; a pipe can be read only once.
    if file.metadata().is_ok_and(|about| about.is_file()) {
        replay.look_through(file)?;
        return replay.show(open()?);
    }
    replay.show(file)
}

struct Replay<'a> {
    args: &'a CaptureArgs,
    path: &'a Path,
    selection: Selection,
    printer: Printer,
}

/// How far a file was read.
#[derive(Default)]
struct Progress {
    /// Packets that were read.
    read: u64,
    /// Those of them that were asked for.
    shown: u64,
    fault: Option<ReadError>,
}

impl Replay<'_> {
    /// Reads as far as [`Self::show`] will, and fails where the file is broken.
    fn look_through(&self, file: File) -> Result<(), Failure> {
        let mut capture = self.open(file)?;
        let mut progress = Progress::default();
        if self.args.count.is_some() {
            progress = self.each(&mut capture, |_| Ok(()))?;
        } else {
            // What is asked for does not matter: all of it is read.
            let mut known = 0_u64;
            progress.fault = loop {
                match capture.next() {
                    Ok(Some(record)) => {
                        progress.read += 1;
                        known += u64::from(link_type::name(record.link_type).is_some());
                    }
                    Ok(None) => break None,
                    Err(fault) => break Some(fault),
                }
            };
            if let Some(first) = capture.interfaces().first()
                && (progress.read > 0 && known == 0)
            {
                return Err(self.unknown_link_type(first.link_type));
            }
        }
        match progress.fault {
            Some(fault) if !fault.fault.is_cut() || progress.read == 0 => {
                Err(self.broken(&fault, progress.read))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn show(&self, input: impl Read) -> Result<(), Failure> {
        let mut capture = self.open(input)?;
        let printer = self.printer;
        let Progress { read, fault, .. } = self.each(&mut capture, |text| printer.text(text))?;
        match fault {
            None => Ok(()),
            Some(fault) if fault.fault.is_cut() && read > 0 => {
                let (name, fault) = (self.name(), &fault.fault);
                let packets = words::counted(read, "packet");
                let are = if read == 1 { "is" } else { "are" };
                printer.note(&format!("{name}: {fault}: its {packets} {are} read"));
                Ok(())
            }
            Some(fault) => Err(self.broken(&fault, read)),
        }
    }

    fn open<R: Read>(&self, input: R) -> Result<CaptureFile<R>, Failure> {
        CaptureFile::open(input).map_err(|error| refused(self.path, &error))
    }

    /// Gives the lines of all packets that are asked for, many at once, as far as the first fault.
    fn each<R: Read>(
        &self,
        file: &mut CaptureFile<R>,
        mut print: impl FnMut(&str) -> io::Result<()>,
    ) -> Result<Progress, Failure> {
        let mut monitor = Monitor::new(self.printer, self.args.manner(false));
        let (mut out, mut has_printed) = (String::new(), false);
        let mut progress = Progress::default();
        let mut names: Vec<Option<String>> = Vec::new();
        while self.args.count != Some(progress.shown) {
            let record = match file.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(fault) => {
                    progress.fault = Some(fault);
                    break;
                }
            };
            progress.read += 1;
            // A record is lent by the file, and so are the interfaces: not both at once.
            let (Record { interface, at_nanos, original_len, link_type, .. }, bytes) =
                (record, record.data.to_vec());
            let known = file.interfaces();
            names.extend(known[names.len()..].iter().map(|interface| interface.name.clone()));
            monitor.name_interfaces(names.len() > 1);
            let view = View {
                at_nanos,
                interface: names.get(interface as usize).and_then(Option::as_deref),
                direction: None,
                link_type,
                original_len,
                bytes: &bytes,
                checksum_pending: false,
            };
            progress.shown += u64::from(monitor.show_selected(&view, &self.selection, &mut out));
            if out.len() >= BATCH {
                print(&out)?;
                out.clear();
                has_printed = true;
            }
        }
        let is_broken = progress.fault.as_ref().is_some_and(|error| !error.fault.is_cut());
        if has_printed || !is_broken {
            print(&out)?;
        }
        Ok(progress)
    }

    /// No packet of the file can be decoded.
    fn unknown_link_type(&self, number: u16) -> Failure {
        let kind = ProblemKind::LinkType { number, frame: 1 };
        let hint = kind.hint().unwrap_or_default();
        Failure::with_hint(format!("{}: {kind}", self.name()), hint)
    }

    fn broken(&self, error: &ReadError, packets: u64) -> Failure {
        let file = self.path.display().to_string();
        let ReadError { offset, compression, .. } = *error;
        let hint = broken_capture::hint(&file, compression, offset, packets, "capture --read -");
        Failure::with_hint(format!("{} {error}", self.name()), hint)
    }

    fn name(&self) -> Cow<'_, str> {
        name(self.path)
    }
}

fn name(path: &Path) -> Cow<'_, str> {
    if path == Path::new("-") { "standard input".into() } else { path.to_string_lossy() }
}

fn refused(path: &Path, error: &OpenError) -> Failure {
    let name = name(path);
    let what = format!("{name} {error}");
    match error.hint() {
        Some(hint) => Failure::with_hint(what, hint),
        None => Failure::with_hint(what, what_it_is(&name)),
    }
}
