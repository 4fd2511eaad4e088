//! The kernel's calls that no library wraps: the only place of `unsafe`.

pub mod probe;
