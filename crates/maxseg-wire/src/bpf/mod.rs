//! Classic BPF programs for the kernel, compiled from a selection of hosts, ports and protocols
//! (`McCanne` and Jacobson 1993; Linux's `Documentation/networking/filter.rst`).
//!
//! ```text
//! Selection ─┬→ compile → Instruction …   filters in the kernel, before packets are copied
//!            └→ passes                     the same in Rust, for packets of a file
//! ```

mod assemble;
mod compile;
mod selection;

use thiserror::Error;

pub use compile::{Link, compile};
pub use selection::{Protocol, Selection};

/// An instruction, as `struct sock_filter` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub code: u16,
    /// Instructions to skip if the test is true.
    pub jt: u8,
    /// Instructions to skip if it is false.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

/// Most instructions of a program (`BPF_MAXINSNS`).
pub const MOST_INSTRUCTIONS: usize = 4096;

/// The program of a selection exceeds [`MOST_INSTRUCTIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the filter takes {0} instructions, and the kernel allows {MOST_INSTRUCTIONS}")]
pub struct TooLong(pub usize);

/// Operations of the machine (`linux/bpf_common.h`): A is its accumulator, X its index register, M its
/// memory.
mod code {
    /// A ← the word or half-word at offset k of the packet.
    pub(super) const LOAD_WORD: u16 = 0x20;
    pub(super) const LOAD_HALF: u16 = 0x28;
    /// A ← the word, half-word or byte at offset X + k.
    pub(super) const LOAD_WORD_AT_X: u16 = 0x40;
    pub(super) const LOAD_HALF_AT_X: u16 = 0x48;
    pub(super) const LOAD_BYTE_AT_X: u16 = 0x50;
    /// A ← M, X ← M, M ← A, M ← X.
    pub(super) const LOAD_MEMORY: u16 = 0x60;
    pub(super) const LOAD_X_MEMORY: u16 = 0x61;
    pub(super) const STORE: u16 = 0x02;
    pub(super) const STORE_X: u16 = 0x03;
    /// X ← k.
    pub(super) const LOAD_X_CONSTANT: u16 = 0x01;
    /// A ← A op k, or A + X.
    pub(super) const ADD: u16 = 0x04;
    pub(super) const ADD_X: u16 = 0x0c;
    pub(super) const AND: u16 = 0x54;
    pub(super) const SHIFT_LEFT: u16 = 0x64;
    pub(super) const SHIFT_RIGHT: u16 = 0x74;
    /// X ← A, A ← X.
    pub(super) const TO_X: u16 = 0x07;
    pub(super) const FROM_X: u16 = 0x87;
    /// Jump: always; if A = k; if A > k; if A & k ≠ 0.
    pub(super) const GO: u16 = 0x05;
    pub(super) const IF_EQUAL: u16 = 0x15;
    pub(super) const IF_ABOVE: u16 = 0x25;
    pub(super) const IF_ANY_BIT: u16 = 0x45;
    /// Return: keep k bytes of the packet.
    pub(super) const KEEP: u16 = 0x06;
}

#[cfg(test)]
mod tests;
