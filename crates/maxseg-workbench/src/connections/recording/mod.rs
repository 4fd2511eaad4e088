//! Looks at the sockets of a host in a file: the kernel's messages as they came, in pcapng.
//!
//! ```text
//! Snapshot (with messages) → Recorder → section header · interface … · packet … · end of the list
//!                                       section header · …                          (one section for each snapshot)
//! file → Recording: the sections' offsets → Snapshot of one of them, compared with the one before
//! ```
//!
//! A section holds one snapshot: an interface for each network namespace, of the link type "netlink", and a packet for each
//! message. A packet's comment names the process, and says that the socket was destroyed. Wireshark shows the messages. A
//! section is written by one call and ends with the message that ends the kernel's list, so that one that was cut is known;
//! sections stand for themselves, so that a file can be continued, and read from any of them.

mod read;
#[cfg(test)]
mod tests;
mod whole;
mod write;

pub use read::{Frame, Recording, RecordingError};
pub use write::Recorder;

/// The header before a netlink message (`LINKTYPE_NETLINK` of the tcpdump group): to this host, `ARPHRD_NETLINK`, no address,
/// `NETLINK_SOCK_DIAG`.
const COOKED: [u8; 16] = [0, 0, 0x03, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4];
/// How the comment of a section begins: what the snapshot missed follows, then the host.
const SECTION_COMMENT: &str = "sockets";
/// The comment's line of a destroyed socket.
const DESTROYED: &str = "destroyed";
/// What is before a process's number and name in a comment. The name is the rest of the comment, whatever is in it.
const PROCESS: &str = "process ";
