//! Who can have a lab here, and what one leaves behind it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{command, stderr};

/// Somebody who is nobody else.
pub(super) const NOBODY: u32 = 65_534;

/// Whether whoever runs the tests can have a lab here, as the program itself says; the reason aloud if not.
pub(super) fn can_have_a_lab() -> bool {
    can_user_have_a_lab(None)
}

/// Whoever runs the tests, and an ordinary user besides if that is root; who cannot have a lab here is
/// named with the reason.
pub(super) fn users() -> Vec<Option<u32>> {
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = if is_root { vec![None, Some(NOBODY)] } else { vec![None] };
    users.into_iter().filter(|user| can_user_have_a_lab(*user)).collect()
}

fn can_user_have_a_lab(user: Option<u32>) -> bool {
    let mut doctor = command(&["doctor"]);
    doctor.current_dir("/");
    if let Some(user) = user {
        doctor.uid(user).gid(user);
    }
    let output = doctor.output().unwrap();
    if !output.status.success() {
        let who = user.map_or("this user".to_owned(), |user| format!("user {user}"));
        skipped(&format!("for {who}: {}", stderr(&output)));
    }
    output.status.success()
}

#[expect(clippy::print_stderr, reason = "what was not tested is said")]
pub(super) fn skipped(why: &str) {
    eprintln!("skipped {why}");
}

/// Whether a program of this package can be run; says so if not.
pub(super) fn is_installed(program: &str, package: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        skipped(&format!("for want of {program} (apt-get install {package})"));
    }
    there
}

/// Waits for what ends by itself: processes that are not this one's children, so that `waitpid` does not tell of them, and
/// the namespaces that they hold. It looks again and again, as nothing tells when, until a deadline, at which the test fails.
pub(super) fn wait_until(what: &str, is: impl FnMut() -> bool) {
    wait_within(Duration::from_secs(30), what, is);
}

/// The same for what takes longer by what is tested.
pub(super) fn wait_within(longest: Duration, what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + longest;
    while !is() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The network namespaces that any process is in or holds.
pub(super) fn namespaces() -> BTreeSet<PathBuf> {
    processes().into_iter().flat_map(held_by).collect()
}

/// The network namespaces that a process, or a thread of it, is in or holds.
pub(super) fn held_by(process: u64) -> BTreeSet<PathBuf> {
    let links = |kind: &str| fs::read_dir(format!("/proc/{process}/{kind}")).into_iter().flatten();
    let tasks = links("task").flatten().map(|task| task.path().join("ns/net"));
    let files = links("fd").flatten().map(|file| file.path());
    let targets = tasks.chain(files).filter_map(|link| fs::read_link(link).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("net:[")).collect()
}

/// The interfaces of the namespace in which the tests run.
pub(super) fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

/// Whether any of its threads runs: a process that has ended may stay in the list until its parent asks for it.
pub(super) fn runs(process: u64) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let states = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let mut states = states
        .map(|text| text.rsplit_once(") ").map_or(' ', |(_, rest)| rest.as_bytes()[0].into()));
    states.any(|state| !matches!(state, 'Z' | 'X'))
}

/// The processes that this one has started and that run this program.
pub(super) fn children_of(parent: u64, program: &str) -> Vec<u64> {
    let is_child = |process: &u64| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let name = stat.split_once('(').and_then(|(_, rest)| rest.split_once(") "));
        // Its state, then its parent (proc_pid_stat(5)).
        name.is_some_and(|(name, rest)| {
            name == program && rest.split(' ').nth(1) == Some(&*parent.to_string())
        })
    };
    processes().into_iter().filter(is_child).collect()
}

fn processes() -> Vec<u64> {
    let names = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}
