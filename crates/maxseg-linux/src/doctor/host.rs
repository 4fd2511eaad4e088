//! The machine: kernel, container, cores.

use std::path::Path;

use super::{Check, State, sysctl, text_of};

/// Facts of the machine that several checks use.
pub(super) struct Host {
    /// The kernel's release, as printed by `uname -r`.
    release: Option<String>,
    /// Whether the user is root, in any user namespace.
    pub(super) is_root: bool,
    /// The container engine; `None` outside a container or where it cannot be recognised.
    pub(super) container: Option<&'static str>,
    /// Whether there are modules for this kernel: where all is built in, or in a container, there is nothing to load.
    has_modules: bool,
}

impl Host {
    pub(super) fn read() -> Self {
        let release = sysctl("kernel.osrelease");
        let modules = release.as_ref().map(|release| Path::new("/lib/modules").join(release));
        Self {
            has_modules: modules.is_some_and(|folder| folder.is_dir()),
            release,
            is_root: nix::unistd::geteuid().is_root(),
            container: container(),
        }
    }

    #[cfg(test)]
    pub(super) fn of(is_root: bool, container: Option<&'static str>) -> Self {
        Self { release: None, is_root, container, has_modules: true }
    }

    #[cfg(test)]
    pub(super) fn without_modules() -> Self {
        Self { has_modules: false, ..Self::of(true, None) }
    }

    /// The command that loads a module; `None` where there are none.
    pub(super) fn modprobe(&self, module: &str) -> Option<String> {
        self.has_modules.then(|| format!("sudo modprobe {module}"))
    }

    /// What is said of a kernel that has nothing to load.
    pub(super) const fn lacks_modules(&self) -> &'static str {
        if self.has_modules { "" } else { "; there are no modules for it in /lib/modules" }
    }
}

/// Recognises container engines by the files and variables that they create.
fn container() -> Option<&'static str> {
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let marked = marks.into_iter().find(|(mark, _)| Path::new(mark).exists());
    let kubernetes = std::env::var_os("KUBERNETES_SERVICE_HOST").map(|_| "kubernetes");
    marked.map(|(_, engine)| engine).or(kubernetes)
}

/// The oldest supported kernel: Debian 12's.
const OLDEST: (u32, u32) = (6, 1);

pub(super) fn kernel(host: &Host) -> Check {
    let release = host.release.as_deref().unwrap_or("of an unknown release");
    let inside =
        host.container.map_or(String::new(), |engine| format!(", in a {engine} container"));
    let check = Check::new(
        "kernel",
        "the lab's hosts run this kernel's TCP",
        format!("Linux {release}{inside}"),
    )
    .value("release", host.release.clone())
    .value("container", host.container);
    match version(release) {
        Some(version) if version >= OLDEST => check,
        Some(_) | None => {
            let found =
                format!("{}; the lab needs {}.{} or later", check.found, OLDEST.0, OLDEST.1);
            Check { found, ..check }.state(State::Limited)
        }
    }
}

/// `6.1` of `6.1.0-13-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A relay has a thread for each direction.
const CORES_IN_USE: usize = 2;

pub(super) fn cores() -> Check {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plural = if cores == 1 { "core" } else { "cores" };
    let check = Check::new(
        "cores",
        "relay and hosts run in parallel",
        format!("{cores} {plural}{}", model().map_or(String::new(), |model| format!(", {model}"))),
    );
    let state = if cores < CORES_IN_USE { State::Limited } else { State::Ok };
    check.value("cores", cores).state(state)
}

fn model() -> Option<String> {
    let info = text_of("/proc/cpuinfo")?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_by_their_release() {
        let cases = [
            ("6.12.48+deb13-amd64", State::Ok),
            ("6.1.0-13-amd64", State::Ok),
            ("7.0", State::Ok),
            ("5.15.0-91-generic", State::Limited),
            ("6", State::Limited),
            ("", State::Limited),
        ];
        for (release, state) in cases {
            let host = Host { release: Some(release.to_owned()), ..Host::of(false, None) };
            assert_eq!(kernel(&host).state, state, "{release}");
        }
    }
}
