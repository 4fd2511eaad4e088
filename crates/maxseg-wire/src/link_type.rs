//! Link types: what the packets of a capture begin with (the tcpdump group's registry; the DLT numbers
//! that differ between systems stand beside them).

/// The loopback of BSD: a protocol family in the capturing host's byte order.
pub const NULL: u16 = 0;
/// Ethernet.
pub const ETHERNET: u16 = 1;
/// PPP, with or without its address and control octets.
pub const PPP: u16 = 9;
/// FDDI.
pub const FDDI: u16 = 10;
/// IP packets, as BSD numbers [`RAW`].
pub const RAW_BSD: u16 = 12;
/// IP packets, as OpenBSD numbers [`RAW`].
pub const RAW_OPENBSD: u16 = 14;
/// PPP in HDLC-like framing (RFC 1662), or Cisco's.
pub const PPP_HDLC: u16 = 50;
/// PPP over Ethernet, from the session header on.
pub const PPP_ETHER: u16 = 51;
/// IP packets of either version, nothing before them.
pub const RAW: u16 = 101;
/// Cisco's HDLC.
pub const CISCO_HDLC: u16 = 104;
/// The loopback of OpenBSD: a protocol family in network byte order.
pub const LOOP: u16 = 108;
/// Linux's "cooked" capture, of the interface `any`.
pub const LINUX_SLL: u16 = 113;
/// IPv4 packets, nothing before them.
pub const IPV4: u16 = 228;
/// IPv6 packets, nothing before them.
pub const IPV6: u16 = 229;
/// Netlink messages of Linux behind a cooked header of 16 bytes; no packets of a network.
pub const NETLINK: u16 = 253;
/// Linux's "cooked" capture, version 2.
pub const LINUX_SLL2: u16 = 276;

/// What a link type is called, such as `Ethernet`; `None` for one that is not known here.
pub const fn name(link_type: u16) -> Option<&'static str> {
    Some(match link_type {
        NULL | LOOP => "loopback",
        ETHERNET => "Ethernet",
        PPP | PPP_HDLC => "PPP",
        PPP_ETHER => "PPPoE",
        FDDI => "FDDI",
        RAW | RAW_BSD | RAW_OPENBSD => "raw IP",
        IPV4 => "raw IPv4",
        IPV6 => "raw IPv6",
        CISCO_HDLC => "Cisco HDLC",
        LINUX_SLL => "Linux cooked",
        LINUX_SLL2 => "Linux cooked v2",
        _ => return None,
    })
}
