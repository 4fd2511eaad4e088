use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use maxseg_core::outcome::LimitedBy;
use maxseg_wire::inet_diag::{Message, Messages, Socket, socket_message};
use maxseg_wire::tcp_info::{State, TcpInfo};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::connections::{Names, Owner, Snapshot};

/// A message's payload: a connection of this number, which has had so many bytes acknowledged.
fn payload(state: u8, cookie: u32, acked: u64) -> Vec<u8> {
    let mut payload = vec![2, state, 0, 0];
    payload.extend([0, 80, 0, 99]);
    payload.extend([192, 0, 2, 1].into_iter().chain([0; 12]));
    payload.extend([192, 0, 2, 2].into_iter().chain([0; 12]));
    payload.extend([0; 4]);
    payload.extend(cookie.to_ne_bytes());
    payload.extend([0; 24]);
    let mut info = vec![0; TcpInfo::LEN];
    info[120..128].copy_from_slice(&acked.to_ne_bytes());
    payload.extend(u16::try_from(4 + info.len()).unwrap().to_ne_bytes());
    payload.extend(2_u16.to_ne_bytes());
    payload.extend(info);
    payload
}

/// A look with connections of these numbers; a destroyed one has the state 7.
fn look(time_s: f64, sockets: &[(u8, u32, u64)], process: &str) -> Snapshot {
    let mut snapshot = Snapshot { time_s: Some(time_s), missed: 3, ..Snapshot::default() };
    let mut names = Names::default();
    for (state, cookie, acked) in sockets {
        let payload = payload(*state, *cookie, *acked);
        let message = socket_message(&payload);
        let read = Messages::new(&message).next();
        let Some(Ok(Message::Socket(socket))) = read else { panic!("{read:?}") };
        add(&mut snapshot, &socket, process, &mut names);
    }
    snapshot
}

fn add(snapshot: &mut Snapshot, socket: &Socket<'_>, process: &str, names: &mut Names) {
    let process = Some(Owner { pid: 7, name: process.into() });
    snapshot.add(socket, None, names, process, Some(socket.payload.into()));
    if socket.state == Some(State::Listen) {
        return;
    }
    if let Some(last) = snapshot.connections.last_mut() {
        last.is_closed = socket.state == Some(State::Closed);
    }
}

fn recorded(looks: &[Snapshot]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sockets.pcapng");
    let mut recorder = Recorder::append(&path).unwrap();
    for look in looks {
        recorder.write(look, Some("alpha")).unwrap();
    }
    assert_eq!(recorder.bytes(), fs::metadata(&path).unwrap().len());
    (folder, path)
}

fn looks() -> [Snapshot; 2] {
    [
        look(100.0, &[(1, 5, 1_000), (1, 6, 50), (10, 1, 0)], "nginx"),
        look(102.5, &[(1, 5, 9_000), (7, 6, 80), (10, 1, 0)], "nginx"),
    ]
}

#[test]
fn what_was_recorded_is_read_again() {
    let (_folder, path) = recorded(&looks());
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.host(), recording.cut_bytes()), (Some("alpha"), 0));
    let times: Vec<f64> = recording.frames().iter().map(|frame| frame.time_s).collect();
    assert_eq!(times, [100.0, 102.5]);
    let read: Vec<Snapshot> = recording.play(0..2).map(Result::unwrap).collect();
    let [first, second] = &read[..] else { panic!("{read:?}") };
    assert_eq!((first.missed, first.interval, first.listeners.len()), (3, None, 1));
    assert_eq!(second.interval, Some(Duration::from_millis(2_500)));
    let acked: Vec<(u64, bool, u64)> = second
        .connections
        .iter()
        .map(|one| (one.cookie, one.is_closed, one.evidence().unwrap().bin.acked_bytes))
        .collect();
    assert_eq!(acked, [(5, false, 8_000), (6, true, 30)], "what grew since the look before");
    assert_eq!(second.connections[1].process.as_ref().unwrap().name.as_ref(), "nginx");
    let alone = recording.play(1..2).next().unwrap().unwrap();
    assert_eq!(
        alone.connections[0].evidence().unwrap().bin.acked_bytes,
        9_000,
        "since its beginning"
    );
}

#[test]
fn how_a_connection_varies_is_told_of_the_last_seconds() {
    let spreads = |step_s: f64| {
        let looks: Vec<Snapshot> = (0..8)
            .map(|n| look(100.0 + step_s * f64::from(n), &[(1, 5, 1_000)], "nginx"))
            .collect();
        let (_folder, path) = recorded(&looks);
        let recording = Recording::open(&path).unwrap();
        let read = recording.play(0..8).map(Result::unwrap);
        read.map(|snapshot| snapshot.connections[0].evidence().unwrap().spread.is_some()).collect()
    };
    let each_second: Vec<bool> = spreads(1.0);
    assert_eq!(each_second, [false, false, false, false, false, true, true, true]);
    let seldom: Vec<bool> = spreads(10.0);
    assert_eq!(seldom, [false; 8], "the lists of 20 s are too few");
}

#[test]
fn a_cut_look_is_passed_over_and_the_recording_is_continued() {
    let (_folder, path) = recorded(&looks());
    let whole = fs::read(&path).unwrap();
    let first = recorded(&looks()[..1]);
    let first = fs::metadata(&first.1).unwrap().len();
    for length in usize::try_from(first).unwrap() + 1..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.frames().len(), recording.cut_bytes()), (1, length as u64 - first));
    }
    let mut recorder = Recorder::append(&path).unwrap();
    recorder.write(&looks()[1], Some("alpha")).unwrap();
    assert!(fs::read(&path).unwrap() == whole, "as if nothing had been cut");
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.frames().len(), recording.cut_bytes()), (2, 0));
}

#[test]
fn a_recording_has_one_recorder_at_a_time() {
    let (_folder, path) = recorded(&looks());
    let recorder = Recorder::append(&path).unwrap();
    assert!(matches!(Recorder::append(&path), Err(RecordingError::Written)));
    assert_eq!(Recording::open(&path).unwrap().frames().len(), 2, "it can be read meanwhile");
    drop(recorder);
    Recorder::append(&path).unwrap();
}

#[test]
fn counters_that_go_back_are_of_another_connection() {
    // Cookies begin anew at each boot.
    let after = look(102.5, &[(1, 5, 500)], "nginx");
    let (_folder, path) = recorded(&[looks()[0].clone(), after]);
    let read = Recording::open(&path).unwrap();
    let second = read.play(0..2).nth(1).unwrap().unwrap();
    let [connection] = &second.connections[..] else { panic!("{second:?}") };
    assert!(connection.since_last.is_none());
    assert_eq!(connection.evidence().unwrap().bin.acked_bytes, 500, "since its beginning");
}

#[test]
fn another_file_is_left_as_it_is() {
    let (folder, _) = recorded(&[]);
    let path = folder.path().join("other");
    for other in ["#!/bin/sh\n", "x", "\n\r\r\n\u{1c}\0\0\0 twenty-eight bytes ..."] {
        fs::write(&path, other).unwrap();
        Recorder::append(&path).unwrap_err();
        Recording::open(&path).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }
    fs::write(&path, "").unwrap();
    assert!(matches!(Recording::open(&path), Err(RecordingError::Empty)));
    let recorder = Recorder::append(&path).unwrap();
    assert_eq!(recorder.bytes(), 0);
}

#[test]
fn a_capture_of_packets_is_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcapng");
    let section = maxseg_wire::pcapng::Section::default();
    let writer = maxseg_wire::pcapng::Writer::new(Vec::new(), &section).unwrap();
    fs::write(&path, writer.finish().unwrap()).unwrap();
    assert!(matches!(Recording::open(&path), Err(RecordingError::Other)));
}

proptest! {
    #[test]
    fn any_name_of_a_process_is_kept(name in "\\PC{0,15}|[\n\u{1b} /]{0,15}") {
        let (_folder, path) = recorded(&[look(1.0, &[(1, 5, 0), (7, 6, 0)], &name)]);
        let read = Recording::open(&path).unwrap().play(0..1).next().unwrap().unwrap();
        for connection in &read.connections {
            prop_assert_eq!(connection.process.as_ref().unwrap().name.as_ref(), &name);
        }
    }

    #[test]
    fn damage_is_an_error_or_a_smaller_recording(at: prop::sample::Index, byte: u8) {
        let (_folder, path) = recorded(&looks());
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        fs::write(&path, &bytes).unwrap();
        if let Ok(recording) = Recording::open(&path) {
            prop_assert!(recording.play(0..2).take(2).count() <= 2);
        }
    }
}

/// A socket stands for all that is no file: to open a named pipe would be to wait.
#[test]
fn what_is_no_regular_file_is_no_recording() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    std::os::unix::net::UnixListener::bind(&path).unwrap();
    for error in [Recording::open(&path).unwrap_err(), Recorder::append(&path).unwrap_err()] {
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}

#[test]
fn a_whole_recording_has_each_connection_once_with_all_that_it_did() {
    let looks = [
        look(100.0, &[(1, 5, 1_000), (1, 6, 50), (10, 1, 0)], "nginx"),
        look(102.5, &[(1, 5, 9_000), (7, 6, 80), (1, 7, 10), (10, 1, 0)], "nginx"),
        look(104.0, &[(1, 5, 9_500), (1, 7, 40), (10, 1, 0)], "nginx"),
    ];
    let (_folder, path) = recorded(&looks);
    let whole = Recording::open(&path).unwrap().whole(&mut |_| ()).unwrap();
    assert_eq!((whole.time_s, whole.interval), (Some(104.0), Some(Duration::from_secs(4))));
    assert_eq!(whole.listeners.len(), 1);
    let mut found: Vec<_> = whole
        .connections
        .iter()
        .map(|one| (one.cookie, one.evidence().unwrap().bin.acked_bytes, one.is_closed))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(5, 8_500, false), (6, 30, true), (7, 30, false)]);
    // What limited it follows from its samples: of one alone there is nothing between.
    let limited = |cookie: u64| {
        let one = whole.connections.iter().find(|one| one.cookie == cookie).unwrap();
        one.over_time.as_deref().map(|found| found.limited_by)
    };
    assert_eq!(limited(5), Some(LimitedBy::Application), "no time with data in any of them");
    let lone = &[look(100.0, &[(1, 5, 1_000)], "nginx")];
    let (_folder, lone) = recorded(lone);
    let lone = Recording::open(&lone).unwrap().whole(&mut |_| ()).unwrap();
    assert!(lone.connections[0].over_time.is_none());
    let none = Recording::open(&path).unwrap().whole(&mut |of| of.connections.clear()).unwrap();
    assert!(none.connections.is_empty());
}
