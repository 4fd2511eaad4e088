//! What happens to a packet before it counts as a segment of the connection: its time is put right, copies made by the
//! capture are sorted out, and acknowledgements of data that was not seen yet wait for it.

use maxseg_core::evidence::EventKind;

use super::super::Seen;
use super::super::capture_points::Beside;
use super::super::clock::{PauseEvidence, Tick};
use super::super::ecn;
use super::super::pair::Endpoint;
use super::super::seen_options::SeenOptions;
use super::Connection;
use crate::tcp::Flags;

impl Connection {
    /// A packet passes, sent by the lower end or not.
    pub(in crate::flow) fn on_segment(&mut self, seen: &Seen<'_>, s: Endpoint) {
        let at = match self.clock.tick(seen.at_nanos, seen.interface) {
            Tick::Runs(at) => at,
            unusual @ (Tick::SetBack(_) | Tick::Pause(_)) => self.unusual_time(unusual, seen, s),
        };
        let put_right;
        let seen = if at == seen.at_nanos {
            seen
        } else {
            put_right = Seen { at_nanos: at, ..*seen };
            &put_right
        };
        self.on_packet(seen, s);
    }

    /// Whether the clock had been set back by little before the packet that passes next, an odd number of times.
    #[inline]
    pub(in crate::flow) const fn note_setting(&mut self, is_odd: bool) {
        self.clock.note_setting(is_odd);
    }

    /// The last packet was stored behind later ones.
    pub(in crate::flow) fn on_late(&mut self) {
        self.late_packets = self.late_packets.saturating_add(1);
    }

    #[inline(always)]
    fn on_packet(&mut self, seen: &Seen<'_>, s: Endpoint) {
        self.end = self.end.max(seen.at_nanos);
        let (first, last) = self.frames;
        self.frames = (first.min(seen.frame), last.max(seen.frame));
        let is_syn = seen.flags.contains(Flags::SYN);
        // Of a connection that began before the capture this flag alone tells.
        self.marks.accurate_ecn |= !is_syn && seen.flags.contains(Flags::AE);
        if seen.flags.bits() & ecn::FLAGS != 0 && !self.marks.accurate_ecn && !is_syn {
            self.on_ecn_flags(seen, s);
        }
        let half = self.halves.of_mut(s);
        half.count(seen);
        let is_counted = half.points.is_counted(seen);
        let may_repeat = half.points.may_repeat(half.counts.data_packets);
        let has_matched = half.recent.is_copy(seen, !is_counted)
            || may_repeat && is_counted && self.is_repeat(seen, s);
        if (has_matched || !is_counted) && self.is_copy(seen, s, is_counted, has_matched) {
            return;
        }
        if self.held.is_some() && self.joins_held(seen, s) || self.waits(seen, s) {
            return;
        }
        self.on_arrived(seen, s);
        if self.held.is_some() {
            self.release_acknowledged(seen.at_nanos);
        }
    }

    /// ECE, CWR, or both, as RFC 3168 has them.
    #[cold]
    fn on_ecn_flags(&mut self, seen: &Seen<'_>, s: Endpoint) {
        let (own, peer) = self.halves.both_mut(s);
        if seen.flags.contains(Flags::ECE) {
            own.echo.on_echo(seen);
        }
        if seen.flags.contains(Flags::CWR) && seen.payload_len > 0 {
            let is_answer = peer.echo.on_reduced(seen);
            own.counts.answered_marks += u32::from(is_answer);
        }
    }

    #[cold]
    fn is_copy(
        &mut self,
        seen: &Seen<'_>,
        s: Endpoint,
        is_counted: bool,
        has_matched: bool,
    ) -> bool {
        if is_counted && seen.payload_len > 0 && self.was_asked_for(seen, s) {
            return false;
        }
        let has_news = self.has_news(seen, s);
        let is_known = !has_news && !self.lacks(seen, s);
        let half = self.halves.of_mut(s);
        let beside = Beside {
            matched: if has_matched { half.recent.apart(seen) } else { None },
            has_news,
            is_known,
        };
        if let Some(apart) = beside.matched.filter(|_| is_counted && seen.payload_len > 0) {
            half.points.on_near_copy(apart);
        }
        let is_copy = is_counted || half.points.is_copy(seen, beside);
        if is_copy {
            half.points.on_copied(seen);
            half.counts.on_copy(seen);
            half.note(EventKind::CaptureDuplicate, seen);
        }
        if is_copy && is_counted {
            self.expect_copies();
        }
        is_copy
    }

    /// Whether a segment of the point that counts was captured at another place before, as all are.
    #[cold]
    fn is_repeat(&mut self, seen: &Seen<'_>, s: Endpoint) -> bool {
        if seen.payload_len == 0 || self.has_news(seen, s) || self.lacks(seen, s) {
            return false;
        }
        let half = self.halves.of_mut(s);
        half.is_seen_twice() && half.points.is_repeat(seen)
    }

    /// A segment was sent before, as far as its numbers say.
    #[cold]
    pub(super) fn on_repeated(&mut self, seen: &Seen<'_>, s: Endpoint) {
        if self.halves.of_mut(s).points.on_resent(seen) {
            self.expect_copies();
        }
    }

    fn expect_copies(&mut self) {
        self.halves.low.recent.expect_copies();
        self.halves.high.recent.expect_copies();
    }

    /// Whether a segment that nothing tells from the one before but its time was asked for by a duplicate acknowledgement between both.
    fn was_asked_for(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let (own, peer) = (self.halves.of(s), self.halves.of(s.other()));
        let has_id = seen.ip_id.is_some_and(|id| id != 0);
        let is_missing = || {
            own.sequence.zip(own.stream.as_ref()).is_some_and(|(sequence, stream)| {
                stream.is_asked_for(sequence.offset(seen.seq, own.nxt))
            })
        };
        let between = || own.recent.apart(seen).is_some_and(|it| peer.recent.came_within(it, seen));
        !has_id && is_missing() && between()
    }

    /// Whether a segment has a number beyond all that was seen of it, or is the first RST: whoever forges one takes any number, and any
    /// identification.
    fn has_news(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let (own, peer) = (self.halves.of(s), self.halves.of(s.other()));
        let sends = own
            .sequence
            .is_none_or(|it| it.offset(seen.seq, own.nxt) + i64::from(seen.seq_len()) > own.nxt);
        let acknowledges = seen.flags.contains(Flags::ACK)
            && peer.sequence.is_none_or(|it| it.offset(seen.ack, peer.una) > peer.una);
        let resets = seen.flags.contains(Flags::RST) && self.reset.is_none();
        sends || acknowledges || resets
    }

    /// Whether bytes of a segment were not seen while later ones were.
    fn lacks(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let own = self.halves.of(s);
        own.sequence.zip(own.stream.as_ref()).is_some_and(|(sequence, stream)| {
            let start = sequence.offset(seen.seq, own.nxt);
            stream.gaps.meet(start, start + i64::from(seen.seq_len()))
        })
    }

    /// The time of a packet where the clock was set, or after a pause.
    #[cold]
    fn unusual_time(&mut self, tick: Tick, seen: &Seen<'_>, s: Endpoint) -> u64 {
        match tick {
            Tick::Runs(at) => at,
            Tick::SetBack(at) => {
                self.on_clock_set(at);
                at
            }
            Tick::Pause(at) => {
                let evidence = self.pause_evidence(seen, at, s);
                let Some(now) = self.clock.set_forward(at, &evidence) else { return at };
                self.on_clock_set(now);
                now
            }
        }
    }

    fn on_clock_set(&mut self, at: u64) {
        self.release_held();
        for half in [&mut self.halves.low, &mut self.halves.high] {
            if let Some(stream) = &mut half.stream {
                stream.on_clock_set(at);
            }
        }
    }

    fn pause_evidence(&self, seen: &Seen<'_>, at: u64, s: Endpoint) -> PauseEvidence {
        let (own, peer) = (self.halves.of(s), self.halves.of(s.other()));
        let stamp = SeenOptions::of(seen.options).timestamps.map(|(value, _)| value);
        // Whoever has all of the payload may answer a FIN as late as its program likes, or have forgotten the connection. And the capture
        // may have lost the last acknowledgement, as of two segments, or see none of them.
        let in_flight = |half: &super::HalfConnection| {
            half.fin.map_or(half.nxt, |fin| half.nxt.min(fin)) - half.una
        };
        let is_new = own.sequence.is_some_and(|it| it.offset(seen.seq, own.nxt) >= own.nxt);
        let acknowledges = peer.sequence.is_some_and(|it| {
            let ack = it.offset(seen.ack, peer.una);
            ack > peer.una && ack <= peer.nxt
        });
        let goes_on = match seen.payload_len {
            0 => acknowledges && in_flight(peer) > 0 && peer.counts.data_packets > 0,
            _ => own.una > 0 && in_flight(own) > 2 * i64::from(own.counts.largest),
        };
        PauseEvidence {
            ticks: stamp.and_then(|stamp| own.stamps.since(stamp, at)),
            tick: own.stamps.tick(),
            goes_on: goes_on && is_new,
        }
    }
}
