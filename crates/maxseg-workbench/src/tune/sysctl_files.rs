//! The files of sysctl.d(5): which lines set a sysctl when the machine starts, and which of them holds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use maxseg_core::tune::{Prefix, Value};

use super::documents::Format;
use crate::file_error::refuse_irregular;

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
    /// Whether the file is read when the machine starts.
    pub is_read_at_start: bool,
}

/// Folders of sysctl.d(5): a file masks those of the same name in the folders below.
const FOLDERS: [&str; 5] =
    ["etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d"];
/// What sysctl(8) reads after them (`sysctl --system`), and systemd only where a link in the folders leads to it (sysctl.d(5)).
const LAST: &str = "etc/sysctl.conf";

/// What the files below `root` set, by the names of the sysctls, in the order in which they are read when the machine starts, behind what is
/// not read then.
pub fn file_settings(root: &Path) -> BTreeMap<String, Vec<FileSetting>> {
    let mut read = BTreeMap::new();
    for (file, is_read_at_start) in files(root) {
        let shown = Path::new("/").join(file.strip_prefix(root).unwrap_or(&file));
        add_lines(&mut read, &file, &shown, is_read_at_start);
    }
    read
}

/// Whether systemd sets sysctls below `root` when it starts; else sysctl(8) does, or nothing.
pub(super) fn is_started_by_systemd(root: &Path) -> bool {
    if root == Path::new("/") {
        return Path::new("/run/systemd/system").is_dir(); // sd_booted(3)
    }
    ["usr/lib/systemd/systemd-sysctl", "lib/systemd/systemd-sysctl"]
        .iter()
        .any(|program| root.join(program).exists())
}

/// The files in the order in which they are read, by name, whatever the folder; and whether they are when the machine starts.
fn files(root: &Path) -> Vec<(PathBuf, bool)> {
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
    let is_it = |file: &PathBuf| fs::canonicalize(file).ok() == fs::canonicalize(&last).ok();
    let linked = by_name.values().any(is_it);
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    if is_started_by_systemd(root) {
        files.extend((!linked).then_some((last, false)));
        files.extend(by_name.into_values().map(|file| (file, true)));
    } else {
        // It reads the link of Debian as well, and the file again after it.
        files.extend(by_name.into_values().filter(|file| !is_it(file)).map(|file| (file, true)));
        files.push((last, true));
    }
    files
}

/// Line by line: what is wrong with one is no reason to pass over the others.
fn add_lines(
    read: &mut BTreeMap<String, Vec<FileSetting>>,
    file: &Path,
    shown: &Path,
    is_read_at_start: bool,
) {
    let bytes = refuse_irregular(file).and_then(|()| fs::read(file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
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
            // What a line leaves as it is is not known from the line.
            if setting.value.keeps_words() {
                continue;
            }
            let Value::Text(value) = setting.value else { continue };
            let target = setting.target.to_string();
            let name = target.strip_prefix("sysctl.").unwrap_or(&target).to_owned();
            let (file, line, why) = (shown.to_owned(), number + 1, setting.why);
            let setting = FileSetting { file, line, value, why, is_read_at_start };
            read.entry(name).or_default().push(setting);
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
        // To open it would be to wait for a writer.
        let pipe = root.path().join("etc/sysctl.d/70-c.conf");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
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

    /// systemd reads `/etc/sysctl.conf` by a link alone, and then by the link's name.
    #[test]
    fn of_systemd_the_last_word_is_that_of_the_last_name() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("usr/lib/systemd/systemd-sysctl", "");
        write("etc/sysctl.conf", "net.ipv4.tcp_ecn = 2\n");
        write("etc/sysctl.d/50-a.conf", "net.ipv4.tcp_ecn = 1\n");
        write("etc/sysctl.d/zz.conf", "net.ipv4.tcp_ecn = 0\n");
        let told = || -> Vec<_> {
            let found = file_settings(root.path());
            let lines = found["net.ipv4.tcp_ecn"].iter();
            lines.map(|one| (one.value.clone(), one.is_read_at_start)).collect()
        };
        let line = |value: &str, is_read: bool| (value.to_owned(), is_read);
        assert_eq!(told(), [line("2", false), line("1", true), line("0", true)]);
        std::os::unix::fs::symlink(
            "../sysctl.conf",
            root.path().join("etc/sysctl.d/99-sysctl.conf"),
        )
        .unwrap();
        assert_eq!(told(), [line("1", true), line("2", true), line("0", true)]);
    }
}
