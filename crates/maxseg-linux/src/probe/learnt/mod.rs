//! What probes teach this host's kernel, and forgetting it.
//!
//! A router's message that a packet is too big enters the route cache as an exception for the destination, which shrinks every
//! connection there until it expires (`net.ipv4.route.mtu_expires`, ten minutes). Before the first probe that may provoke one, a
//! line on disk names the destination and the exception that there was; it outlives this process, however that ends.
//!
//! ```text
//! TeachLog::begin ─line─→ probes ─→ TeachLog::end ─line─→ the exception that there is now
//! forget: lines of this boot and network namespace → exceptions that are theirs → removed one by one
//! ```

mod file;
mod forget;
mod remove;
#[cfg(test)]
mod tests;

use std::io;
use std::net::IpAddr;
use std::time::SystemTime;

pub use file::{TeachLog, log_files};
pub use forget::{ForgetOutcome, Forgetting, forget};

use crate::netlink::{Netlink, RouteException};

/// A path MTU that the kernel remembers for a destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearntMtu {
    /// The MTU, bytes.
    pub mtu: u32,
    /// Until when, seconds since 1970.
    pub until_s: f64,
    /// Whether the kernel changes it no more until then: IPv4 locks what a message states below `net.ipv4.route.min_pmtu`.
    pub is_locked: bool,
}

impl LearntMtu {
    /// What the kernel remembers for this destination now; `None` for nothing.
    ///
    /// # Errors
    /// There is no route to it, or netlink fails.
    pub fn of(destination: IpAddr) -> io::Result<Option<Self>> {
        Ok(Netlink::new()?.exception_to(destination)?.map(Self::from))
    }

    /// Whether the kernel did not remember it before, or has learnt it again meanwhile.
    pub fn is_news(&self, before: Option<&Self>) -> bool {
        /// Times differ by how long reading takes, and are told in hundredths.
        const SAME_S: f64 = 1.0;
        before.is_none_or(|before| before.mtu != self.mtu || self.until_s > before.until_s + SAME_S)
    }

    /// For how many seconds more it will remember it.
    pub fn left_s(&self) -> f64 {
        (self.until_s - now_s()).max(0.0)
    }
}

impl From<RouteException> for LearntMtu {
    fn from(exception: RouteException) -> Self {
        let RouteException { mtu, expires_s, is_locked } = exception;
        Self { mtu, until_s: now_s() + expires_s, is_locked }
    }
}

/// Seconds since 1970.
fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
