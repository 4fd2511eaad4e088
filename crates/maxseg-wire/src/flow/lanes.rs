//! Connections that several threads follow: each has some of the parts, and gets their packets in batches.
//!
//! The batches are bounded in number and come back empty, so that nothing is allocated for a packet.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::follower::{Follower, Passing};
use super::options::FlowOptions;
use super::owned_segment::OwnedSegment;
use super::part::{PARTS, part_of};
use super::{Seen, TooBig};

/// A lane for each thread.
#[derive(Debug)]
pub(super) struct Lanes {
    list: Vec<Lane>,
}

/// The way to one thread.
#[derive(Debug)]
struct Lane {
    /// What it gets next.
    batch: Vec<Queued>,
    to: SyncSender<Vec<Queued>>,
    /// Batches that it has worked off.
    back: Receiver<Vec<Queued>>,
    thread: JoinHandle<Follower>,
}

/// What waits for a thread, with its count.
#[derive(Debug)]
enum Queued {
    Segment(OwnedSegment, u64),
    TooBig(TooBig, u64),
}

/// Packets of a batch: about 200 kB, which stay in the processor's second-level cache.
const BATCH: usize = 1024;
/// Batches that wait for a thread at most.
const WAITING: usize = 4;

impl Lanes {
    /// Starts so many threads, one at least, and no more than there are parts.
    pub(super) fn start(options: FlowOptions, threads: usize) -> io::Result<Self> {
        let followed = Arc::new(AtomicUsize::new(0));
        let threads = 0..threads.clamp(1, PARTS);
        let lanes = threads.map(|_| Lane::start(Follower::beside(options, Arc::clone(&followed))));
        Ok(Self { list: lanes.collect::<io::Result<_>>()? })
    }

    #[inline]
    pub(super) fn on_segment(&mut self, seen: &Seen<'_>, passing: Passing) {
        let part = part_of(&seen.source, &seen.destination);
        let mut segment = OwnedSegment::of(seen, passing.fragments);
        segment.is_late = passing.is_late;
        self.queue(part, Queued::Segment(segment, passing.count));
    }

    pub(super) fn on_too_big(&mut self, notice: &TooBig, count: u64) {
        let part = notice.quoted.map_or(0, |quoted| part_of(&quoted.source, &quoted.destination));
        self.queue(part, Queued::TooBig(*notice, count));
    }

    #[inline]
    fn queue(&mut self, part: usize, what: Queued) {
        let place = part * self.list.len() / PARTS;
        if let Some(lane) = self.list.get_mut(place) {
            lane.batch.push(what);
            if lane.batch.len() >= BATCH {
                lane.send();
            }
        }
    }

    /// Nothing more comes: waits for the threads, and gives what they have followed.
    pub(super) fn finish(mut self) -> Vec<Follower> {
        self.list.iter_mut().for_each(Lane::send);
        self.list.into_iter().map(Lane::finish).collect()
    }
}

impl Lane {
    fn start(follower: Follower) -> io::Result<Self> {
        let (to, batches) = sync_channel(WAITING);
        let (worked_off, back) = channel();
        let thread = Builder::new()
            .name("follower".to_owned())
            .spawn(move || work_off(follower, &batches, &worked_off))?;
        Ok(Self { batch: Vec::with_capacity(BATCH), to, back, thread })
    }

    fn send(&mut self) {
        let empty = self.back.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        let batch = std::mem::replace(&mut self.batch, empty);
        // A thread that takes nothing any more has panicked: whoever waits for it hears of that.
        let _ = self.to.send(batch);
    }

    fn finish(self) -> Follower {
        drop(self.to);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// What a thread does.
fn work_off(
    mut follower: Follower,
    batches: &Receiver<Vec<Queued>>,
    worked_off: &Sender<Vec<Queued>>,
) -> Follower {
    for mut batch in batches {
        for queued in &batch {
            match queued {
                Queued::Segment(segment, count) => {
                    let (fragments, is_late) = (segment.fragments, segment.is_late);
                    let passing = Passing { count: *count, fragments, is_late };
                    follower.on_segment(&segment.seen(), passing);
                }
                Queued::TooBig(notice, count) => follower.on_too_big(notice, *count),
            }
        }
        batch.clear();
        // Nobody takes it back at the end.
        let _ = worked_off.send(batch);
    }
    follower.finish()
}
