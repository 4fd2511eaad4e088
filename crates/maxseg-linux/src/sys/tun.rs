//! TUN devices: network interfaces whose packets are read from and written to a descriptor.

use std::fs::OpenOptions;
use std::io;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

use super::interface::request_for;

/// Bytes of `struct virtio_net_hdr`, which precedes every packet.
pub(crate) const VNET_HEADER: usize = 10;

/// A TUN interface without a packet-information header, with `struct virtio_net_hdr`: TCP comes in
/// super-packets of up to 64 KiB, as segmentation offload hands them to a network card, and is taken in the same form.
/// It is deleted when the last handle is closed.
#[derive(Debug)]
pub(crate) struct Tun {
    file: OwnedFd,
}

mod ioctl {
    nix::ioctl_write_ptr_bad!(tun_set_iff, libc::TUNSETIFF, libc::ifreq);
    nix::ioctl_write_int_bad!(tun_set_offload, libc::TUNSETOFFLOAD);
}

/// `linux/if_tun.h`: checksums, TCP over IPv4 and over IPv6. Not UDP: nothing here splits it.
const OFFLOADS: i32 = 0x01 | 0x02 | 0x04;

/// Creates the interface of an open `/dev/net/tun`, in the namespace of the calling thread; an empty name lets the kernel
/// choose one. Allocates nothing, unless the name is too long.
///
/// # Errors
/// The kernel refuses the interface.
#[expect(unsafe_code, reason = "an ioctl with an argument of its type")]
pub(super) fn make_interface(file: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    #[expect(clippy::cast_possible_truncation, reason = "the flags have 16 bits")]
    const FLAGS: i16 = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
    let mut request = request_for(name)?;
    request.ifr_ifru.ifru_flags = FLAGS;
    // SAFETY: the file is open, and `request` outlives the call.
    unsafe { ioctl::tun_set_iff(file.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// Leaves checksums and TCP segmentation to the reader of the interface's packets. Allocates nothing.
///
/// # Errors
/// The kernel does not support it, or the descriptor has no interface.
#[expect(unsafe_code, reason = "an ioctl that takes a number")]
pub(super) fn leave_offloads(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the file is open.
    unsafe { ioctl::tun_set_offload(file.as_raw_fd(), OFFLOADS) }?;
    Ok(())
}

impl Tun {
    /// A new interface called `name` in the namespace of the calling thread.
    ///
    /// # Errors
    /// There is no /dev/net/tun, it cannot be opened, or the kernel refuses the interface.
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        make_interface(file.as_fd(), name)?;
        leave_offloads(file.as_fd())?;
        Ok(Self { file: file.into() })
    }

    /// Another handle on the same interface.
    ///
    /// # Errors
    /// There are too many open files.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()? })
    }

    /// Reads the next packet that the kernel sends, after its [`VNET_HEADER`]. Gives the length of both; `None` where there
    /// is none now.
    ///
    /// # Errors
    /// The interface is down or deleted.
    #[inline]
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match nix::unistd::read(&self.file, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a packet for the kernel to receive: its header, and its bytes in parts.
    ///
    /// # Errors
    /// The interface is down or deleted, or the header contradicts the packet.
    #[inline]
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        nix::sys::uio::writev(&self.file, parts)?;
        Ok(())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
