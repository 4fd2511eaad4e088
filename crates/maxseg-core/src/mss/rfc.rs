//! The RFCs' decision.

use super::{Cause, Derivation, default_mss};
use crate::framing::{IpVersion, TCP_HEADER, ip_header};
use crate::units::{Bytes, Mss, Mtu};

/// What the decision depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Which IP.
    pub ip: IpVersion,
    /// The MTU of the interface towards the peer.
    pub local_mtu: Mtu,
    /// The peer's MSS option as it came; `None` where there was none. In IPv6 65 535 stands for no
    /// limit (RFC 2675 §5.2), and indeed no MTU here lets it be one.
    pub peer_option: Option<u16>,
    /// The path's MTU, where it is known.
    pub path_mtu: Option<Mtu>,
    /// What the application or the administrator asked for.
    pub user_mss: Option<Mss>,
    /// Options of every packet's IP header.
    pub ip_options: Bytes,
    /// Options of every segment's TCP header.
    pub tcp_options: Bytes,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The option to send: what the interface can receive, never reduced for options (RFC 6691).
    pub advertised: Derivation,
    /// `SendMSS`: what the peer takes (RFC 9293 §3.7.1).
    pub send_mss: Derivation,
    /// `MMS_S`: the largest transport message that IP can send (RFC 1122 §3.3.2).
    pub largest_message: Bytes,
    /// `Eff.snd.MSS`: payload of a full segment (RFC 1122 §4.2.2.6).
    pub effective: Derivation,
    /// A full segment with all headers and options.
    pub packet: Bytes,
}

/// The option to send: the interface's MTU less the headers, whatever options there are (RFC 6691 §2).
pub fn advertised(ip: IpVersion, mtu: Mtu, user: Option<Mss>) -> Derivation {
    Derivation::begin(Cause::InterfaceMtu, mtu.bytes())
        .less(Cause::IpHeader, ip_header(ip))
        .less(Cause::TcpHeader, TCP_HEADER)
        .at_most_if(Cause::UserMss, user.map(Mss::bytes))
}

/// `Eff.snd.MSS = min(SendMSS + 20, MMS_S) − TCPhdrsize − IPoptionsize` (RFC 1122 §4.2.2.6), with the
/// option to send.
pub fn decide(inputs: &Inputs) -> Decision {
    let header = ip_header(inputs.ip);
    let user = inputs.user_mss.map(Mss::bytes);
    let send_mss = match inputs.peer_option {
        Some(option) => Derivation::begin(Cause::PeerOption, Bytes::new(u64::from(option))),
        None => {
            Derivation::begin(Cause::NoPeerOption, Bytes::new(u64::from(default_mss(inputs.ip))))
        }
    }
    .at_most_if(Cause::UserMss, user);
    let (mtu, bound_by) = match inputs.path_mtu {
        Some(path) if path < inputs.local_mtu => (path, Cause::PathMtu),
        Some(_) | None => (inputs.local_mtu, Cause::InterfaceMtu),
    };
    let largest_message = mtu.bytes().saturating_sub(header);
    let effective = Derivation::begin(send_mss.winner(), send_mss.value())
        .at_most(bound_by, largest_message.saturating_sub(TCP_HEADER))
        .less(Cause::TcpOptions, inputs.tcp_options)
        .less(Cause::IpOptions, inputs.ip_options);
    let options = inputs.tcp_options + inputs.ip_options;
    let packet = header + TCP_HEADER + options + effective.value();
    let advertised = advertised(inputs.ip, inputs.local_mtu, inputs.user_mss);
    Decision { advertised, send_mss, largest_message, effective, packet }
}
