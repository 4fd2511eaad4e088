//! How long a flow takes to fill its path again after one loss.
//!
//! A path of C bit/s and a round trip R holds W = C·R/8 bytes. A loss halves the window of Reno
//! (RFC 5681 §3.1), which then grows by one segment of s bytes every b rounds: W/2 bytes take b·W/(2s)
//! rounds of R each, together
//!
//! ```text
//!     b·C·R²
//!     ───────   seconds, with C in bit/s, R in seconds, s in bytes; 16 = 2 (halves) · 8 (bits a byte)
//!      16·s
//! ```
//!
//! The growth, s/b bytes a round, is proportional to the segment size, and so about to the MTU; the time
//! is inversely so, because a round adds one segment whatever its size. A path six times as fast wants
//! segments six times as large for the same time.

use super::saw_tooth::SawTooth;

/// A flow alone on its path, and the loss that ends its growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// The slowest link's rate of payload in bits per second, C.
    pub rate: f64,
    /// Round trip in seconds with nothing queued, R.
    pub rtt: f64,
    /// Payload of a segment in bytes, s.
    pub segment: f64,
    /// Segments per acknowledgement, b, where acknowledgements and not bytes are counted.
    pub per_ack: f64,
    /// What the slowest link's queue holds in bytes.
    pub queue: f64,
}

impl Recovery {
    /// What the path holds without its queue, in bytes.
    pub fn path(&self) -> f64 {
        self.rate * self.rtt / 8.0
    }

    /// The window at the loss, in segments: path and queue are full.
    pub fn window(&self) -> f64 {
        (self.path() + self.queue) / self.segment
    }

    /// Bytes by which half of that window falls short of the path; none where the queue holds as much as
    /// the path: half the window is then a full path.
    fn missing(&self) -> f64 {
        (self.path() - self.queue).max(0.0) / 2.0
    }

    /// Rounds until the path is full again.
    pub fn rounds(&self) -> f64 {
        self.per_ack * self.missing() / self.segment
    }

    /// The same in seconds: each of these rounds is a bare round trip, since nothing waits.
    pub fn time(&self) -> f64 {
        self.rounds() * self.rtt
    }

    /// Bytes that the path would have carried meanwhile: it begins half empty (with no queue), ends full,
    /// and grows evenly.
    pub fn unused(&self) -> f64 {
        self.missing() / self.rtt * self.time() / 2.0
    }

    /// How fast the rate grows, in bits per second each second: 8·s/(b·R²).
    pub fn growth(&self) -> f64 {
        8.0 * self.segment / (self.per_ack * self.rtt * self.rtt)
    }

    /// Seconds until CUBIC's window is what it was at the loss: path and queue are full again.
    pub fn time_of_cubic(&self) -> f64 {
        let (path, queue) = (self.path() / self.segment, self.queue / self.segment);
        SawTooth::of_cubic(path, queue, self.rtt).period_of_cubic(self.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_FAT: Recovery =
        Recovery { rate: 1e10, rtt: 0.12, segment: 1460.0, per_ack: 1.0, queue: 0.0 };

    #[test]
    fn it_is_the_closed_form() {
        let closed = 1e10 * 0.12 * 0.12 / (16.0 * 1460.0);
        assert!((LONG_FAT.time() / closed - 1.0).abs() < 1e-12); // an hour and three quarters
        assert!((LONG_FAT.time() - 6164.4).abs() < 0.1);
    }

    #[test]
    fn larger_segments_recover_sooner_in_proportion() {
        let jumbo = Recovery { segment: 8948.0, ..LONG_FAT };
        assert!((LONG_FAT.time() / jumbo.time() - 8948.0 / 1460.0).abs() < 1e-9);
        assert!((jumbo.growth() / LONG_FAT.growth() - 8948.0 / 1460.0).abs() < 1e-9);
    }

    #[test]
    fn growing_round_by_round_gives_the_same() {
        let (mut window, mut rounds, mut unused) = (LONG_FAT.path() / 2.0, 0.0, 0.0);
        while window < LONG_FAT.path() {
            unused += LONG_FAT.path() - window;
            window += LONG_FAT.segment;
            rounds += 1.0;
        }
        assert!((LONG_FAT.rounds() - rounds).abs() <= 1.0);
        assert!((LONG_FAT.unused() / unused - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_queue_as_large_as_the_path_leaves_no_gap() {
        let ample = Recovery { queue: LONG_FAT.path(), ..LONG_FAT };
        assert!(ample.time().abs() < 1e-12 && ample.unused().abs() < 1e-12);
        let half = Recovery { queue: LONG_FAT.path() / 2.0, ..LONG_FAT };
        assert!((half.time() / LONG_FAT.time() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_cubic_regains_a_large_window_in_a_time_of_its_own_and_a_small_one_round_by_round() {
        // 10 Gbit/s × 100 ms in 1460-byte segments: K³ = 0.75·W.
        let large = Recovery { rtt: 0.1, ..LONG_FAT };
        assert!((large.time_of_cubic() - libm::cbrt(0.75 * large.window())).abs() < 1e-9);
        // 9 segments, of which 0.3 are regained at 0.53 a round.
        let small = Recovery { rate: 9.0 * 1460.0 * 8.0 / 0.01, rtt: 0.01, ..LONG_FAT };
        assert!((small.time_of_cubic() - 9.0 * 0.3 / (0.9 / 1.7) * 0.01).abs() < 1e-12);
    }

    #[test]
    fn rounds_of_a_full_queue_take_as_long_as_it_makes_them() {
        // 100 Mbit/s × 1 ms are 8.6 segments, and 1 MB of queue 691: rounds of up to 81 ms. The cubic's K is sooner.
        let bloated = Recovery { rate: 1e8, rtt: 1e-3, segment: 1448.0, per_ack: 1.0, queue: 1e6 };
        assert!((bloated.time_of_cubic() - libm::cbrt(0.75 * bloated.window())).abs() < 1e-9);
        assert!((bloated.time_of_cubic() - 8.06).abs() < 0.01);
        // Nine segments of path and nine of queue: a round is as long as its window is in line.
        let short = Recovery { rate: 9.0 * 1448.0 * 8.0 / 1e-3, queue: 9.0 * 1448.0, ..bloated };
        let (mut window, mut seconds) = (0.7 * 18.0, 0.0);
        let step = 1e-3; // of a segment
        while window < 18.0 {
            seconds += step / (0.9 / 1.7) * (window / 9.0_f64).max(1.0) * 1e-3;
            window += step;
        }
        assert!((short.time_of_cubic() / seconds - 1.0).abs() < 1e-3, "{seconds}");
    }
}
