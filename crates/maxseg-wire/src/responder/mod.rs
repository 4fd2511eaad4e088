//! The messages between `maxseg path` and `maxseg responder`, as bytes and as values.
//!
//! ```text
//! frame: kind (1 byte) · length of the body (2 bytes, network order) · body
//!
//! client                                   responder
//!   Hello { version, nonce }          →
//!                                     ←    Challenge { nonce }
//!   Proof { code, session }           →      code = HMAC-SHA-256(token; both nonces)
//!                                     ←    Welcome { session, key, limits } | Refused { reason }
//!   questions                         →
//!                                     ←    answers, each in the order of the questions
//! ```
//!
//! Up to the [`Welcome`](Message::Welcome) the responder has never sent more bytes than it received: a `Hello` is padded to
//! 64 bytes. A `Transfer` makes its connection one of bulk data, without any further message. A datagram of UDP begins with
//! the session's key; all others have no answer.

mod cursor;
mod message;
mod sample;
#[cfg(test)]
mod tests;
mod train;
mod transfer;

pub use message::{Limits, Message, MessageError, Refusal, decode, encode};
pub use sample::SenderSample;
pub use train::{MOST_ARRIVALS, TrainArrival, TrainHead, TrainRequest, TrainSent};
pub use transfer::{Begun, Towards, TransferRequest};

/// The version of the protocol.
pub const VERSION: u16 = 3;

/// The port, where none is given.
pub const DEFAULT_PORT: u16 = 6349;

/// Bytes of a nonce and of a session's key.
pub const NONCE: usize = 16;

/// Bytes of a proof: HMAC-SHA-256 (RFC 2104).
pub const CODE: usize = 32;

/// Bytes of the longest body.
pub const LONGEST_BODY: usize = 16 * 1024;

/// Bytes of the longest frame that comes before the token is proven: that of a `Hello`.
pub const LONGEST_UNPROVEN: usize = 64;

/// Bytes before the body.
pub const HEADER: usize = 3;

/// Most sizes in one message about datagrams.
pub const MOST_SIZES: usize = 1024;
