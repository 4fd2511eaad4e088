//! The programs of both hosts (`tt.c` of the reference).

use maxseg_core::units::Time;

use super::{App, Kind, World, reading};

/// Bytes of an answer.
const ANSWER: u64 = 100;
/// A slow reader takes so many bytes at a time.
const SLOW_READ: u64 = 8192;

/// A program that reads the clock, or calls what does, waits for a step of it.
const CLOCK_READ: Time = Time::from_nanos(256);
/// From the open connection to where writes in intervals are counted from, and from there to the first: the
/// program's forks and sleeps (`tt.c`).
const PROGRAM_STARTS: Time = Time::from_nanos(1_280);
const FIRST_WRITE: Time = Time::from_nanos(512);

impl World<'_> {
    /// The sender's application: begins when the connection is open, and reads answers.
    pub(super) fn use_sender(&mut self) {
        if !self.is_writing && self.sender.is_established() {
            self.is_writing = true;
            let at = self.now.saturating_add(CLOCK_READ);
            self.push_running(at, Kind::Write);
        }
        if self.sender.readable() > 0 {
            self.sender.read(reading(self.now), u64::MAX);
            while self.sender.received() >= (self.answered + 1) * ANSWER {
                if let Some(at) =
                    usize::try_from(self.answered).ok().and_then(|i| self.written_at.get(i))
                {
                    self.outcome.answers.push(self.now.since(*at).as_secs_f64());
                }
                self.answered += 1;
            }
        }
    }

    pub(super) fn write(&mut self) {
        let now = reading(self.now);
        let again = |time: Time| self.now.saturating_add(time);
        match self.cell.app {
            App::Bulk => self.sender.write(now, u64::MAX),
            App::Finite(bytes) => self.sender.write(now, bytes),
            App::OnOff { on, off } => {
                let is_on = self.writes.is_multiple_of(2);
                self.writes += 1;
                if is_on {
                    self.sender.write(now, u64::MAX);
                    self.push(again(on), Kind::Write, None);
                } else {
                    self.sender.stop_writing();
                    self.push(again(off), Kind::Write, None);
                }
            }
            App::OneWay { size, every } | App::Requests { size, every, .. } => {
                if self.writes == 0 {
                    self.writes_from = again(PROGRAM_STARTS);
                    self.push_running(self.writes_from.saturating_add(FIRST_WRITE), Kind::Write);
                    self.writes = 1;
                    return;
                }
                self.sender.write(now, size);
                let next = self.writes_from.saturating_add(every.times(self.writes));
                self.writes += 1;
                self.push(next, Kind::Write, None);
            }
        }
    }

    /// The receiver's application reads, and answers what it is asked.
    pub(super) fn serve(&mut self) {
        if let Some(interval) = self.cell.reads_every(SLOW_READ) {
            if self.next_read == Time::NEVER && self.receiver.is_established() {
                self.next_read = reading(self.now).saturating_add(interval);
                self.push(self.next_read, Kind::Read, None);
            } else if self.waits_for_data {
                self.read_slowly();
            }
            return;
        }
        // One program reads, thinks and answers; before the handshake's end it has no socket.
        if self.is_thinking || !self.receiver.is_established() {
            return;
        }
        loop {
            if let App::Requests { size, think, .. } = self.cell.app
                && self.outcome.received >= (self.asked + 1) * size
            {
                self.asked += 1;
                if think > Time::ZERO {
                    self.is_thinking = true;
                    self.push(self.now.saturating_add(think), Kind::Answer, None);
                    return;
                }
                self.answer();
            } else if self.receiver.readable() > 0 {
                self.outcome.received += self.receiver.read(reading(self.now), u64::MAX);
            } else {
                return;
            }
        }
    }

    /// The receiver's application answers what it has thought of, and goes on with what it has read, or else reads.
    pub(super) fn end_thinking(&mut self) {
        self.answer();
        self.is_thinking = false;
        self.serve();
    }

    /// One read each so long, and where there is nothing, once something comes (`tt.c`).
    pub(super) fn read_slowly(&mut self) {
        let Some(interval) = self.cell.reads_every(SLOW_READ) else { return };
        self.waits_for_data = self.receiver.readable() == 0;
        if self.waits_for_data {
            return;
        }
        self.outcome.received += self.receiver.read(reading(self.now), SLOW_READ);
        self.next_read = self.next_read.saturating_add(interval);
        self.push(self.next_read, Kind::Read, None);
    }

    fn answer(&mut self) {
        self.receiver.write(reading(self.now), ANSWER);
    }
}
