//! The compiler: a selection to a BPF program.

mod hosts;
pub(super) mod skipped;

use super::assemble::{Assembler, Label};
use super::selection::{FIRST_INFORMATIONAL, ICMP_HEADER, Protocol, QUOTING, Selection};
use super::{Instruction, TooLong, code};
use crate::ip::protocol;

/// The link-layer header of an interface's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Link {
    /// An Ethernet header, with or without VLAN tags.
    Ethernet,
    /// An Ethernet header on the loopback interface, which delivers each packet twice; the outgoing copy is skipped.
    Loopback,
    /// None: packets begin with the IP header.
    RawIp,
    /// One of another kind, which is skipped: the kernel says where the IP header behind it is.
    Skipped,
}

/// Base offset of the kernel's metadata of a packet (`SKF_AD_OFF` in `linux/filter.h`).
const METADATA: u32 = 0xffff_f000;
pub(super) const PACKET_TYPE: u32 = METADATA + 4;
pub(super) const INTERFACE_INDEX: u32 = METADATA + 8;
pub(super) const HARDWARE_TYPE: u32 = METADATA + 28;
/// `PACKET_OUTGOING` in `linux/if_packet.h`.
pub(super) const OUTGOING: u32 = 4;

/// `EtherType`s.
const IPV4: u32 = 0x0800;
const ARP: u32 = 0x0806;
const IPV6: u32 = 0x86dd;
/// Tags of IEEE 802.1Q, of 802.1ad, and of its predecessor.
const VLAN_TAGS: [u32; 3] = [0x8100, 0x88a8, 0x9100];
/// Bytes of an Ethernet header, of a VLAN tag, and before the `EtherType`.
const ETHERNET: u32 = 14;
const TAG: u32 = 4;
const BEFORE_TYPE: u32 = 12;
/// VLAN tags that are skipped.
const MOST_TAGS: u32 = 2;
/// Bytes of an IPv6 header.
const V6_HEADER: u32 = 40;
/// IPv6 extension headers that are skipped; the loop is unrolled, since BPF jumps forward only.
const MOST_EXTENSIONS: usize = 4;

/// Scratch memory: the offset of the IP header, and the protocol after extension headers.
const IP_HEADER: u32 = 0;
const NEXT_HEADER: u32 = 1;

/// Compiles a program that keeps `snap_len` bytes of each packet of `selection` and drops the others. `links`
/// maps an interface's hardware type (`ARPHRD_*` in `linux/if_arp.h`) to its link-layer header; packets of other
/// types are dropped, and those of interfaces whose index is not in `interfaces`, unless that is empty.
///
/// The program skips up to two VLAN tags and four IPv6 extension headers.
///
/// # Errors
/// The program exceeds the kernel's limit: too many hosts or ports.
pub fn compile(
    selection: &Selection,
    links: &[(u16, Link)],
    interfaces: &[u32],
    snap_len: u32,
) -> Result<Vec<Instruction>, TooLong> {
    let mut asm = Assembler::default();
    let (keep, drop) = (asm.label(), asm.label());
    let mut compiler = Compiler { asm, selection, keep, drop };
    compiler.interface(interfaces);
    compiler.whole(links);
    let Compiler { mut asm, .. } = compiler;
    asm.place(keep);
    asm.plain(code::KEEP, snap_len);
    asm.place(drop);
    asm.plain(code::KEEP, 0);
    asm.assemble()
}

struct Compiler<'a> {
    asm: Assembler,
    selection: &'a Selection,
    keep: Label,
    drop: Label,
}

impl Compiler<'_> {
    /// Drops packets of interfaces other than these; none are meant where the list is empty.
    fn interface(&mut self, indexes: &[u32]) {
        if indexes.is_empty() {
            return;
        }
        let one = self.asm.label();
        self.asm.plain(code::LOAD_WORD, INTERFACE_INDEX);
        for index in indexes {
            self.asm.go_if(code::IF_EQUAL, *index, one);
        }
        self.asm.go(self.drop);
        self.asm.place(one);
    }

    fn whole(&mut self, links: &[(u16, Link)]) {
        let [ethernet, loopback, raw] = [self.asm.label(), self.asm.label(), self.asm.label()];
        let (skipped, ip) = (self.asm.label(), self.asm.label());
        self.asm.plain(code::LOAD_WORD, HARDWARE_TYPE);
        for (hardware, link) in links {
            let to = match link {
                Link::Ethernet => ethernet,
                Link::Loopback => loopback,
                Link::RawIp => raw,
                Link::Skipped => skipped,
            };
            self.asm.go_if(code::IF_EQUAL, u32::from(*hardware), to);
        }
        self.asm.go(self.drop);
        self.asm.place(skipped);
        if links.iter().any(|(_, link)| *link == Link::Skipped) {
            self.skipped(ip);
        }
        self.asm.place(loopback);
        self.asm.plain(code::LOAD_WORD, PACKET_TYPE);
        self.asm.go_if(code::IF_EQUAL, OUTGOING, self.drop);
        self.asm.place(ethernet);
        if self.selection.is_everything() {
            self.asm.place(raw);
            self.asm.place(ip);
            self.asm.go(self.keep);
            return;
        }
        self.ethernet(ip);
        self.asm.place(raw);
        self.asm.plain(code::LOAD_X_CONSTANT, 0);
        self.asm.place(ip);
        self.packet();
    }

    /// Sets X to the end of the Ethernet header; jumps to `ip`, or keeps or drops the packet.
    fn ethernet(&mut self, ip: Label) {
        let arp = self.asm.label();
        for tags in 0..=MOST_TAGS {
            self.asm.plain(code::LOAD_HALF, BEFORE_TYPE + tags * TAG);
            self.asm.plain(code::LOAD_X_CONSTANT, ETHERNET + tags * TAG);
            self.asm.go_if(code::IF_EQUAL, IPV4, ip);
            self.asm.go_if(code::IF_EQUAL, IPV6, ip);
            self.asm.go_if(code::IF_EQUAL, ARP, arp);
            if tags < MOST_TAGS {
                let tag = self.asm.label();
                for kind in VLAN_TAGS {
                    self.asm.go_if(code::IF_EQUAL, kind, tag);
                }
                self.asm.go(self.drop);
                self.asm.place(tag);
            }
        }
        self.asm.go(self.drop);
        self.asm.place(arp);
        self.arp();
    }

    /// Matches the two protocol addresses of the ARP packet at X (RFC 826, Ethernet and IPv4).
    fn arp(&mut self) {
        /// Lengths of hardware and protocol addresses, 6 and 4.
        const LENGTHS: u32 = 0x0604;
        if self.selection.takes_arp() {
            self.asm.plain(code::LOAD_HALF_AT_X, 4);
            self.asm.go_unless(code::IF_EQUAL, LENGTHS, self.drop);
            self.v4_hosts([14, 24], self.keep);
        }
        self.asm.go(self.drop);
    }

    /// Matches the IP packet at X, then the packet that it quotes.
    fn packet(&mut self) {
        let (quotes_v4, quotes_v6) = (self.asm.label(), self.asm.label());
        let quoted = self.asm.label();
        self.packet_as([quotes_v4, quotes_v6]);
        self.asm.place(quotes_v4);
        self.go_to_quoted_v4(quoted);
        self.asm.place(quotes_v6);
        self.go_to_quoted_v6();
        self.asm.place(quoted);
        self.whole_header();
        self.packet_as([self.drop, self.drop]);
    }

    /// Drops a packet that ends within the IP header at X, which a load behind its end does: what an ICMP error quotes may be none.
    fn whole_header(&mut self) {
        const LEAST_V4_WORDS: u32 = 5;
        let (v4, whole) = (self.asm.label(), self.asm.label());
        self.asm.plain(code::STORE_X, IP_HEADER);
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::SHIFT_RIGHT, 4);
        self.asm.go_if(code::IF_EQUAL, 4, v4);
        self.asm.plain(code::LOAD_BYTE_AT_X, V6_HEADER - 1);
        self.asm.go(whole);
        self.asm.place(v4);
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::AND, 0xf);
        self.asm.go_unless(code::IF_ABOVE, LEAST_V4_WORDS - 1, self.drop);
        self.past_v4_header();
        // One back: sums wrap.
        self.forward(u32::MAX);
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::LOAD_X_MEMORY, IP_HEADER);
        self.asm.place(whole);
    }

    /// Matches the IP packet at X itself; jumps to the label of its version if it does not pass.
    fn packet_as(&mut self, [v4_no, v6_no]: [Label; 2]) {
        let (v4, v6) = (self.asm.label(), self.asm.label());
        self.asm.plain(code::STORE_X, IP_HEADER);
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::SHIFT_RIGHT, 4);
        self.asm.go_if(code::IF_EQUAL, 4, v4);
        self.asm.go_if(code::IF_EQUAL, 6, v6);
        self.asm.go(self.drop);
        self.asm.place(v4);
        self.v4(v4_no);
        self.asm.place(v6);
        self.v6(v6_no);
    }

    fn v4(&mut self, no: Label) {
        let hosts = self.asm.label();
        if !self.selection.hosts.is_empty() {
            self.v4_hosts([12, 16], hosts);
            self.asm.go(no);
        }
        self.asm.place(hosts);
        self.asm.plain(code::LOAD_BYTE_AT_X, 9);
        self.protocol(|protocol| protocol.numbers().0, no);
        if !self.selection.ports.is_empty() {
            self.go_if_later_v4_fragment(self.keep);
            self.past_v4_header();
            self.ports(no);
        }
        self.asm.go(self.keep);
    }

    fn v6(&mut self, no: Label) {
        let hosts = self.asm.label();
        if !self.selection.hosts.is_empty() {
            self.v6_hosts(hosts);
            self.asm.go(no);
        }
        self.asm.place(hosts);
        if self.selection.wanted_protocols().is_some() {
            let fragment = self.asm.label();
            self.past_v6_headers(fragment);
            self.asm.plain(code::LOAD_MEMORY, NEXT_HEADER);
            self.protocol(|protocol| protocol.numbers().1, no);
            if !self.selection.ports.is_empty() {
                self.ports(no);
            }
            self.asm.go(self.keep);
            self.asm.place(fragment);
            self.asm.plain(code::LOAD_MEMORY, NEXT_HEADER);
            self.protocol(|protocol| protocol.numbers().1, no);
        }
        self.asm.go(self.keep);
    }

    /// Jumps to `no` unless A is the number of a selected protocol, or none is selected.
    fn protocol(&mut self, number: impl Fn(Protocol) -> u8, no: Label) {
        let Some(wanted) = self.selection.wanted_protocols() else { return };
        let yes = self.asm.label();
        for protocol in wanted {
            self.asm.go_if(code::IF_EQUAL, number(protocol).into(), yes);
        }
        self.asm.go(no);
        self.asm.place(yes);
    }

    /// Jumps to `no` unless one of the two ports at X is selected.
    fn ports(&mut self, no: Label) {
        let yes = self.asm.label();
        for place in [0, 2] {
            self.asm.plain(code::LOAD_HALF_AT_X, place);
            for port in &self.selection.ports {
                self.asm.go_if(code::IF_EQUAL, u32::from(*port), yes);
            }
        }
        self.asm.go(no);
        self.asm.place(yes);
    }

    /// Jumps to the label if the IPv4 header at X is that of a later fragment.
    fn go_if_later_v4_fragment(&mut self, to: Label) {
        const OFFSET: u32 = 0x1fff;
        self.asm.plain(code::LOAD_HALF_AT_X, 6);
        self.asm.go_if(code::IF_ANY_BIT, OFFSET, to);
    }

    /// Advances X past the IPv4 header.
    fn past_v4_header(&mut self) {
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::AND, 0xf);
        self.asm.plain(code::SHIFT_LEFT, 2);
        self.asm.plain(code::ADD_X, 0);
        self.asm.plain(code::TO_X, 0);
    }

    /// Advances X.
    fn forward(&mut self, bytes: u32) {
        self.asm.plain(code::FROM_X, 0);
        self.asm.plain(code::ADD, bytes);
        self.asm.plain(code::TO_X, 0);
    }

    /// Advances X past the IPv6 header and its extension headers, and stores the protocol; jumps to `fragment` at a
    /// later fragment.
    fn past_v6_headers(&mut self, fragment: Label) {
        const EXTENSIONS: [u32; 6] = [0, 43, 60, 135, 139, 140];
        const FRAGMENT: u32 = 44;
        const AUTHENTICATION: u32 = 51;
        const FRAGMENT_OFFSET: u32 = 0xfff8;
        self.asm.plain(code::LOAD_BYTE_AT_X, 6);
        self.asm.plain(code::STORE, NEXT_HEADER);
        self.forward(V6_HEADER);
        let done = self.asm.label();
        for _ in 0..MOST_EXTENSIONS {
            let [extension, authentication, part] =
                [self.asm.label(), self.asm.label(), self.asm.label()];
            let next = self.asm.label();
            self.asm.plain(code::LOAD_MEMORY, NEXT_HEADER);
            for number in EXTENSIONS {
                self.asm.go_if(code::IF_EQUAL, number, extension);
            }
            self.asm.go_if(code::IF_EQUAL, AUTHENTICATION, authentication);
            self.asm.go_if(code::IF_EQUAL, FRAGMENT, part);
            self.asm.go(done);
            // Length units: 8 bytes without the first unit; 4 bytes without the first two.
            for (kind, others, shift) in [(extension, 1, 3), (authentication, 2, 2)] {
                self.asm.place(kind);
                self.next_header();
                self.asm.plain(code::LOAD_BYTE_AT_X, 1);
                self.asm.plain(code::ADD, others);
                self.asm.plain(code::SHIFT_LEFT, shift);
                self.asm.plain(code::ADD_X, 0);
                self.asm.plain(code::TO_X, 0);
                self.asm.go(next);
            }
            self.asm.place(part);
            self.next_header();
            self.asm.plain(code::LOAD_HALF_AT_X, 2);
            self.asm.go_if(code::IF_ANY_BIT, FRAGMENT_OFFSET, fragment);
            self.forward(8);
            self.asm.place(next);
        }
        self.asm.place(done);
    }

    /// Stores the next header of the extension header at X.
    fn next_header(&mut self) {
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.plain(code::STORE, NEXT_HEADER);
    }

    /// Sets X to the packet quoted by the stored ICMP error and jumps to `quoted`; drops other packets.
    fn go_to_quoted_v4(&mut self, quoted: Label) {
        self.asm.plain(code::LOAD_X_MEMORY, IP_HEADER);
        self.asm.plain(code::LOAD_BYTE_AT_X, 9);
        self.asm.go_unless(code::IF_EQUAL, protocol::ICMP.into(), self.drop);
        self.go_if_later_v4_fragment(self.drop);
        self.past_v4_header();
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        let is_error = self.asm.label();
        for kind in QUOTING {
            self.asm.go_if(code::IF_EQUAL, kind.into(), is_error);
        }
        self.asm.go(self.drop);
        self.asm.place(is_error);
        self.past_icmp_header();
        self.asm.go(quoted);
    }

    /// The same for ICMPv6, without the jump: the code that follows is that of the quoted packet.
    fn go_to_quoted_v6(&mut self) {
        self.asm.plain(code::LOAD_X_MEMORY, IP_HEADER);
        self.past_v6_headers(self.drop);
        self.asm.plain(code::LOAD_MEMORY, NEXT_HEADER);
        self.asm.go_unless(code::IF_EQUAL, protocol::ICMPV6.into(), self.drop);
        self.asm.plain(code::LOAD_BYTE_AT_X, 0);
        self.asm.go_if(code::IF_ABOVE, u32::from(FIRST_INFORMATIONAL) - 1, self.drop);
        self.past_icmp_header();
    }

    fn past_icmp_header(&mut self) {
        self.forward(u32::try_from(ICMP_HEADER).unwrap_or(u32::MAX));
    }
}
