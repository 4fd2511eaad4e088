//! Connections that several threads follow: each has some of the parts, and gets their packets in batches.
//!
//! The batches are bounded in number and come back empty, so that nothing is allocated for a packet.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::TooBig;
use super::follower::Follower;
use super::options::FlowOptions;
use super::part::{PARTS, part_of};
use super::seen::{Passing, Seen};
use super::segment_batch::SegmentBatch;

/// A lane for each thread.
#[derive(Debug)]
pub(super) struct Lanes {
    list: Vec<Lane>,
}

/// The way to one thread.
#[derive(Debug)]
struct Lane {
    /// What it gets next.
    batch: SegmentBatch,
    to: SyncSender<Queued>,
    /// Batches that it has worked off.
    back: Receiver<SegmentBatch>,
    thread: JoinHandle<Follower>,
}

/// What waits for a thread: segments, or a notice with its count.
#[derive(Debug)]
enum Queued {
    Segments(SegmentBatch),
    TooBig(Box<TooBig>, u64),
}

/// Packets of a batch: about 100 kB, which stay in the processor's second-level cache.
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
        if let Some(lane) = self.of_part(part) {
            lane.batch.push(seen, passing);
            if lane.batch.len() >= BATCH {
                lane.send();
            }
        }
    }

    pub(super) fn on_too_big(&mut self, notice: &TooBig, count: u64) {
        let part = notice.quoted.map_or(0, |quoted| part_of(&quoted.source, &quoted.destination));
        if let Some(lane) = self.of_part(part) {
            lane.send();
            lane.queue(Queued::TooBig(Box::new(*notice), count));
        }
    }

    #[inline]
    fn of_part(&mut self, part: usize) -> Option<&mut Lane> {
        let place = part * self.list.len() / PARTS;
        self.list.get_mut(place)
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
        Ok(Self { batch: SegmentBatch::with_capacity(BATCH), to, back, thread })
    }

    /// Hands over the segments so far.
    fn send(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let empty = self.back.try_recv();
        let empty = empty.unwrap_or_else(|_| SegmentBatch::with_capacity(BATCH));
        let batch = std::mem::replace(&mut self.batch, empty);
        self.queue(Queued::Segments(batch));
    }

    fn queue(&self, what: Queued) {
        // A thread that takes nothing any more has panicked: whoever waits for it hears of that.
        let _ = self.to.send(what);
    }

    fn finish(self) -> Follower {
        drop(self.to);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// What a thread does.
fn work_off(
    mut follower: Follower,
    batches: &Receiver<Queued>,
    worked_off: &Sender<SegmentBatch>,
) -> Follower {
    for queued in batches {
        match queued {
            Queued::Segments(mut batch) => {
                for (seen, passing) in batch.iter() {
                    follower.on_segment(&seen, passing);
                }
                batch.clear();
                // Nobody takes it back at the end.
                let _ = worked_off.send(batch);
            }
            Queued::TooBig(notice, count) => follower.on_too_big(&notice, count),
        }
    }
    follower.finish()
}
