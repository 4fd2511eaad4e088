//! `maxseg top`: the connections of a host on a screen, live or from a recording.
//!
//! ```text
//! Watch (the kernel) ─→ Snapshot ─→ App (History, what is selected) ─→ draw ─→ terminal
//! Recording (a file) ─┘      └→ Recorder        ↑ keys
//! ```

mod app;
mod chart;
mod connection_list;
mod detail;
mod draw;
mod keys;
mod metric;
mod pages;
mod style;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use maxseg_workbench::connections::{History, Recorder, Recording, RecordingError, Snapshot};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{SFlag, fstat};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::interrupt;
pub(crate) use app::{App, Position, Source};
use keys::Action;
pub(crate) use metric::Metric;

/// The flag of an interrupt is looked at so often: a signal does not wake the terminal.
const GLANCE: Duration = Duration::from_millis(200);
/// Looks before the one of a recording that is shown, for the numbers over time.
const PAST: usize = 300;
/// A recording plays no faster than this, and no slower.
const STEP: std::ops::RangeInclusive<f64> = 0.05..=2.0;

/// How often something is looked at, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// From one look to the next.
    pub(crate) every: Duration,
    /// After the look at that time it ends; `None` for when the user quits.
    pub(crate) end: Option<Instant>,
}

impl Pace {
    /// When the look after one at `at` is.
    fn after(self, at: Instant) -> Instant {
        let next = (at + self.every).max(Instant::now());
        self.end.map_or(next, |end| next.min(end))
    }
}

/// Shows what `look` gives again and again, until the user quits or its time is over. Gives why the recording has ended before, if it has.
///
/// # Errors
/// The terminal fails, or `look` does: then with the terminal as it was.
pub(crate) fn live<E: From<io::Error>>(
    mut app: App,
    pace: Pace,
    color: bool,
    mut look: impl FnMut() -> Result<Snapshot, E>,
    mut recorder: Option<Recorder>,
) -> Result<Option<io::Error>, E> {
    let mut ended = None;
    on_terminal::<E>(|terminal| {
        let mut next = Instant::now();
        loop {
            if next <= Instant::now() {
                let is_last = pace.end.is_some_and(|end| end <= next);
                let snapshot = look()?;
                if let Some(error) = record(&mut recorder, &snapshot, &app.host) {
                    app.recording_ended = Some(error.to_string());
                    // The title names no file any more.
                    app.source =
                        Source::Live { interval_s: pace.every.as_secs_f64(), recorded_to: None };
                    ended = Some(error);
                }
                if is_last {
                    return Ok(());
                }
                app.take(snapshot);
                next = pace.after(next);
            }
            terminal.draw(|frame| draw::draw(&mut app, color, frame))?;
            if wait_for_key(&mut app, next)? == Some(Action::Quit) {
                return Ok(());
            }
        }
    })?;
    Ok(ended)
}

/// Adds a snapshot to a recording, which ends where that fails.
fn record(recorder: &mut Option<Recorder>, snapshot: &Snapshot, host: &str) -> Option<io::Error> {
    let error = recorder.as_mut()?.write(snapshot, Some(host)).err()?;
    *recorder = None;
    Some(error)
}

/// Shows a recording, of each snapshot what `choose` leaves.
///
/// # Errors
/// The terminal fails, or the file does: then with the terminal as it was.
pub(crate) fn replay<E: From<io::Error> + From<RecordingError>>(
    mut app: App,
    recording: &Recording,
    color: bool,
    choose: &dyn Fn(&mut Snapshot),
) -> Result<(), E> {
    on_terminal(|terminal| {
        app.is_paused = true;
        let last = recording.frames().len() - 1;
        let mut at = 0;
        show(&mut app, recording, at, choose)?;
        let mut next = Instant::now();
        loop {
            terminal.draw(|frame| draw::draw(&mut app, color, frame))?;
            let to = match wait_for_key(&mut app, next)? {
                Some(Action::Quit) => return Ok(()),
                Some(Action::Step(steps)) => at.saturating_add_signed(steps).min(last),
                Some(Action::First) => 0,
                Some(Action::Last) => last,
                Some(Action::Draw) => at,
                None if app.is_paused || at == last => {
                    app.is_paused |= at == last;
                    next = Instant::now() + GLANCE;
                    at
                }
                None => at + 1,
            };
            if to == at + 1 {
                show_next(&mut app, recording, to, choose)?;
            } else if to != at {
                show(&mut app, recording, to, choose)?;
            }
            if to != at {
                at = to;
                next = Instant::now() + until_next(recording, at);
            }
        }
    })
}

/// The time from a snapshot to the next, as it was recorded.
fn until_next(recording: &Recording, at: usize) -> Duration {
    let time = |frame: usize| recording.frames().get(frame).map(|frame| frame.time_s);
    let seconds = time(at + 1).zip(time(at)).map_or(0.0, |(next, now)| next - now);
    Duration::from_secs_f64(seconds.clamp(*STEP.start(), *STEP.end()))
}

/// Shows a snapshot of a recording, with the past that its numbers over time need.
fn show(
    app: &mut App,
    recording: &Recording,
    at: usize,
    choose: &dyn Fn(&mut Snapshot),
) -> Result<(), RecordingError> {
    let mut history = History::default();
    for snapshot in recording.play(at.saturating_sub(PAST)..at + 1) {
        let mut snapshot = snapshot?;
        choose(&mut snapshot);
        history.add(snapshot);
    }
    app.replace(history, position(recording, at));
    Ok(())
}

/// Shows the snapshot after the one that is shown.
fn show_next(
    app: &mut App,
    recording: &Recording,
    at: usize,
    choose: &dyn Fn(&mut Snapshot),
) -> Result<(), RecordingError> {
    for snapshot in recording.play(at.saturating_sub(1)..at + 1).skip(1) {
        let mut snapshot = snapshot?;
        choose(&mut snapshot);
        app.continue_with(snapshot, position(recording, at));
    }
    Ok(())
}

/// Where in the recording a snapshot is.
pub(crate) fn position(recording: &Recording, frame: usize) -> Position {
    let frames = recording.frames();
    let time =
        |frame: Option<&maxseg_workbench::connections::Frame>| frame.map_or(0.0, |f| f.time_s);
    Position {
        frame,
        frames: frames.len(),
        from_s: time(frames.first()),
        to_s: time(frames.last()),
    }
}

/// Waits for a key until `next`. `None` where there was none; an interrupt is as the key that quits.
fn wait_for_key(app: &mut App, next: Instant) -> io::Result<Option<Action>> {
    let stop = interrupt::flag();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(Some(Action::Quit));
        }
        let left = next.saturating_duration_since(Instant::now()).min(GLANCE);
        if waits_in_vain(left)? {
            return Ok(Some(Action::Quit));
        }
        let rest = if io::stdin().is_terminal() { Duration::ZERO } else { left };
        if event::poll(rest)? {
            let event = event::read()?;
            if let Event::Key(key) = event
                && key.kind != KeyEventKind::Release
            {
                return Ok(Some(app.on_key(key)));
            }
            if matches!(event, Event::Resize(..)) {
                return Ok(Some(Action::Draw));
            }
        }
        if next <= Instant::now() {
            return Ok(None);
        }
    }
}

/// Waits for a key, no longer than `longest`; gives whether none will come: the terminal is gone, of which reading for ever gives
/// nothing. Where standard input is no terminal, keys come from elsewhere, and nothing is waited for here.
fn waits_in_vain(longest: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    // A terminal that is gone is none any more, but still a device.
    let is_device = fstat(&stdin)
        .is_ok_and(|stat| stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFCHR.bits());
    if !is_device {
        return Ok(false);
    }
    let mut waiting = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let longest = if stdin.is_terminal() { longest } else { Duration::ZERO };
    match poll(&mut waiting, PollTimeout::try_from(longest).unwrap_or(PollTimeout::ZERO)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    Ok(waiting[0].revents().is_some_and(|seen| seen.intersects(gone)))
}

/// Has the whole terminal meanwhile, and gives it back as it was, after a panic too.
fn on_terminal<E: From<io::Error>>(
    run: impl FnOnce(&mut DefaultTerminal) -> Result<(), E>,
) -> Result<(), E> {
    // Before the terminal is taken: a signal has it given back.
    interrupt::flag();
    let mut terminal = ratatui::try_init()?;
    let done = run(&mut terminal);
    if waits_in_vain(Duration::ZERO)? {
        // What is gone is not given back. Being dropped the terminal would say so, where nobody reads.
        std::mem::forget(terminal);
        return Ok(());
    }
    ratatui::try_restore()?;
    done
}
