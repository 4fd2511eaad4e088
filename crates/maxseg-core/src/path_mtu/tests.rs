//! Random paths against the search: right or unknown, never wrong.
