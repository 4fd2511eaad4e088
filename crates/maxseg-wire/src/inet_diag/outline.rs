//! The few numbers of a socket that its place in a list depends on: a long list is put in order without decoding all of it.

use super::socket::{LEN, attribute};
use crate::tcp_info::{State, TcpInfo};
use crate::{DecodeError, Layer};

/// What a list goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Whether it is a listening socket.
    pub is_listening: bool,
    /// As [`Socket::inode`](super::Socket::inode).
    pub inode: u32,
    /// Whether the kernel gave its `tcp_info`.
    pub has_info: bool,
    /// Payload that was acknowledged, and that was received, since the connection's beginning.
    pub moved_bytes: u64,
}

/// `idiag_inode` in `struct inet_diag_msg`.
const INODE: usize = 68;
/// `INET_DIAG_INFO`.
const INFO: u16 = 2;
/// `tcpi_bytes_acked` and `tcpi_bytes_received` in `struct tcp_info`.
const ACKED: usize = 120;
const RECEIVED: usize = 128;

impl Outline {
    /// Of a message's payload.
    ///
    /// # Errors
    /// As of [`Socket::decode`](super::Socket::decode).
    pub fn of(payload: &[u8]) -> Result<Self, DecodeError> {
        let short = DecodeError::Short { layer: Layer::InetDiag, have: payload.len(), need: LEN };
        let (head, mut attributes) = payload.split_first_chunk::<LEN>().ok_or(short)?;
        let inode = head.last_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
        const { assert!(INODE + 4 == LEN, "the inode is the last number") };
        let mut info: Option<&[u8]> = None;
        while let Some((kind, value, rest)) = attribute(attributes) {
            if kind == INFO {
                info = Some(value).filter(|value| value.len() >= TcpInfo::LEAST);
            }
            attributes = rest;
        }
        let bytes = |at: usize| {
            let number = info.and_then(|info| info.get(at..)?.first_chunk());
            number.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        Ok(Self {
            is_listening: head[1] == State::Listen as u8,
            inode,
            has_info: info.is_some(),
            moved_bytes: bytes(ACKED).saturating_add(bytes(RECEIVED)),
        })
    }
}
