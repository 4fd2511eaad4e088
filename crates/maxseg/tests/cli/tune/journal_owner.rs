//! Root's changes are in root's journal: what `sudo` prints is typed with it, and another user is told of what he cannot see.

use std::process::Output;

use super::super::kernel::{NOBODY, skipped};
use super::super::{stderr, stdout};
use super::host::Host;

/// A host where `/var/lib` is a folder of the test's own.
struct Machine {
    host: Host,
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Option<Self> {
        let host = Host::new()?;
        if !host.namespace.run("setpriv --version").status.success() {
            skipped("an ordinary user: there is no setpriv");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        for below in ["lib", "home"] {
            std::fs::create_dir(folder.path().join(below)).unwrap();
        }
        std::os::unix::fs::chown(folder.path().join("home"), Some(NOBODY), Some(NOBODY)).unwrap();
        // The test's own build may be where another user may not look. By another process: see `trouble`.
        let mut copy = std::process::Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_maxseg")).arg(folder.path().join("program"));
        assert!(copy.status().unwrap().success());
        Some(Self { host, folder })
    }

    /// `maxseg tune` by `sudo`, or by the user alone, without that user's environment; with its exit code.
    fn tune(&self, by: &str, arguments: &str) -> (Option<i32>, String) {
        let at = self.folder.path().display();
        let rights = match by {
            "sudo" => String::new(),
            _ => format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"),
        };
        let script = format!(
            "mount --bind {at}/lib /var/lib; cd /; exec {rights} {at}/program tune {arguments}"
        );
        let mut command = self.host.command("unshare");
        command.env_remove("XDG_STATE_HOME").env("HOME", self.folder.path().join("home"));
        if by == "sudo" {
            command.env("SUDO_UID", NOBODY.to_string());
        }
        let output: Output = command.args(["--mount", "sh", "-ec", &script]).output().unwrap();
        (output.status.code(), format!("{}{}", stdout(&output), stderr(&output)))
    }
}

#[test]
fn what_sudo_prints_is_typed_with_sudo() {
    let Some(machine) = Machine::new() else { return };
    let set = "apply --yes --set route.default.mtu=1400";
    let (code, told) = machine.tune("sudo", &format!("{set} --confirm 60s"));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("unless you run: sudo maxseg tune confirm"), "{told}");
    let (_, told) = machine.tune("sudo", "status");
    assert!(told.contains("unless `sudo maxseg tune confirm` is run"), "{told}");
    assert_eq!(machine.tune("sudo", "confirm").0, Some(0));
    let (_, told) = machine.tune("sudo", "apply --yes --set route.default.mtu=1390");
    assert!(told.contains("undo: sudo maxseg tune undo 2"), "{told}");
    let (_, told) = machine.tune("sudo", "undo 1");
    assert!(told.contains("hint: sudo maxseg tune undo 2 1"), "{told}");
}

#[test]
fn another_user_is_told_that_roots_changes_are_not_visible() {
    let Some(machine) = Machine::new() else { return };
    for (command, code) in
        [("status", 0), ("undo", 0), ("undo 7", 1), ("confirm", 1), ("export", 1)]
    {
        let (ended, told) = machine.tune("user", command);
        assert_eq!(ended, Some(code), "{told}");
        assert!(!told.contains("not visible"), "root has set nothing yet: {told}");
    }
    assert_eq!(machine.tune("sudo", "apply --yes --set route.default.mtu=1400").0, Some(0));
    for (command, code) in
        [("status", 0), ("undo", 0), ("undo 1", 1), ("confirm", 1), ("export", 1)]
    {
        let (ended, told) = machine.tune("user", command);
        assert_eq!(ended, Some(code), "{told}");
        let hint =
            format!("what root has set is not visible to this user: sudo maxseg tune {command}");
        assert!(told.contains(&hint) && !told.contains("this program"), "{told}");
    }
    let (_, told) = machine.tune("sudo", "status");
    assert!(told.contains("1400") && !told.contains("not visible"), "{told}");
}
