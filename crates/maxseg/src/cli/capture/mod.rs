//! `maxseg capture`

mod args;
mod file;
mod output;
mod replay;
mod sudo;

use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use maxseg_linux::observe::capture::{
    Capture, InterfaceChoice, OpenError, Stayed, give_up_rights, is_down,
};
use maxseg_linux::observe::sockets::{NamespaceError, enter};
use maxseg_linux::sys::Waker;

pub(crate) use args::CaptureArgs;

use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use file::CaptureFile;
use output::Output;

pub(crate) fn run(args: &CaptureArgs, printer: Printer) -> Result<(), Failure> {
    if let Some(file) = &args.read {
        return replay::run(args, file, printer);
    }
    enter_namespace(args)?;
    let mut capture = Capture::open(args.options()?).map_err(|error| refused(&error))?;
    let file = become_who_asked(args, printer)?;
    if let Some(emptied) = file.as_ref().and_then(CaptureFile::emptied_words) {
        printer.note(&emptied);
    }
    let mut output = Output::begin(args, &capture, printer, file)?;
    let waker = Arc::new(Waker::new()?);
    let on_interrupt = Arc::clone(&waker);
    interrupt::on_first(move || on_interrupt.wake());
    printer.note(&format!("listening on {}", in_words(&capture.options().place)));
    let ended = watch(args, &mut capture, &mut output, &waker, printer);
    match ended {
        Ok(ended) => {
            output.end(&mut capture)?;
            ended.verdict(args, output.packets())
        }
        Err(failure) => Err(failure),
    }
}

/// Goes where the interfaces are: those of another network namespace are seen from within alone.
fn enter_namespace(args: &CaptureArgs) -> Result<(), Failure> {
    let Some(place) = args.namespace()? else { return Ok(()) };
    enter(&place).map_err(|error| {
        let hint = match &error {
            NamespaceError::NoName { known, .. } if known.is_empty() => {
                "`ip netns list` shows names; those of containers have none: give a PID".to_owned()
            }
            NamespaceError::NoName { known, .. } => {
                format!("the names are {}; or give the PID of a process", known.join(", "))
            }
            NamespaceError::NoNamespace { .. }
            | NamespaceError::NoProcess(_)
            | NamespaceError::Denied(_)
            | NamespaceError::NoList(_) => error.hint(),
        };
        Failure::with_hint(error.to_string(), hint)
    })
}

/// Gives up all rights, and opens the file that is to be written as whoever asked for it: the user who called sudo,
/// who gets at no file through us that was not theirs, by a link or otherwise. Root itself must do so first, as it
/// goes on as nobody.
fn become_who_asked(args: &CaptureArgs, printer: Printer) -> Result<Option<CaptureFile>, Failure> {
    let user = sudo::user();
    let open = || CaptureFile::of(args, user);
    let opened = if user.is_none() { open()? } else { None };
    // Before there is a second thread: rights are a thread's own.
    let stayed = give_up_rights(user).map_err(|error| {
        Failure::new(format!("cannot drop the capabilities that are no longer needed: {error}"))
    })?;
    if let Some(Stayed { user, group, why }) = stayed {
        printer.note(&format!(
            "all capabilities are dropped, but the user could not be changed ({why}): it is user {user}, group {group}"
        ));
    }
    if user.is_none() { Ok(opened) } else { open() }
}

/// What ended a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    /// As many packets or as much time as was asked for.
    AsAsked,
    /// The user.
    Interrupted,
    /// Its interface has gone.
    Gone(String),
}

impl Ended {
    fn verdict(self, args: &CaptureArgs, packets: u64) -> Result<(), Failure> {
        let has_goal = args.count.is_some() || args.duration.is_some();
        match self {
            Self::Gone(name) => Err(Failure::new(format!("interface {name} is gone"))),
            Self::Interrupted if has_goal => {
                Err(Failure::Interrupted(format!("{packets} packets were captured")))
            }
            Self::AsAsked | Self::Interrupted => Ok(()),
        }
    }
}

/// Why no more packets are shown.
enum Stop {
    /// There were as many as was asked for.
    Enough,
    Failed(Failure),
}

/// An interface that was down is looked for so often.
const LOOK: Duration = Duration::from_millis(500);

/// Shows packets until something ends it, and what passed before that.
fn watch(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
    waker: &Waker,
    printer: Printer,
) -> Result<Ended, Failure> {
    let deadline = args.duration.map(|time| Instant::now() + Duration::from_nanos(time.as_nanos()));
    let mut was_down = capture.begins_down();
    if was_down && let InterfaceChoice::Interface(name) = &capture.options().place {
        printer.note(&format!("interface {name} is down; waiting for it"));
    }
    let stdout = io::stdout();
    let stdout = output.is_to_stdout().then(|| stdout.as_fd());
    let ended = loop {
        if show_ready(args, capture, output)? {
            return Ok(Ended::AsAsked);
        }
        if waker.was_woken() {
            break Ended::Interrupted;
        }
        let left = deadline.map(|then| then.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            break Ended::AsAsked;
        }
        // Nothing tells when an interface that is down is removed.
        let longest = if was_down { Some(left.unwrap_or(LOOK).min(LOOK)) } else { left };
        match (capture.wait(waker, stdout, longest), &capture.options().place) {
            (Ok(()), InterfaceChoice::Interface(name)) if was_down && capture.is_gone() => {
                break Ended::Gone(name.clone());
            }
            (Ok(()), _) => {}
            (Err(error), InterfaceChoice::Interface(name)) if is_down(&error) => {
                if capture.is_gone() {
                    break Ended::Gone(name.clone());
                }
                was_down = true;
                printer.note(&format!("interface {name} is down; waiting for it"));
            }
            (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Err(Failure::BrokenPipe);
            }
            (Err(error), _) => return Err(Failure::new(format!("cannot listen: {error}"))),
        }
    };
    show_rest(args, capture, output)?;
    Ok(ended)
}

/// Shows the packets that are ready; whether these were enough.
fn show_ready(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
) -> Result<bool, Failure> {
    loop {
        let read = capture.read(|sighting, interface| {
            output.packet(sighting, interface).map_err(Stop::Failed)?;
            if args.count == Some(output.packets()) { Err(Stop::Enough) } else { Ok(()) }
        });
        let (enough, more) = match read {
            Ok(more) => (false, more),
            Err(Stop::Enough) => (true, false),
            Err(Stop::Failed(failure)) => return Err(failure),
        };
        output.flush()?;
        if !more {
            return Ok(enough);
        }
    }
}

/// Shows what passed before now and the kernel has not handed over yet.
fn show_rest(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
) -> Result<(), Failure> {
    /// Longer than the kernel keeps packets back.
    const PATIENCE: Duration = Duration::from_secs(1);
    const GLANCE: Duration = Duration::from_millis(20);
    capture.close()?;
    let silent = Waker::new()?;
    let deadline = Instant::now() + PATIENCE;
    while !show_ready(args, capture, output)? && !capture.is_drained()? && Instant::now() < deadline
    {
        // An interface that is down has packets from before.
        let _ = capture.wait(&silent, None, Some(GLANCE));
    }
    Ok(())
}

fn in_words(place: &InterfaceChoice) -> Cow<'_, str> {
    match place {
        InterfaceChoice::Any => "all interfaces".into(),
        InterfaceChoice::Several(names) => names.join(", ").into(),
        InterfaceChoice::Interface(name) => name.into(),
    }
}

/// A mistake or a lack of rights, with what mends it.
fn refused(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::NoRight(_) => {
            "sudo setcap cap_net_raw=ep $(command -v maxseg)   # gives this program the one capability that it needs; \
             or run it with sudo"
                .to_owned()
        }
        OpenError::NoInterface { there, .. } => {
            format!("there are: {}; `any` looks at all", there.join(", "))
        }
        OpenError::Hardware { .. } => {
            "Ethernet, loopback, TUN, PPP, IP tunnels, GRE and IP over InfiniBand are understood".to_owned()
        }
        OpenError::Filter(_) => "ask for fewer hosts or ports".to_owned(),
        OpenError::Kernel { what: "memory for packets", .. } => "a smaller --buffer".to_owned(),
        OpenError::Kernel { .. } => return Failure::new(error.to_string()),
    };
    Failure::with_hint(error.to_string(), hint)
}
