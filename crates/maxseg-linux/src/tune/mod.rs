//! Settings of this host that are changed on purpose, so that every change can be undone, whatever happens.
//!
//! ```text
//! (Target, Value) … → steps (what is there now, and how to restore it) → facts → core's guards
//! Plan → apply: Journal::append, write, read, Journal::append … → undo, the same way back
//! Journal (History) + read → survey: each Entry with its EntryState
//! guard: a process that undoes a plan at its deadline, or where connections do worse
//! watch: undoes at deadlines too, and follows routes
//! ```
//!
//! The order of lines and changes is that of [`maxseg_core::tune`]. Everything is of the calling thread's network namespace.

mod apply;
mod before;
mod clamp;
mod copies;
mod dependence;
mod effect;
mod error;
mod facts;
mod file;
mod guard;
mod here;
mod interface;
mod interface_order;
mod interface_routes;
mod interface_v6;
mod journal;
mod nowhere;
mod route;
pub mod socket;
mod socket_error;
mod steps;
mod survey;
mod sysctl;
mod touched;
mod undo;
mod watch;

use maxseg_core::tune::{Target, Value};

pub use apply::{Applied, Applying, apply};
pub use effect::effect;
pub use error::TuneError;
pub use facts::{Peer, facts, forwards};
pub use guard::guard;
pub use here::{author, deadline, is_first_namespace, moment};
pub use journal::{Journal, root_journal_is_hidden, state_folder};
pub use nowhere::Nowhere;
pub use route::{PROTOCOL as ROUTE_PROTOCOL, made_way};
pub use steps::{own_names, steps};
pub use survey::{Surveyed, survey};
pub use touched::{SegmentsSeen, segments_seen, touched};
pub use undo::{Because, UndoOutcome, Undone, recover, undo};
pub use watch::{WatchEvent, Watcher};

/// What a target is set to, and what else is needed to restore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The value.
    pub value: Value,
    /// What [`write()`] needs to find and restore the very thing that was read.
    pub image: Option<String>,
}

impl Reading {
    /// A value that is all there is to know.
    const fn plain(value: Value) -> Self {
        Self { value, image: None }
    }
}

/// Reads what a target is set to. With the image of an earlier reading it looks at the very thing that was read then.
///
/// # Errors
/// The kernel does not tell, or this user may not know.
pub fn read(target: &Target, image: Option<&str>) -> Result<Reading, TuneError> {
    match target {
        Target::Sysctl(name) => sysctl::read(name).map(Reading::plain),
        Target::Route { prefix, metric } => route::read(*prefix, *metric, image),
        Target::InterfaceMtu(name) => interface::read(name, image),
        Target::Socket { ends, option } => socket::read(ends, *option, image),
        Target::Clamp(interface) => clamp::read(interface).map(Reading::plain),
        Target::File(path) => file::read(path),
    }
}

/// Sets a target, by a single change of the kernel where it is not so already. `image` is that of the reading before.
///
/// # Errors
/// The kernel refuses, or this user may not.
pub fn write(target: &Target, value: &Value, image: Option<&str>) -> Result<(), TuneError> {
    match target {
        Target::Sysctl(name) => sysctl::write(name, value),
        Target::Route { prefix, metric } => route::write(*prefix, *metric, value, image),
        Target::InterfaceMtu(name) => interface::write(name, value, image),
        Target::Socket { ends, option } => socket::write(ends, *option, value, image),
        Target::Clamp(interface) => clamp::write(interface, value),
        Target::File(path) => file::write(path, value),
    }
}

/// Reads a target back after it was written.
///
/// # Errors
/// It has another value: the kernel has changed it, or another program has.
pub fn verify(target: &Target, value: &Value, image: Option<&str>) -> Result<(), TuneError> {
    let found = read(target, image)?.value;
    if found == *value {
        return Ok(());
    }
    Err(TuneError::NotTaken { target: target.clone(), asked: value.clone(), found })
}
