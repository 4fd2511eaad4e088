//! The decision of Stratus STCP: 536 bytes towards every host that is not on its own subnet, whatever
//! that host offers. It sends without DF and discovers no path MTU.

use super::{Cause, Derivation, default_mss};
use crate::framing::{IpVersion, TCP_HEADER, ip_header};
use crate::units::{Bytes, Mtu};

/// What the decision depends on; IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// The MTU of the interface.
    pub local_mtu: Mtu,
    /// Whether the peer is on the same subnet.
    pub same_subnet: bool,
    /// `default_min_mtu`, later `min_mss`: despite its names an MSS with the TCP header, 556 unless
    /// changed. See [`DEFAULT_MIN_MTU`].
    pub min_mtu: Bytes,
    /// The peer's MSS option as it came.
    pub peer_option: Option<u16>,
}

/// `default_min_mtu` as shipped: 536 bytes and the TCP header.
pub const DEFAULT_MIN_MTU: Bytes = Bytes::new(556);

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The option of the SYN.
    pub advertised: Derivation,
    /// Payload of a full segment.
    pub effective: Derivation,
}

/// What the vendor's note says.
pub fn decide(inputs: &Inputs) -> Decision {
    let off_subnet = (!inputs.same_subnet).then(|| inputs.min_mtu.saturating_sub(TCP_HEADER));
    let advertised = Derivation::begin(Cause::InterfaceMtu, inputs.local_mtu.bytes())
        .less(Cause::IpHeader, ip_header(IpVersion::V4))
        .less(Cause::TcpHeader, TCP_HEADER)
        .at_most_if(Cause::OffSubnet, off_subnet);
    let (offer, offered_by) = match inputs.peer_option {
        Some(option) => (u32::from(option), Cause::PeerOption),
        None => (default_mss(IpVersion::V4), Cause::NoPeerOption),
    };
    let effective = advertised.clone().at_most(offered_by, Bytes::new(u64::from(offer)));
    Decision { advertised, effective }
}
