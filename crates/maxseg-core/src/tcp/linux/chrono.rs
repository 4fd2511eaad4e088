//! What time went to: data were out, the peer's window was too small, the send buffer was full (`tcp_chrono_start`,
//! `net/ipv4/tcp_output.c`).

use super::Socket;

/// What holds the sender back (`enum tcp_chrono`). What comes later goes before what comes earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// `TCP_CHRONO_BUSY`: data are out or wait.
    Busy = 0,
    /// `TCP_CHRONO_RWND_LIMITED`.
    Window = 1,
    /// `TCP_CHRONO_SNDBUF_LIMITED`.
    Buffer = 2,
}

/// Jiffies under each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chrono {
    spent: [u64; 3],
    current: Option<Limit>,
    since: u64,
}

impl Chrono {
    /// `tcp_chrono_set`.
    fn set(&mut self, jiffies: u64, limit: Option<Limit>) {
        if let Some(current) = self.current {
            self.spent[current as usize] += jiffies - self.since;
        }
        self.since = jiffies;
        self.current = limit;
    }

    /// Jiffies under each until now (`tcp_get_info_chrono_stats`, `net/ipv4/tcp.c`).
    pub(super) fn until(mut self, jiffies: u64) -> [u64; 3] {
        self.set(jiffies, None);
        self.spent
    }
}

impl Socket {
    /// `tcp_chrono_start`.
    #[inline]
    pub(super) fn begin_limit(&mut self, limit: Limit) {
        if self.chrono.current.is_none_or(|current| limit > current) {
            self.chrono.set(self.clock.jiffies, Some(limit));
        }
    }

    /// `tcp_chrono_stop`.
    #[inline]
    pub(super) fn end_limit(&mut self, limit: Limit) {
        if self.chrono.current.is_none() {
            return;
        }
        if self.write_queue.is_empty() && self.rtx_queue.is_empty() {
            self.chrono.set(self.clock.jiffies, None);
        } else if self.chrono.current == Some(limit) {
            self.chrono.set(self.clock.jiffies, Some(Limit::Busy));
        }
    }
}
