//! The catalogue of tunables beside what this host has: the current value, and who set it, where that can be known.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use maxseg_core::tunables::{Tunable, tunables};
use maxseg_core::tune::{Prefix, Value};
use maxseg_linux::observe::host::sysctl;

use super::documents::Format;

/// A tunable, as this host has it.
#[derive(Debug, Clone)]
pub struct Listed {
    /// What it is.
    pub tunable: &'static Tunable,
    /// What it is set to.
    pub current: Current,
    /// Whether that is another value than the kernel's own; `None` where the default depends on the machine.
    pub is_modified: Option<bool>,
    /// The lines of this host's files that set it, those that hold last.
    pub files: Vec<FileSetting>,
}

/// The current value of a tunable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// The value.
    Value(String),
    /// It is not there, or this user may not read it: why.
    Unknown(String),
    /// Each interface has its own: name and value.
    Each(Vec<(String, String)>),
    /// Each route, interface or socket has its own, or none.
    ByTarget,
}

/// A line of a file that sets a sysctl when the machine starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSetting {
    /// The file.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// The value.
    pub value: String,
    /// The comment above it.
    pub why: Option<String>,
}

/// Folders of sysctl.d(5): a file masks those of the same name in the folders below.
const FOLDERS: [&str; 5] =
    ["etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d"];
/// What sysctl(8) reads after them.
const LAST: &str = "etc/sysctl.conf";

/// Every tunable, as this namespace has it.
pub fn listed() -> Vec<Listed> {
    let files = file_settings(Path::new("/"));
    tunables().iter().map(|tunable| of(tunable, &files)).collect()
}

/// One tunable, as this namespace has it.
pub fn listed_one(tunable: &'static Tunable) -> Listed {
    of(tunable, &file_settings(Path::new("/")))
}

fn of(tunable: &'static Tunable, files: &BTreeMap<String, Vec<FileSetting>>) -> Listed {
    let current = current(tunable);
    let is_modified = match &current {
        Current::Value(value) => tunable.is_default(value).map(|is_default| !is_default),
        Current::Unknown(_) | Current::Each(_) | Current::ByTarget => None,
    };
    let files = tunable.sysctl().and_then(|name| files.get(name)).cloned().unwrap_or_default();
    Listed { tunable, current, is_modified, files }
}

fn current(tunable: &Tunable) -> Current {
    match tunable.sysctl() {
        Some(name) => match sysctl(name) {
            Ok(value) => Current::Value(value),
            Err(error) => Current::Unknown(why_not(tunable, &error)),
        },
        None if tunable.name == "interface.mtu" => Current::Each(interface_mtus()),
        None => Current::ByTarget,
    }
}

fn why_not(tunable: &Tunable, error: &io::Error) -> String {
    match (error.kind(), &tunable.since) {
        (io::ErrorKind::NotFound, Some(since)) => {
            format!("not here: it is of Linux {since}, and not in every namespace")
        }
        (io::ErrorKind::NotFound, None) => {
            "not here: this kernel, or this namespace, does not have it".to_owned()
        }
        _ => format!("unknown: {}", crate::file_error::reason(error)),
    }
}

/// The MTUs of the namespace's interfaces: /sys shows those of the namespace in which it was mounted, netlink those of this one.
fn interface_mtus() -> Vec<(String, String)> {
    let interfaces = maxseg_linux::observe::host::interface_mtus().unwrap_or_default();
    interfaces.into_iter().map(|(name, mtu)| (name, mtu.to_string())).collect()
}

impl Listed {
    /// Whether the last line that sets it gives the current value; `None` where no file does.
    pub fn holds(&self) -> Option<bool> {
        let last = self.files.last()?;
        match &self.current {
            Current::Value(value) => {
                Some(value.split_whitespace().eq(last.value.split_whitespace()))
            }
            Current::Unknown(_) | Current::Each(_) | Current::ByTarget => None,
        }
    }
}

/// What the files below `root` set when the machine starts, by the names of the sysctls, in the order in which they are read.
pub fn file_settings(root: &Path) -> BTreeMap<String, Vec<FileSetting>> {
    let mut read = BTreeMap::new();
    for file in files(root) {
        let shown = Path::new("/").join(file.strip_prefix(root).unwrap_or(&file));
        add_lines(&mut read, &file, &shown);
    }
    read
}

/// The files in the order in which they are read: by name, whatever the folder.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut by_name = BTreeMap::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if Path::new(&name).extension().is_some_and(|ending| ending == "conf") {
                by_name.entry(name).or_insert_with(|| entry.path());
            }
        }
    }
    let last = root.join(LAST);
    // Debian has it in the folder too, by a link.
    let is_linked = |file: &PathBuf| fs::canonicalize(file).ok() == fs::canonicalize(&last).ok();
    let mut files: Vec<_> = by_name.into_values().filter(|file| !is_linked(file)).collect();
    files.push(last);
    files
}

/// Line by line: what is wrong with one is no reason to pass over the others.
fn add_lines(read: &mut BTreeMap<String, Vec<FileSetting>>, file: &Path, shown: &Path) {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
    let mut comment = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with(['#', ';']) || line.is_empty() {
            comment = if line.is_empty() { String::new() } else { format!("{comment}{line}\n") };
            continue;
        }
        let name = shown.to_string_lossy();
        let document = Format::SysctlD.read(&name, &format!("{comment}{line}"), Prefix::ALL_V4);
        for setting in document.map(|document| document.settings).unwrap_or_default() {
            let Value::Text(value) = setting.value else { continue };
            let target = setting.target.to_string();
            let name = target.strip_prefix("sysctl.").unwrap_or(&target).to_owned();
            let (file, line) = (shown.to_owned(), number + 1);
            read.entry(name).or_default().push(FileSetting { file, line, value, why: setting.why });
        }
        comment.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_the_order_of_their_names_and_mask_each_other() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("usr/lib/sysctl.d/50-a.conf", "net.ipv4.tcp_sack = 0\n");
        write(
            "etc/sysctl.d/50-a.conf",
            "# it loses\nnet.ipv4.tcp_ecn = 1\nnonsense\nnet.ipv4.tcp_frto = 0\n",
        );
        write("run/sysctl.d/90-b.conf", "net/ipv4/tcp_ecn = 0\n");
        write("etc/sysctl.d/60.txt", "net.ipv4.tcp_ecn = 2\n");
        write("etc/sysctl.conf", "net.ipv4.tcp_ecn = 2\n");
        std::os::unix::fs::symlink(
            root.path().join("etc/sysctl.conf"),
            root.path().join("etc/sysctl.d/99-sysctl.conf"),
        )
        .unwrap();
        let found = file_settings(root.path());
        assert_eq!(found.get("net.ipv4.tcp_sack"), None, "masked");
        let told = |name: &str| -> Vec<_> {
            let line =
                |one: &FileSetting| format!("{}:{}={}", one.file.display(), one.line, one.value);
            found[name].iter().map(line).collect()
        };
        assert_eq!(
            told("net.ipv4.tcp_ecn"),
            ["/etc/sysctl.d/50-a.conf:2=1", "/run/sysctl.d/90-b.conf:1=0", "/etc/sysctl.conf:1=2"]
        );
        assert_eq!(told("net.ipv4.tcp_frto"), ["/etc/sysctl.d/50-a.conf:4=0"]);
        assert_eq!(found["net.ipv4.tcp_ecn"][0].why.as_deref(), Some("it loses"));
    }

    #[test]
    fn every_tunable_is_listed_with_what_this_host_has() {
        let all = listed();
        assert_eq!(all.len(), tunables().len());
        let of = |name: &str| all.iter().find(|one| one.tunable.name == name).unwrap();
        assert!(matches!(of("sysctl.net.ipv4.tcp_rmem").current, Current::Value(_)));
        assert!(matches!(of("socket.rcvbuf").current, Current::ByTarget));
        let Current::Each(mtus) = &of("interface.mtu").current else { panic!("of each interface") };
        assert!(mtus.iter().any(|(name, _)| name == "lo"), "{mtus:?}");
    }
}
