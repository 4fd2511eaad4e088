//! Samples of a sending socket over time.

use std::io;
use std::time::{Duration, Instant};

use maxseg_wire::responder::SenderSample;

use crate::sys::TcpSocket;

/// Between two samples at the beginning, when a transfer changes fast.
const FIRST: Duration = Duration::from_millis(20);
/// The beginning.
const BEGINNING: Duration = Duration::from_secs(1);
/// Between two samples later, of a transfer of up to eight connections: more connections are sampled less often.
const LATER: Duration = Duration::from_millis(100);
const CONNECTIONS: u32 = 8;

/// When a socket is to be sampled next.
#[derive(Debug)]
pub(crate) struct Sampler {
    began: Instant,
    next: Duration,
    /// Of how many connections this is one.
    connections: u32,
}

impl Sampler {
    /// The first sample is due at once.
    pub(crate) const fn new(began: Instant, connections: u32) -> Self {
        Self { began, next: Duration::ZERO, connections }
    }

    /// Since `began`.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// A sample, where one is due.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub(crate) fn poll(&mut self, socket: &TcpSocket) -> io::Result<Option<SenderSample>> {
        let now = self.began.elapsed();
        if now < self.next {
            return Ok(None);
        }
        let slower = self.connections.div_ceil(CONNECTIONS).max(1);
        self.next = now + slower * if now < BEGINNING { FIRST } else { LATER };
        let sample = socket.sample()?;
        Ok(Some(SenderSample { at: self.began.elapsed(), sample }))
    }
}
