//! What files of `tune persist` keep, which of them keep what is set no more, and whether the system reads them.

use std::fs;
use std::path::Path;

use maxseg_core::tune::{Prefix, Target, Value};

use super::documents::{Document, Format};
use super::persist::{DOCUMENT, Files, INTERFACES, Keeper, SERVICE, SYSCTLS};
use super::sysctl_files::{file_settings, is_started_by_systemd};

/// The settings that a file of this path keeps, as far as this program has written it.
pub fn kept_in(path: &str, text: &str) -> Vec<(Target, Value)> {
    let format = if path.ends_with(SYSCTLS) {
        Format::SysctlD
    } else if path.ends_with(DOCUMENT) {
        Format::Toml
    } else if path.ends_with(INTERFACES) {
        return text.lines().filter_map(mtu_of_line).collect();
    } else {
        return Vec::new();
    };
    let document = format.read(path, text, Prefix::ALL_V4).unwrap_or_default();
    document.settings.into_iter().map(|one| (one.target, one.value)).collect()
}

/// Of a stanza of interfaces(5).
fn mtu_of_line(line: &str) -> Option<(Target, Value)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["up", "ip", "link", "set", "dev", name, "mtu", mtu] = words[..] else { return None };
    Some((Target::InterfaceMtu(name.to_owned()), Value::of(mtu)))
}

/// Of the files of earlier runs (path and content) those that keep what this document does not have, and that are not written anew.
pub fn outdated(earlier: &[(String, String)], document: &Document, written: &Files) -> Vec<Target> {
    let is_set = |(target, value): &(Target, Value)| {
        document.settings.iter().any(|one| one.target == *target && one.value == *value)
    };
    let is_written =
        |path: &str| written.files.iter().any(|(target, _)| *target == Target::File(path.into()));
    let is_outdated = |path: &str, text: &str| !kept_in(path, text).iter().all(is_set);
    let keeps_outdated = |(path, text): &&(String, String)| match path.strip_suffix(SERVICE) {
        // A service without its document does nothing.
        Some(root) => {
            let of_it = format!("{root}{DOCUMENT}");
            earlier.iter().any(|(path, text)| *path == of_it && is_outdated(path, text))
        }
        None => is_outdated(path, text),
    };
    let outdated = earlier.iter().filter(|(path, _)| !is_written(path)).filter(keeps_outdated);
    outdated.map(|(path, _)| Target::File(path.clone())).collect()
}

/// Why what is written below `root` does not take effect, or not as it is, when the machine starts.
pub fn without_effect(keeper: Keeper, document: &Document, root: &Path) -> Vec<String> {
    let has = |programs: &[&str]| programs.iter().any(|program| root.join(program).exists());
    let of_root = root.display();
    match keeper {
        Keeper::SysctlD => {
            let mut why = overridden(document, root);
            if !is_started_by_systemd(root) && !has(&["sbin/sysctl", "usr/sbin/sysctl"]) {
                why.push(format!(
                    "nothing below {of_root} reads the file: neither systemd nor sysctl(8) is there"
                ));
            }
            why
        }
        Keeper::Ifupdown => {
            let interfaces = root.join("etc/network/interfaces");
            let text = fs::read_to_string(&interfaces).unwrap_or_default();
            let is_read = text
                .lines()
                .any(|line| line.trim().starts_with("source") && line.contains("interfaces.d"));
            let why = format!(
                "{} does not read the file: it lacks `source /etc/network/interfaces.d/*`",
                interfaces.display()
            );
            if is_read { Vec::new() } else { vec![why] }
        }
        Keeper::Unit if has(&["usr/lib/systemd/systemd", "lib/systemd/systemd"]) => Vec::new(),
        Keeper::Unit => {
            vec![format!("nothing below {of_root} starts the service: systemd is not there")]
        }
        Keeper::Networkd => Vec::new(),
    }
}

/// The lines behind our file's that set another value.
fn overridden(document: &Document, root: &Path) -> Vec<String> {
    let own = Path::new(SYSCTLS).file_name();
    let read = file_settings(root);
    let of = |one: &super::documents::Setting| {
        let Target::Sysctl(name) = &one.target else { return None };
        let later = read.get(name)?.iter().rfind(|line| {
            let is_last = line.file == Path::new("/etc/sysctl.conf");
            line.is_read_at_start && (is_last || line.file.file_name() > own)
        })?;
        let is_other = !later.value.split_whitespace().eq(one.value.text()?.split_whitespace());
        is_other.then(|| {
            let file = root.join(later.file.strip_prefix("/").unwrap_or(&later.file));
            format!(
                "{}:{} is read later, and sets {name} to {}",
                file.display(),
                later.line,
                later.value
            )
        })
    };
    document.settings.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::documents::Setting;

    fn document(settings: &[(&str, &str)]) -> Document {
        let one = |(target, value): &(&str, &str)| Setting {
            target: target.parse().unwrap(),
            value: Value::of(value),
            why: None,
            line: 0,
        };
        Document { settings: settings.iter().map(one).collect(), ..Document::default() }
    }

    const ALL: [(&str, &str); 2] =
        [("sysctl.net.ipv4.tcp_mtu_probing", "1"), ("interface.eth0.mtu", "1400")];

    fn files(keeper: Keeper, settings: &[(&str, &str)]) -> Vec<(String, String)> {
        let files = keeper.files(&document(settings), Path::new("/r"), "/usr/bin/maxseg").files;
        let of = |(target, value): (Target, Value)| {
            let Target::File(path) = target else { panic!("{target}") };
            (path, value.text().unwrap_or_default().to_owned())
        };
        files.into_iter().map(of).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (keeper, count) in [(Keeper::SysctlD, 1), (Keeper::Ifupdown, 1), (Keeper::Unit, 2)] {
            let kept: Vec<_> =
                files(keeper, &ALL).iter().flat_map(|(path, text)| kept_in(path, text)).collect();
            assert_eq!(kept.len(), count, "{kept:?}");
        }
    }

    #[test]
    fn files_of_what_is_set_no_more_are_outdated() {
        let paths = |earlier: &[(String, String)], now: &[(&str, &str)], keeper: Keeper| {
            let written = keeper.files(&document(now), Path::new("/r"), "/usr/bin/maxseg");
            outdated(earlier, &document(now), &written).len()
        };
        let sysctls = files(Keeper::SysctlD, &ALL);
        assert_eq!(paths(&sysctls, &ALL, Keeper::Unit), 0, "it is set still");
        assert_eq!(paths(&sysctls, &ALL[1..], Keeper::Unit), 1);
        assert_eq!(paths(&sysctls, &ALL[1..], Keeper::SysctlD), 1);
        let unit = files(Keeper::Unit, &ALL);
        assert_eq!(paths(&unit, &ALL[..1], Keeper::SysctlD), 2, "the service with its document");
        assert_eq!(paths(&unit, &ALL[..1], Keeper::Unit), 0, "written anew");
    }

    #[test]
    fn what_has_no_effect_is_told() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let told = |keeper| without_effect(keeper, &document(&ALL), root.path()).join("; ");
        assert!(told(Keeper::SysctlD).contains("neither systemd nor sysctl(8)"));
        assert!(told(Keeper::Unit).contains("systemd is not there"));
        assert!(told(Keeper::Ifupdown).contains("it lacks `source"));
        write("usr/lib/systemd/systemd-sysctl", "");
        write("usr/lib/systemd/systemd", "");
        write("etc/network/interfaces", "source /etc/network/interfaces.d/*\n");
        write("etc/sysctl.d/10-early.conf", "net.ipv4.tcp_mtu_probing = 2\n");
        for keeper in Keeper::ALL {
            assert_eq!(told(keeper), "", "{keeper:?}");
        }
        write("etc/sysctl.d/99-site.conf", "net.ipv4.tcp_mtu_probing = 0\n");
        let told = told(Keeper::SysctlD);
        assert!(told.contains("99-site.conf:1 is read later, and sets net.ipv4"), "{told}");
    }
}
