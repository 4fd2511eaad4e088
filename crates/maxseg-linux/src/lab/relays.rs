//! The relay's threads: one for each direction of each hop.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use maxseg_core::scenario::{End, Scenario};

use super::capture::RecordQueue;
use super::error::LabError;
use super::header_limits::LimitsOf;
use super::network::TunPair;
use super::relay::{Command, RelayConfig, Report};
use super::topology::{DIRECTIONS, icmp_blocked, link_name, upstream};
use crate::sys::{Clock, Waker};

/// The relay threads of a network; dropping it ends them.
#[derive(Debug)]
pub(super) struct Relays {
    stop: Arc<AtomicBool>,
    /// Woken when a thread ends.
    thread_exit: Arc<Waker>,
    /// Of each hop in the path's order, towards the receiver and towards the sender.
    threads: Vec<RelayThread>,
    limits_of: LimitsOf,
}

#[derive(Debug)]
struct RelayThread {
    link: String,
    waker: Arc<Waker>,
    commands: Sender<Command>,
    has_ended: Arc<AtomicBool>,
    /// `None` when the thread has been joined.
    handle: RefCell<Option<JoinHandle<io::Result<Report>>>>,
    /// The error with which it ended.
    failure: OnceCell<io::Error>,
}

/// Signals the end of its thread when it is dropped, after a panic too.
struct ExitNotifier {
    has_ended: Arc<AtomicBool>,
    thread_exit: Arc<Waker>,
}

impl Drop for ExitNotifier {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        self.thread_exit.wake();
    }
}

impl Relays {
    /// Starts the threads. TCP headers are bounded by `limits_of`; a capture's records of a hop and direction go to
    /// `record_queue`, if there is one.
    pub(super) fn start(
        scenario: &Scenario,
        pairs: &[TunPair],
        clock: Clock,
        limits_of: LimitsOf,
        record_queue: impl Fn(usize, End) -> Option<Arc<RecordQueue>>,
    ) -> Result<Self, LabError> {
        let thread_exit =
            Waker::new().map_err(|error| LabError::Link { link: "all".to_owned(), error })?;
        let (stop, thread_exit) = (Arc::new(AtomicBool::new(false)), Arc::new(thread_exit));
        let mut relays = Self { stop, thread_exit, threads: Vec::new(), limits_of };
        for (hop, (spec, pair)) in scenario.path.hops.iter().zip(pairs).enumerate() {
            for to in DIRECTIONS {
                let link = link_name(&spec.name, to);
                let thread = relays
                    .start_one(scenario, pair, (hop, to), (&link, clock), record_queue(hop, to))
                    .map_err(|error| LabError::Link { link, error })?;
                // Kept at once: if the next cannot start, dropping `relays` ends this one.
                relays.threads.push(thread);
            }
        }
        Ok(relays)
    }

    /// Whether all threads run; the error of the first that does not.
    pub(super) fn check(&self) -> Result<(), LabError> {
        let ended = self.threads.iter().find(|thread| thread.has_ended.load(Ordering::Acquire));
        ended.map_or(Ok(()), |thread| Err(thread.failure()))
    }

    /// Woken when a thread ends.
    pub(super) fn thread_exit(&self) -> &Waker {
        &self.thread_exit
    }

    /// Changes a link to that of `scenario`; the change is in effect when this returns.
    pub(super) fn change(&self, scenario: &Scenario, hop: usize, to: End) -> Result<(), LabError> {
        let spec = &scenario.path.hops[hop];
        let (spec, side) = match to {
            End::Receiver => (&spec.forward, 0),
            End::Sender => (&spec.reverse, 1),
        };
        let (icmp_blocked, limits) =
            (icmp_blocked(scenario, hop, to), (self.limits_of)(scenario, hop, to));
        let upstream = upstream(scenario, hop, to).cloned().map(Box::new);
        let thread = &self.threads[2 * hop + side];
        let spec = Box::new(spec.clone());
        thread.ask(|done| Command::Change { spec, upstream, icmp_blocked, limits, done })
    }

    /// The counters of each hop so far, towards the receiver and towards the sender.
    pub(super) fn reports(&self) -> Result<Vec<[Report; 2]>, LabError> {
        let report = |thread: &RelayThread| thread.ask(Command::Report);
        let pairs = self.threads.chunks_exact(2);
        pairs.map(|pair| Ok([report(&pair[0])?, report(&pair[1])?])).collect()
    }

    /// Ends the threads. Gives the counters of each hop.
    pub(super) fn stop(mut self) -> Result<Vec<[Report; 2]>, LabError> {
        self.request_stop();
        // All are joined before the first error is returned.
        let ended: Vec<_> = self.threads.drain(..).map(RelayThread::join).collect();
        let mut reports = ended.into_iter().collect::<Result<Vec<Report>, _>>()?.into_iter();
        let mut pairs = Vec::new();
        while let (Some(to), Some(back)) = (reports.next(), reports.next()) {
            pairs.push([to, back]);
        }
        Ok(pairs)
    }

    fn request_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in &self.threads {
            thread.waker.wake();
        }
    }
}

impl Drop for Relays {
    fn drop(&mut self) {
        self.request_stop();
        for thread in self.threads.drain(..) {
            if let Some(handle) = thread.handle.take() {
                // The caller already has an error to report.
                let _ = handle.join();
            }
        }
    }
}

impl RelayThread {
    /// Starts the thread. `work` receives the commands sent to `commands`.
    fn start(
        (name, link): (String, &str),
        (waker, commands): (Arc<Waker>, Sender<Command>),
        thread_exit: &Arc<Waker>,
        work: impl FnOnce() -> io::Result<Report> + Send + 'static,
    ) -> io::Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let end = ExitNotifier {
            has_ended: Arc::clone(&has_ended),
            thread_exit: Arc::clone(thread_exit),
        };
        let run = move || {
            let _end = end;
            work()
        };
        let handle = RefCell::new(Some(std::thread::Builder::new().name(name).spawn(run)?));
        let failure = OnceCell::new();
        Ok(Self { link: link.to_owned(), waker, commands, has_ended, handle, failure })
    }

    /// Sends a command and waits for the answer.
    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, LabError> {
        let (sender, answer): (_, Receiver<T>) = mpsc::channel();
        self.commands.send(command(sender)).map_err(|_| self.failure())?;
        self.waker.wake();
        answer.recv().map_err(|_| self.failure())
    }

    /// The error with which the thread ended. Waits for its end.
    fn failure(&self) -> LabError {
        let error = self.failure.get_or_init(|| match self.handle.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            Some(Err(_)) => io::Error::other("its thread has panicked"),
            Some(Ok(Ok(_))) | None => io::Error::other("its thread has ended"),
        });
        // `io::Error` is not `Clone`: every caller gets a copy of kind and text.
        let error = io::Error::new(error.kind(), error.to_string());
        LabError::Link { link: self.link.clone(), error }
    }

    /// Waits for its end, after [`Relays::request_stop`].
    fn join(self) -> Result<Report, LabError> {
        let Some(handle) = self.handle.take() else { return Err(self.failure()) };
        let ended = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended.map_err(|error| LabError::Link { link: self.link, error })
    }
}

impl Relays {
    fn start_one(
        &self,
        scenario: &Scenario,
        pair: &TunPair,
        (hop, to): (usize, End),
        (link, clock): (&str, Clock),
        capture: Option<Arc<RecordQueue>>,
    ) -> io::Result<RelayThread> {
        let spec = &scenario.path.hops[hop];
        let (from, into, spec) = match to {
            End::Receiver => (&pair.near, &pair.far, &spec.forward),
            End::Sender => (&pair.far, &pair.near, &spec.reverse),
        };
        let (commands, receiver) = mpsc::channel();
        let waker = Arc::new(Waker::new()?);
        let config = RelayConfig {
            name: link.to_owned(),
            spec: spec.clone(),
            upstream: upstream(scenario, hop, to).cloned(),
            seed: scenario.seed,
            as_netem: scenario.lab.as_netem,
            icmp_blocked: icmp_blocked(scenario, hop, to),
            limits: (self.limits_of)(scenario, hop, to),
            from: from.try_clone()?,
            to: into.try_clone()?,
            clock,
            waker: Arc::clone(&waker),
            stop: Arc::clone(&self.stop),
            commands: receiver,
            capture,
        };
        let name = format!("maxseg-{hop}");
        RelayThread::start((name, link), (waker, commands), &self.thread_exit, || config.run())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::wait_for;
    use std::os::fd::AsFd;

    fn relays(work: impl FnOnce(&AtomicBool) -> io::Result<Report> + Send + 'static) -> Relays {
        let [thread_exit, waker] = [(); 2].map(|()| Arc::new(Waker::new().unwrap()));
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let (commands, _) = mpsc::channel();
        let names = ("test".to_owned(), "hop.radio");
        let thread =
            RelayThread::start(names, (waker, commands), &thread_exit, move || work(&stop_flag))
                .unwrap();
        Relays { stop, thread_exit, threads: vec![thread], limits_of: |_, _, _| None }
    }

    #[test]
    fn a_thread_that_fails_wakes_the_waiter_and_every_caller_gets_its_error() {
        let relays = relays(|_| Err(io::Error::other("the wire is cut")));
        wait_for(&[relays.thread_exit().as_fd()], None).unwrap();
        for _ in 0..2 {
            let error = relays.check().unwrap_err().to_string();
            assert_eq!(error, "link hop.radio: the wire is cut");
        }
        assert!(relays.stop().unwrap_err().to_string().contains("the wire is cut"));
    }

    #[test]
    fn dropping_the_relays_ends_their_threads() {
        let (sender, over) = mpsc::channel();
        let relays = relays(move |stop| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            sender.send(()).map_err(io::Error::other)?;
            Err(io::Error::other("stopped"))
        });
        relays.check().unwrap();
        drop(relays);
        over.try_recv().unwrap();
    }
}
