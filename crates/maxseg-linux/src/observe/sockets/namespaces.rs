//! Network namespaces by name: the kernel lists the sockets of one at a time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::IpAddr;
use std::os::linux::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::unistd::Uid;
use thiserror::Error;

use crate::netlink::{InterfaceIndex, Netlink};
use crate::observe::host::sysctl;
use crate::sys::NetNs;

/// Where ip-netns(8) keeps the names.
const NAMED: &str = "/run/netns";

/// Whose sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Those of the namespace that this process is in.
    Here,
    /// Those of a namespace with a name (ip-netns(8)).
    Named(String),
    /// Those of the namespace that a process is in.
    Of(u32),
    /// Those of every namespace that has a name or a process.
    All,
}

/// A network namespace that can be entered.
#[derive(Debug, Clone)]
pub struct PlaceName {
    /// What it is called: a name, or `pid:PID` of a process in it; `None` for the caller's own.
    pub name: Option<Arc<str>>,
    /// Its inode; 0 for the caller's own.
    id: u64,
    namespace: Option<Arc<NetNs>>,
}

/// The namespaces of a place.
#[derive(Debug)]
pub(in crate::observe) struct Namespaces {
    /// Those that this user may see.
    pub(in crate::observe) each: Vec<PlaceName>,
    /// Processes of which this user may not know in which namespace they are (`PTRACE_MODE_READ`, proc(5)).
    pub(in crate::observe) hidden_of: usize,
}

/// Why the sockets of a namespace cannot be seen.
#[derive(Debug, Error)]
pub enum NamespaceError {
    /// There is no such name.
    #[error("there is no network namespace called {name:?}")]
    NoName {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A file among the names that is none.
    #[error("{} is no network namespace", file.display())]
    NoNamespace {
        /// The file.
        file: PathBuf,
    },
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// This user may not enter it.
    #[error("this user may not enter the network namespace {0}")]
    Denied(String),
    /// The kernel gives no list.
    #[error("the kernel lists no TCP sockets: {0}")]
    NoList(#[from] io::Error),
}

impl NamespaceError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoName { known, .. } if known.is_empty() => {
                "`ip netns list` shows names; those of containers have none: give a PID, or `all`"
                    .to_owned()
            }
            Self::NoName { known, .. } => {
                format!("the names are {}; or give a PID, or `all`", known.join(", "))
            }
            Self::NoNamespace { file } => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                format!(
                    "no network namespace is mounted there: `ip netns delete {name}` removes the name"
                )
            }
            Self::NoProcess(_) => {
                "`ps -e` lists the processes; for a container, give the PID of its first one"
                    .to_owned()
            }
            Self::Denied(_) if Uid::effective().is_root() => {
                "it takes CAP_SYS_ADMIN, which root has not here (a container, a unit's capabilities)"
                    .to_owned()
            }
            Self::Denied(_) => {
                "root may, as may whoever has CAP_SYS_ADMIN: sudo maxseg … --netns …".to_owned()
            }
            Self::NoList(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                "its module is missing: sudo modprobe tcp_diag".to_owned()
            }
            Self::NoList(_) => "`ss -t` asks the kernel for the same list".to_owned(),
        }
    }
}

impl Place {
    /// What a list calls by this name: a name, the PID of a process in it, or `pid:PID`.
    pub fn called(name: &str) -> Self {
        let pid = name.strip_prefix("pid:").unwrap_or(name).parse();
        pid.map_or_else(|_| Self::Named(name.to_owned()), Self::Of)
    }

    /// Its namespaces, the caller's own first; of all, those that this user may see.
    pub(in crate::observe) fn namespaces(&self) -> Result<Namespaces, NamespaceError> {
        let each = match self {
            Self::Here => vec![PlaceName::own()],
            Self::Named(name) => vec![named(name)?],
            Self::Of(pid) => vec![of_process(*pid)?],
            Self::All => return Ok(all()),
        };
        Ok(Namespaces { each, hidden_of: 0 })
    }
}

impl PlaceName {
    const fn own() -> Self {
        Self { name: None, id: 0, namespace: None }
    }

    /// What no other namespace has while it is there.
    pub const fn id(&self) -> u64 {
        self.id
    }

    fn open(name: String, file: &Path) -> io::Result<Self> {
        let file = File::open(file)?;
        let id = file.metadata()?.st_ino();
        let namespace = Some(Arc::new(NetNs::of_file(file)?));
        Ok(Self { name: Some(name.into()), id, namespace })
    }

    /// Runs `work` in the namespace.
    pub(in crate::observe) fn run<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, NamespaceError> {
        let Some(namespace) = &self.namespace else { return Ok(work()?) };
        namespace.run(work).map_err(|error| {
            if error.kind() == io::ErrorKind::PermissionDenied {
                NamespaceError::Denied(self.name.as_deref().unwrap_or_default().to_owned())
            } else {
                error.into()
            }
        })
    }
}

/// Moves this process, which must have one thread, into the namespace of a place, for good.
///
/// # Errors
/// There is no such namespace, or this user may not enter it.
pub fn enter(place: &Place) -> Result<(), NamespaceError> {
    for PlaceName { name, namespace, .. } in place.namespaces()?.each.into_iter().take(1) {
        let denied = |_| NamespaceError::Denied(name.as_deref().unwrap_or_default().to_owned());
        namespace.map_or(Ok(()), |namespace| namespace.enter()).map_err(denied)?;
    }
    Ok(())
}

/// The most to which the kernel grows a send buffer (`tcp_wmem`) and a receive buffer (`tcp_rmem`), in a namespace by its name as
/// [`PlaceName`] has it; `None` where that cannot be read.
pub fn largest_buffers(netns: Option<&str>) -> Option<[u32; 2]> {
    let place = netns.map_or(Place::Here, Place::called);
    let namespace = place.namespaces().ok()?.each.into_iter().next()?;
    let largest = |key| -> Option<u32> {
        let sizes = namespace.run(|| sysctl(key)).ok()?;
        sizes.split_ascii_whitespace().nth(2)?.parse().ok()
    };
    Some([largest("net.ipv4.tcp_wmem")?, largest("net.ipv4.tcp_rmem")?])
}

/// Whether packets to an address are for the host itself in a namespace. That a socket can be bound to it says nothing where
/// `ip_nonlocal_bind` is set.
pub fn is_own_address(place: &Place, address: IpAddr) -> bool {
    let namespace = place.namespaces().ok().and_then(|found| found.each.into_iter().next());
    namespace.is_some_and(|namespace| {
        namespace.run(|| Netlink::new()?.is_local(address)).unwrap_or(false)
    })
}

/// The index of an interface in a namespace, by its name or that number; `None` where there is none.
///
/// # Errors
/// There is no such namespace, or this user may not enter it.
pub fn interface_index(place: &Place, name: &str) -> Result<Option<u32>, NamespaceError> {
    if let Ok(index) = name.parse() {
        return Ok(Some(index));
    }
    let Some(namespace) = place.namespaces()?.each.into_iter().next() else { return Ok(None) };
    namespace.run(|| Ok(Netlink::interface(name).ok().map(InterfaceIndex::get)))
}

fn named(name: &str) -> Result<PlaceName, NamespaceError> {
    let no_name = || NamespaceError::NoName { name: name.to_owned(), known: names() };
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(no_name());
    }
    let file = Path::new(NAMED).join(name);
    PlaceName::open(name.to_owned(), &file).map_err(|error| {
        if error.kind() == io::ErrorKind::PermissionDenied {
            NamespaceError::Denied(name.to_owned())
        } else if error.kind() == io::ErrorKind::InvalidInput {
            NamespaceError::NoNamespace { file }
        } else {
            no_name()
        }
    })
}

fn of_process(pid: u32) -> Result<PlaceName, NamespaceError> {
    let file = of_pid(pid);
    PlaceName::open(format!("pid:{pid}"), &file).map_err(|error| {
        if error.kind() == io::ErrorKind::PermissionDenied {
            NamespaceError::Denied(format!("of process {pid}"))
        } else {
            NamespaceError::NoProcess(pid)
        }
    })
}

fn of_pid(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/ns/net"))
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(NAMED)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Each namespace once, by its inode; a name is better than a process.
fn all() -> Namespaces {
    // A name is no namespace while ip-netns(8) adds or deletes it, and where that was cut short: a plain file, on which the namespace is
    // mounted.
    let named = names().into_iter().filter_map(|name| named(&name).ok());
    let mut found: BTreeMap<u64, PlaceName> = BTreeMap::new();
    for place in named {
        found.entry(place.id).or_insert(place);
    }
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    let mut hidden_of = 0;
    for pid in pids {
        match fs::metadata(of_pid(pid)) {
            Ok(status) => {
                if !found.contains_key(&status.st_ino())
                    && let Ok(place) = of_process(pid)
                {
                    found.insert(place.id, place);
                }
            }
            Err(error) => {
                hidden_of += usize::from(error.kind() == io::ErrorKind::PermissionDenied);
            }
        }
    }
    let own = fs::metadata("/proc/self/ns/net").map(|status| status.st_ino()).ok();
    let others = found.into_values().filter(|place| Some(place.id) != own);
    Namespaces { each: std::iter::once(PlaceName::own()).chain(others).collect(), hidden_of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_called_as_lists_call_it() {
        assert_eq!(Place::called("blue"), Place::Named("blue".to_owned()));
        assert_eq!(Place::called("4711"), Place::Of(4711));
        assert_eq!(Place::called("pid:4711"), Place::Of(4711));
        assert_eq!(Place::called("pid:blue"), Place::Named("pid:blue".to_owned()));
    }
}
