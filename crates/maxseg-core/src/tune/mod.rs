//! Settings of a host that are changed on purpose: what is set, the plan, and the journal from which every change can be undone.
//!
//! ```text
//! --set TARGET=VALUE, advice, document → Step … → Plan → (asked) → journal and kernel, in turn → History → Entry with its EntryState
//! ```
//!
//! The journal is a file of lines that only grows. Each is on disk before what it announces is done, so that whatever ends the
//! program, at whatever moment, leaves one of these behind:
//!
//! ```text
//!            plan                 set                     is-set                  applied
//! (nothing) ─────→ plan is known ─────→ before or after ────────→ after was seen ─────────→ plan is complete
//!                       │                    │                          │                        │
//!                       │                    └───────── undo ───────────┴──────── undo ──────────┘
//!                       │                                 ↓
//!                       ↓                           before or after ── is-undone ──→ before was seen (the end)
//!                  ends with the run
//! ```
//!
//! A line `set` holds the value before, and what else is needed to restore it. Between two lines a single system call changes the
//! kernel, so that one look at the kernel tells which side of it the program got to: the value before, the value after, or, where
//! another program was at work, another one. [`Entry::state`] is that rule. A plan without `applied` was cut off: the next
//! command that changes anything undoes it first. A last line without its end announces nothing, since what it announces was not
//! begun; it is cut off.

mod effect;
mod facts;
mod guards;
mod hazards;
mod history;
mod plan;
mod prefix;
mod reach;
mod record;
mod spelling;
mod target;
#[cfg(test)]
mod tests;
mod warnings;

pub use effect::{
    COMPARISONS_S, Compared, Counters, Difference, Effect, LEAST_CONNECTIONS, LEAST_SENDING_S,
    Period, Ratio, Sample, Verdict, incomparable, judge,
};
pub use facts::{Facts, Floors, LargerRoute, LearntPathMtu, Session, V6Loss};
pub use guards::{Allowed, Refusal, refusals};
pub use hazards::is_of_unknown_reach;
pub use history::{Entry, EntryState, History, Moment, Progress, Undoing};
pub use plan::{Plan, Step, Value};
pub use prefix::{Prefix, PrefixError};
pub use record::{
    Author, BrokenLine, Deadline, Event, Place, Record, UndoReason, VERSION, records_of,
};
pub use spelling::as_written_by_kernel;
pub use target::{RouteMetricName, SocketEnds, SocketOption, Target, TargetError};
pub use warnings::warnings;
