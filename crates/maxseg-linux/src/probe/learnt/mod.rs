//! What probes teach this host's kernel, and forgetting it.
//!
//! A router's message that a packet is too big enters the route cache as an exception for the destination, which shrinks every
//! connection there until it expires (`net.ipv4.route.mtu_expires`, ten minutes). Before the first probe that may provoke one, a
//! line on disk names the destination and the exception that there was; it outlives this process, however that ends.
//!
//! ```text
//! TeachLog::begin ─line─→ probes ─→ Begun::end ─line─→ the exception that there is now
//! forget: lines of this boot and network namespace → exceptions that are theirs → removed one by one
//! ```

mod file;
mod forget;
mod remove;
#[cfg(test)]
mod tests;

use std::io;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

pub use file::{TeachLog, log_files};
pub use forget::{ForgetOutcome, Forgetting, forget};

use crate::netlink::{Netlink, RouteException};

/// A path MTU that the kernel remembers for a destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearntMtu {
    /// The MTU, bytes.
    pub mtu: u32,
    /// For how long it will remember it.
    pub expires: Duration,
}

impl LearntMtu {
    /// What the kernel remembers for this destination now; `None` for nothing.
    ///
    /// # Errors
    /// There is no route to it, or netlink fails.
    pub fn of(destination: IpAddr) -> io::Result<Option<Self>> {
        Ok(Netlink::new()?.exception_to(destination)?.map(Self::from))
    }

    /// Until when.
    pub fn until(&self, now: SystemTime) -> SystemTime {
        now + self.expires
    }
}

impl From<RouteException> for LearntMtu {
    fn from(exception: RouteException) -> Self {
        Self { mtu: exception.mtu, expires: Duration::from_secs_f64(exception.expires_s) }
    }
}
