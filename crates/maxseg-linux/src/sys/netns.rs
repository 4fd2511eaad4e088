//! Network namespaces, held by file descriptors: when the last one is closed, a namespace is gone with
//! everything in it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};

use super::socket::read_option;

/// A network namespace.
#[derive(Debug)]
pub(crate) struct NetNs {
    file: OwnedFd,
}

const OWN: &str = "/proc/thread-self/ns/net";

mod ioctl {
    // linux/nsfs.h: NS_GET_NSTYPE, as a CLONE_* flag.
    nix::ioctl_none!(namespace_type, 0xb7, 0x3);
}

impl NetNs {
    /// A new namespace, empty but for a loopback interface that is down.
    ///
    /// # Errors
    /// This process may not create namespaces: see [`super::own_user_namespace`].
    pub(crate) fn new() -> io::Result<Self> {
        // In a new thread, so that the calling one stays in its namespace.
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Self::current()
        })
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// There is no /proc.
    pub(crate) fn current() -> io::Result<Self> {
        Ok(Self { file: File::open(OWN)?.into() })
    }

    /// The namespace of an open file.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`]: it is no network namespace.
    #[expect(unsafe_code, reason = "an ioctl without an argument")]
    pub(crate) fn of_file(file: File) -> io::Result<Self> {
        // SAFETY: the descriptor is open, and the ioctl takes and writes nothing.
        match unsafe { ioctl::namespace_type(file.as_raw_fd()) } {
            Ok(libc::CLONE_NEWNET) => Ok(Self::from_fd(file.into())),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The namespace of an open descriptor.
    pub(crate) fn from_fd(file: OwnedFd) -> Self {
        Self { file }
    }

    /// A second handle on the same namespace.
    ///
    /// # Errors
    /// There are too many open files.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()? })
    }

    /// Runs `work` in the namespace: sockets that it opens stay in it, wherever they are used later.
    ///
    /// # Errors
    /// The namespace cannot be entered, or `work` fails.
    pub(crate) fn run<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        on_a_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Moves the calling thread into the namespace, for good (setns(2)).
    ///
    /// # Errors
    /// This process has no right to it.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }
}

/// The cookie of the calling thread's namespace, which no other has while this machine is up (`SO_NETNS_COOKIE`, Linux 5.14).
///
/// # Errors
/// The kernel has no such option.
pub(crate) fn namespace_cookie() -> io::Result<u64> {
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::DGRAM, None)?;
    let mut cookie = [0; size_of::<u64>()];
    read_option(&socket, libc::SOL_SOCKET, libc::SO_NETNS_COOKIE, &mut cookie)?;
    Ok(u64::from_ne_bytes(cookie))
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("maxseg-ns".to_owned());
        thread
            .spawn_scoped(scope, work)?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_network_namespaces_are_taken() {
        for (file, is_one) in
            [(OWN, true), ("/proc/thread-self/ns/uts", false), ("/dev/null", false)]
        {
            let made = NetNs::of_file(File::open(file).unwrap());
            assert_eq!(
                made.map_err(|error| error.kind()).err(),
                (!is_one).then_some(io::ErrorKind::InvalidInput),
                "{file}"
            );
        }
    }
}
