//! The memory of a Linux host's sockets: what the simulator's Linux has and what the lab sets in its namespaces.

use super::{Settings, WindowScale, WindowSize};
use crate::units::Bytes;
use crate::window::{MEMORY_PER_PAYLOAD, linux_shift};

/// Room for a window in the receiver's memory: a packet takes several times its payload there.
const MEMORY_PER_WINDOW: u64 = 16;
const LEAST_MEMORY: u64 = 4 << 20;
/// `tcp_rmem` and `tcp_wmem` are `int`s.
const MOST_MEMORY: u64 = 1 << 30;
/// What a send buffer begins with at most.
const FIRST_SEND_BUFFER: u64 = 1 << 20;
/// `net.core.rmem_max` as it is where nobody set it (`SK_RMEM_MAX`, `net/core/sock.c`).
pub(crate) const RMEM_MAX: u64 = 212_992;

/// Sizes of a socket's buffers, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketMemory {
    /// `net.ipv4.tcp_rmem`.
    pub tcp_rmem: [u64; 3],
    /// `net.ipv4.tcp_wmem`.
    pub tcp_wmem: [u64; 3],
    /// How far the window may open (a route's `window`, `TCP_WINDOW_CLAMP`); `None` for as far as the kernel finds best
    /// (`net.ipv4.tcp_moderate_rcvbuf`).
    pub clamp: Option<Bytes>,
}

impl SocketMemory {
    /// That of a host with `settings`, whose peer sends segments of `mss`: a window or a buffer that is asked for, or
    /// else what the stack has.
    pub fn of(settings: &Settings, mss: Bytes) -> Self {
        let clamp = match settings.window {
            WindowSize::Auto { .. } => None,
            WindowSize::Bytes(_) | WindowSize::Segments(_) => Some(widest(settings, mss)),
        };
        Self {
            tcp_rmem: for_receiving(settings, mss, clamp),
            tcp_wmem: for_sending(settings),
            clamp,
        }
    }
}

fn for_receiving(settings: &Settings, mss: Bytes, clamp: Option<Bytes>) -> [u64; 3] {
    if let (None, Some(rules)) = (clamp, &settings.linux) {
        return rules.tcp_rmem;
    }
    let window = clamp.unwrap_or_else(|| settings.window.bytes(mss)).get();
    let memory = match settings.read_rate {
        // Where a program reads slowly, what it has not read takes the window's place, as with a buffer that it sets.
        Some(_) => (window * MEMORY_PER_PAYLOAD).min(MOST_MEMORY),
        None => (window * MEMORY_PER_WINDOW).clamp(LEAST_MEMORY, MOST_MEMORY),
    };
    [4096, memory, memory]
}

fn for_sending(settings: &Settings) -> [u64; 3] {
    match (settings.send_buffer, &settings.linux) {
        (None, Some(rules)) => rules.tcp_wmem,
        (None, None) => [4096, FIRST_SEND_BUFFER, MOST_MEMORY / 4],
        (Some(buffer), _) => {
            let memory = (MEMORY_PER_PAYLOAD * buffer.get()).clamp(4096, MOST_MEMORY);
            [4096, memory.min(FIRST_SEND_BUFFER), memory]
        }
    }
}

impl SocketMemory {
    /// The window scale that Linux offers (`tcp_select_initial_window`, `net/ipv4/tcp_output.c`).
    pub fn window_shift(&self) -> u8 {
        let most = self.tcp_rmem[2].max(RMEM_MAX);
        linux_shift(self.clamp.map_or(Bytes::new(most), |clamp| clamp.min(Bytes::new(most))))
    }
}

/// The largest window that a host should advertise to a peer that sends segments of `mss`.
fn widest(settings: &Settings, mss: Bytes) -> Bytes {
    let window = settings.window.bytes(mss);
    if settings.window_scale == WindowScale::Off { window.min(Bytes::new(65_535)) } else { window }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::stack;

    #[test]
    fn what_a_slow_reader_leaves_takes_the_window_s_place() {
        let linux = stack("linux").unwrap().settings.complete().unwrap();
        let window = WindowSize::Bytes(Bytes::new(65_536));
        let asked = Settings { window, ..linux };
        let memory = |settings: &Settings| SocketMemory::of(settings, Bytes::new(1460)).tcp_rmem[2];
        assert_eq!(memory(&asked), 4 << 20);
        let read_rate = crate::units::BitsPerSec::new(5_000_000);
        assert_eq!(memory(&Settings { read_rate, ..asked }), 131_072);
    }

    #[test]
    fn what_is_asked_for_goes_before_what_the_stack_has() {
        let mss = Bytes::new(1460);
        let linux = stack("linux").unwrap().settings.complete().unwrap();
        let memory = SocketMemory::of(&linux, mss);
        assert_eq!(memory.tcp_rmem, [4096, 131_072, 6_291_456]);
        assert_eq!(memory.tcp_wmem, [4096, 16_384, 4_194_304]);
        assert_eq!((memory.clamp, memory.window_shift()), (None, 7));
        let asked = Settings {
            window: WindowSize::Segments(400),
            send_buffer: Some(Bytes::new(3 << 20)),
            ..linux
        };
        let memory = SocketMemory::of(&asked, mss);
        assert_eq!(memory.tcp_rmem, [4096, 16 * 584_000, 16 * 584_000]);
        assert_eq!(memory.tcp_wmem, [4096, 1 << 20, 6 << 20]);
        assert_eq!(memory.clamp, Some(Bytes::new(584_000)));
        let unscaled = Settings { window_scale: WindowScale::Off, ..asked };
        assert_eq!(SocketMemory::of(&unscaled, mss).clamp, Some(Bytes::new(65_535)));
        let rfc = stack("rfc").unwrap().settings.complete().unwrap();
        assert_eq!(SocketMemory::of(&rfc, mss).tcp_wmem, [4096, 1 << 20, 256 << 20]);
    }
}
