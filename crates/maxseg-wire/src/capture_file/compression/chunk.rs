//! How much is read at once.

/// Bytes of compressed input, and of decompressed output, that are read at once.
pub(super) const CHUNK: usize = 1 << 16;
