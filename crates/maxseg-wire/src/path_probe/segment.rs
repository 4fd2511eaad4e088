//! The segment that is sent.

use std::net::{IpAddr, SocketAddr};

use crate::ip::{Ipv4, Ipv6, protocol};
use crate::options::TcpOption;
use crate::tcp::{Flags, Tcp};
use crate::{EncodeError, Layer, Payload};

/// A segment of bytes that lie before the receiver's window: the end has them, or takes them for a duplicate from long ago.
/// The payload is zeros: a TCP drops it unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldSegment {
    /// This host's end, and the far one: of one IP version.
    pub ends: (SocketAddr, SocketAddr),
    /// The number of the byte after its last one: not beyond what the far end has acknowledged.
    pub end: u32,
    /// The acknowledgement number.
    pub ack: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// `TSval` and `TSecr`, where the connection has timestamps (RFC 7323 §3.2: then every segment has them).
    pub timestamps: Option<(u32, u32)>,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// IPv6's flow label: that of the connection, so that the packet takes its path.
    pub flow_label: u32,
    /// IPv4's identification.
    pub identification: u16,
}

/// Bytes of the headers of such a segment.
pub const fn header_len(is_v6: bool, has_timestamps: bool) -> usize {
    let ip = if is_v6 { 40 } else { 20 };
    let options = if has_timestamps { 12 } else { 0 };
    ip + 20 + options
}

impl OldSegment {
    /// Bytes of payload of a packet of `size` bytes.
    pub const fn payload_len(&self, size: usize) -> usize {
        size.saturating_sub(header_len(self.ends.1.is_ipv6(), self.timestamps.is_some()))
    }

    /// The number of the first byte in a packet of `size` bytes.
    pub fn begin(&self, size: usize) -> u32 {
        self.end.wrapping_sub(u32::try_from(self.payload_len(size)).unwrap_or(u32::MAX))
    }

    /// The IP packet of `size` bytes, DF set.
    ///
    /// # Errors
    /// The size exceeds 65,535 bytes, or leaves no payload.
    pub fn packet(&self, size: usize) -> Result<Vec<u8>, EncodeError> {
        let payload = vec![0; self.payload_len(size)];
        let (source, destination) = (self.ends.0.ip(), self.ends.1.ip());
        let options = self.timestamps.map(|(value, echo)| {
            [TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Timestamps { value, echo }]
        });
        let options = options.as_ref().map_or(&[][..], |options| options);
        let behind = size.saturating_sub(if source.is_ipv6() { 40 } else { 20 });
        let mut packet = Vec::with_capacity(size);
        self.ip_header(source, destination, behind, &mut packet)?;
        let tcp = Tcp {
            source_port: self.ends.0.port(),
            destination_port: self.ends.1.port(),
            seq: self.begin(size),
            ack: self.ack,
            flags: Flags::ACK,
            window: self.window,
            ..Tcp::default()
        };
        tcp.encode(options, (source, destination), Payload::Bytes(&payload), &mut packet)?;
        if payload.is_empty() || packet.len() != size {
            return Err(EncodeError { layer: Layer::Tcp, length: packet.len(), limit: size });
        }
        Ok(packet)
    }

    fn ip_header(
        &self,
        source: IpAddr,
        destination: IpAddr,
        behind: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = Ipv4 {
                    identification: self.identification,
                    dont_fragment: true,
                    ttl: self.hop_limit,
                    protocol: protocol::TCP,
                    source,
                    destination,
                    ..Ipv4::default()
                };
                header.encode(&[], behind, out)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header = Ipv6 {
                    flow_label: self.flow_label,
                    next_header: protocol::TCP,
                    hop_limit: self.hop_limit,
                    source,
                    destination,
                    ..Ipv6::default()
                };
                header.encode(behind, out)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => {
                Err(EncodeError { layer: Layer::Ip, length: 0, limit: 0 })
            }
        }
    }
}
