//! The test of RFC 6349.

/// The report of RFC 6349.
#[derive(Debug, Clone, PartialEq)]
pub struct Rfc6349Report {}
