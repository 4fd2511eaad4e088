//! Settings of this host: from what is asked for to a plan that can be read, applied and undone.
//!
//! [`wanted`] reads arguments, [`prepare`] looks at the host and refuses what must not be, [`script`] writes a plan for those who
//! deploy otherwise. [`apply`] makes it with a [`Journal`], [`undo`] takes it back, [`survey`] says what came of it: they are
//! `maxseg_linux::tune`'s.

mod advised;
pub mod catalogue;
pub mod documents;
mod kept;
pub mod persist;
mod plan;
mod script;
mod sysctl_files;
mod zones;

pub use advised::{Advised, advised};
pub use maxseg_linux::tune::{
    Applied, Applying, Because, Journal, Peer, SegmentsSeen, Surveyed, TuneError, UndoOutcome,
    Undone, WatchEvent, Watcher, apply, author, deadline, effect, guard, moment, recover,
    segments_seen, state_folder, survey, undo,
};

pub use kept::{kept_in, outdated, without_effect};
pub use plan::{PlannedStep, PreparedPlan, Request, prepare, wanted, wanted_of_connection};
pub use script::script;
pub use sysctl_files::{FileSetting, file_settings};
