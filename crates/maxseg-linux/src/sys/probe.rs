//! Probes: steps tried in a child process, to learn what the kernel allows. All that the child creates ends with it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use nix::sys::stat::Mode;

use super::packet_socket::PacketSocket;
use super::tun::{leave_offloads, make_interface};
use super::userns::RootMapping;

/// A step of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProbeStep {
    /// Create a user namespace in which this user is root.
    UserNamespace,
    /// Create a network namespace.
    NetworkNamespace,
    /// Open `/dev/net/tun`.
    OpenTun,
    /// Create a TUN interface whose packets have a `virtio_net_hdr`; it ends when its descriptor is closed.
    TunInterface,
    /// Enable checksum and TCP segmentation offload on that interface.
    TunOffload,
    /// Open a packet socket.
    PacketSocket,
    /// Open a TCP socket with this congestion control.
    Congestion(OsString),
}

/// The first step that failed, and how.
#[derive(Debug)]
pub struct ProbeError {
    /// The step that failed.
    pub(crate) step: ProbeStep,
    /// The kernel's error.
    pub error: io::Error,
}

/// Tries the steps in a child process, one after the other.
///
/// # Errors
/// The first step that failed.
pub(crate) fn run_probe(steps: &[ProbeStep]) -> Result<(), ProbeError> {
    // A child returns an error number only. So it is run with one more step each time, until the last one fails.
    for count in 1..=steps.len() {
        let Some((last, _)) = steps[..count].split_last() else { continue };
        child_with(&steps[..count]).map_err(|error| ProbeError { step: last.clone(), error })?;
    }
    Ok(())
}

fn child_with(steps: &[ProbeStep]) -> io::Result<()> {
    let mut command = Command::new("never run: the child ends after its steps");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = Child::new(steps);
    // SAFETY: `Child::take` and `_exit` are safe between fork and exec; see there.
    #[expect(unsafe_code, reason = "code between fork and exec")]
    unsafe {
        command.pre_exec(move || {
            child.take()?;
            libc::_exit(0)
        });
    }
    command.spawn()?.wait().map(drop)
}

/// Makes the command's process take these steps before it executes the program.
pub(crate) fn with_steps<'a>(command: &'a mut Command, steps: &[ProbeStep]) -> &'a mut Command {
    let mut child = Child::new(steps);
    // SAFETY: `Child::take` is safe between fork and exec; see there.
    #[expect(unsafe_code, reason = "code between fork and exec")]
    unsafe {
        command.pre_exec(move || child.take())
    }
}

/// The data of a child's steps, prepared before the fork: the child must not allocate.
struct Child {
    steps: Vec<ProbeStep>,
    root: RootMapping,
    tun: Option<OwnedFd>,
}

impl Child {
    fn new(steps: &[ProbeStep]) -> Self {
        Self { steps: steps.to_vec(), root: RootMapping::prepare(), tun: None }
    }

    /// Takes the steps. Between fork and exec only system calls are allowed, since a thread that is gone may hold any
    /// lock: nothing here allocates, and an error is a number.
    fn take(&mut self) -> io::Result<()> {
        for step in &self.steps {
            match step {
                ProbeStep::UserNamespace => self.root.enter()?,
                ProbeStep::NetworkNamespace => unshare(CloneFlags::CLONE_NEWNET)?,
                ProbeStep::OpenTun => {
                    self.tun = Some(open("/dev/net/tun", OFlag::O_RDWR, Mode::empty())?);
                }
                ProbeStep::TunInterface => make_interface(opened(self.tun.as_ref())?, "")?,
                ProbeStep::TunOffload => leave_offloads(opened(self.tun.as_ref())?)?,
                ProbeStep::PacketSocket => drop(PacketSocket::new()?),
                ProbeStep::Congestion(name) => congestion(name)?,
            }
        }
        Ok(())
    }
}

/// The device that an earlier step has opened.
fn opened(tun: Option<&OwnedFd>) -> io::Result<BorrowedFd<'_>> {
    tun.map(OwnedFd::as_fd).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
}

fn congestion(name: &OsString) -> io::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    Ok(setsockopt(&socket, sockopt::TcpCongestion, name)?)
}

/// Bytes of a page of memory.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: the call only returns a number.
    #[expect(unsafe_code, reason = "a call that no library in use wraps")]
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_is_named() {
        // No step has opened the device, so this fails for every user.
        let refusal = run_probe(&[ProbeStep::TunInterface]).unwrap_err();
        assert_eq!(refusal.step, ProbeStep::TunInterface);
        assert_eq!(refusal.error.raw_os_error(), Some(libc::EBADF));
        let unknown = ProbeStep::Congestion("no such".into());
        let reno = ProbeStep::Congestion("reno".into());
        let refusal = run_probe(&[reno.clone(), unknown.clone()]).unwrap_err();
        assert_eq!(refusal.step, unknown);
        assert!(run_probe(&[reno]).is_ok());
    }

    #[test]
    fn a_probe_leaves_this_process_in_its_namespaces() {
        let namespaces = || {
            ["user", "net"].map(|kind| std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap())
        };
        let before = namespaces();
        let _ = run_probe(&[
            ProbeStep::UserNamespace,
            ProbeStep::NetworkNamespace,
            ProbeStep::OpenTun,
            ProbeStep::TunInterface,
        ]);
        assert_eq!(namespaces(), before);
    }
}
