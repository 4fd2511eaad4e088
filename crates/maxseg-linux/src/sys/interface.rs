//! Ioctls of network interfaces, by name.

use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// linux/ethtool.h: `ETHTOOL_STSO`, `ETHTOOL_SGSO`, `ETHTOOL_SGRO`.
const SEGMENTATION_AND_RECEIVE: [u32; 3] = [0x1f, 0x24, 0x2c];

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

nix::ioctl_write_ptr_bad!(ethtool, SIOCETHTOOL, libc::ifreq);
nix::ioctl_read_bad!(hardware_address, libc::SIOCGIFHWADDR, libc::ifreq);

/// An empty request for the interface called `name`.
#[expect(unsafe_code, reason = "libc has no constructor for it")]
pub(super) fn request_for(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all-zero bytes are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::other(format!("`{name}` is too long for an interface")));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    Ok(request)
}

/// Turns segmentation and receive offload off at the interface called `name`, in the namespace of the calling thread
/// (`ethtool -K NAME tso off gso off gro off`).
///
/// # Errors
/// There is no such interface, or this user may not change it.
#[expect(unsafe_code, reason = "an ioctl that takes a pointer in a union")]
pub(crate) fn offloads_off(name: &str) -> io::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = request_for(name)?;
    for command in SEGMENTATION_AND_RECEIVE {
        let mut value = Value { command, data: 0 };
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the kernel reads `request` and the `Value` that it points to, during the call only.
        unsafe { ethtool(socket.as_raw_fd(), &raw const request) }?;
    }
    Ok(())
}

/// An offload of an interface, by the command that asks for it (linux/ethtool.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offload {
    /// The device cuts segments (`ETHTOOL_GTSO`).
    Tso = 0x1e,
    /// The kernel cuts them just above the device (`ETHTOOL_GGSO`).
    Gso = 0x23,
    /// The kernel joins received segments (`ETHTOOL_GGRO`).
    Gro = 0x2b,
}

/// Whether `offload` is on at the interface called `name`, in the namespace of the calling thread (`ethtool -k NAME`).
///
/// # Errors
/// There is no such interface, or its device does not say.
#[expect(unsafe_code, reason = "an ioctl that takes a pointer in a union")]
pub(crate) fn has_offload(name: &str, offload: Offload) -> io::Result<bool> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = request_for(name)?;
    let mut value = Value { command: offload as u32, data: 0 };
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the kernel reads `request`, and reads and writes the `Value` that it points to, during the call only.
    unsafe { ethtool(socket.as_raw_fd(), &raw const request) }?;
    Ok(value.data != 0)
}

/// The hardware type (`ARPHRD_*` in `linux/if_arp.h`) of the interface called `name`, in the namespace of the calling
/// thread.
///
/// # Errors
/// There is no such interface.
#[expect(unsafe_code, reason = "an ioctl that answers in a union")]
pub(crate) fn hardware_type(name: &str) -> io::Result<u16> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = request_for(name)?;
    // SAFETY: the kernel reads and writes `request`, during the call only.
    unsafe { hardware_address(socket.as_raw_fd(), &raw mut request) }?;
    // SAFETY: this is the field that the call has filled.
    Ok(unsafe { request.ifr_ifru.ifru_hwaddr.sa_family })
}
