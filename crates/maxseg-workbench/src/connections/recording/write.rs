//! Writing of recordings.

use std::borrow::Cow;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use maxseg_wire::inet_diag::{done_message, socket_message};
use maxseg_wire::link_type;
use maxseg_wire::pcapng::{Interface, Packet, Section, Writer};

use super::{COOKED, DESTROYED, PROCESS, Recording, RecordingError, SECTION_COMMENT};
use crate::connections::{Owner, Snapshot};
use crate::file_error::refuse_irregular;

/// Appends snapshots to a file. Each is on the disk when the call returns.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    whole_bytes: u64,
}

impl Recorder {
    /// Continues a recording, or begins one where there is no file or an empty one. What a killed program left of a last snapshot
    /// is removed.
    ///
    /// # Errors
    /// The file is no recording, or is written by another recorder, and is left as it is; or it may not be written.
    pub fn append(path: &Path) -> Result<Self, RecordingError> {
        refuse_irregular(path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path)?;
        // Two recorders would take back each other's snapshots where the disk is full.
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => RecordingError::Written,
            TryLockError::Error(error) => error.into(),
        })?;
        let mut whole_bytes = file.metadata()?.len();
        if whole_bytes > 0 {
            whole_bytes = Recording::open(path)?.whole_bytes();
            file.set_len(whole_bytes)?;
        }
        Ok(Self { file, whole_bytes })
    }

    /// Adds a snapshot. Sockets without their messages are left out.
    ///
    /// # Errors
    /// The disk is full, for one; nothing of the snapshot is in the file then.
    pub fn write(&mut self, snapshot: &Snapshot, host: Option<&str>) -> io::Result<()> {
        let section = section(snapshot, host)?;
        let done = self.file.write_all(&section).and_then(|()| self.file.sync_data());
        match done {
            Ok(()) => self.whole_bytes += section.len() as u64,
            // What cannot be taken back is passed over by readers.
            Err(_) => _ = self.file.set_len(self.whole_bytes),
        }
        done
    }

    /// Bytes in the file.
    pub const fn bytes(&self) -> u64 {
        self.whole_bytes
    }
}

/// The bytes of a snapshot.
fn section(snapshot: &Snapshot, host: Option<&str>) -> io::Result<Vec<u8>> {
    let comment = format!(
        "{SECTION_COMMENT} {} {} {} {}\n{}",
        snapshot.missed,
        snapshot.hidden_processes,
        snapshot.denied_namespaces,
        snapshot.processes_in_hidden_namespaces,
        host.unwrap_or_default()
    );
    let application = concat!("maxseg ", env!("CARGO_PKG_VERSION"));
    let header = Section { application: Some(application.into()), comment: Some(comment.into()) };
    let at = Duration::try_from_secs_f64(snapshot.time_s.unwrap_or_default()).unwrap_or_default();
    let at_nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
    let mut writer =
        SectionWriter { writer: Writer::new(Vec::new(), &header)?, netns: Vec::new(), at_nanos };
    // The first is that of the program itself, whatever is in it.
    writer.interface(None)?;
    for listener in &snapshot.listeners {
        let comment = comment_of(listener.process.as_ref(), false);
        writer.socket(listener.netns.as_ref(), listener.message.as_deref(), comment)?;
    }
    for connection in &snapshot.connections {
        let comment = comment_of(connection.process.as_ref(), connection.is_closed);
        writer.socket(connection.netns.as_ref(), connection.message.as_deref(), comment)?;
    }
    writer.message(0, &done_message(snapshot.interrupted), None)?;
    writer.writer.finish()
}

fn comment_of(process: Option<&Owner>, is_destroyed: bool) -> Option<String> {
    let process = process.map(|owner| format!("{PROCESS}{} {}", owner.pid, owner.name));
    match (is_destroyed, process) {
        (false, process) => process,
        (true, None) => Some(DESTROYED.to_owned()),
        (true, Some(process)) => Some(format!("{DESTROYED}\n{process}")),
    }
}

struct SectionWriter {
    writer: Writer<Vec<u8>>,
    netns: Vec<Option<Arc<str>>>,
    at_nanos: u64,
}

impl SectionWriter {
    fn socket(
        &mut self,
        netns: Option<&Arc<str>>,
        payload: Option<&[u8]>,
        comment: Option<String>,
    ) -> io::Result<()> {
        let Some(payload) = payload else { return Ok(()) };
        let interface = self.interface(netns)?;
        self.message(interface, &socket_message(payload), comment)
    }

    /// The number of a namespace's interface, which is added where it is new.
    fn interface(&mut self, netns: Option<&Arc<str>>) -> io::Result<u32> {
        let known = self.netns.iter().position(|known| known.as_ref() == netns);
        if let Some(known) = known {
            return Ok(u32::try_from(known).unwrap_or(u32::MAX));
        }
        self.netns.push(netns.cloned());
        let name = netns.map(|name| Cow::Owned(name.to_string()));
        let link_type = link_type::NETLINK;
        self.writer.interface(&Interface { name, link_type, ..Interface::default() })
    }

    fn message(
        &mut self,
        interface: u32,
        message: &[u8],
        comment: Option<String>,
    ) -> io::Result<()> {
        let data = [&COOKED[..], message].concat();
        self.writer.packet(&Packet {
            interface,
            at_nanos: self.at_nanos,
            data: data.into(),
            comment: comment.map(Cow::Owned),
            ..Packet::default()
        })
    }
}
