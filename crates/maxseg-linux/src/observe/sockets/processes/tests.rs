use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::linux::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sched::{CloneFlags, unshare};

use super::super::task_files::probe;
use super::*;

#[test]
fn only_sockets_have_an_inode_here() {
    assert_eq!(inode_of(b"socket:[4711]"), Some(4711));
    for other in ["pipe:[4711]", "socket:[]", "socket:[x]", "/dev/null", "socket:[99999999999]"] {
        assert_eq!(inode_of(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn a_socket_of_this_process_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let inode = inode_at(&listener);
    for sockets in [1, MANY] {
        let processes = Processes::find(sockets);
        assert_eq!(processes.with(inode).unwrap().pid, std::process::id());
    }
}

/// The number of the process of each socket.
fn owners(processes: &Processes) -> BTreeMap<u32, u32> {
    let pid = |place: u32| processes.at(place).unwrap().pid;
    processes.by_inode.iter().map(|(inode, place)| (*inode, pid(*place))).collect()
}

fn inode_at(file: impl AsFd) -> u32 {
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap()
}

#[test]
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn the_kernel_finds_the_processes_that_proc_has() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let shared = inode_at(&listener);
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(OwnedFd::from(listener.try_clone().unwrap()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let before = owners(&Processes::scan());
    if let Err(why) = probe() {
        eprintln!("skipped: through /proc alone: {why}");
    } else {
        let open = open_sockets(before.len()).unwrap();
        let after = owners(&Processes::scan());
        let of_child = open.iter().filter(|socket| socket.pid == child.id());
        assert_eq!(of_child.map(|socket| socket.inode).collect::<Vec<_>>(), [shared]);
        let found = owners(&Processes::having(&open));
        assert_eq!(found[&shared], std::process::id(), "its child has it as well");
        let stayed = before.iter().filter(|(inode, pid)| after.get(*inode) == Some(*pid));
        for (inode, pid) in stayed {
            assert_eq!(found.get(inode), Some(pid), "socket {inode}");
        }
        // The program is loaded once; what it finds is of each reading.
        let later = TcpListener::bind("127.0.0.1:0").unwrap();
        let again = open_sockets(before.len()).unwrap();
        assert!(again.iter().any(|socket| socket.inode == inode_at(&later)));
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn of_processes_that_share_a_socket_the_wanted_one_is_given() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (shared, own) = (inode_at(&listener), std::process::id());
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(OwnedFd::from(listener.try_clone().unwrap()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut processes = Processes::scan();
    let given = |processes: &Processes| processes.with(shared).unwrap().pid;
    assert_eq!(given(&processes), own);
    processes.prefer(|process| process.pid == u32::MAX);
    assert_eq!(given(&processes), own, "no such one has it");
    processes.prefer(|process| process.pid == child.id());
    assert_eq!(given(&processes), child.id());
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn what_a_thread_alone_has_open_is_found_neither_way() {
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_FILES).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let path = format!("/proc/thread-self/fd/{}", listener.as_raw_fd());
        tell.send(fs::metadata(path).unwrap().st_ino()).unwrap();
        // Until the test is done.
        let _ = ended.recv();
    });
    let inode = u32::try_from(told.recv().unwrap()).unwrap();
    for sockets in [1, MANY] {
        assert_eq!(Processes::find(sockets).with(inode), None, "of {sockets}");
    }
    drop(end);
    thread.join().unwrap();
}

#[test]
fn no_socket_is_missed_while_other_descriptors_come_and_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (inode, (end, ended)) = (inode_at(&listener), mpsc::channel::<()>());
    let busy = std::thread::spawn(move || {
        while ended.try_recv() == Err(mpsc::TryRecvError::Empty) {
            drop([(); 4].map(|()| File::open("/dev/null").unwrap()));
        }
    });
    for _ in 0..50 {
        let mut processes = Processes::find(1);
        if processes.with(inode).is_none() {
            processes.look_again();
        }
        assert_eq!(processes.with(inode).map(|it| it.pid), Some(std::process::id()));
    }
    drop(end);
    busy.join().unwrap();
}

#[test]
fn a_socket_is_found_behind_a_gap_of_descriptors() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let high = fcntl(&listener, FcntlArg::F_DUPFD_CLOEXEC(900)).unwrap();
    let found: Vec<RawFd> = sockets_of(std::process::id()).unwrap().map(|(_, file)| file).collect();
    assert!(found.contains(&listener.as_raw_fd()) && found.contains(&high), "{found:?}");
    nix::unistd::close(high).unwrap();
}
