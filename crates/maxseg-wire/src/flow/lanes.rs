//! Connections that several threads follow: those of each [part](super::part) are followed by one thread at a time, whichever is
//! free.
//!
//! ```text
//! Seen → a batch of each part → the part's queue → any thread; also the one that reads, where too much waits
//! ```
//!
//! A thread takes all that waits for a part, together with what follows its connections: the order of a part's packets is
//! kept, and nothing of it is used by two threads at once. Batches come back empty, so that nothing is allocated for a packet.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use maxseg_core::evidence::UnreachableEvent;

use super::TooBig;
use super::follower::Follower;
use super::hole::HoleInTime;
use super::lane_batch::LaneBatch;
use super::options::FlowOptions;
use super::part::{PARTS, part_of};
use super::seen::{Passing, Seen};

/// The parts, and the threads that follow them.
#[derive(Debug)]
pub(super) struct Lanes {
    /// What is queued next, for each part.
    batches: [LaneBatch; PARTS],
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What all threads share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to follow, or nothing more comes.
    work: Condvar,
    /// A thread is done with what it had taken.
    done: Condvar,
}

#[derive(Debug)]
struct State {
    lanes: [Lane; PARTS],
    /// Batches and notices in all queues.
    waiting: usize,
    /// Batches that were followed.
    empty: Vec<LaneBatch>,
    is_complete: bool,
    /// A thread has panicked, and what it had taken does not come back.
    has_lost: bool,
}

/// A part.
#[derive(Debug)]
struct Lane {
    queue: Vec<Queued>,
    /// `None` while a thread has it.
    follower: Option<Box<Follower>>,
}

/// What waits: segments, a notice with its count, a hole, or the end.
#[derive(Debug)]
enum Queued {
    Segments(LaneBatch),
    TooBig(Box<TooBig>, u64),
    Unreachable(Box<UnreachableEvent>),
    Hole(HoleInTime),
    End,
}

/// All that waited for a part.
struct Taken {
    part: usize,
    queue: Vec<Queued>,
    follower: Box<Follower>,
}

/// What is left of it: the follower, and empty batches.
struct Followed {
    part: usize,
    follower: Box<Follower>,
    batches: Vec<LaneBatch>,
}

/// Segments of a batch, about 100 kB.
const BATCH: usize = 1024;
/// What waits at most before the thread that reads follows some of it itself.
const MOST_WAITING: usize = 8;

impl Lanes {
    /// Starts so many threads, one at least, and no more than there are parts.
    pub(super) fn start(options: FlowOptions, threads: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(options));
        let mut started = Self {
            batches: std::array::from_fn(|_| LaneBatch::with_capacity(BATCH)),
            shared: Arc::clone(&shared),
            threads: Vec::new(),
        };
        for _ in 0..threads.clamp(1, PARTS) {
            let shared = Arc::clone(&shared);
            let thread = Builder::new().name("follower".to_owned());
            started.threads.push(thread.spawn(move || shared.follow_all())?);
        }
        Ok(started)
    }

    #[inline]
    pub(super) fn on_segment(&mut self, seen: &Seen<'_>, passing: Passing, count: u64) {
        let part = part_of(&seen.source, &seen.destination);
        if let Some(batch) = self.batches.get_mut(part) {
            batch.push(seen, passing, count);
            if batch.len() >= BATCH {
                self.send(part);
            }
        }
    }

    pub(super) fn on_too_big(&mut self, notice: &TooBig, count: u64) {
        let part = notice.quoted.map_or(0, |quoted| part_of(&quoted.source, &quoted.destination));
        self.send(part);
        self.shared.queue(part, Queued::TooBig(Box::new(*notice), count));
    }

    pub(super) fn on_unreachable(&mut self, event: &UnreachableEvent) {
        let (source, destination) = event.quoted;
        let part = part_of(&source, &destination);
        self.send(part);
        self.shared.queue(part, Queued::Unreachable(Box::new(*event)));
    }

    pub(super) fn on_hole(&mut self, hole: HoleInTime) {
        for part in 0..PARTS {
            self.send(part);
            self.shared.queue(part, Queued::Hole(hole));
        }
    }

    /// Queues the segments of a part so far.
    #[inline(never)]
    fn send(&mut self, part: usize) {
        let Some(batch) = self.batches.get_mut(part).filter(|batch| !batch.is_empty()) else {
            return;
        };
        let empty = self.shared.lock().empty.pop();
        let empty = empty.unwrap_or_else(|| LaneBatch::with_capacity(BATCH));
        let batch = std::mem::replace(batch, empty);
        self.shared.queue(part, Queued::Segments(batch));
    }

    /// Nothing more comes: follows the rest together with the threads, and gives what they have followed.
    pub(super) fn finish(mut self) -> Vec<Follower> {
        for part in 0..PARTS {
            self.send(part);
            self.shared.queue(part, Queued::End);
        }
        self.shared.complete();
        self.shared.follow_all();
        for thread in std::mem::take(&mut self.threads) {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        let mut state = self.shared.lock();
        let followers = state.lanes.iter_mut().filter_map(|lane| lane.follower.take());
        followers.map(|follower| *follower).collect()
    }
}

impl Drop for Lanes {
    /// The threads end, where what they follow is not asked for any more.
    fn drop(&mut self) {
        self.shared.complete();
    }
}

impl Shared {
    fn new(options: FlowOptions) -> Self {
        let begun = Arc::new(AtomicUsize::new(0));
        let lane = |_| Lane {
            queue: Vec::new(),
            follower: Some(Box::new(Follower::beside(options, Arc::clone(&begun)))),
        };
        let state = State {
            lanes: std::array::from_fn(lane),
            waiting: 0,
            empty: Vec::new(),
            is_complete: false,
            has_lost: false,
        };
        Self { state: Mutex::new(state), work: Condvar::new(), done: Condvar::new() }
    }

    /// What a thread does: follows what waits until nothing more comes.
    fn follow_all(&self) {
        let _told = TellOfPanic(self);
        while let Some(taken) = self.next() {
            self.give_back(taken.follow());
        }
    }

    /// What waits for a part, once there is something; `None` where nothing more comes.
    fn next(&self) -> Option<Taken> {
        let mut state = self.lock();
        loop {
            if let Some(taken) = state.take() {
                return Some(taken);
            }
            if state.is_complete {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds to what waits for a part. Where that is too much, follows some of it, or waits for a thread that does.
    fn queue(&self, part: usize, what: Queued) {
        let mut state = self.lock();
        state.push(part, what);
        self.work.notify_one();
        while state.waiting > MOST_WAITING && !state.has_lost {
            if let Some(taken) = state.take() {
                drop(state);
                self.give_back(taken.follow());
                state = self.lock();
            } else {
                state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn give_back(&self, Followed { part, follower, batches }: Followed) {
        let mut state = self.lock();
        state.empty.extend(batches);
        if let Some(lane) = state.lanes.get_mut(part) {
            lane.follower = Some(follower);
        }
        drop(state);
        self.work.notify_one();
        self.done.notify_one();
    }

    fn complete(&self) {
        self.lock().is_complete = true;
        self.work.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, part: usize, what: Queued) {
        if let Some(lane) = self.lanes.get_mut(part) {
            lane.queue.push(what);
            self.waiting += 1;
        }
    }

    /// The longest queue of those that no thread works on.
    fn take(&mut self) -> Option<Taken> {
        let is_free = |lane: &Lane| lane.follower.is_some() && !lane.queue.is_empty();
        let free = self.lanes.iter_mut().enumerate().filter(|(_, lane)| is_free(lane));
        let (part, lane) = free.max_by_key(|(_, lane)| lane.queue.len())?;
        let follower = lane.follower.take()?;
        let queue = std::mem::take(&mut lane.queue);
        self.waiting -= queue.len();
        Some(Taken { part, queue, follower })
    }
}

impl Taken {
    fn follow(self) -> Followed {
        let Self { part, queue, mut follower } = self;
        let mut batches = Vec::with_capacity(queue.len());
        for queued in queue {
            match queued {
                Queued::Segments(mut batch) => {
                    for (seen, passing, count) in batch.iter() {
                        follower.on_segment(&seen, passing, count);
                    }
                    batch.clear();
                    batches.push(batch);
                }
                Queued::TooBig(notice, count) => follower.on_too_big(&notice, count),
                Queued::Unreachable(event) => follower.on_unreachable(&event),
                Queued::Hole(hole) => follower.on_hole(hole),
                Queued::End => follower.finish(),
            }
        }
        Followed { part, follower, batches }
    }
}

/// Has the thread that reads wait no longer for one that has panicked; whoever joins that one hears of the panic.
struct TellOfPanic<'a>(&'a Shared);

impl Drop for TellOfPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().has_lost = true;
            self.0.done.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_thread_that_panics_is_waited_for_no_longer() {
        let shared = Arc::new(Shared::new(FlowOptions::default()));
        let (tell, told) = mpsc::channel();
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let _told = TellOfPanic(&of_thread);
            let taken = of_thread.next();
            tell.send(()).unwrap();
            assert!(taken.is_none(), "as by a connection that is followed");
        });
        shared.queue(0, Queued::End);
        told.recv().unwrap();
        for _ in 0..2 * MOST_WAITING {
            shared.queue(0, Queued::End);
        }
        assert!(thread.join().is_err());
    }
}
