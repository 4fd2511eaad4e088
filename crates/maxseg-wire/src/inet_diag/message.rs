//! The kernel's messages (`include/uapi/linux/netlink.h`).

use super::Socket;
use super::framing::{BY_FAMILY, GET_SOCKET, HEADER, aligned};
use crate::{DecodeError, Layer};

/// `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_DUMP_INTR`: the kernel's list changed while it was read.
const INTERRUPTED: u16 = 0x10;
/// `NLM_F_MULTI`: one message of several.
const MULTI: u16 = 2;

/// One message of the kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<'a> {
    /// A socket.
    Socket(Box<Socket<'a>>),
    /// The list is at its end.
    Done {
        /// Whether it changed while it was read: a socket may be missing, or there twice.
        interrupted: bool,
    },
    /// The request failed, at once or at the end of a list: the kernel's error number, positive. Zero acknowledges a request.
    Error(i32),
    /// A message of another kind.
    Other,
}

/// One message of the kernel, a socket not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framed<'a> {
    /// The payload of a socket's message: see [`Socket::decode`].
    Socket(&'a [u8]),
    /// As [`Message::Done`].
    Done {
        /// Whether the list changed while it was read.
        interrupted: bool,
    },
    /// As [`Message::Error`].
    Error(i32),
    /// A message of another kind.
    Other,
}

/// The message of a socket, as the kernel frames it, from its payload.
pub fn socket_message(payload: &[u8]) -> Vec<u8> {
    framed(BY_FAMILY, 0, payload)
}

/// The message that ends a list.
pub fn done_message(interrupted: bool) -> Vec<u8> {
    framed(DONE, if interrupted { INTERRUPTED } else { 0 }, &[0; 4])
}

/// A message of a list (`NLM_F_MULTI`) with its header and padding.
fn framed(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let length = HEADER + payload.len();
    let mut message = Vec::with_capacity(aligned(length));
    message.extend(u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags | MULTI).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(payload);
    message.resize(aligned(length), 0);
    message
}

/// The messages of a buffer that the kernel filled, or of several buffers one after the other.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    bytes: &'a [u8],
}

impl<'a> Messages<'a> {
    /// Bytes of `struct nlmsghdr`, in front of each payload.
    pub const HEADER: usize = HEADER;

    /// Those of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Bytes that have not been read: what is left after an error, or of a message that was cut.
    pub const fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether bytes that are no whole message may be the beginning of one: as far as they go, length and type are those of a list's.
    pub fn may_begin(bytes: &[u8]) -> bool {
        // A socket's message has some hundred bytes.
        const LONGEST: u32 = 1 << 16;
        let length = bytes.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        let kind =
            bytes.get(4..).and_then(<[u8]>::first_chunk).map(|bytes| u16::from_ne_bytes(*bytes));
        length.is_none_or(|length| length <= LONGEST)
            && kind.is_none_or(|kind| matches!(kind, BY_FAMILY | GET_SOCKET | ERROR | DONE))
    }

    /// The next message's type, flags and payload.
    fn next_raw(&mut self) -> Result<(u16, u16, &'a [u8]), DecodeError> {
        let have = self.bytes.len();
        let short = |need| DecodeError::Short { layer: Layer::InetDiag, have, need };
        let (head, _) = self.bytes.split_first_chunk::<HEADER>().ok_or_else(|| short(HEADER))?;
        let [a, b, c, d, kind0, kind1, flags0, flags1, ..] = *head;
        let length = usize::try_from(u32::from_ne_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length < HEADER {
            let (says, least) = (length, HEADER);
            return Err(DecodeError::Length { layer: Layer::InetDiag, says, least });
        }
        let payload = self.bytes.get(HEADER..length).ok_or_else(|| short(length))?;
        // The last message of a buffer may end without its padding.
        self.bytes = self.bytes.get(aligned(length)..).unwrap_or_default();
        Ok((u16::from_ne_bytes([kind0, kind1]), u16::from_ne_bytes([flags0, flags1]), payload))
    }

    /// The next message, a socket not decoded. After an error in the framing nothing more comes; after one within a message the
    /// next does.
    pub fn next_framed(&mut self) -> Option<Result<Framed<'a>, DecodeError>> {
        if self.bytes.is_empty() {
            return None;
        }
        let (kind, flags, payload) = match self.next_raw() {
            Ok(raw) => raw,
            Err(error) => {
                self.bytes = &[];
                return Some(Err(error));
            }
        };
        Some(match kind {
            BY_FAMILY | GET_SOCKET => Ok(Framed::Socket(payload)),
            DONE => Ok(ended(flags, payload)),
            ERROR => error_number(payload).map(Framed::Error),
            _ => Ok(Framed::Other),
        })
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let framed = match self.next_framed()? {
            Ok(framed) => framed,
            Err(error) => return Some(Err(error)),
        };
        Some(match framed {
            Framed::Socket(payload) => {
                Socket::decode(payload).map(|socket| Message::Socket(Box::new(socket)))
            }
            Framed::Done { interrupted } => Ok(Message::Done { interrupted }),
            Framed::Error(number) => Ok(Message::Error(number)),
            Framed::Other => Ok(Message::Other),
        })
    }
}

/// The end of a list, which has an error's number where the kernel could not give it (`netlink_dump_done` in `net/netlink/af_netlink.c`).
fn ended(flags: u16, payload: &[u8]) -> Framed<'_> {
    match error_number(payload) {
        Ok(number) if number > 0 => Framed::Error(number),
        Ok(_) | Err(_) => Framed::Done { interrupted: flags & INTERRUPTED != 0 },
    }
}

/// The number of `struct nlmsgerr`, which the kernel gives negative.
fn error_number(payload: &[u8]) -> Result<i32, DecodeError> {
    let number = payload.first_chunk::<4>().map(|bytes| i32::from_ne_bytes(*bytes));
    let short = DecodeError::Short { layer: Layer::InetDiag, have: payload.len(), need: 4 };
    number.map(i32::saturating_neg).ok_or(short)
}
