//! Options of a bulk socket: what is asked for, and what the kernel granted.

use std::io;

use maxseg_wire::responder::Begun;
use socket2::Socket;

use crate::sys::{TcpSocket, set_tcp_option};

/// What is asked for; `None` leaves it to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    /// `TCP_MAXSEG`, of use before the connection alone.
    pub(crate) mss: Option<u32>,
    /// `TCP_WINDOW_CLAMP`.
    pub(crate) window: Option<u32>,
    /// `SO_SNDBUF`, which ends autotuning.
    pub(crate) send_buffer: Option<u32>,
    /// `TCP_CONGESTION`.
    pub(crate) congestion: Option<String>,
}

impl SocketOptions {
    /// Sets them.
    ///
    /// # Errors
    /// The kernel rejects a value, but for the congestion control: the one that is then in use is reported.
    pub(crate) fn apply(&self, socket: &Socket) -> io::Result<()> {
        let of =
            |what: &str, error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"));
        if let Some(mss) = self.mss {
            socket.set_tcp_mss(mss).map_err(|error| of(&format!("TCP_MAXSEG = {mss}"), error))?;
        }
        if let Some(window) = self.window {
            set_tcp_option(socket, libc::TCP_WINDOW_CLAMP, window)
                .map_err(|error| of(&format!("TCP_WINDOW_CLAMP = {window}"), error))?;
        }
        if let Some(bytes) = self.send_buffer {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            socket
                .set_send_buffer_size(bytes)
                .map_err(|error| of(&format!("SO_SNDBUF = {bytes}"), error))?;
        }
        if let Some(name) = &self.congestion {
            // An ordinary user may be allowed few of them (net.ipv4.tcp_allowed_congestion_control).
            let _ = socket.set_tcp_congestion(name.as_bytes());
        }
        Ok(())
    }
}

/// What the kernel granted.
pub(crate) fn granted(socket: &TcpSocket) -> Begun {
    let bytes = |size: io::Result<usize>| {
        size.ok().and_then(|size| u32::try_from(size).ok()).unwrap_or_default()
    };
    let mut congestion = [0; 16];
    let name = socket.0.tcp_congestion().unwrap_or_default();
    for (to, from) in congestion.iter_mut().zip(name.iter().take_while(|byte| **byte != 0)) {
        *to = *from;
    }
    Begun {
        send_buffer: bytes(socket.0.send_buffer_size()),
        receive_buffer: bytes(socket.0.recv_buffer_size()),
        window_clamp: socket.window_clamp().unwrap_or_default(),
        congestion,
    }
}

/// A name that zeros fill up; `None` for no name.
pub(crate) fn congestion_name(bytes: &[u8; 16]) -> Option<String> {
    let name: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
    String::from_utf8(name).ok().filter(|name| !name.is_empty())
}
