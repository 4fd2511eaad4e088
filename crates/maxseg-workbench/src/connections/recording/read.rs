//! Reading of recordings.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use maxseg_wire::inet_diag::{Message, Messages};
use maxseg_wire::link_type;
use maxseg_wire::pcapng::{Block, Packet, Reader};
use maxseg_wire::tcp_info::State;
use thiserror::Error;

use super::{COOKED, DESTROYED, PROCESS, SECTION_COMMENT};
use crate::connections::comparison::PreviousSnapshot;
use crate::connections::{Names, Owner, Snapshot};
use crate::file_error::refuse_irregular;

/// A file cannot be read as a recording.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// Reading or writing fails.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Somebody else appends to it.
    #[error("another `top --record` writes it")]
    Written,
    /// It is another file.
    #[error("not a recording of sockets")]
    Other,
    /// It has no whole section.
    #[error("the recording is empty: it has no complete sample")]
    Empty,
    /// Bytes in its middle are none that a recorder writes.
    #[error("byte {0}: the recording is damaged")]
    Damaged(u64),
}

/// Where a snapshot is in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// When it was: seconds since 1970.
    pub time_s: f64,
    offset: u64,
    length: usize,
}

/// A recording that can be read from any snapshot on.
#[derive(Debug)]
pub struct Recording {
    file: File,
    frames: Vec<Frame>,
    cut_bytes: u64,
    host: Option<String>,
}

/// Blocks are not longer: a message of the kernel has less than 64 KiB.
const LONGEST_BLOCK: u32 = 1 << 20;
/// The first bytes of a section, in any byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

impl Recording {
    /// Opens a file and finds its snapshots; a last one that was cut is passed over.
    ///
    /// # Errors
    /// It may not be read, is something else, or has no whole section.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        refuse_irregular(path)?;
        let file = File::open(path)?;
        let (sections, end) = (sections(&file)?, file.metadata()?.len());
        let mut recording = Self { file, frames: Vec::new(), cut_bytes: 0, host: None };
        for section in sections {
            let length = usize::try_from(section.end - section.start).unwrap_or(usize::MAX);
            let frame = Frame { time_s: 0.0, offset: section.start, length };
            // Of a whole section the time alone is wanted here; only the last can be cut.
            match recording.section(&frame) {
                Ok(section) => {
                    recording.host = recording.host.or(section.host);
                    recording.frames.push(Frame { time_s: section.time_s, ..frame });
                }
                Err(RecordingError::Empty) => {}
                Err(error) => return Err(error),
            }
        }
        if recording.frames.is_empty() {
            return Err(RecordingError::Empty);
        }
        recording.cut_bytes = end.saturating_sub(recording.whole_bytes());
        Ok(recording)
    }

    /// The snapshots, in the file's order.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The name of the host.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Bytes at the end that are no whole snapshot: the recorder was killed.
    pub const fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// Where the last whole snapshot ends.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.frames.last().map_or(0, |last| last.offset + last.length as u64)
    }

    /// The sockets of some snapshots, one after the other, each compared with the one before; the first as if nothing had been
    /// before it.
    ///
    /// # Errors
    /// The file was changed meanwhile.
    pub fn play(
        &self,
        frames: Range<usize>,
    ) -> impl Iterator<Item = Result<Snapshot, RecordingError>> + '_ {
        let (mut last, mut looked) = (PreviousSnapshot::default(), None::<f64>);
        let mut namespaces = Vec::new();
        self.frames.get(frames).unwrap_or_default().iter().map(move |frame| {
            let section = self.section(frame)?;
            let interval = looked
                .replace(section.time_s)
                .and_then(|before| Duration::try_from_secs_f64(section.time_s - before).ok());
            Ok(section.snapshot(&mut last, &mut namespaces, interval))
        })
    }

    fn section(&self, frame: &Frame) -> Result<Section, RecordingError> {
        let mut bytes = vec![0; frame.length];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(frame.offset))?;
        file.read_exact(&mut bytes)?;
        Section::decode(&bytes)
    }
}

/// Where the whole blocks of each section of a file are; the last section may have fewer than it should.
fn sections(file: &File) -> Result<Vec<Range<u64>>, RecordingError> {
    let end = file.metadata()?.len();
    let mut input = BufReader::new(file);
    input.seek(SeekFrom::Start(0))?;
    let (mut at, mut starts) = (0, Vec::new());
    while end - at >= 8 {
        let mut head = [0; 8];
        input.read_exact(&mut head)?;
        let [k0, k1, k2, k3, l0, l1, l2, l3] = head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        let is_section = [k0, k1, k2, k3] == SECTION;
        if at == 0 && !is_section {
            return Err(RecordingError::Other);
        }
        if !(12..=LONGEST_BLOCK).contains(&length) || !length.is_multiple_of(4) {
            return Err(if at == 0 { RecordingError::Other } else { RecordingError::Damaged(at) });
        }
        if u64::from(length) > end - at {
            break;
        }
        if is_section {
            starts.push(at);
        }
        at += u64::from(length);
        input.seek_relative(i64::from(length) - 8)?;
    }
    if starts.is_empty() {
        return Err(if end == 0 { RecordingError::Empty } else { RecordingError::Other });
    }
    let ends: Vec<u64> = starts.iter().skip(1).copied().chain([at]).collect();
    Ok(starts.into_iter().zip(ends).map(|(start, end)| start..end).collect())
}

/// A section's content.
struct Section {
    time_s: f64,
    host: Option<String>,
    /// Missed sockets, hidden processes, denied namespaces, processes in hidden ones.
    counts: [u64; 4],
    interrupted: bool,
    namespaces: Vec<Option<Arc<str>>>,
    sockets: Vec<Recorded>,
}

/// A socket's message, with what the packet's comment says of it.
struct Recorded {
    interface: usize,
    message: Vec<u8>,
    process: Option<Owner>,
    is_destroyed: bool,
}

impl Section {
    /// # Errors
    /// [`RecordingError::Empty`] where the end is missing.
    fn decode(bytes: &[u8]) -> Result<Self, RecordingError> {
        let mut section = Self {
            time_s: 0.0,
            host: None,
            counts: [0; 4],
            interrupted: false,
            namespaces: Vec::new(),
            sockets: Vec::new(),
        };
        for block in Reader::new(bytes) {
            match block {
                Ok(Block::Section(header)) => {
                    let comment = header.comment.as_deref().unwrap_or_default();
                    (section.counts, section.host) =
                        counts(comment).ok_or(RecordingError::Other)?;
                }
                Ok(Block::Interface(interface)) if interface.link_type == link_type::NETLINK => {
                    section.namespaces.push(interface.name.map(|name| Arc::from(&*name)));
                }
                Ok(Block::Interface(_)) => return Err(RecordingError::Other),
                Ok(Block::Packet(packet)) => {
                    if let Some(interrupted) = section.add(packet)? {
                        section.interrupted = interrupted;
                        return Ok(section);
                    }
                }
                Ok(Block::SimplePacket(_) | Block::Statistics(_) | Block::Other(_)) => {}
                // The rest is cut, or the end is missing.
                Err(_) => break,
            }
        }
        Err(RecordingError::Empty)
    }

    /// Takes a packet; at the end of the list, whether the list was interrupted.
    fn add(&mut self, packet: Packet<'_>) -> Result<Option<bool>, RecordingError> {
        let message = packet.data.strip_prefix(&COOKED).ok_or(RecordingError::Other)?;
        self.time_s = packet.at_nanos as f64 / 1e9;
        match Messages::new(message).next() {
            Some(Ok(Message::Socket(_))) => {
                let comment = packet.comment.unwrap_or_default();
                let (is_destroyed, rest) = match comment.strip_prefix(DESTROYED) {
                    Some(rest) => (true, rest.trim_start_matches('\n')),
                    None => (false, &*comment),
                };
                self.sockets.push(Recorded {
                    interface: usize::try_from(packet.interface).unwrap_or(usize::MAX),
                    message: message.to_vec(),
                    process: owner(rest),
                    is_destroyed,
                });
                Ok(None)
            }
            Some(Ok(Message::Done { interrupted })) => Ok(Some(interrupted)),
            Some(Ok(Message::Error(_) | Message::Other)) | None => Ok(None),
            Some(Err(_)) => {
                self.counts[0] += 1;
                Ok(None)
            }
        }
    }

    /// The sockets, compared with the last section. `namespaces` holds all that were seen, which keep their numbers.
    fn snapshot(
        self,
        last: &mut PreviousSnapshot,
        namespaces: &mut Vec<Option<Arc<str>>>,
        interval: Option<Duration>,
    ) -> Snapshot {
        let [missed, hidden, denied, unseen] = self.counts;
        let mut snapshot = Snapshot {
            time_s: Some(self.time_s),
            interval,
            missed,
            interrupted: self.interrupted,
            hidden_processes: usize::try_from(hidden).unwrap_or(usize::MAX),
            denied_namespaces: usize::try_from(denied).unwrap_or(usize::MAX),
            processes_in_hidden_namespaces: usize::try_from(unseen).unwrap_or(usize::MAX),
            ..Snapshot::default()
        };
        let mut number_of = |name: Option<Arc<str>>| {
            let known = namespaces.iter().position(|known| *known == name);
            let number = known.unwrap_or_else(|| {
                namespaces.push(name);
                namespaces.len() - 1
            });
            number as u64
        };
        let (mut names, mut keys) = (Names::default(), Vec::new());
        let (destroyed, open): (Vec<_>, Vec<_>) =
            self.sockets.iter().partition(|socket| socket.is_destroyed);
        let mut first_closed = 0;
        for (at, recorded) in open.iter().chain(&destroyed).enumerate() {
            if at == open.len() {
                first_closed = snapshot.connections.len();
            }
            let Some(Ok(Message::Socket(socket))) = Messages::new(&recorded.message).next() else {
                continue;
            };
            let netns = self.namespaces.get(recorded.interface).cloned().flatten();
            snapshot.add(&socket, netns.as_ref(), &mut names, recorded.process.clone(), None);
            if socket.state != Some(State::Listen) {
                keys.push(number_of(netns));
            }
        }
        // The counters of their namespaces are not recorded.
        snapshot.listeners.iter_mut().for_each(|one| one.judge_drops(None, || None));
        if destroyed.is_empty() {
            first_closed = snapshot.connections.len();
        }
        let (open, closed) = snapshot.connections.split_at_mut(first_closed);
        let seen = last.compare(open, &keys, interval);
        for (connection, netns) in closed.iter_mut().zip(&keys[first_closed..]) {
            let process = connection.process.take();
            last.close(*netns, connection, interval);
            connection.process = process;
        }
        *last = seen;
        snapshot
    }
}

/// What a section's comment says.
fn counts(comment: &str) -> Option<([u64; 4], Option<String>)> {
    let (first, host) = comment.split_once('\n').unwrap_or((comment, ""));
    let mut numbers = first.strip_prefix(SECTION_COMMENT)?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    // The first recordings have three.
    let counts = [next()?, next()?, next()?, next().unwrap_or(0)];
    Some((counts, (!host.is_empty()).then(|| host.to_owned())))
}

/// The process in a packet's comment.
fn owner(comment: &str) -> Option<Owner> {
    let (pid, name) = comment.strip_prefix(PROCESS)?.split_once(' ')?;
    Some(Owner { pid: pid.parse().ok()?, name: name.into() })
}
