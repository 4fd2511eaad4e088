//! Packets behind a link-layer header that is not read.

use super::{Compiler, IPV4, IPV6, Label, METADATA, code};

/// Offsets from the network header (`SKF_NET_OFF` in `linux/filter.h`).
pub(in crate::bpf) const NETWORK: u32 = 0xfff0_0000;
/// The protocol of the packet, as an `EtherType` (`SKF_AD_PROTOCOL`).
pub(in crate::bpf) const PROTOCOL: u32 = METADATA;

impl Compiler<'_> {
    /// Sets X to the IP header, where the kernel has it, and jumps to `ip`; drops other packets than those of IP.
    pub(super) fn skipped(&mut self, ip: Label) {
        self.asm.plain(code::LOAD_WORD, PROTOCOL);
        self.asm.plain(code::LOAD_X_CONSTANT, NETWORK);
        self.asm.go_if(code::IF_EQUAL, IPV4, ip);
        self.asm.go_if(code::IF_EQUAL, IPV6, ip);
        self.asm.go(self.drop);
    }
}
