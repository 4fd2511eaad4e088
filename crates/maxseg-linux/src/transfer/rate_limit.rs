//! A rate that connections share, however many there are.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use maxseg_wire::responder::Limits;

use crate::sys::{TcpSocket, set_pacing_rate};

/// What may go at once after a pause: what the rate carries in so long,
const BURST: Duration = Duration::from_millis(20);
/// and at least so many bytes: a full super-packet.
const LEAST_BURST: f64 = 65_536.0;
/// Less than a segment is waited for, and not sent by itself.
const LEAST_AT_ONCE: usize = 1448;

/// A token bucket (RFC 2697 §3 calls it one) that all connections draw from.
#[derive(Debug)]
pub(crate) struct RateLimit {
    bytes_per_second: f64,
    state: Mutex<Tokens>,
}

#[derive(Debug)]
struct Tokens {
    at: Instant,
    bytes: f64,
}

impl RateLimit {
    /// That of a responder's [`Limits`], from now on; `None` where it has none.
    pub(crate) fn of(limits: Limits, now: Instant) -> Option<Self> {
        let bits = limits.bits_per_second;
        (bits > 0).then(|| Self::new(bits / 8, now))
    }

    /// A limit from now on.
    pub(crate) fn new(bytes_per_second: u64, now: Instant) -> Self {
        let bytes_per_second = bytes_per_second.max(1) as f64;
        let bytes = burst(bytes_per_second);
        Self { bytes_per_second, state: Mutex::new(Tokens { at: now, bytes }) }
    }

    /// Has TCP pace a connection to it: what one sends is even, however many share it.
    ///
    /// # Errors
    /// The socket is none of TCP.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within u32")]
    pub(crate) fn pace(&self, socket: &TcpSocket) -> io::Result<()> {
        set_pacing_rate(&socket.0, self.bytes_per_second.min(f64::from(u32::MAX)) as u32)
    }

    /// How many of `most` bytes may go now; 0 where the rate is used up.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `most`")]
    pub(crate) fn take(&self, most: usize, now: Instant) -> usize {
        let mut tokens = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(tokens.at).as_secs_f64();
        tokens.at = tokens.at.max(now);
        tokens.bytes =
            (tokens.bytes + passed * self.bytes_per_second).min(burst(self.bytes_per_second));
        let taken = tokens.bytes.clamp(0.0, most as f64) as usize;
        if taken < most.min(LEAST_AT_ONCE) {
            return 0;
        }
        tokens.bytes -= taken as f64;
        taken
    }

    /// Bytes that were taken and did not go.
    pub(crate) fn give_back(&self, bytes: usize) {
        let mut tokens = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.bytes += bytes as f64;
    }
}

fn burst(bytes_per_second: f64) -> f64 {
    (bytes_per_second * BURST.as_secs_f64()).max(LEAST_BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_connections_have_one_rate() {
        let began = Instant::now();
        let limit = RateLimit::new(1_000_000, began);
        let mut sent = 0;
        for millis in 0..=1000 {
            let now = began + Duration::from_millis(millis);
            for _ in 0..64 {
                let taken = limit.take(1 << 20, now);
                // Half of it found no room.
                limit.give_back(taken / 2);
                sent += taken - taken / 2;
            }
        }
        // A second's bytes and one burst; the last pieces are less than a segment.
        let most = 1_000_000 + 65_536;
        assert!((most - 3000..=most).contains(&sent), "{sent}");
    }
}
