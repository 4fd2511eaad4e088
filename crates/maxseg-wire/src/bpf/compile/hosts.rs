//! Addresses of a selection, whole and by prefix.

use std::net::IpAddr;

use super::super::assemble::Label;
use super::super::code;
use super::Compiler;
use crate::inet_diag::Prefix;

impl Compiler<'_> {
    /// Jumps to `yes` if a selected IPv4 host is at one of these offsets from X.
    pub(super) fn v4_hosts(&mut self, places: [u32; 2], yes: Label) {
        let v4 = |host: &Prefix| match host.address {
            IpAddr::V4(address) => Some((u32::from(address), mask(host.length, 0))),
            IpAddr::V6(_) => None,
        };
        let (whole, prefixes): (Vec<_>, Vec<_>) =
            self.selection.hosts.iter().filter_map(v4).partition(|(_, mask)| *mask == u32::MAX);
        for place in places {
            self.asm.plain(code::LOAD_WORD_AT_X, place);
            for (address, _) in &whole {
                self.asm.go_if(code::IF_EQUAL, *address, yes);
            }
            for (address, mask) in &prefixes {
                self.asm.plain(code::LOAD_WORD_AT_X, place);
                self.asm.plain(code::AND, *mask);
                self.asm.go_if(code::IF_EQUAL, address & mask, yes);
            }
        }
    }

    /// Jumps to `yes` if a selected IPv6 host is source or destination of the header at X.
    pub(super) fn v6_hosts(&mut self, yes: Label) {
        for place in [8, 24] {
            for host in &self.selection.hosts {
                let IpAddr::V6(address) = host.address else { continue };
                let other = self.asm.label();
                for (n, word) in (0..).zip(address.octets().as_chunks::<4>().0) {
                    let mask = mask(host.length, n);
                    if mask == 0 {
                        break;
                    }
                    self.asm.plain(code::LOAD_WORD_AT_X, place + 4 * n);
                    if mask != u32::MAX {
                        self.asm.plain(code::AND, mask);
                    }
                    self.asm.go_unless(code::IF_EQUAL, u32::from_be_bytes(*word) & mask, other);
                }
                self.asm.go(yes);
                self.asm.place(other);
            }
        }
    }
}

/// The bits of word `n` of an address that a prefix of `length` bits compares.
fn mask(length: u8, n: u32) -> u32 {
    let bits = u32::from(length).saturating_sub(32 * n).min(32);
    u32::MAX.checked_shl(32 - bits).unwrap_or(0)
}
