//! What came of a script.

use std::fmt;

/// Passed, failed or not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All that it asks for was met.
    Passed,
    /// The line where the two part, and what differs there.
    Failed(usize, String),
    /// It was not played to its end.
    NotRun(NotRun),
}

/// Why a script is not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotRun {
    /// It tests the tool itself.
    Tool,
    /// Fast Open.
    FastOpen,
    /// `MSG_ZEROCOPY`.
    ZeroCopy,
    /// PSP or MD5.
    Signatures,
    /// When a call returns, or a descriptor is ready: `epoll`, `poll`, blocking calls.
    Readiness,
    /// How calls treat bad arguments.
    Arguments,
    /// Control messages, message boundaries, other ways of reading and writing.
    Messages,
    /// What a device does with packets.
    Device,
    /// A rule that the simulator's socket has not; which.
    Rule(String),
}

impl NotRun {
    /// What the scripts of this subject need, where that is no TCP without sockets, devices and calls.
    pub(super) fn of_subject(subject: &str) -> Option<Self> {
        Some(match subject {
            "packetdrill" => Self::Tool,
            "fastopen" => Self::FastOpen,
            "zerocopy" => Self::ZeroCopy,
            "psp" | "md5" => Self::Signatures,
            "blocking" | "epoll" | "notsent_lowat" => Self::Readiness,
            "syscall_bad_arg" => Self::Arguments,
            "eor" | "inq" | "ioctl" | "sendfile" | "splice" | "timestamping" | "validate" => {
                Self::Messages
            }
            "gro" => Self::Device,
            _ => return None,
        })
    }

    /// The reason alone, without what it is about.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Tool => "tests the tool itself",
            Self::FastOpen => "Fast Open",
            Self::ZeroCopy => "MSG_ZEROCOPY",
            Self::Signatures => "PSP, MD5",
            Self::Readiness => "when calls return and descriptors are ready",
            Self::Arguments => "bad arguments of calls",
            Self::Messages => "control messages, message boundaries, other ways to read and write",
            Self::Device => "what devices do with packets",
            Self::Rule(_) => "a rule that the simulator's socket has not",
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => write!(f, "{}: {rule}", self.reason()),
            Self::Tool
            | Self::FastOpen
            | Self::ZeroCopy
            | Self::Signatures
            | Self::Readiness
            | Self::Arguments
            | Self::Messages
            | Self::Device => f.write_str(self.reason()),
        }
    }
}

/// Why a script ends before its last line.
#[derive(Debug)]
pub(super) enum Stop {
    Differs(String),
    NotRun(NotRun),
}

impl From<NotRun> for Stop {
    fn from(reason: NotRun) -> Self {
        Self::NotRun(reason)
    }
}
