//! Lines, as they are printed.
