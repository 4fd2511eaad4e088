//! What of a packet has not been decapsulated yet.

use super::path::{EncapPath, Encapsulation, Undecodable};
use crate::DecodeError;
use crate::ip::Outline;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET_LEN: u32 = 14;

/// The innermost IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decapsulated<'a> {
    /// The packet, from its IP header on, as far as it was kept.
    pub bytes: &'a [u8],
    /// How many bytes the headers around it leave it; IP's own length may be less, for padding.
    pub wire_len: u32,
    /// What its header says.
    pub ip: Outline<'a>,
    /// The headers around the packet.
    pub encapsulation: EncapPath,
    /// Bytes before it.
    pub overhead: u32,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Ip,
    Ethernet,
    Ethertype(u16),
    Ppp,
}

/// What has not been passed yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'a> {
    pub(super) bytes: &'a [u8],
    /// How long it was.
    pub(super) wire_len: u32,
    /// How much lies before it.
    pub(super) overhead: u32,
    pub(super) encapsulation: EncapPath,
}

impl<'a> Rest<'a> {
    /// Passes the `N` bytes of a header, or of a part of it.
    #[inline]
    pub(super) fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Undecodable> {
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or(Undecodable::Short)?;
        self.advance(rest, N);
        Ok(head)
    }

    /// Passes `n` bytes whose content does not matter.
    pub(super) fn skip(&mut self, n: usize) -> Result<(), Undecodable> {
        let rest = self.bytes.get(n..).ok_or(Undecodable::Short)?;
        self.advance(rest, n);
        Ok(())
    }

    #[inline]
    pub(super) fn advance(&mut self, rest: &'a [u8], n: usize) {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        self.bytes = rest;
        self.wire_len = self.wire_len.saturating_sub(n);
        self.overhead = self.overhead.saturating_add(n);
    }

    #[inline]
    pub(super) fn push(&mut self, encapsulation: Encapsulation) -> Result<(), Undecodable> {
        self.encapsulation.push(encapsulation)
    }

    /// IP begins here.
    pub(super) fn into_packet(self) -> Result<Decapsulated<'a>, Undecodable> {
        let is_cut = self.bytes.len() < self.wire_len as usize;
        let ip = Outline::read(self.bytes, self.wire_len as usize).map_err(|error| {
            let is_short = is_cut && matches!(error, DecodeError::Short { .. });
            if is_short { Undecodable::Short } else { error.into() }
        })?;
        let Self { bytes, wire_len, overhead, encapsulation } = self;
        Ok(Decapsulated { bytes, wire_len, ip, encapsulation, overhead })
    }
}
