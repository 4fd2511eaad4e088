//! Where the random numbers of a link begin.

/// The names of a link's random streams begin with `name`, under `seed`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams<'a> {
    pub(super) seed: u64,
    pub(super) name: &'a str,
}
