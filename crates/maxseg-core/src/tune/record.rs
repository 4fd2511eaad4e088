//! The lines of the journal.

use serde::{Deserialize, Serialize};

use super::plan::{Step, Value};

/// The layout of a line that this program writes.
pub const VERSION: u32 = 1;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its layout.
    pub v: u32,
    /// When it was written, seconds since 1970.
    pub at_s: f64,
    /// Where it holds.
    pub place: Place,
    /// What it announces or confirms.
    #[serde(flatten)]
    pub event: Event,
}

/// Where a change holds: until this machine is booted again, in one network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
    /// The inode of the network namespace, which a later one may have again.
    pub namespace: u64,
    /// Its cookie, which no other has in this boot (`SO_NETNS_COOKIE`); `None` before Linux 5.14.
    pub cookie: Option<u64>,
}

/// Who made a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The user's name or number, with the one behind sudo.
    pub user: String,
    /// The process.
    pub pid: u32,
}

/// When a change ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deadline {
    /// Seconds since 1970, for people.
    pub at_s: f64,
    /// Seconds since the machine was booted, the time in suspension included (`CLOCK_BOOTTIME`): what counts.
    pub boot_s: f64,
    /// Whether it holds only until somebody confirms the change.
    pub unless_confirmed: bool,
}

/// Why a change is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoReason {
    /// Somebody asked for it.
    Asked,
    /// Its time was over.
    Expired,
    /// Another change of its plan could not be made.
    RolledBack,
    /// The program ended in the middle of its plan.
    CutOff,
    /// The route from which it was copied leads elsewhere now.
    RouteMoved,
    /// What it was about is gone, or somebody else has restored it.
    NothingLeft,
    /// The connections that it reaches did worse.
    Worse,
}

/// A line that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BrokenLine {
    /// Which, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
    /// Whether a later version of this program has written it, and nothing is wrong.
    pub is_later: bool,
}

/// The lines of a journal, and how many bytes the whole ones have: a last line without its end announces nothing.
///
/// # Errors
/// A line is none, or a later version of this program has written it.
pub fn records_of(bytes: &[u8]) -> Result<(Vec<Record>, usize), BrokenLine> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut records = Vec::new();
    for (line, text) in (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n')) {
        // What an editor leaves.
        if text.trim_ascii().is_empty() {
            continue;
        }
        // Of a later layout the version alone is known.
        if let Ok(Layout { v }) = serde_json::from_slice(text)
            && v > VERSION
        {
            let why = format!("layout {v}, and this version knows {VERSION} at most");
            return Err(BrokenLine { line, why, is_later: true });
        }
        let record = serde_json::from_slice(text);
        let record: Record = record.map_err(|error| BrokenLine {
            line,
            why: without_place(&error),
            is_later: false,
        })?;
        records.push(record);
    }
    Ok((records, whole))
}

/// What every layout has.
#[derive(Deserialize)]
struct Layout {
    v: u32,
}

/// What is wrong, without the line and column that serde counts from the beginning of this line.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}

impl UndoReason {
    /// Whether it must be undone though nobody asked for it.
    pub const fn is_due(self) -> bool {
        matches!(self, Self::Expired | Self::CutOff | Self::Worse)
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Asked => "undone when asked",
            Self::Expired => "undone when its time was over",
            Self::RolledBack => "undone because its plan failed",
            Self::CutOff => "undone because its plan was cut off",
            Self::RouteMoved => "undone because the route that it was copied from has moved",
            Self::NothingLeft => "nothing was left to undo",
            Self::Worse => "undone because connections got worse",
        }
    }
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// These changes are about to be made together.
    Plan {
        /// The number of the plan.
        plan: u64,
        /// How many changes.
        steps: usize,
        /// Who makes them.
        by: Author,
        /// Why.
        why: Option<String>,
        /// When they end by themselves.
        ends: Option<Deadline>,
        /// Whether they are undone where the connections that they reach do worse.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reverts_if_worse: bool,
        /// Whether a route's MTU was allowed on a host that forwards.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        allows_router: bool,
    },
    /// This process is to undo the plan at its deadline, or where connections do worse.
    Guard {
        /// Which plan.
        plan: u64,
        /// The process.
        pid: u32,
        /// When it began, clock ticks since boot (field 22 of `/proc/PID/stat`): a process ID is used again.
        started: u64,
    },
    /// One change is about to be made.
    Set {
        /// The number of the entry.
        entry: u64,
        /// Of which plan.
        plan: u64,
        /// The change.
        #[serde(flatten)]
        step: Step,
        /// Why this one, where it has a reason of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It was made, and read back.
    IsSet {
        /// Which.
        entry: u64,
    },
    /// All changes of a plan were made.
    Applied {
        /// Which plan.
        plan: u64,
    },
    /// The changes of a plan are kept beyond their deadline.
    Confirmed {
        /// Which plan.
        plan: u64,
    },
    /// The connections of a plan were compared for the last time: it is not undone for their sake any more.
    Judged {
        /// Which plan.
        plan: u64,
    },
    /// One change is about to be undone.
    Undo {
        /// Which.
        entry: u64,
        /// Why.
        reason: UndoReason,
        /// With which numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// What was found there.
        found: Value,
    },
    /// The route that one change has made stays for a later one on it: undoing the later one removes it, and undoing the earlier one
    /// restores its metric alone.
    HandsOver {
        /// Which has made the route.
        entry: u64,
        /// Which has it from now on.
        to: u64,
        /// What undoing the earlier one sets.
        before: Value,
    },
    /// It is as it was, or what it was about is gone.
    IsUndone {
        /// Which.
        entry: u64,
    },
    /// What a later version of this program writes.
    #[serde(other)]
    Other,
}
