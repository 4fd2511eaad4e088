//! Netlink's framing (`include/uapi/linux/netlink.h`).

/// Bytes of `struct nlmsghdr`.
pub(super) const HEADER: usize = 16;

/// `SOCK_DIAG_BY_FAMILY`: asks for sockets, and gives one.
pub(super) const BY_FAMILY: u16 = 20;
/// `TCPDIAG_GETSOCK`: as Linux before 3.3 was asked for TCP sockets, and gave them.
pub(super) const GET_SOCKET: u16 = 18;

/// A length with the padding behind it (`NLMSG_ALIGN`, `NLA_ALIGN`).
pub(super) const fn aligned(length: usize) -> usize {
    length.saturating_add(3) & !3
}
