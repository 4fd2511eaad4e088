//! Which segment size a connection uses, and why.

use super::{Flow, Scenario};
use crate::framing::Headers;
use crate::mss::{Derivation, rfc};
use crate::path::smallest_mtu;
use crate::units::{Bytes, Mss, Mtu};

/// How the segment size of a flow came about (RFC 9293 §3.7.1, RFC 6691).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MssDecision {
    /// What the sender's settings ask for; `None` where they leave it to the MTU.
    pub asked: Option<Mss>,
    /// The option that the data's sender puts in its SYN.
    pub offered_by_sender: Mss,
    /// The option that the data's receiver answers with: the most that it wants to be sent.
    pub offered_by_receiver: Mss,
    /// The largest segment that passes every hop whole.
    pub path_allows: Mss,
    /// Payload of a full segment.
    pub effective: Mss,
}

impl MssDecision {
    /// Whether the path, not the two hosts, decided.
    pub fn is_lowered_by_path(&self) -> bool {
        self.path_allows < self.offered_by_sender.min(self.offered_by_receiver)
    }
}

impl Scenario {
    /// The segment size of `flow`.
    pub fn mss(&self, flow: &Flow) -> MssDecision {
        let (sender, receiver) = self.endpoints(flow);
        let (near, far) = self.first_links(flow);
        let (near, far) = (near.mtu, far.mtu);
        let offered_by_sender = sender.mss.unwrap_or_else(|| self.mss_for(near));
        let offered_by_receiver = receiver.mss.unwrap_or_else(|| self.mss_for(far));
        let path = smallest_mtu(self.hops(flow));
        let decision = rfc::decide(&rfc::Inputs {
            ip: self.ip,
            local_mtu: near,
            peer_option: Some(offered_by_receiver.get()),
            path_mtu: Some(path),
            user_mss: sender.mss,
            ip_options: Bytes::ZERO,
            tcp_options: Bytes::ZERO,
        });
        MssDecision {
            asked: sender.mss,
            offered_by_sender,
            offered_by_receiver,
            path_allows: self.mss_for(path),
            effective: segment(&decision.effective),
        }
    }

    /// Bytes of IP and TCP headers of every segment.
    pub fn tcp_ip_headers(&self) -> Bytes {
        Headers::plain(self.ip).bytes()
    }

    /// What a host offers whose interface has this MTU.
    fn mss_for(&self, mtu: Mtu) -> Mss {
        segment(&rfc::advertised(self.ip, mtu, None))
    }
}

/// At least one byte: an IPv6 packet of the least IPv4 MTU has room for 8.
fn segment(derivation: &Derivation) -> Mss {
    let bytes = derivation.value().get().clamp(u64::from(Mss::MIN), u64::from(Mss::MAX));
    Mss::new(bytes).expect("clamped")
}
