//! Ctrl-C: once to stop, again to end at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use maxseg_workbench::whole_file::remove_unpublished;

/// What to do about an interrupt.
#[derive(Debug, PartialEq, Eq)]
enum Reaction {
    /// Let no new run begin and end those that are under way; rows are kept.
    Stop,
    /// It is the first one again.
    Ignore,
    /// The user does not want to wait.
    EndAtOnce,
}

/// One Ctrl-C can arrive twice: from the terminal, and from a parent such as `cargo run` that passes
/// it on.
const SAME: Duration = Duration::from_secs(1);

fn reaction(since_first: Option<Duration>) -> Reaction {
    match since_first {
        None => Reaction::Stop,
        Some(time) if time < SAME => Reaction::Ignore,
        Some(_) => Reaction::EndAtOnce,
    }
}

/// A flag that the first interrupt sets; one that comes a second later or more ends the process.
pub(crate) fn flag() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    on_first(|| STOP.store(true, Ordering::Relaxed));
    &STOP
}

/// Does `stop` at the first interrupt; one that comes a second later or more ends the process. Of several calls
/// only the first counts.
pub(crate) fn on_first(stop: impl Fn() + Send + 'static) {
    static FIRST: Mutex<Option<Instant>> = Mutex::new(None);
    // Fails when a handler is there already.
    let _ = ctrlc::set_handler(move || {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        match reaction(first.map(|first| first.elapsed())) {
            Reaction::Stop => {
                *first = Some(Instant::now());
                stop();
            }
            Reaction::Ignore => {}
            Reaction::EndAtOnce => {
                let _none_is_begun = remove_unpublished();
                std::process::exit(130)
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_press_counts_once() {
        let cases = [
            (None, Reaction::Stop),
            (Some(0), Reaction::Ignore),
            (Some(999), Reaction::Ignore),
            (Some(1000), Reaction::EndAtOnce),
            (Some(60_000), Reaction::EndAtOnce),
        ];
        for (since_first, want) in cases {
            assert_eq!(reaction(since_first.map(Duration::from_millis)), want, "{since_first:?}");
        }
    }
}
