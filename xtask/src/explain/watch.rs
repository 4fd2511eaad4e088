//! The sender's socket while a run lasts, sampled as `maxseg connections` samples it, into a recording.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use maxseg_linux::observe::sockets::{Place, Selection};
use maxseg_wire::inet_diag::{Filter, StateSet};
use maxseg_wire::tcp_info::State;
use maxseg_workbench::connections::{Recorder, Watch, WatchOptions};

/// The port of the first flow's receiver, iperf3's.
pub(super) const PORT: u16 = 5201;
/// From one sample to the next.
pub(super) const EVERY: Duration = Duration::from_millis(250);
/// What waits for something looks so often whether it is there.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The lab makes its hosts, and the first flow connects, within this.
const PATIENCE: Duration = Duration::from_secs(20);

/// What to watch.
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    /// Where the recording goes
    file: PathBuf,
}

/// Records the first flow's connection in the network namespace of this process, from its first sample until it is closed.
///
/// # Errors
/// No connection comes, or the file cannot be written.
pub fn watch(options: &WatchArgs) -> Result<()> {
    let mut watch = Watch::new(WatchOptions {
        place: Place::Here,
        selection: Selection {
            states: StateSet::NONE.with(State::Established),
            filter: Some(Filter::port(PORT)),
        },
        processes: false,
        wanted: Vec::new(),
        closed: false,
        messages: true,
    })?;
    let begun = Instant::now();
    let mut recorder = None;
    loop {
        let mut snapshot = watch.look()?;
        snapshot.connections.retain(|one| one.sample.is_some() && one.remote.port() == PORT);
        match (&mut recorder, snapshot.connections.is_empty()) {
            (None, true) => {
                ensure!(begun.elapsed() < PATIENCE, "no connection to port {PORT} came");
                std::thread::sleep(LOOK_AGAIN);
                continue;
            }
            (Some(_), true) => return Ok(()),
            (recorder, false) => {
                if recorder.is_none() {
                    *recorder = Some(Recorder::append(&options.file)?);
                }
                recorder.as_mut().context("a recorder")?.write(&snapshot, None)?;
            }
        }
        std::thread::sleep(EVERY);
    }
}

/// A watcher of the lab that is run by a process; `None` where the process ends before it has hosts.
///
/// # Errors
/// This program cannot be started again.
pub(super) fn watcher(lab: u32, file: &Path) -> Result<Option<Child>> {
    if file.exists() {
        fs::remove_file(file)?;
    }
    let Some(sender) = first_namespace(lab) else { return Ok(None) };
    let own = std::env::current_exe()?;
    let watcher = Command::new("nsenter")
        .arg(format!("--net={}", sender.display()))
        .arg(own)
        .arg("lab-watch")
        .arg(file)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("nsenter")?;
    Ok(Some(watcher))
}

/// The first network namespace that a process holds open: of a lab, the sender's.
fn first_namespace(pid: u32) -> Option<PathBuf> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let mut held: Vec<(u32, PathBuf)> = fs::read_dir(format!("/proc/{pid}/fd"))
            .ok()?
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let is_namespace =
                    fs::read_link(&path).ok()?.to_string_lossy().starts_with("net:[");
                let number = path.file_name()?.to_str()?.parse().ok()?;
                is_namespace.then_some((number, path))
            })
            .collect();
        held.sort();
        if let Some((_, path)) = held.into_iter().next() {
            return Some(path);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    None
}
