//! Where the headers of a packet are.

use std::ops::Range;

const ETHERNET: u16 = 1;
const COOKED: u16 = 113;
const COOKED_2: u16 = 276;
const RAW_IP: [u16; 5] = [101, 12, 14, 228, 229];

/// Bytes in front of the IP header; `None` where it carries no IP.
pub(super) fn start_of_ip(data: &[u8], link_type: u16) -> Option<usize> {
    match link_type {
        ETHERNET => {
            let mut at = 12;
            loop {
                match u16_at(data, at)? {
                    0x8100 | 0x88a8 => at += 4,
                    0x0800 | 0x86dd => return Some(at + 2),
                    _ => return None,
                }
            }
        }
        COOKED => Some(16),
        COOKED_2 => Some(20),
        raw if RAW_IP.contains(&raw) => Some(0),
        _ => None,
    }
}

/// Bytes in front of the IP header of an untagged packet.
pub(super) const fn link_header(link_type: u16) -> usize {
    match link_type {
        ETHERNET => 14,
        COOKED => 16,
        COOKED_2 => 20,
        _ => 0,
    }
}

pub(super) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

pub(super) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at + 4)?;
    Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

pub(super) fn put_u16(data: &mut [u8], at: usize, value: u16) {
    if let Some(bytes) = data.get_mut(at..at + 2) {
        bytes.copy_from_slice(&value.to_be_bytes());
    }
}

/// The source address of an IP packet.
pub(super) fn source(data: &[u8], link_type: u16) -> Option<&[u8]> {
    let at = start_of_ip(data, link_type)?;
    match data.get(at)? >> 4 {
        4 => data.get(at + 12..at + 16),
        6 => data.get(at + 8..at + 24),
        _ => None,
    }
}

/// A TCP segment whose fixed header was kept.
#[derive(Debug, Clone)]
pub(super) struct Tcp {
    pub(super) ip: usize,
    pub(super) is_v6: bool,
    /// Where its header begins.
    pub(super) start: usize,
    /// Addresses and ports.
    pub(super) flow: (Range<usize>, usize),
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) header: usize,
    pub(super) flags: u8,
    /// Bytes of payload on the wire.
    pub(super) payload: usize,
}

impl Tcp {
    pub(super) fn of(data: &[u8], link_type: u16) -> Option<Self> {
        let ip = start_of_ip(data, link_type)?;
        let (is_v6, tcp, addresses, protocol, end) = match data.get(ip)? >> 4 {
            4 => {
                if u16_at(data, ip + 6)? & 0x3fff != 0 {
                    return None; // a fragment
                }
                let header = usize::from(data[ip] & 15) * 4;
                let end = ip + usize::from(u16_at(data, ip + 2)?);
                (false, ip + header, ip + 12..ip + 20, *data.get(ip + 9)?, end)
            }
            6 => {
                let end = ip + 40 + usize::from(u16_at(data, ip + 4)?);
                (true, ip + 40, ip + 8..ip + 40, *data.get(ip + 6)?, end)
            }
            _ => return None,
        };
        if protocol != 6 || data.len() < tcp + 20 {
            return None;
        }
        let header = usize::from(data[tcp + 12] >> 4) * 4;
        Some(Self {
            ip,
            is_v6,
            start: tcp,
            flow: (addresses, tcp),
            seq: u32_at(data, tcp + 4)?,
            ack: u32_at(data, tcp + 8)?,
            header,
            flags: data[tcp + 13],
            payload: end.checked_sub(tcp + header)?,
        })
    }

    /// Whether both segments are of one direction of one connection.
    pub(super) fn has_flow_of(&self, data: &[u8], other: &Self, others: &[u8]) -> bool {
        let ports = |data: &[u8], at: usize| u32_at(data, at);
        data.get(self.flow.0.clone()) == others.get(other.flow.0.clone())
            && ports(data, self.flow.1) == ports(others, other.flow.1)
    }
}
