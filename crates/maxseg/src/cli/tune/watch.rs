//! `maxseg tune watch`

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use maxseg_linux::sys::Waker;
use maxseg_linux::tune::{Watcher, state_folder};

use super::undo::line;
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;

/// Undo what has expired, and follow routes
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune watch
  maxseg tune watch --once

It runs until Ctrl-C. What has expired is undone. A route that `tune apply` made leads where the wider route led from \
which it was made; when that moves, the route is removed within a second, with hundreds of thousands of routes within some.")]
pub(crate) struct WatchArgs {
    /// Look once, and end
    #[arg(long)]
    once: bool,
}

pub(super) fn run(args: &WatchArgs, printer: Printer) -> Result<(), Failure> {
    let mut watcher = Watcher::new(&state_folder()?)?;
    let woken = || Waker::new().map(Arc::new).map_err(|error| Failure::new(error.to_string()));
    let (waker, stop) = (woken()?, Arc::new(AtomicBool::new(false)));
    let (of_handler, stopped) = (Arc::clone(&waker), Arc::clone(&stop));
    interrupt::on_first(move || {
        stopped.store(true, Ordering::Relaxed);
        of_handler.wake();
    });
    loop {
        for event in watcher.look()? {
            let told = printer.text(&format!("{}    {}\n", line(&event.undone), event.why));
            // What expires is undone whether or not somebody reads of it.
            if let Err(error) = told
                && error.kind() != ErrorKind::BrokenPipe
            {
                return Err(error.into());
            }
        }
        if args.once || stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        watcher.wait(&waker)?;
    }
}
