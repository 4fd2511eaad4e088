//! What an application sets on its socket (`do_tcp_setsockopt`, `sk_setsockopt`).

use super::Socket;
use super::constants::Push;
use crate::units::Time;

/// `net.core.wmem_max` as it is where nobody set it (`SK_WMEM_MAX`, `net/core/sock.c`).
const WMEM_MAX: u64 = 212_992;
/// `SOCK_MIN_SNDBUF`: two packets of the least size (`include/net/sock.h`).
const MIN_SNDBUF: u64 = 2 * (2048 + 256);

impl Socket {
    /// `SO_SNDBUF`: the kernel doubles what is asked for, and keeps it; gives what it keeps, in bytes.
    pub fn set_send_buffer(&mut self, asked: u64) -> u64 {
        self.writer.is_locked = true;
        self.writer.sndbuf = (2 * asked.min(WMEM_MAX)).max(MIN_SNDBUF);
        self.writer.sndbuf
    }

    /// What it keeps, in bytes.
    pub const fn send_buffer(&self) -> u64 {
        self.writer.sndbuf
    }

    /// `TCP_NODELAY`: small packets do not wait, and what waits goes now.
    pub fn set_nodelay(&mut self, now: Time, on: bool) {
        self.writer.nodelay = on;
        if on {
            self.writer.push_once = true;
            self.push_what_waits(now);
        }
    }

    /// `TCP_CORK`: small packets wait until it is taken away.
    pub fn set_cork(&mut self, now: Time, on: bool) {
        self.writer.corked = on;
        if !on {
            self.writer.push_once |= self.writer.nodelay;
            self.push_what_waits(now);
        }
    }

    /// The link takes no packet from now on, or takes them again: what is refused counts as not sent.
    pub const fn set_refused(&mut self, refused: bool) {
        self.is_refused = refused;
    }

    /// Writes with the promise that more follows (`MSG_MORE`): a last small packet waits for it.
    pub fn write_more(&mut self, now: Time, bytes: u64) {
        self.writer.more = true;
        self.write(now, bytes);
        self.writer.more = false;
    }

    /// Bytes that were written and are not in the send buffer yet.
    pub fn unwritten(&self) -> u64 {
        self.writer.waiting()
    }

    fn push_what_waits(&mut self, now: Time) {
        self.clock.refresh(now);
        if !self.write_queue.is_empty() {
            let mss = self.current_mss();
            self.push_pending(mss, self.nagle(), Push::All);
        }
    }
}
