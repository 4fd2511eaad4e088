//! What `-w` writes: a pcapng file that grows, or a ring of them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use maxseg_linux::observe::capture::{CapturedPacket, Direction, Interface};
use maxseg_wire::pcapng::{self, Packet, Section, Statistics, Writer};
use maxseg_workbench::report::words::counted;

use super::args::{CaptureArgs, FullAt};
use crate::failure::Failure;
use crate::growing_file::GrowingFile;
use crate::monitor::link_type_of;

/// A pcapng file that grows.
pub(super) struct CaptureFile {
    writer: Writer<GrowingFile>,
    path: PathBuf,
    /// The interfaces of the capture that are described.
    interfaces: Vec<Interface>,
    snap_len: u32,
    ring: Option<Ring>,
}

/// Files that are written in turn. All are opened at the beginning: later this process may have no right to.
struct Ring {
    full_at: FullAt,
    /// The others, that which is written next first.
    waiting: VecDeque<(PathBuf, Writer<GrowingFile>)>,
    /// When the first packet of the file came, in nanoseconds since 1970.
    first_packet: Option<u64>,
    /// How many files were full.
    full: u64,
    /// How many of the files had packets of an earlier capture.
    emptied: u64,
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
            return Err(Failure::usage(what, "--write FILE"));
        }
        if is_stdout && args.rotate.is_some() {
            let what = "--rotate writes files, not standard output";
            return Err(Failure::usage(what, "--write FILE"));
        }
        // Each has a header, so that one that is never reached is whole as well.
        let begin = |path: PathBuf| {
            let out = if is_stdout { GrowingFile::stdout() } else { GrowingFile::create(&path) };
            out.and_then(|out| Writer::new(out, &section()))
                .and_then(|mut writer| writer.flush().map(|()| writer))
                .map_err(|error| refused(&path, &error, user))
                .map(|writer| (path, writer))
        };
        let files = args.files.filter(|_| args.rotate.is_some());
        let numbered = |files| (1..=files).map(move |n| numbered(path, n, files)).collect();
        let names = files.map_or_else(|| vec![path.clone()], numbered);
        let has_packets = |path: &&PathBuf| {
            path.metadata().is_ok_and(|there| there.is_file() && there.len() > EMPTY_FILE)
        };
        let emptied = names.iter().filter(has_packets).count() as u64;
        let mut waiting = names.into_iter().map(begin).collect::<Result<VecDeque<_>, _>>()?;
        let Some((path, writer)) = waiting.pop_front() else { return Ok(None) };
        let ring = args.rotate.map(|full_at| Ring {
            full_at,
            waiting,
            first_packet: None,
            full: 0,
            emptied,
        });
        Ok(Some(Self { writer, path, interfaces: Vec::new(), snap_len: args.snaplen, ring }))
    }

    pub(super) fn is_stdout(&self) -> bool {
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
    pub(super) fn describe(&mut self, interfaces: &[Interface]) -> Result<(), Failure> {
        for interface in interfaces.get(self.interfaces.len()..).unwrap_or_default() {
            self.describe_next(interface)?;
        }
        Ok(())
    }

    fn describe_next(&mut self, interface: &Interface) -> Result<(), Failure> {
        self.write_interface(interface)?;
        self.interfaces.push(interface.clone());
        Ok(())
    }

    fn write_interface(&mut self, interface: &Interface) -> Result<(), Failure> {
        let described = self.writer.interface(&pcapng::Interface {
            name: Some((&*interface.name).into()),
            description: None,
            link_type: link_type_of(interface.link),
            snap_len: self.snap_len,
        });
        described.map(|_| ()).map_err(|error| Self::fail(&self.path, &error))
    }

    /// Goes on in the next file of the ring where this one has no room for the packet.
    fn rotate_for(&mut self, sighting: &CapturedPacket<'_>) -> Result<(), Failure> {
        let size = self.writer.out().size();
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let Some(first) = ring.first_packet else {
            ring.first_packet = Some(sighting.at_nanos);
            return Ok(());
        };
        let is_full = match ring.full_at {
            FullAt::Size(most) => size + block_len(sighting) > most,
            FullAt::Age(most) => {
                u128::from(sighting.at_nanos.saturating_sub(first)) >= most.as_nanos()
            }
        };
        if !is_full {
            return Ok(());
        }
        ring.first_packet = Some(sighting.at_nanos);
        self.flush()?;
        self.begin_next()
    }

    /// The file that has waited longest, emptied, takes the place of the one that is full.
    fn begin_next(&mut self) -> Result<(), Failure> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let Some((path, oldest)) = ring.waiting.pop_front() else { return Ok(()) };
        ring.full += 1;
        let mut out = oldest.into_out();
        let begun = out.empty().and_then(|()| Writer::new(out, &section()));
        let writer = begun.map_err(|error| Self::fail(&path, &error))?;
        let full = std::mem::replace(&mut self.writer, writer);
        ring.waiting.push_back((std::mem::replace(&mut self.path, path), full));
        for interface in self.interfaces.clone() {
            self.write_interface(&interface)?;
        }
        Ok(())
    }

    /// Which files of a ring an earlier capture had filled, in words; `None` for none.
    pub(super) fn emptied_words(&self) -> Option<String> {
        let emptied = self.ring.as_ref().map(|ring| ring.emptied).filter(|emptied| *emptied > 0)?;
        let files = counted(emptied, "file");
        Some(format!(
            "{files} of the ring had packets of an earlier capture and began anew: another name would keep them"
        ))
    }

    /// What became of the files of a ring, in words.
    pub(super) fn ring_words(&self) -> Option<String> {
        let ring = self.ring.as_ref()?;
        let files = ring.waiting.len() as u64 + 1;
        let newest = self.path.display();
        Some(match (ring.full + 1).saturating_sub(files) {
            0 => format!("{newest} is the last of {}", counted(ring.full + 1, "file")),
            lost => format!(
                "{newest} is the last of {files} files; {} overwritten",
                if lost == 1 { "1 before was".to_owned() } else { format!("{lost} before were") }
            ),
        })
    }

    pub(super) fn packet(
        &mut self,
        sighting: &CapturedPacket<'_>,
        interface: &Interface,
    ) -> Result<(), Failure> {
        self.rotate_for(sighting)?;
        // Interfaces are numbered in the order in which they are seen first.
        if sighting.interface == self.interfaces.len() {
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
    pub(super) fn statistics(
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

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| Self::fail(&self.path, &error))
    }
}

/// A file that describes interfaces and holds no packet has fewer bytes.
const EMPTY_FILE: u64 = 512;

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

/// What each file begins with.
fn section() -> Section<'static> {
    let application = Some(concat!("maxseg ", env!("CARGO_PKG_VERSION")).into());
    Section { application, comment: None }
}

/// The most bytes that the block of a packet takes (draft-ietf-opsawg-pcapng, section 4.3), with the option for its direction.
fn block_len(sighting: &CapturedPacket<'_>) -> u64 {
    const BLOCK_AND_OPTIONS: u64 = 32 + 12;
    (sighting.bytes.len() as u64).next_multiple_of(4) + BLOCK_AND_OPTIONS
}

/// The name of file `n` of so many: `slow.pcapng` becomes `slow_01.pcapng`.
fn numbered(path: &Path, n: u16, files: u16) -> PathBuf {
    let width = files.to_string().len();
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(format!("_{n:0width$}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stands_before_the_extension() {
        let cases = [
            ("slow.pcapng", 3, 10, "slow_03.pcapng"),
            ("/tmp/a.b.pcapng", 1, 9, "/tmp/a.b_1.pcapng"),
            ("trace", 12, 100, "trace_012"),
            (".hidden", 1, 2, ".hidden_1"),
        ];
        for (path, n, files, want) in cases {
            assert_eq!(numbered(Path::new(path), n, files), Path::new(want));
        }
    }
}
