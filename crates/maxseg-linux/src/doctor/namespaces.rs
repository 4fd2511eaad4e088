//! Network namespaces, created as root or in a user namespace.

use std::io;

use super::host::Host;
use super::{Check, State, sysctl};
use crate::sys::NamespaceAccess;
use crate::sys::probe::{ProbeError, ProbeStep};

const PURPOSE: &str = "every host and router of a lab is a network namespace";

/// Tries both ways; `None` where neither works.
pub(super) fn check(host: &Host) -> (Check, Option<NamespaceAccess>) {
    let way = match NamespaceAccess::detect() {
        Ok(way) => way,
        Err(refusal) => return (missing(&refusal, &Settings::read(), host), None),
    };
    let (found, word) = match way {
        NamespaceAccess::Direct => ("network namespaces, directly", "direct"),
        NamespaceAccess::UserNamespace => {
            ("network namespaces, in a user namespace", "user-namespace")
        }
    };
    (Check::new("namespaces", PURPOSE, found).required().value("way", word), Some(way))
}

/// The sysctls that forbid namespaces; `None` where this kernel does not have them.
#[derive(Debug, Default)]
struct Settings {
    max_user_namespaces: Option<u64>,
    max_net_namespaces: Option<u64>,
    /// Debian's and Arch's.
    unprivileged_userns_clone: Option<u64>,
    /// Ubuntu's, from 23.10 on.
    apparmor_restrict: Option<u64>,
}

impl Settings {
    fn read() -> Self {
        let number = |name| sysctl(name)?.parse().ok();
        Self {
            max_user_namespaces: number("user.max_user_namespaces"),
            max_net_namespaces: number("user.max_net_namespaces"),
            unprivileged_userns_clone: number("kernel.unprivileged_userns_clone"),
            apparmor_restrict: number("kernel.apparmor_restrict_unprivileged_userns"),
        }
    }
}

fn missing(refusal: &ProbeError, settings: &Settings, host: &Host) -> Check {
    let (cause, mend) = cause(refusal, settings, host);
    let what = match refusal.step {
        ProbeStep::UserNamespace => "no user namespace",
        ProbeStep::NetworkNamespace
        | ProbeStep::OpenTun
        | ProbeStep::TunInterface
        | ProbeStep::TunOffload
        | ProbeStep::PacketSocket
        | ProbeStep::Congestion(_) => "no network namespace in a user namespace",
    };
    let found = format!("{what} ({}): {cause}", words(&refusal.error));
    Check::new("namespaces", PURPOSE, found).required().state(State::Missing).mend(mend)
}

/// The value for a limit of 0, similar to the default of distributions.
const LIMIT: &str = "15000";

/// The cause of a refusal and the commands that fix it. The first sysctl that forbids namespaces is the cause, whatever
/// the error number, which differs between kernels.
fn cause(refusal: &ProbeError, settings: &Settings, host: &Host) -> (String, Vec<String>) {
    let set = |name: &str, value: &str| vec![format!("sudo sysctl -w {name}={value}")];
    let is = |setting: Option<u64>, value| setting == Some(value);
    if is(settings.max_user_namespaces, 0) {
        let name = "user.max_user_namespaces";
        return (format!("{name} is 0"), set(name, LIMIT));
    }
    if is(settings.max_net_namespaces, 0) {
        let name = "user.max_net_namespaces";
        return (format!("{name} is 0"), set(name, LIMIT));
    }
    if is(settings.unprivileged_userns_clone, 0) && !host.is_root {
        let name = "kernel.unprivileged_userns_clone";
        return (format!("{name} is 0"), set(name, "1"));
    }
    if let Some(engine) = host.container {
        let options = "--cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun";
        let command = match engine {
            "kubernetes" => {
                "add SYS_ADMIN and NET_ADMIN to securityContext.capabilities".to_owned()
            }
            engine => format!("{engine} run {options} …"),
        };
        return (format!("the {engine} container may forbid it"), vec![command]);
    }
    if is(settings.apparmor_restrict, 1) {
        return ("AppArmor allows it only to programs with a profile".to_owned(), apparmor());
    }
    match refusal.error.raw_os_error() {
        Some(libc::ENOSPC) => {
            ("the limit of namespaces is reached".to_owned(), set("user.max_net_namespaces", LIMIT))
        }
        Some(libc::EINVAL | libc::ENOSYS) => {
            ("this kernel was built without them".to_owned(), Vec::new())
        }
        Some(_) | None => (
            "a sandbox of this process may forbid it".to_owned(),
            vec!["sudo maxseg doctor".to_owned()],
        ),
    }
}

/// The file of this program, which need not be in a folder that the shell searches.
pub(super) fn this_program() -> String {
    std::env::current_exe().map_or("/usr/bin/maxseg".into(), |path| path.display().to_string())
}

/// Ubuntu's two remedies: a sysctl for all programs until the next boot, or a profile for this program.
fn apparmor() -> Vec<String> {
    let program = this_program();
    vec![
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0".to_owned(),
        "# or, for this program alone:".to_owned(),
        format!(
            "printf '%s\\n' 'abi <abi/4.0>,' \\\n  'profile maxseg {program} \
             flags=(unconfined) {{ userns, }}' |\n  sudo tee /etc/apparmor.d/maxseg"
        ),
        "sudo apparmor_parser -r /etc/apparmor.d/maxseg".to_owned(),
    ]
}

/// The system's error text without its number.
pub(super) fn words(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(
        || error.to_string(),
        |number| nix::errno::Errno::from_raw(number).desc().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(step: ProbeStep, number: i32) -> ProbeError {
        ProbeError { step, error: io::Error::from_raw_os_error(number) }
    }

    #[test]
    fn every_lock_has_its_key() {
        let user = || Host::of(false, None);
        let none = Settings::default;
        let cases = [
            // settings, host, error, what the first command must hold
            (
                Settings { max_user_namespaces: Some(0), ..none() },
                user(),
                libc::ENOSPC,
                "sysctl -w user.max_user_namespaces=15000",
            ),
            (
                Settings { max_net_namespaces: Some(0), ..none() },
                user(),
                libc::ENOSPC,
                "sysctl -w user.max_net_namespaces=15000",
            ),
            (
                Settings { unprivileged_userns_clone: Some(0), ..none() },
                user(),
                libc::EPERM,
                "sysctl -w kernel.unprivileged_userns_clone=1",
            ),
            (
                Settings { apparmor_restrict: Some(1), ..none() },
                user(),
                libc::EACCES,
                "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
            ),
            (none(), Host::of(true, Some("docker")), libc::EPERM, "docker run --cap-add SYS_ADMIN"),
            (none(), Host::of(true, Some("kubernetes")), libc::EPERM, "securityContext"),
            (none(), user(), libc::ENOSPC, "user.max_net_namespaces"),
            (none(), user(), libc::EPERM, "sudo maxseg doctor"),
        ];
        for (settings, host, number, command) in cases {
            let check = missing(&refused(ProbeStep::UserNamespace, number), &settings, &host);
            assert_eq!(check.state, State::Missing);
            assert!(check.mend[0].contains(command), "{settings:?}: {check:?}");
        }
    }

    #[test]
    fn a_kernel_without_them_has_no_remedy() {
        let refusal = refused(ProbeStep::UserNamespace, libc::EINVAL);
        let check = missing(&refusal, &Settings::default(), &Host::of(false, None));
        assert!(check.mend.is_empty() && check.found.contains("built without"), "{check:?}");
    }

    #[test]
    fn ubuntu_can_open_itself_to_this_program_alone() {
        let profile = apparmor().join("\n");
        for part in ["abi <abi/4.0>,", "userns,", "/etc/apparmor.d/maxseg", "apparmor_parser -r"] {
            assert!(profile.contains(part), "{part}: {profile}");
        }
    }
}
