//! The relay's threads: two for each hop, one for each direction.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use maxseg_core::scenario::{End, Scenario};

use super::capture::Mailbox;
use super::failure::LabError;
use super::network::{Cable, Network};
use super::relay::{Direction, Order, Report};
use crate::sys::{Bell, Clock};

/// The threads of a network; they end when this does.
#[derive(Debug)]
pub(super) struct Relays {
    stop: Arc<AtomicBool>,
    threads: Vec<[Thread; 2]>,
}

#[derive(Debug)]
struct Thread {
    link: String,
    bell: Arc<Bell>,
    orders: Sender<Order>,
    handle: JoinHandle<io::Result<Report>>,
}

/// Both directions of a hop, in the order in which everything lists them.
pub(super) const DIRECTIONS: [End; 2] = [End::Receiver, End::Sender];

/// What the link of a hop towards one of its ends is called: its random streams too.
pub(super) fn link_name(hop: &str, to: End) -> String {
    match to {
        End::Receiver => format!("hop.{hop}"),
        End::Sender => format!("hop.{hop}.reverse"),
    }
}

impl Relays {
    /// Starts them; what passes is left at `mailbox` of its hop and direction, if there is one.
    pub(super) fn start(
        scenario: &Scenario,
        cables: &[Cable],
        clock: Clock,
        mailbox: impl Fn(usize, End) -> Option<Arc<Mailbox>>,
    ) -> Result<Self, LabError> {
        let mut relays = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        for (hop, (spec, cable)) in scenario.path.hops.iter().zip(cables).enumerate() {
            let start = |to: End| {
                let link = link_name(&spec.name, to);
                start_one(
                    scenario,
                    cable,
                    (hop, to),
                    (&link, &relays.stop, clock),
                    mailbox(hop, to),
                )
                .map_err(|error| LabError::Link { link, error })
            };
            let pair = DIRECTIONS.map(start);
            let [forward, reverse] = pair;
            relays.threads.push([forward?, reverse?]);
        }
        Ok(relays)
    }

    /// Whether all of them still run.
    pub(super) fn check(&self) -> Result<(), LabError> {
        match self.threads.iter().flatten().find(|thread| thread.handle.is_finished()) {
            None => Ok(()),
            Some(thread) => Err(thread.has_ended()),
        }
    }

    /// A link becomes what `scenario` says; it is when this returns.
    pub(super) fn change(&self, scenario: &Scenario, hop: usize, to: End) -> Result<(), LabError> {
        let spec = &scenario.path.hops[hop];
        let (spec, side) = match to {
            End::Receiver => (&spec.forward, 0),
            End::Sender => (&spec.reverse, 1),
        };
        let silent = Network::silent(scenario, hop, to);
        let thread = &self.threads[hop][side];
        thread.ask(|done| Order::Change { spec: Box::new(spec.clone()), silent, done })
    }

    /// What each did so far.
    pub(super) fn reports(&self) -> Result<Vec<[Report; 2]>, LabError> {
        let report = |thread: &Thread| thread.ask(Order::Report);
        self.threads.iter().map(|[to, back]| Ok([report(to)?, report(back)?])).collect()
    }

    /// Ends them. Gives what each did.
    pub(super) fn stop(mut self) -> Result<Vec<[Report; 2]>, LabError> {
        self.tell_to_stop();
        let end = |thread: Thread| {
            let Thread { link, handle, .. } = thread;
            let ended = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ended.map_err(|error| LabError::Link { link, error })
        };
        let threads = std::mem::take(&mut self.threads);
        threads.into_iter().map(|[to, back]| Ok([end(to)?, end(back)?])).collect()
    }

    fn tell_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.iter().flatten() {
            thread.bell.ring();
        }
    }
}

impl Drop for Relays {
    fn drop(&mut self) {
        self.tell_to_stop();
    }
}

impl Thread {
    /// Asks for something, and waits for the answer.
    fn ask<T>(&self, order: impl FnOnce(Sender<T>) -> Order) -> Result<T, LabError> {
        let (sender, answer): (_, Receiver<T>) = mpsc::channel();
        self.orders.send(order(sender)).map_err(|_| self.has_ended())?;
        self.bell.ring();
        answer.recv().map_err(|_| self.has_ended())
    }

    fn has_ended(&self) -> LabError {
        let error = io::Error::other("its thread has ended");
        LabError::Link { link: self.link.clone(), error }
    }
}

fn start_one(
    scenario: &Scenario,
    cable: &Cable,
    (hop, to): (usize, End),
    (link, stop, clock): (&str, &Arc<AtomicBool>, Clock),
    capture: Option<Arc<Mailbox>>,
) -> io::Result<Thread> {
    let spec = &scenario.path.hops[hop];
    let (from, into, spec) = match to {
        End::Receiver => (&cable.near, &cable.far, &spec.forward),
        End::Sender => (&cable.far, &cable.near, &spec.reverse),
    };
    let (orders, receiver) = mpsc::channel();
    let bell = Arc::new(Bell::new()?);
    let direction = Direction {
        name: link.to_owned(),
        spec: spec.clone(),
        seed: scenario.seed,
        as_netem: scenario.lab.as_netem,
        silent: Network::silent(scenario, hop, to),
        from: from.again()?,
        to: into.again()?,
        clock,
        bell: Arc::clone(&bell),
        stop: Arc::clone(stop),
        orders: receiver,
        capture,
    };
    let handle =
        std::thread::Builder::new().name(format!("maxseg-{hop}")).spawn(move || direction.run())?;
    Ok(Thread { link: link.to_owned(), bell, orders, handle })
}
