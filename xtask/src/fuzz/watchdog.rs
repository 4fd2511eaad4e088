//! A thread that notices when an input is run for too long.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Watches the input that is run, until it is dropped.
pub(super) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// What is run, and since when.
    running: Option<(Arc<Vec<u8>>, Instant)>,
    has_ended: bool,
}

impl Shared {
    /// A thread that panicked left nothing half done: each change is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An input is watched while this lives.
pub(super) struct Watched<'a>(&'a Shared);

impl Watchdog {
    /// Calls `hangs` from its own thread with the first input that is run for `patience` or longer.
    pub(super) fn begin(patience: Duration, hangs: impl FnOnce(&[u8]) + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            if let Some(input) = wait_for_one(&seen, patience) {
                hangs(&input);
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// From now on until the value is dropped, this input is run.
    pub(super) fn watch(&self, input: &Arc<Vec<u8>>) -> Watched<'_> {
        self.shared.state().running = Some((Arc::clone(input), Instant::now()));
        Watched(&self.shared)
    }
}

/// The input that takes too long; `None` when there are no more of them.
fn wait_for_one(shared: &Shared, patience: Duration) -> Option<Arc<Vec<u8>>> {
    let mut state = shared.state();
    while !state.has_ended {
        let left = match &state.running {
            Some((input, since)) => match patience.checked_sub(since.elapsed()) {
                None | Some(Duration::ZERO) => return Some(Arc::clone(input)),
                Some(left) => left,
            },
            None => patience,
        };
        let waited = shared.ended.wait_timeout(state, left);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
    None
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.state().running = None;
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // What it calls has its own way to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn an_input_without_end_is_named() {
        let (send, receive) = mpsc::channel();
        let watchdog = Watchdog::begin(Duration::from_millis(1), move |input| {
            send.send(input.to_vec()).unwrap();
        });
        let watched = watchdog.watch(&Arc::new(b"round and round".to_vec()));
        assert_eq!(receive.recv().unwrap(), b"round and round");
        drop(watched);
    }

    #[test]
    fn inputs_that_end_are_not() {
        let (send, receive) = mpsc::channel();
        let watchdog = Watchdog::begin(Duration::from_secs(3600), move |input| {
            send.send(input.to_vec()).unwrap();
        });
        for n in 0..100 {
            drop(watchdog.watch(&Arc::new(vec![n])));
        }
        drop(watchdog);
        assert_eq!(receive.recv(), Err(mpsc::RecvError), "its thread ended without a word");
    }
}
