//! Bounds of a host's TCP headers, for programs whose sockets do not have the scenario's options.
//!
//! Linux has no metric for either: a route's `advmss` bounds what a host receives and not what it sends, and a route's
//! `window` is in effect until the first segment arrives (`net/ipv4/tcp_input.c`, `tcp_measure_rcv_mss`).

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use maxseg_wire::Sum;

use super::layout::Layout;
use super::split::NEEDS_CSUM;
use crate::sys::VNET_HEADER;

/// What the TCP headers of a host say at most as they leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderLimits {
    /// The host's addresses; packets that it forwards stay as they are.
    pub(crate) sources: Vec<IpAddr>,
    /// The MSS option: its peers send no larger segments.
    pub(crate) mss: Option<u16>,
    /// The window, in bytes.
    pub(crate) window: Option<u32>,
    /// Whether both hosts scale windows (RFC 7323 §1.3: a shift is in effect only if both offer one).
    pub(crate) scales: bool,
}

/// Applies the limits to new connections; a connection keeps those with which it began.
#[derive(Debug, Default)]
pub(super) struct HeaderLimiter {
    limits: Option<HeaderLimits>,
    /// The largest window field of each connection.
    windows: HashMap<Connection, u16>,
    /// The same connections, oldest first.
    oldest: VecDeque<Connection>,
}

/// A connection of the host: its port, and the peer's port and address.
type Connection = ((u16, u16), [u8; 16]);

/// The oldest connection beyond so many is forgotten: nobody tells when one ends.
const MOST_CONNECTIONS: usize = 1 << 16;
/// The largest shift (RFC 7323 §2.3).
const MOST_SHIFT: u8 = 14;
/// Fields of the TCP header (RFC 9293 §3.1), and its length without options.
const WINDOW: std::ops::Range<usize> = 14..16;
const CHECKSUM: std::ops::Range<usize> = 16..18;
const FIXED: usize = 20;
/// Kinds of options (RFC 9293 §3.2, RFC 7323 §2.2).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;

impl HeaderLimiter {
    pub(super) fn new(limits: Option<HeaderLimits>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The limits of connections that begin from now on.
    pub(super) fn change(&mut self, limits: Option<HeaderLimits>) {
        self.limits = limits;
    }

    /// Bounds the header of a packet that leaves the host. `bytes` is a super-packet with this layout.
    pub(super) fn apply(&mut self, bytes: &mut [u8], layout: &Layout) {
        if (self.limits.is_none() && self.windows.is_empty()) || !layout.is_tcp() {
            return;
        }
        let Some((source, destination)) = addresses(bytes, layout) else { return };
        let start = VNET_HEADER + usize::from(layout.ip);
        let is_partial = bytes[0] & NEEDS_CSUM != 0;
        let Some(tcp) = bytes.get_mut(start..VNET_HEADER + usize::from(layout.headers)) else {
            return;
        };
        let before = Sum::default().add_bytes(tcp).checksum();
        let connection = (layout.ports, destination);
        if layout.is_syn() {
            if !self.begin(tcp, source, connection) {
                return;
            }
        } else if let Some(most) = self.windows.get(&connection) {
            lower(&mut tcp[WINDOW], *most);
        }
        // A checksum that the kernel left to be completed has the pseudo header's sum alone.
        if !is_partial {
            let after = Sum::default().add_bytes(tcp).folded();
            let old = u16::from_be_bytes([tcp[CHECKSUM.start], tcp[CHECKSUM.start + 1]]);
            // RFC 1624 §3: HC' = ~(~HC + ~m + m').
            let sum = [!old, before, after]
                .iter()
                .fold(Sum::default(), |sum, word| sum.add_number(u32::from(*word)));
            if before != !after {
                tcp[CHECKSUM].copy_from_slice(&sum.checksum().to_be_bytes());
            }
        }
    }

    /// The header of a SYN. Gives whether it is the host's own.
    fn begin(&mut self, tcp: &mut [u8], source: IpAddr, connection: Connection) -> bool {
        let Some(limits) = self.limits.as_ref().filter(|limits| limits.sources.contains(&source))
        else {
            self.windows.remove(&connection);
            return false;
        };
        let shift = walk_options(&mut tcp[FIXED..], limits.mss);
        let Some(window) = limits.window else {
            self.windows.remove(&connection);
            return true;
        };
        let field = |bytes: u32| u16::try_from(bytes).unwrap_or(u16::MAX);
        // The window of a SYN is never scaled (RFC 7323 §2.2).
        lower(&mut tcp[WINDOW], field(window));
        let shift = if limits.scales { shift.min(MOST_SHIFT) } else { 0 };
        if self.windows.insert(connection, field(window >> shift).max(1)).is_none() {
            self.oldest.push_back(connection);
        }
        if self.oldest.len() > MOST_CONNECTIONS
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.windows.remove(&oldest);
        }
        true
    }
}

/// Lowers a field of 16 bits to `most`.
fn lower(field: &mut [u8], most: u16) {
    let value = u16::from_be_bytes([field[0], field[1]]);
    field.copy_from_slice(&value.min(most).to_be_bytes());
}

/// Lowers the MSS option to `mss`. Gives the shift of the window, 0 without one.
fn walk_options(options: &mut [u8], mss: Option<u16>) -> u8 {
    let (mut at, mut shift) = (0, 0);
    while let Some(kind) = options.get(at).copied().filter(|kind| *kind != END) {
        let len = match kind {
            NO_OPERATION => 1,
            _ => options.get(at + 1).map_or(0, |len| usize::from(*len)),
        };
        let Some(option) = options.get_mut(at..at + len).filter(|_| len > 0) else { break };
        match (kind, option) {
            (MSS, [_, _, value @ ..]) if value.len() == 2 => {
                if let Some(mss) = mss {
                    lower(value, mss);
                }
            }
            (WINDOW_SCALE, [_, _, value]) => shift = *value,
            _ => {}
        }
        at += len;
    }
    shift
}

/// The packet's source, and its destination in 16 bytes.
fn addresses(bytes: &[u8], layout: &Layout) -> Option<(IpAddr, [u8; 16])> {
    let packet = bytes.get(VNET_HEADER..)?;
    if layout.is_v6 {
        let address = |at: usize| -> Option<[u8; 16]> { packet.get(at..at + 16)?.try_into().ok() };
        return Some((address(8)?.into(), address(24)?));
    }
    let address = |at: usize| -> Option<[u8; 4]> { packet.get(at..at + 4)?.try_into().ok() };
    let mut destination = [0; 16];
    destination[..4].copy_from_slice(&address(16)?);
    Some((address(12)?.into(), destination))
}
