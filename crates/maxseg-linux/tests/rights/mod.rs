//! The right to have a lab, for the tests of an ordinary user.

use std::process::Command;
use std::sync::OnceLock;

/// Whether a test may go on in this process: root may, of the machine or of a user namespace.
///
/// A user namespace is entered before the first thread or not at all, and the harness has threads: as an
/// ordinary user, the first test that asks has all of them run in another process, behind `unshare`, and each
/// is over here with that verdict.
pub(crate) fn has_rights() -> bool {
    static ELSEWHERE: OnceLock<Result<(), String>> = OnceLock::new();
    if nix::unistd::Uid::effective().is_root() {
        let tun = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
        if let Err(error) = &tun {
            println!("skipped: /dev/net/tun cannot be used: {error}");
        }
        return tun.is_ok();
    }
    match ELSEWHERE.get_or_init(pass_in_a_user_namespace) {
        Ok(()) => println!("passed, or was skipped, as root of a user namespace"),
        Err(reason) => println!("skipped: no user namespace (unshare --user): {reason}"),
    }
    false
}

/// Runs this test program, with the arguments of this run, as root of a user namespace of its own.
///
/// # Errors
/// There is no user namespace to have.
///
/// # Panics
/// A test has failed there.
fn pass_in_a_user_namespace() -> Result<(), String> {
    /// An option that may be given once only.
    const NOCAPTURE: &str = "--nocapture";
    let unshare = |program: &std::path::Path| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user"]).arg(program);
        command
    };
    let tried = unshare("true".as_ref()).output().map_err(|error| error.to_string())?;
    if !tried.status.success() {
        return Err(String::from_utf8_lossy(&tried.stderr).trim().to_owned());
    }
    let output = unshare(&std::env::current_exe().unwrap())
        .args(std::env::args_os().skip(1).filter(|argument| argument != NOCAPTURE))
        .arg(NOCAPTURE)
        .output()
        .unwrap();
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    println!("{said}");
    assert!(output.status.success(), "in a user namespace, a test has failed");
    Ok(())
}
