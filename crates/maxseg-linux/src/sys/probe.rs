//! Trying what the kernel allows, in a child process that ends with the run_probe: whatever the child made
//! was its own and goes with it.

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

/// Something that a child tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProbeStep {
    /// A user namespace in which this user is root.
    UserNamespace,
    /// A network namespace.
    NetworkNamespace,
    /// Opening `/dev/net/tun`.
    OpenTun,
    /// A TUN interface whose packets come with a `virtio_net_hdr`; it goes when its file is closed.
    TunInterface,
    /// Checksums and TCP segmentation left to that interface.
    TunOffload,
    /// A packet socket.
    PacketSocket,
    /// A TCP socket with this congestion control.
    Congestion(OsString),
}

/// The first step that failed, and how.
#[derive(Debug)]
pub struct ProbeError {
    /// What could not be done.
    pub(crate) step: ProbeStep,
    /// What the kernel said.
    pub error: io::Error,
}

/// Takes the steps in a child, one after the other.
///
/// # Errors
/// A step that fails.
pub(crate) fn run_probe(steps: &[ProbeStep]) -> Result<(), ProbeError> {
    // All that comes back from a child is an error number. Which step it belongs to shows when one more
    // step makes the first difference.
    for taken in 1..=steps.len() {
        let Some((last, _)) = steps[..taken].split_last() else { continue };
        child_with(&steps[..taken]).map_err(|error| ProbeError { step: last.clone(), error })?;
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

/// Has a program's process take these steps before the program begins.
pub(crate) fn with_steps<'a>(command: &'a mut Command, steps: &[ProbeStep]) -> &'a mut Command {
    let mut child = Child::new(steps);
    // SAFETY: `Child::take` is safe between fork and exec; see there.
    #[expect(unsafe_code, reason = "code between fork and exec")]
    unsafe {
        command.pre_exec(move || child.take())
    }
}

/// What a child needs to know, made ready before it is born: it may not allocate.
struct Child {
    steps: Vec<ProbeStep>,
    root: RootMapping,
    tun: Option<OwnedFd>,
}

impl Child {
    fn new(steps: &[ProbeStep]) -> Self {
        Self { steps: steps.to_vec(), root: RootMapping::prepare(), tun: None }
    }

    /// Takes the steps. Between fork and exec only system calls may be made, since a thread that is gone
    /// may hold any lock: nothing here allocates, and an error is a number.
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

/// Where an earlier step has opened the device.
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
        // Nothing was opened, whoever runs this.
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
    fn an_attempt_leaves_this_process_where_it_is() {
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
