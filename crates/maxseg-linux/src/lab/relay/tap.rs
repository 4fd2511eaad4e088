//! The packets of a relay, recorded for a capture.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use maxseg_core::link::{Fate, SendOutcome};
use maxseg_core::units::Time;

use super::buffer::SegmentRange;
use super::wire_packet::write_wire_packet;
use crate::lab::capture::{LinkEnd, Loss, PacketRecord, RecordQueue, SNAP_LEN};

/// Records the packets of one direction of a hop, as they are on the wire: where they enter the link, and where they
/// leave it.
#[derive(Debug)]
pub(crate) struct Tap {
    queue: Arc<RecordQueue>,
    batch: Vec<PacketRecord>,
    /// Packets whose fate, or that of a packet before them, is not known yet, in order of arrival.
    undecided: VecDeque<Undecided>,
}

#[derive(Debug)]
struct Undecided {
    at: Time,
    segment: SegmentRange,
    /// `None` while it is not known.
    fate: Option<RecordedFate>,
}

/// What the capture records of a packet at this link.
#[derive(Debug, Clone, Copy)]
enum RecordedFate {
    Arrives,
    Lost(Loss),
}

/// Records handed over at once.
const BATCH: usize = 256;

impl Tap {
    pub(crate) fn new(queue: Arc<RecordQueue>) -> Self {
        Self { queue, batch: Vec::with_capacity(BATCH), undecided: VecDeque::new() }
    }

    /// A packet enters the link.
    pub(super) fn entered(&mut self, now: Time, segment: SegmentRange, sent: SendOutcome) {
        let fate = match sent {
            SendOutcome::InFlight => Some(RecordedFate::Arrives),
            SendOutcome::Lost(fate) => Some(recorded(fate)),
            SendOutcome::Undecided => None,
        };
        self.undecided.push_back(Undecided { at: now, segment, fate });
        self.settle();
    }

    /// A packet that entered earlier was lost.
    pub(super) fn lost(&mut self, segment: &SegmentRange, fate: Fate) {
        self.decide(segment, segment.first, segment.last, recorded(fate));
    }

    /// A packet and those that follow it up to the `last` leave the link.
    pub(super) fn left(&mut self, now: Time, segment: &SegmentRange, last: u16) {
        self.decide(segment, segment.first, last, RecordedFate::Arrives);
        for index in segment.first..=last {
            self.record(now, LinkEnd::Leaving, segment, index, None);
        }
    }

    /// The thread is going to wait.
    pub(super) fn rest(&mut self) {
        self.queue.post(&mut self.batch);
        let waiting = self.batch.first().map(|record| record.at);
        let oldest = self.undecided.front().map(|undecided| undecided.at);
        match waiting.into_iter().chain(oldest).min() {
            Some(at) => self.queue.complete_until(at),
            None => self.queue.idle(),
        }
    }

    /// The thread has woken: its next records are of this time or later.
    pub(super) fn wake(&self, now: Time) {
        self.queue.awake(now);
    }

    fn decide(&mut self, segment: &SegmentRange, first: u16, last: u16, fate: RecordedFate) {
        let parts = self.undecided.iter_mut().filter(|undecided| {
            let part = &undecided.segment;
            Rc::ptr_eq(&part.of, &segment.of) && (first..=last).contains(&part.first)
        });
        // In order of arrival: the search ends at the last of the range.
        for undecided in parts {
            undecided.fate.get_or_insert(fate);
            if undecided.segment.last == last {
                break;
            }
        }
        self.settle();
    }

    /// Records the packets whose fate is known, in order of arrival.
    fn settle(&mut self) {
        while self.undecided.front().is_some_and(|first| first.fate.is_some()) {
            let Some(Undecided { at, segment, fate }) = self.undecided.pop_front() else {
                return;
            };
            let loss = match fate {
                Some(RecordedFate::Lost(loss)) => Some(loss),
                Some(RecordedFate::Arrives) | None => None,
            };
            for index in segment.first..=segment.last {
                self.record(at, LinkEnd::Entering, &segment, index, loss);
            }
        }
    }

    fn record(
        &mut self,
        at: Time,
        place: LinkEnd,
        segment: &SegmentRange,
        index: u16,
        loss: Option<Loss>,
    ) {
        let mut bytes = [0; SNAP_LEN];
        let packet = &segment.of;
        let marked = segment.marked && place == LinkEnd::Leaving;
        let length = write_wire_packet(packet.bytes(), &packet.layout, index, marked, &mut bytes);
        self.batch.push(PacketRecord {
            at,
            place,
            loss,
            kept: u8::try_from(length.kept).unwrap_or(u8::MAX),
            original_len: u32::try_from(length.whole).unwrap_or(u32::MAX),
            bytes,
        });
        if self.batch.len() >= BATCH {
            self.queue.post(&mut self.batch);
            if self.batch.is_empty() {
                let oldest = self.undecided.front().map_or(at, |undecided| undecided.at);
                self.queue.complete_until(oldest.min(at));
            }
        }
    }
}

/// Packets still on the link are recorded as not lost.
impl Drop for Tap {
    fn drop(&mut self) {
        for undecided in &mut self.undecided {
            undecided.fate.get_or_insert(RecordedFate::Arrives);
        }
        self.settle();
        self.queue.close(&mut self.batch);
    }
}

fn recorded(fate: Fate) -> RecordedFate {
    match fate {
        Fate::Arrives(_) | Fate::Marked(_) => RecordedFate::Arrives,
        Fate::Damaged(_) => RecordedFate::Lost(Loss::Damaged),
        Fate::Refused(_) => RecordedFate::Lost(Loss::Refused),
        Fate::TooBig { .. } => RecordedFate::Lost(Loss::TooBig),
    }
}
