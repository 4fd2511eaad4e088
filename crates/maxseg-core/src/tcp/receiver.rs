//! The receiving half of a connection: what has arrived, and when to say so.

mod piggyback;

use super::ranges::Ranges;
use super::reader::Reader;
use super::segment::{OptionsPool, SackBlocks, SegmentOptions, Timestamps};
use super::{Config, Segment};
use crate::settings::{DelayedAck, OfferedWindow};
use crate::units::{Bytes, Time};

/// What a receiver saw so far.
#[derive(Debug, Clone, Default)]
pub struct ReceiverStats {
    /// Packets sent, all of them acknowledgements.
    pub packets: u64,
    /// Payload bytes that had come before.
    pub duplicate_bytes: u64,
    /// Repeated segments that brought nothing new: the resending was not needed.
    pub spurious_retransmissions: u64,
    /// Packets that a queue marked instead of dropping them.
    pub marked: u64,
}

impl ReceiverStats {
    /// Adds what another receiver saw.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.duplicate_bytes += other.duplicate_bytes;
        self.spurious_retransmissions += other.spurious_retransmissions;
        self.marked += other.marked;
    }
}

/// The receiving half of a TCP connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Receiver {
    /// The next byte expected (RCV.NXT).
    next: u64,
    beyond: Ranges,
    window: OfferedWindow,
    /// The application, where it does not read at once.
    reader: Option<Reader>,
    delayed_ack: Option<DelayedAck>,
    /// ns-2's `DelAckSink` takes the last in-order segment, come again, for one in order.
    delays_repetitions: bool,
    /// In-order segments not yet acknowledged.
    unacknowledged: u32,
    ack_due: bool,
    syn_ack_due: bool,
    timer: Time,
    sack: Option<SackMemory>,
    /// The timestamp to echo (TS.Recent), and up to where has been acknowledged (Last.ACK.sent).
    recent_timestamp: Option<Time>,
    acknowledged: u64,
    timestamps: bool,
    /// Whether acknowledgements say more than a number.
    has_options: bool,
    /// A mark has come that the sender has not yet answered (RFC 3168 §6.1.3).
    echoing_marks: bool,
    stats: ReceiverStats,
}

/// What to say in SACK options.
#[derive(Debug, Clone)]
struct SackMemory {
    /// The ranges reported last, latest first.
    recent: Vec<(u64, u64)>,
    /// How many blocks fit an acknowledgement.
    most: usize,
    /// Whether duplicates are reported (RFC 2883), and the one to report.
    reports_duplicates: bool,
    duplicate: Option<(u64, u64)>,
}

impl Receiver {
    /// A receiver that waits for its SYN.
    pub fn new(config: &Config) -> Self {
        let settings = &config.receiver;
        let window = settings.window_field(config.mss());
        Self {
            next: 0,
            beyond: Ranges::default(),
            window,
            reader: settings
                .read_rate
                .map(|rate| Reader::new(rate, u64::from(window.afterwards), config.mss().get())),
            delayed_ack: settings.delayed_ack,
            delays_repetitions: settings.ns2.is_some(),
            unacknowledged: settings.delayed_ack.map_or(0, DelayedAck::ahead),
            ack_due: false,
            syn_ack_due: false,
            timer: Time::NEVER,
            sack: config.uses_sack().then(|| SackMemory {
                recent: Vec::with_capacity(SackBlocks::MOST + 1),
                most: config.sack_blocks(),
                reports_duplicates: settings.ns2.is_none(),
                duplicate: None,
            }),
            recent_timestamp: None,
            acknowledged: 0,
            timestamps: config.uses_timestamps(),
            has_options: config.uses_timestamps() || config.uses_sack(),
            echoing_marks: false,
            stats: ReceiverStats::default(),
        }
    }

    /// A segment has come.
    #[inline(always)]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let (start, end) = (segment.seq, segment.end());
        if self.timestamps {
            self.remember_timestamp(segment);
        }
        if segment.marked || segment.reduced {
            self.note_marks(segment);
        }
        if segment.syn {
            self.next = self.next.max(1);
            self.syn_ack_due = true;
        } else if end == start {
            // A bare acknowledgement asks for none; one of an old number is a probe (RFC 9293 §3.10.7.4).
            self.ack_due |= start < self.next;
        } else if start == self.next && self.beyond.is_empty() {
            self.next = end;
            self.on_in_order(now);
        } else {
            self.on_out_of_order(now, segment, start, end);
        }
        if let Some(reader) = &mut self.reader {
            reader.on_arrival(now, self.next.saturating_sub(1));
        }
    }

    /// A timer is up: an acknowledgement has waited long enough, or the window has opened.
    pub fn on_timeout(&mut self, now: Time) {
        if let Some(reader) = &mut self.reader {
            reader.on_time(now);
        }
        self.ack_due = true;
    }

    /// The next acknowledgement to send, if one is due.
    pub fn poll_transmit(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        self.poll_control(now, options_pool).or_else(|| self.poll_ack(now, options_pool))
    }

    /// Whether [`Receiver::poll_control`] must come before [`Receiver::poll_ack`].
    #[inline(always)]
    pub fn has_control(&self) -> bool {
        self.syn_ack_due
    }

    /// The answer to a SYN.
    #[cold]
    pub fn poll_control(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        self.syn_ack_due.then(|| self.syn_ack(now, options_pool))
    }

    /// The next acknowledgement after the handshake.
    #[inline(always)]
    pub fn poll_ack(&mut self, now: Time, options_pool: &mut OptionsPool) -> Option<Segment> {
        if !self.ack_due {
            return None;
        }
        self.ack_due = false;
        self.unacknowledged = 0;
        self.timer = Time::NEVER;
        self.acknowledged = self.next;
        self.stats.packets += 1;
        let window = self.offer();
        let options = if self.has_options { self.options(now, options_pool) } else { None };
        let echoes_marks = self.echoing_marks;
        Some(Segment { echoes_marks, options, ..Segment::ack(self.next, window) })
    }

    fn syn_ack(&mut self, now: Time, options_pool: &mut OptionsPool) -> Segment {
        self.syn_ack_due = false;
        self.stats.packets += 1;
        let options = options_pool.fill(SackBlocks::NONE, self.timestamp(now));
        Segment { seq: 0, syn: true, options, ..Segment::ack(self.next, self.window.in_syn) }
    }

    fn options(
        &mut self,
        now: Time,
        options_pool: &mut OptionsPool,
    ) -> Option<Box<SegmentOptions>> {
        let blocks = self.sack.as_mut().map_or(SackBlocks::NONE, |sack| sack.blocks(self.next));
        options_pool.fill(blocks, self.timestamp(now))
    }

    /// When a delayed acknowledgement or a window update must go; [`Time::NEVER`] while none waits.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        match &self.reader {
            None => self.timer,
            Some(reader) => self.timer.min(reader.update_at()),
        }
    }

    /// Payload bytes that arrived in order.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.next.saturating_sub(1))
    }

    /// Payload bytes that have arrived, each once, with those behind a hole.
    pub fn arrived(&self) -> Bytes {
        self.delivered() + Bytes::new(self.beyond.total())
    }

    /// What was seen so far.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// The window to offer now.
    #[inline(always)]
    fn offer(&mut self) -> u32 {
        match &mut self.reader {
            None => self.window.afterwards,
            Some(reader) => self.window.carried(reader.offer()),
        }
    }

    #[inline(always)]
    fn on_in_order(&mut self, now: Time) {
        let Some(rule) = self.delayed_ack else {
            self.ack_due = true;
            return;
        };
        self.unacknowledged += 1;
        if self.unacknowledged >= rule.every {
            self.ack_due = true;
        } else if self.timer == Time::NEVER {
            self.timer = now + rule.timeout;
        }
    }

    /// RFC 5681 §4.2: at once when a segment leaves a gap, fills one, or is not new.
    #[cold]
    fn on_out_of_order(&mut self, now: Time, segment: &Segment, start: u64, end: u64) {
        if end == self.next && self.beyond.is_empty() && self.delays_repetitions {
            self.on_in_order(now);
        } else {
            self.ack_due = true;
        }
        let mut new = 0;
        if end > self.next {
            new = self.beyond.insert(start.max(self.next), end);
            self.next = self.beyond.take_through(self.next);
        }
        self.stats.duplicate_bytes += end - start - new;
        self.stats.spurious_retransmissions += u64::from(segment.repeated && new == 0);
        if let Some(sack) = &mut self.sack {
            if new == 0 && sack.reports_duplicates {
                sack.duplicate = Some((start, end));
            }
            sack.remember(self.next, self.beyond.containing(start));
        }
    }

    /// RFC 7323 §4.3: the timestamp of the segment that the next acknowledgement answers first.
    fn remember_timestamp(&mut self, segment: &Segment) {
        if let Some(Timestamps { value, .. }) = segment.timestamps()
            && segment.seq <= self.acknowledged.max(1)
            && self.recent_timestamp.is_none_or(|recent| recent <= value)
        {
            self.recent_timestamp = Some(value);
        }
    }

    fn timestamp(&self, now: Time) -> Option<Timestamps> {
        let echo = self.recent_timestamp.filter(|_| self.timestamps)?;
        Some(Timestamps { value: now, echo })
    }

    /// RFC 3168 §6.1.3: marks are echoed until the sender says that it has reduced its window.
    fn note_marks(&mut self, segment: &Segment) {
        if segment.reduced {
            self.echoing_marks = false;
        }
        if segment.marked {
            self.echoing_marks = true;
            self.stats.marked += 1;
        }
    }
}

impl SackMemory {
    /// What arrived now belongs to `latest`, which is to be reported first; all before `next` is past.
    fn remember(&mut self, next: u64, latest: Option<(u64, u64)>) {
        let (from, to) = latest.unwrap_or((0, next));
        self.recent.retain(|&(start, end)| start < from || end > to);
        self.recent.extend(latest);
        if let Some(range) = latest {
            self.recent.rotate_right(1);
            debug_assert_eq!(self.recent[0], range);
        }
        self.recent.truncate(self.most);
    }

    /// RFC 2018 §4: the range of the latest segment first, then those reported before. RFC 2883 §4: a
    /// duplicate in front of them all, once.
    fn blocks(&mut self, ack: u64) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let duplicate = self.duplicate.take();
        let room = self.most - usize::from(duplicate.is_some());
        self.recent.retain(|&(_, end)| end > ack);
        for (start, end) in duplicate.into_iter().chain(self.recent.iter().copied().take(room)) {
            blocks.push(ack, start, end);
        }
        blocks
    }
}
