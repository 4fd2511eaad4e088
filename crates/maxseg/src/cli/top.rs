//! `maxseg top`

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use maxseg_core::units::{Time, approx};
use maxseg_workbench::connections::{Recorder, RecordingError, Snapshot, Watch};

use super::connections::{
    ConnectionsArgs, SelectionArgs, host_name, namespace_failure, note_small_room, refuse_short,
    waits,
};
use super::recording::{self, of_file};
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use crate::top::{self, App, Metric, Pace, Source};

/// Watch the TCP connections of this host on a screen
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg top
  maxseg top --dst 192.0.2.0/24 --sort rtt
  maxseg top --record sockets.pcapng
  maxseg top --record sockets.pcapng --interval \"2 s\" --duration \"10 min\"
  maxseg top --open sockets.pcapng
  maxseg top --json

`?` shows the keys. The list has every connection with what limits it now; the one that is selected has its payload over \
time below, with what was sent again in orange, and its round trip, timeout, windows and data in flight. Connections that \
close stay for a minute with their verdict.

A recording holds the kernel's own messages in pcapng, each sample on the disk before the next: it can be continued, opened \
here with the same screens, and looked at with Wireshark. No privilege is needed; the processes of other users are shown to \
root.")]
pub(crate) struct TopArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    /// List the connections once and end, as `maxseg connections` does
    #[arg(long, conflicts_with_all = ["record", "open"])]
    once: bool,
    /// Print the list once as JSON
    #[arg(long, conflicts_with_all = ["record", "open"])]
    json: bool,
    /// The time between two samples
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1 s",
        conflicts_with_all = ["once", "json", "open"]
    )]
    interval: Time,
    /// The column to sort by: payload, sent, received, rtt, mss, cwnd …; default: payload, both ways
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// Append every sample to this file; where there is no terminal, without a screen
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    record: Option<PathBuf>,
    /// End after this time, such as "60 s", with a last sample
    #[arg(long, value_name = "TIME", conflicts_with_all = ["once", "json", "open"])]
    duration: Option<Time>,
    /// Show a recording instead of this host
    #[arg(long, value_name = "FILE", conflicts_with = "netns")]
    open: Option<PathBuf>,
}

pub(crate) fn run(args: &TopArgs, printer: Printer) -> Result<(), Failure> {
    if args.once || args.json {
        // The list is sorted by payload of both ways unless it is told otherwise.
        let is_other = |name: &&String| Metric::of_key(name.trim()) != Some(Metric::Payload);
        let sort = args.sort.as_ref().filter(is_other).cloned();
        let list = ConnectionsArgs::list(args.selection.clone(), sort, args.json);
        return super::connections::run(&list, printer);
    }
    let metric = args.sort.as_deref().map(metric).transpose()?;
    let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    // Such a terminal shows the commands that move its cursor as characters.
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let has_screen = is_terminal && !is_dumb;
    match (&args.open, &args.record) {
        (Some(file), _) if has_screen => replay(file, &args.selection, metric, printer),
        (None, Some(file)) if !has_screen => record_unseen(args, file, printer),
        (None, _) if has_screen => live(args, metric, printer),
        (opened, _) => {
            let hint = match opened {
                Some(_) => "`maxseg connections --open FILE` prints the lists of a recording",
                None => {
                    "`maxseg top --once` prints the list; `maxseg connections --watch` prints it again and again"
                }
            };
            let why = if is_terminal {
                "this terminal has no screen (TERM=dumb)"
            } else {
                "standard input or output is not a terminal"
            };
            Err(Failure::usage(why, hint))
        }
    }
}

fn watch_of(args: &TopArgs, printer: Printer) -> Result<Watch, Failure> {
    refuse_short("--interval", args.interval)?;
    args.duration.map_or(Ok(()), |duration| refuse_short("--duration", duration))?;
    let mut options = args.selection.watch_options(true, true)?;
    options.messages = args.record.is_some();
    let watch = Watch::new(options).map_err(|error| namespace_failure(&error))?;
    note_small_room(&watch, printer);
    Ok(watch)
}

fn recorder_of(file: &Path) -> Result<Recorder, Failure> {
    Recorder::append(file).map_err(|error| of_file("record to", file, &error))
}

/// Records without a screen, until it is interrupted: as a service, or behind nohup.
fn record_unseen(args: &TopArgs, file: &Path, printer: Printer) -> Result<(), Failure> {
    let stop = interrupt::flag();
    let mut watch = watch_of(args, printer)?;
    let mut recorder = recorder_of(file)?;
    let host = host_name();
    printer.note(&format!(
        "recording to {}, every {}; there is no screen without a terminal",
        file.display(),
        approx::time(Duration::from_nanos(args.interval.as_nanos()).as_secs_f64())
    ));
    let end = args.end();
    loop {
        let mut snapshot = watch.look().map_err(|error| namespace_failure(&error))?;
        args.selection.retain(&mut snapshot);
        recorder
            .write(&snapshot, host.as_deref())
            .map_err(|error| recording_ended(file, &error))?;
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let pause = left.map_or(args.interval, |left| Time::from(left).min(args.interval));
        if pause == Time::ZERO || !waits(pause, stop) {
            return Ok(());
        }
    }
}

impl TopArgs {
    /// When it ends; `None` for when the user says so.
    fn end(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_nanos(self.duration?.as_nanos()))
    }
}

fn live(args: &TopArgs, metric: Option<Metric>, printer: Printer) -> Result<(), Failure> {
    let mut watch = watch_of(args, printer)?;
    let every = Duration::from_nanos(args.interval.as_nanos());
    let recorder = args.record.as_deref().map(recorder_of).transpose()?;
    let recorded_to = args.record.as_ref().map(|file| file.display().to_string());
    let source = Source::Live { interval_s: every.as_secs_f64(), recorded_to };
    let app = App::new(host_name().unwrap_or_default(), source, metric);
    let look = || {
        let mut snapshot = watch.look().map_err(|error| namespace_failure(&error))?;
        args.selection.retain(&mut snapshot);
        Ok::<_, Failure>(snapshot)
    };
    let pace = Pace { every, end: args.end() };
    let ended = top::live(app, pace, printer.has_color(), look, recorder)?;
    match (ended, &args.record) {
        (Some(error), Some(file)) => Err(recording_ended(file, &error)),
        _ => Ok(()),
    }
}

/// A recording that ended before it should: what was recorded is not what was seen.
fn recording_ended(file: &Path, error: &io::Error) -> Failure {
    Failure::with_hint(
        format!("the recording {} ended early: {error}", file.display()),
        "the samples before that are in it; `maxseg top --open FILE` shows them",
    )
}

fn replay(
    file: &Path,
    selection: &SelectionArgs,
    metric: Option<Metric>,
    printer: Printer,
) -> Result<(), Failure> {
    let recording = recording::open(file, printer)?;
    let host = recording.host().unwrap_or("unknown host").to_owned();
    let app = App::new(host, Source::Recording(top::position(&recording, 0)), metric);
    let choose = |snapshot: &mut Snapshot| selection.retain(snapshot);
    top::replay::<Stop>(app, &recording, printer.has_color(), &choose).map_err(|stop| match stop {
        Stop::Terminal(error) => error.into(),
        Stop::Recording(error) => of_file("read", file, &error),
    })
}

/// What ends a replay.
enum Stop {
    Terminal(io::Error),
    Recording(RecordingError),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

impl From<RecordingError> for Stop {
    fn from(error: RecordingError) -> Self {
        Self::Recording(error)
    }
}

fn metric(name: &str) -> Result<Metric, Failure> {
    Metric::of_key(name.trim()).ok_or_else(|| {
        let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.key()).collect();
        Failure::usage(
            format!("there is no column {name:?} to sort by"),
            format!("columns: {}", names.join(", ")),
        )
    })
}
