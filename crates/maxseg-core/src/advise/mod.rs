//! From results and evidence to advice: a change, its gain, and whether that exceeds the noise.
//!
//! ```text
//! rows of a sweep → segment_size
//! scenario → what_if: each change alone, then together
//! scenario, Goal → advice: candidates by rule → model → simulator, by seeds → Advice: change, gain, price, commands
//! Evidence → Case → Remedy: the change and its commands, by host ─┬→ Headline → Advice
//!                 └→ ObservedPath → scenario_text → Rerun → Gain ──┘
//! ```

mod advice;
mod case;
mod change;
mod congestion_window;
mod data_flow;
mod gain;
mod headline;
mod mss_caps;
mod path;
mod remedy;
mod rerun;
mod scenario_text;
mod segment_size;
mod what_if;

pub use crate::diagnose::{HostSystem, HostSystems, System};
pub use advice::{
    Advice, AdviceGain, Advised, ChangeEntry, Commands, Ends, Form, FrontPoint, GainOf, GainOver,
    Goal, Guide, GuideName, HostEnd, HowTo, Judged, Price, ProofRow, Ran, Request, Setting,
    Simulate, advise, as_run, ends_of, guides, is_over_nothing, judge, limit_in_words, one_by_one,
    varied,
};
pub use case::Case;
pub use change::{Change, changed};
pub use gain::{CLOSE, Expected, Gain, Measured, Miss, NoGain, Prediction, RerunError, SMALL_GAIN};
pub use headline::Headline;

pub use path::{Confidence, Dialogue, Known, ObservedPath, Overflow, PathError, ReverseLink};
pub use remedy::{
    Command, CommandKind, ListenerCase, NEXT_HOP_OBJECT, Remedy, SocketCase, SocketVerdict,
    Subject, UNREADABLE_IN_ROUTE, listener_verdict, remedies, remedy, socket_verdict, subject,
};
pub use rerun::{MOST_PACKETS, Rerun};
pub use scenario_text::{LossModel, ScenarioRequest, scenario_text};
pub use segment_size::{
    Alignment, ENOUGH_SEEDS, LoweredSizes, SegmentSizeAdvice, Versus, headers, is_size_key,
    lowered_sizes, segment_size,
};
pub use what_if::{Trial, covering, what_if};
