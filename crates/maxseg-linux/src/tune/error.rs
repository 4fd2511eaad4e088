//! Why a setting cannot be read, set or undone.

use std::io;
use std::path::PathBuf;

use maxseg_core::tune::{Prefix, Target, Value};
use thiserror::Error;

use super::nowhere::Nowhere;
use super::socket_error::SocketError;
use crate::observe::host::is_read_only;

/// Why a setting cannot be read, set or undone.
#[derive(Debug, Error)]
pub enum TuneError {
    /// A connection's option.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The kernel would not take the value before again.
    #[error(
        "{target} is {before} now, which the kernel would not take again: it could not be undone"
    )]
    NoWayBack {
        /// The target.
        target: Target,
        /// The value before.
        before: Value,
    },
    /// The kernel has no such sysctl or interface.
    #[error("{} does not exist here", in_words(target))]
    NoSuch {
        /// What was asked for.
        target: Target,
        /// The nearest that there is.
        near: Option<String>,
        /// What became of it.
        retired: Option<&'static str>,
    },
    /// There is no route to these destinations, not even a wider one.
    #[error("there is no route to {prefix}, so that none can be made from it")]
    NoRoute {
        /// The destinations.
        prefix: Prefix,
    },
    /// Nothing is sent to these destinations by a route of the main table.
    #[error("no route to {prefix} is made: {why}")]
    Nowhere {
        /// The destinations.
        prefix: Prefix,
        /// Why.
        why: Nowhere,
    },
    /// The route that was read has gone.
    #[error("the route to {prefix} has gone meanwhile")]
    RouteGone {
        /// The destinations.
        prefix: Prefix,
    },
    /// The kernel would choose one of several to replace.
    #[error(
        "there are {count} routes of one priority by which {prefix} is reached, and which the kernel takes is not certain"
    )]
    SeveralRoutes {
        /// The destinations.
        prefix: Prefix,
        /// How many.
        count: usize,
    },
    /// A route cannot be replaced by itself.
    #[error("the route to {prefix} cannot be replaced: {why}")]
    NotReplaceable {
        /// The destinations.
        prefix: Prefix,
        /// Why.
        why: String,
    },
    /// A target that has no such value.
    #[error("{target} cannot be {value}")]
    CannotBe {
        /// The target.
        target: Target,
        /// The value.
        value: Value,
    },
    /// The kernel tells nothing.
    #[error("cannot read {target}: {error}")]
    Read {
        /// The target.
        target: Target,
        /// What the system says.
        error: io::Error,
    },
    /// The kernel refuses.
    #[error("the kernel refuses {target} = {value}: {error}")]
    Write {
        /// The target.
        target: Target,
        /// The value.
        value: Value,
        /// What the system says.
        error: io::Error,
    },
    /// This user may not.
    #[error("this user may not change {target}")]
    Denied {
        /// The target.
        target: Target,
    },
    /// `/proc/sys` is mounted so that nobody may write, as in a container.
    #[error("{target} cannot be changed here: /proc/sys is mounted read-only")]
    ReadOnly {
        /// The target.
        target: Target,
    },
    /// It was written, and has another value.
    #[error(
        "{target} is {found} after {asked} was written: the kernel has changed it, or another program has"
    )]
    NotTaken {
        /// The target.
        target: Target,
        /// What was written.
        asked: Value,
        /// What is there.
        found: Value,
    },
    /// Another program changed it since the plan was made.
    #[error(
        "{target} was {planned} when the plan was made, and is {found} now: another program has changed it"
    )]
    ChangedMeanwhile {
        /// The target.
        target: Target,
        /// What the plan has.
        planned: Value,
        /// What is there.
        found: Value,
    },
    /// The route that one is to be made from leads elsewhere since the plan was made.
    #[error("{target} would be of a route that leads elsewhere since the plan was made: {why}")]
    RouteMoved {
        /// The target.
        target: Target,
        /// What has moved.
        why: String,
    },
    /// A plan failed, and what was done of it could not all be undone.
    #[error("{error}; and undoing what was done before failed: {undo}")]
    HalfDone {
        /// Why it failed.
        error: Box<TuneError>,
        /// Why undoing failed.
        undo: Box<TuneError>,
    },
    /// Another command changes settings at this moment.
    #[error("another `maxseg tune` is at work: {} is locked", file.display())]
    Busy {
        /// The journal.
        file: PathBuf,
    },
    /// The state folder is somebody else's.
    #[error("{} belongs to somebody else, or others may write to it", folder.display())]
    NotOurs {
        /// The folder or the file.
        folder: PathBuf,
    },
    /// A line of the journal makes no sense.
    #[error("line {line} of {} is no line of the journal: {why}", file.display())]
    BrokenLine {
        /// The journal.
        file: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A later version of this program has written a line of the journal.
    #[error("a later version of maxseg has written line {line} of {}: {why}", file.display())]
    LaterLine {
        /// The journal.
        file: PathBuf,
        /// Which, from 1.
        line: usize,
        /// Which layout.
        why: String,
    },
    /// The journal cannot be used.
    #[error("cannot {doing} {}: {error}", file.display())]
    Journal {
        /// What was to be done: a verb.
        doing: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no place for the journal.
    #[error("there is no folder for the journal: HOME is not set")]
    NoFolder,
    /// The guard cannot be started.
    #[error("cannot start the process that is to undo this in time: {0}")]
    Guard(io::Error),
    /// The system does not tell where and when this is.
    #[error("cannot find out boot and network namespace: {0}")]
    Here(io::Error),
    /// Netlink fails.
    #[error("cannot watch routes: {0}")]
    Watch(io::Error),
}

fn in_words(target: &Target) -> String {
    match target {
        Target::Sysctl(name) => format!("the sysctl {name}"),
        Target::InterfaceMtu(name) | Target::Clamp(name) => format!("the interface {name}"),
        Target::File(path) => format!("the file {path}"),
        Target::Route { .. } | Target::Socket { .. } => target.to_string(),
    }
}

impl TuneError {
    pub(super) fn read(target: &Target, error: io::Error) -> Self {
        Self::Read { target: target.clone(), error }
    }

    pub(super) fn open(target: &Target, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            Self::NoSuch { target: target.clone(), near: None, retired: None }
        } else if error.kind() == io::ErrorKind::PermissionDenied {
            Self::Denied { target: target.clone() }
        } else if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
            Self::ReadOnly { target: target.clone() }
        } else {
            Self::read(target, error)
        }
    }

    pub(super) fn write(target: &Target, value: &Value, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::PermissionDenied {
            return Self::Denied { target: target.clone() };
        }
        Self::Write { target: target.clone(), value: value.clone(), error }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Socket(error) => error.hint(),
            Self::NoSuch { retired: Some(what), .. } => (*what).to_owned(),
            Self::NoSuch { near: Some(near), .. } => format!("did you mean {near}?"),
            Self::NoSuch { target: Target::InterfaceMtu(_) | Target::Clamp(_), .. } => {
                "`ip link` lists the interfaces of this network namespace".to_owned()
            }
            Self::NoSuch { .. } => {
                "`sysctl -a --pattern ^net` lists what this kernel and this network namespace have"
                    .to_owned()
            }
            Self::NoRoute { prefix } => format!("`ip route get {}` tells", prefix.address()),
            Self::Nowhere { prefix, why } => why.hint(*prefix),
            Self::RouteGone { .. } | Self::ChangedMeanwhile { .. } | Self::RouteMoved { .. } => {
                "run the same command again: its plan has the values of now".to_owned()
            }
            Self::SeveralRoutes { prefix, .. } => {
                let ip = if prefix.is_v6() { "ip -6" } else { "ip" };
                format!("`{ip} route show match {prefix}` lists them; give them different metrics, or set the MTU of the interface")
            }
            Self::NotReplaceable { .. } => {
                "set the MTU of the interface, or a route of your own to fewer destinations".to_owned()
            }
            Self::CannotBe { target, .. } | Self::NoWayBack { target, .. } => format!("`maxseg tune show {target}` lists the values it takes"),
            Self::Read { .. } | Self::Here(_) => "`maxseg doctor` tells what this user can see here".to_owned(),
            Self::Write { target, error, .. } if error.raw_os_error() == Some(libc::EINVAL) => {
                format!("the value is outside what this kernel takes: `maxseg tune show {target}`")
            }
            Self::Write { .. } | Self::NotTaken { .. } => {
                "`maxseg tune status` shows what is set".to_owned()
            }
            Self::ReadOnly { .. } => {
                "a container has it so: set it on the host, in the container's network namespace (nsenter -n), or by an option of the \
                 container".to_owned()
            }
            Self::Denied { target: Target::Sysctl(name) } if is_read_only(name) => {
                "the kernel has it read-only in this network namespace, for root as well: set it on the host, in the machine's first one"
                    .to_owned()
            }
            Self::Denied { .. } if nix::unistd::Uid::effective().is_root() => {
                "root may not either: this process lacks CAP_NET_ADMIN, or a namespace may not have this value".to_owned()
            }
            Self::Denied { .. } => {
                "root may, in its own network namespace: sudo maxseg tune apply …; or deploy what --script prints"
                    .to_owned()
            }
            Self::HalfDone { .. } => {
                "`maxseg tune status` shows what is set; `maxseg tune undo --all` tries again".to_owned()
            }
            Self::Busy { .. } => "wait until it has ended, and run this again".to_owned(),
            Self::NotOurs { folder } => format!(
                "name another place: XDG_STATE_HOME=/path; or look at `ls -ld {}`",
                folder.display()
            ),
            Self::BrokenLine { file, .. } => format!(
                "`maxseg tune status` cannot be right without it: look at the file, and restore it, or move {} away",
                file.display()
            ),
            Self::LaterLine { .. } => {
                "nothing was changed; what that version has set, that version undoes".to_owned()
            }
            Self::Journal { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                "nothing was changed; free space on that disk, or name another place: XDG_STATE_HOME=/path".to_owned()
            }
            Self::Journal { .. } | Self::NoFolder => {
                "nothing was changed; name a folder that can be written: XDG_STATE_HOME=/path".to_owned()
            }
            Self::Guard(_) => "nothing was changed; without --for and --confirm none is needed".to_owned(),
            Self::Watch(_) => "routes are followed by rtnetlink; `ip monitor route` uses the same".to_owned(),
        }
    }
}
