//! What is left of a lab's run that ends in its middle: nothing, whoever ran it and whoever sent.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::command;
use super::kernel::{
    children_of, held_by, interfaces, is_installed, namespaces, runs, users, wait_until,
};

/// Far longer than the test waits for anything.
const LONG: &str = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[until]\ntime = \"1000 s\"\n";

/// A run whose lab is there; killed whatever happens.
struct Run {
    process: Child,
    /// Its network namespaces, which are nobody else's.
    namespaces: BTreeSet<PathBuf>,
    /// Its iperf3, client and server.
    helpers: Vec<u64>,
    /// Where it works, and would put files.
    folder: tempfile::TempDir,
    /// What the tests' namespace had before.
    interfaces: Vec<String>,
}

impl Run {
    fn begin(user: Option<u32>, traffic: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let interfaces = interfaces();
        let own = held_by(std::process::id().into());
        let mut command = command(&["run", "-", "--engine", "lab", "--traffic", traffic]);
        command.current_dir(folder.path()).env("TMPDIR", folder.path());
        if let Some(user) = user {
            chown(folder.path(), Some(user), Some(user)).unwrap();
            command.uid(user).gid(user);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(LONG.as_bytes()).unwrap();
        let mut run =
            Self { process, namespaces: BTreeSet::new(), helpers: vec![], folder, interfaces };
        // Sender's and receiver's, each with one end of the link's relay; and both of iperf3's ends.
        let ends = if traffic == "iperf3" { 2 } else { 0 };
        wait_until("the lab is there", || {
            assert!(run.process.try_wait().unwrap().is_none(), "the run has ended by itself");
            run.namespaces = held_by(run.id()).difference(&own).cloned().collect();
            run.helpers = children_of(run.id(), "iperf3");
            run.namespaces.len() >= 2 && run.helpers.len() >= ends
        });
        run
    }

    fn id(&self) -> u64 {
        self.process.id().into()
    }

    fn signal(&self, name: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// That nothing is there any more, once the process has ended.
    fn assert_nothing_is_left(&self) {
        wait_until("its processes end", || !self.helpers.iter().any(|helper| runs(*helper)));
        wait_until("its namespaces end", || namespaces().is_disjoint(&self.namespaces));
        assert_eq!(interfaces(), self.interfaces);
        let files: Vec<_> = fs::read_dir(self.folder.path()).unwrap().flatten().collect();
        assert!(files.is_empty(), "{files:?}");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whoever can have a lab, with each kind of traffic that there is.
fn runs_to_end() -> Vec<(Option<u32>, &'static str)> {
    let traffics: &[_] =
        if is_installed("iperf3", "iperf3") { &["builtin", "iperf3"] } else { &["builtin"] };
    let each = |user| traffics.iter().map(move |traffic| (user, *traffic));
    users().into_iter().flat_map(each).collect()
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed() {
    for (user, traffic) in runs_to_end() {
        let mut run = Run::begin(user, traffic);
        run.signal("KILL");
        assert_eq!(run.process.wait().unwrap().signal(), Some(9));
        run.assert_nothing_is_left();
    }
}

#[test]
fn nothing_is_left_of_a_run_that_is_interrupted() {
    for (user, traffic) in runs_to_end() {
        let mut run = Run::begin(user, traffic);
        run.signal("INT");
        assert_eq!(run.process.wait().unwrap().code(), Some(130), "{user:?}, {traffic}");
        run.assert_nothing_is_left();
    }
}
