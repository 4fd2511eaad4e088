//! TUN, through which the lab's relay reads and writes packets.

use std::path::Path;

use super::host::Host;
use super::namespaces::words;
use super::{Check, State};
use crate::sys::NamespaceAccess;
use crate::sys::probe::{ProbeError, ProbeStep, run_probe};

const DEVICE: &str = "/dev/net/tun";
const PURPOSE: &str = "the relay reads and writes packets through TUN interfaces";

/// Whether the device opens and creates an interface.
pub(super) fn device(way: Option<NamespaceAccess>, host: &Host) -> Check {
    // Without a namespace no interface is created; the device is opened only.
    let steps = way.map_or(vec![ProbeStep::OpenTun], |way| {
        way.and(&[ProbeStep::OpenTun, ProbeStep::TunInterface])
    });
    let check = Check::new("tun", PURPOSE, "").required();
    match run_probe(&steps) {
        Ok(()) if way.is_some() => Check { found: format!("{DEVICE} works"), ..check },
        Ok(()) => Check { found: format!("{DEVICE} opens; no interface tried"), ..check },
        Err(refusal) => {
            let (cause, mend) = cause(&refusal, Path::new(DEVICE).exists(), host);
            let found = format!("{cause} ({})", words(&refusal.error));
            Check { found, ..check }.state(State::Missing).mend(mend)
        }
    }
}

fn cause(refusal: &ProbeError, exists: bool, host: &Host) -> (String, Vec<String>) {
    let number = refusal.error.raw_os_error();
    let modprobe = || host.modprobe("tun").into_iter().collect();
    match (&refusal.step, number) {
        (ProbeStep::OpenTun, _) if !exists => match host.container {
            Some(engine @ ("docker" | "podman")) => (
                format!("{DEVICE} is not in this container"),
                vec![format!("{engine} run --device {DEVICE} …")],
            ),
            Some(_) | None => (
                format!("there is no {DEVICE}"),
                host.modprobe("tun")
                    .into_iter()
                    .chain([
                        format!("sudo mkdir -p /dev/net && sudo mknod {DEVICE} c 10 200"),
                        format!("sudo chmod 0666 {DEVICE}"),
                    ])
                    .collect(),
            ),
        },
        (ProbeStep::OpenTun, Some(libc::EACCES)) => {
            (format!("this user may not open {DEVICE}"), vec![format!("sudo chmod 0666 {DEVICE}")])
        }
        (ProbeStep::OpenTun, Some(libc::EPERM)) => (
            format!("the container denies {DEVICE}"),
            vec![format!("{} run --device {DEVICE} …", host.container.unwrap_or("docker"))],
        ),
        (ProbeStep::OpenTun, _) => {
            (format!("{DEVICE} has no driver{}", host.lacks_modules()), modprobe())
        }
        _ => ("the kernel refuses a TUN interface".to_owned(), modprobe()),
    }
}

/// Whether the kernel leaves segmentation to the relay (offloads of TUN).
pub(super) fn offload(way: Option<NamespaceAccess>) -> Check {
    let check = Check::new(
        "tun-offload",
        "super-packets of up to 64 KiB through the relay: 3 to 7 times the throughput",
        "checksums and TCP segmentation, IPv4 and IPv6",
    )
    .required();
    let Some(way) = way else {
        let found = "not tried: no network namespace".to_owned();
        return Check { found, ..check }.state(State::Missing);
    };
    match run_probe(&way.and(&[ProbeStep::OpenTun, ProbeStep::TunInterface, ProbeStep::TunOffload]))
    {
        Ok(()) => check,
        Err(ProbeError { step: ProbeStep::TunOffload, error }) => {
            let found = format!("this kernel's TUN has none ({})", words(&error));
            Check { found, ..check }.state(State::Missing)
        }
        Err(_) => {
            let found = "not tried: no TUN interface".to_owned();
            Check { found, ..check }.state(State::Missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn each_way_of_having_no_device_has_its_command() {
        let cases = [
            (libc::ENOENT, false, None, "modprobe tun"),
            (libc::ENOENT, false, Some("podman"), "podman run --device /dev/net/tun"),
            (libc::EACCES, true, None, "chmod 0666 /dev/net/tun"),
            (libc::EPERM, true, Some("docker"), "docker run --device /dev/net/tun"),
            (libc::ENODEV, true, None, "modprobe tun"),
        ];
        for (number, exists, container, command) in cases {
            let error = io::Error::from_raw_os_error(number);
            let refusal = ProbeError { step: ProbeStep::OpenTun, error };
            let (cause, mend) = cause(&refusal, exists, &Host::of(false, container));
            assert!(mend[0].contains(command), "{cause}: {mend:?}");
        }
    }
}
