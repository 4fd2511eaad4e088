//! Path MTU black holes: a segment that is retransmitted and never arrives, because it is too large for a hop that
//! sends no ICMP message (RFC 2923 §2.1).

use maxseg_core::evidence::BlackHole;
use maxseg_core::framing::IpVersion;
use maxseg_core::mss::default_mss;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::segments::{AckSegment, DataSegment, HistoryStart};

/// The segment that the retransmission timer repeats, and the black hole that it proves.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct BlackHoleDetector {
    start: i64,
    size: i64,
    /// Whether a path may refuse a segment of its size.
    may_be_too_large: bool,
    /// When it was first sent.
    since: u64,
    frame: u64,
    repeats: u32,
    /// The payload with which it was last sent, in bytes.
    now: i64,
    /// Largest segment that arrived without retransmission, in bytes.
    passed: i64,
    /// Largest segment that ever arrived without retransmission, in bytes.
    largest: i64,
    found: Option<BlackHole>,
    /// `None` where nothing was silent, or its size is known to pass.
    first: Option<Box<FirstSegment>>,
}

/// Timeouts of a segment that prove a black hole, if a smaller one arrives in its place.
const HEALED_AFTER: u32 = 2;
/// Timeouts of a segment that prove a black hole, if none arrives in its place.
const STUCK_AFTER: u32 = 3;

impl BlackHoleDetector {
    pub(super) fn new(begin: &HistoryStart) -> Self {
        Self { first: FirstSegment::new(begin), ..Self::default() }
    }

    /// A segment, in the order of the capture.
    pub(super) fn on_data(&mut self, data: &DataSegment) {
        if let Some(first) = &mut self.first
            && !first.on_data(data)
        {
            self.first = None;
        }
    }

    /// The timer retransmitted a segment that was sent at `before`.
    pub(super) fn on_timeout(&mut self, data: &DataSegment, before: Option<u64>) {
        let size = data.end - data.start;
        if data.start == self.start && self.repeats > 0 {
            self.repeats += u32::from(size >= self.size);
            self.now = size;
        } else {
            let since = before.unwrap_or(data.at);
            let (found, first) = (self.found.take(), self.first.take());
            *self = Self {
                start: data.start,
                size,
                may_be_too_large: size > least_mss(data),
                since,
                frame: data.frame,
                repeats: 1,
                now: size,
                // Earlier segments may have taken another path.
                passed: 0,
                largest: self.largest,
                found,
                first,
            };
        }
    }

    /// A segment was retransmitted for another cause.
    pub(super) fn on_other(&mut self, data: &DataSegment) {
        if data.start == self.start && self.repeats > 0 {
            self.now = data.end - data.start;
        }
    }

    /// An acknowledgement; `largest` is the largest segment it covers that was never retransmitted, in bytes.
    pub(super) fn on_acknowledged(&mut self, ack: &AckSegment, largest: i64) {
        self.passed = self.passed.max(largest);
        self.largest = self.largest.max(largest);
        if self.repeats == 0 || ack.una <= self.start {
            return;
        }
        if self.repeats >= HEALED_AFTER && self.now < self.size && self.passed < self.size {
            self.find(ack.at, self.now.max(self.passed));
        }
        self.repeats = 0;
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, end: u64) {
        if self.repeats >= STUCK_AFTER && self.passed < self.size && self.may_be_too_large {
            self.find(end, self.passed);
        }
    }

    fn find(&mut self, to: u64, passed: i64) {
        let bytes = |n: i64| u32::try_from(n).unwrap_or(0);
        self.found.get_or_insert(BlackHole {
            from: Time::from_nanos(self.since),
            to: Time::from_nanos(to),
            frame: self.frame,
            segment_bytes: bytes(self.size),
            repeats: self.repeats,
            passed_bytes: bytes(passed),
            passed_before_bytes: bytes(self.largest),
        });
    }

    pub(super) fn found(&self) -> Option<BlackHole> {
        self.found.or_else(|| self.first.as_ref()?.found())
    }
}

/// The same in sizes that were one packet on the wire, where packets are several segments of `unit` bytes joined, of which none has
/// more than `allowed`: that a joined packet arrives proves nothing of a packet of its length. `None` where nothing smaller is left.
pub(super) fn in_segments(hole: BlackHole, unit: u32, allowed: Option<u32>) -> Option<BlackHole> {
    if !hole.is_by_size() {
        return Some(hole);
    }
    let is_joined =
        |size: u32| size.is_multiple_of(unit.max(1)) || allowed.is_some_and(|most| size > most);
    let segment_bytes = match hole.segment_bytes {
        lost if lost > unit && is_joined(lost) => {
            allowed.filter(|most| lost > *most).unwrap_or(unit)
        }
        lost => lost,
    };
    let hole = BlackHole {
        segment_bytes,
        passed_bytes: hole.passed_bytes.min(unit),
        passed_before_bytes: hole.passed_before_bytes.min(unit),
        ..hole
    };
    (hole.passed_bytes < segment_bytes && hole.is_by_size()).then_some(hole)
}

/// The payload that every path takes: a segment of at most this size is not lost for its size. IPv6 packets have no identification.
fn least_mss(data: &DataSegment) -> i64 {
    let ip = if data.ip_id.is_some() { IpVersion::V4 } else { IpVersion::V6 };
    default_mss(ip).into()
}

/// The first full segment of a sender that finds by itself what passes (RFC 4821), seen behind the narrow hop: of its transmissions in
/// full size nothing comes, and after the silence it comes in pieces. Short messages may come before it: greetings, or the header of a reply.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FirstSegment {
    /// When what came before it came: the handshake, or a message.
    silent_since: u64,
    /// Payload of a full segment by the SYN options, in bytes.
    full: i64,
    at: u64,
    frame: u64,
    /// The first piece, where it begins, and where the next one does, in bytes.
    piece: i64,
    begin: i64,
    next: i64,
    pieces: u8,
    /// Its end is the end of a piece.
    ends: bool,
}

/// What Linux sends after the timeouts that show it a black hole: `net.ipv4.tcp_base_mss`, and half of it (`tcp_mtu_probing`,
/// `net/ipv4/tcp_timer.c`).
const BASES: [i64; 2] = [1024, 512];
/// Pieces that a segment may come in.
const MOST_PIECES: u8 = 4;
/// At least so long nothing comes, in nanoseconds: three timeouts of 200 ms, doubled each time.
const LEAST_SILENCE: u64 = 1_000_000_000;

impl FirstSegment {
    /// `None` behind a beginning that was not captured: it is not known where segments ended.
    fn new(begin: &HistoryStart) -> Option<Box<Self>> {
        let silent_since = begin.silent_since?;
        let first = Self { silent_since, full: begin.full, ..Self::default() };
        (begin.nxt == 0).then(|| Box::new(first))
    }

    /// Gives whether it may still be one.
    fn on_data(&mut self, data: &DataSegment) -> bool {
        let size = data.end - data.start;
        if self.pieces == 0 && data.at < self.silent_since.saturating_add(LEAST_SILENCE) {
            (self.silent_since, self.begin) = (data.at, data.end);
            let is_message = data.start == self.next && size <= least_mss(data);
            self.next = data.end;
            return is_message;
        }
        // New segments come between the pieces.
        let is_next = data.start == self.next && !self.ends;
        if is_next && self.pieces == 0 {
            (self.at, self.frame, self.piece) = (data.at, data.frame, size);
        }
        if is_next {
            self.pieces += 1;
            self.next = data.end;
            self.ends = self.pieces > 1 && data.end - self.begin == self.full;
        }
        if self.ends {
            // A host on the way may join segments of the smaller size.
            return size % self.full.max(1) != 0;
        }
        let is_small = size < self.full && (self.pieces == 0 || BASES.contains(&self.piece));
        is_small && self.pieces < MOST_PIECES
    }

    fn found(&self) -> Option<BlackHole> {
        let bytes = |n: i64| u32::try_from(n).unwrap_or(0);
        self.ends.then(|| BlackHole {
            from: Time::from_nanos(self.silent_since),
            to: Time::from_nanos(self.at),
            frame: self.frame,
            segment_bytes: bytes(self.full),
            repeats: 0,
            passed_bytes: bytes(self.piece),
            passed_before_bytes: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of these lengths, the first of them after a silence of so many seconds, of a host that may send 1448 bytes.
    fn found(silence_s: u64, lengths: &[i64]) -> Option<BlackHole> {
        found_behind(&[], silence_s, lengths)
    }

    /// The same behind messages that came at once.
    fn found_behind(messages: &[i64], silence_s: u64, lengths: &[i64]) -> Option<BlackHole> {
        let silence = silence_s * 1_000_000_000;
        let mut first = FirstSegment::new(&HistoryStart {
            at: if messages.is_empty() { silence } else { 0 },
            silent_since: Some(0),
            to_sender: None,
            to_receiver: None,
            has_stamps: false,
            full: 1448,
            nxt: 0,
            edge: None,
            traced: false,
            begins_late: false,
        })?;
        let mut start = 0;
        let sent = messages.iter().map(|it| (0, it)).chain(lengths.iter().map(|it| (silence, it)));
        for (frame, (at, length)) in (7..).zip(sent) {
            let end = start + length;
            let data = DataSegment {
                at,
                frame,
                start,
                end,
                stamp: None,
                ip_id: Some(0),
                is_pushed: false,
            };
            if !first.on_data(&data) {
                return None;
            }
            start = end;
        }
        first.found()
    }

    /// A hole of segments of 8948 bytes behind which packets of these bytes passed at most, before it and since.
    fn hole(segment_bytes: u32, passed_bytes: u32, passed_before_bytes: u32) -> BlackHole {
        BlackHole {
            from: Time::ZERO,
            to: Time::from_secs(3),
            frame: 9,
            segment_bytes,
            repeats: 3,
            passed_bytes,
            passed_before_bytes,
        }
    }

    /// A segment of so many bytes whose timer expires three times before the capture ends, behind one of 500 that arrived.
    fn stuck(ip_id: Option<u16>, size: i64) -> Option<BlackHole> {
        let mut detector = BlackHoleDetector { largest: 500, ..BlackHoleDetector::default() };
        for at in [1, 3, 7] {
            let (start, end) = (500, 500 + size);
            let data =
                DataSegment { at, frame: at, start, end, stamp: None, ip_id, is_pushed: false };
            detector.on_timeout(&data, Some(0));
        }
        detector.finish(9);
        detector.found()
    }

    #[test]
    fn no_path_refuses_what_the_least_mtu_holds() {
        assert!(stuck(None, 1000).is_none(), "IPv6: 1280 bytes pass every link");
        assert!(stuck(None, 1221).is_some());
        assert!(stuck(Some(7), 536).is_none(), "IPv4: 576 bytes");
        assert!(stuck(Some(7), 1000).is_some());
    }

    #[test]
    fn sizes_of_joined_packets_prove_nothing_of_what_passes() {
        let jumbo = in_segments(hole(8948, 2892, 1024), 1446, Some(8948)).unwrap();
        assert_eq!(
            (jumbo.segment_bytes, jumbo.passed_bytes, jumbo.passed_before_bytes),
            (8948, 1446, 1024)
        );
        let joined = in_segments(hole(2896, 1024, 0), 1448, Some(8948)).unwrap();
        assert_eq!((joined.segment_bytes, joined.passed_bytes), (1448, 1024));
        assert!(in_segments(hole(4344, 2896, 0), 1448, Some(1448)).is_none(), "one segment passes");
        assert!(in_segments(hole(1448, 0, 1448), 1448, None).is_some(), "not by size, anyway");
    }

    #[test]
    fn a_first_segment_in_pieces_was_too_large() {
        let hole = found(4, &[1024, 424, 1024, 424, 1221]).unwrap();
        assert_eq!((hole.segment_bytes, hole.passed_bytes, hole.frame), (1448, 1024, 7));
        assert_eq!(hole.to.since(hole.from), Time::from_secs(4));
        assert!(found(5, &[512, 512, 424]).is_some(), "half of the base");
        assert!(found(0, &[1024, 424]).is_none(), "no silence");
        assert!(found(4, &[1024, 424, 1448]).is_none(), "full segments pass");
        assert!(found(4, &[1024, 424, 2896]).is_none(), "two of them, joined");
        assert!(found(4, &[1024, 424, 2496]).is_some(), "smaller ones, joined");
        assert!(found(4, &[1024, 1024]).is_none(), "writes of a program");
        assert!(found(4, &[1000, 448]).is_none(), "no base");
    }

    #[test]
    fn messages_may_come_before_the_first_full_segment() {
        let hole = found_behind(&[37], 4, &[1024, 424, 1024, 424, 1221]).unwrap();
        assert_eq!((hole.segment_bytes, hole.passed_bytes, hole.frame), (1448, 1024, 8));
        assert_eq!(hole.to.since(hole.from), Time::from_secs(4));
        assert!(found_behind(&[206, 517], 4, &[1024, 424]).is_some());
        assert!(found_behind(&[1448], 4, &[1024, 424]).is_none(), "a full segment passes");
        assert!(
            found_behind(&[900], 4, &[1024, 424]).is_none(),
            "no message: it may be a base that passes"
        );
    }
}
