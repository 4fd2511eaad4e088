//! TCP options (RFC 9293 §3.2): found one by one, understood, and written.
//!
//! [`walk`] is lenient: it finds what is there, and says where it must stop. [`TcpOption::of`] is
//! strict: what does not have the length that its kind demands means nothing, as in a TCP stack.

mod raw;
mod value;
mod walk;

pub use raw::RawOption;
pub use value::{SackBlock, SackBlocks, TcpOption};
pub use walk::{Item, Walk, walk, walk_cut};

use crate::{EncodeError, Layer};

/// Kind numbers (IANA, TCP parameters).
pub mod kind {
    /// End of the list.
    pub const END: u8 = 0;
    /// No operation.
    pub const NO_OPERATION: u8 = 1;
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub const MSS: u8 = 2;
    /// Window scale (RFC 7323 §2).
    pub const WINDOW_SCALE: u8 = 3;
    /// SACK permitted (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 4;
    /// SACK (RFC 2018 §3).
    pub const SACK: u8 = 5;
    /// Timestamps (RFC 7323 §3).
    pub const TIMESTAMPS: u8 = 8;
    /// MD5 signature (RFC 2385).
    pub const MD5: u8 = 19;
    /// Authentication (RFC 5925).
    pub const AO: u8 = 29;
    /// Multipath TCP (RFC 8684 §3).
    pub const MULTIPATH: u8 = 30;
    /// Fast open cookie (RFC 7413).
    pub const FAST_OPEN: u8 = 34;
}

/// Most bytes of options: a header has at most 15 words, five of them fixed.
pub const MOST: usize = 40;

/// Appends options in this order, then zeros (end of list) up to a whole word.
///
/// # Errors
/// They take more than 40 bytes; nothing is appended then.
pub fn encode(options: &[TcpOption<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let begin = out.len();
    for option in options {
        option.write(out);
    }
    let length = out.len() - begin;
    if let Err(error) = EncodeError::check(Layer::TcpOptions, length, MOST) {
        out.truncate(begin);
        return Err(error);
    }
    out.resize(begin + length.next_multiple_of(4), kind::END);
    Ok(())
}

#[cfg(test)]
mod tests;
