//! The size of a read.

/// Bytes of compressed input, and of decompressed output, per read.
pub(super) const CHUNK: usize = 1 << 16;
