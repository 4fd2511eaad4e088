//! Which segment size a connection uses, and why.

use super::{End, Flow, Scenario};
use crate::framing::{Headers, TCP_TIMESTAMPS};
use crate::mss::{Derivation, rfc};
use crate::settings::{Settings, WindowScale};
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
    /// Bytes of options in every segment.
    pub options: Bytes,
    /// Payload of a full segment: what options take in its header is not payload (RFC 6691 §3).
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
        let first = self.path.hops.first().map_or(Mtu::ETHERNET, |hop| hop.forward.mtu);
        let last = self.path.hops.last().map_or(Mtu::ETHERNET, |hop| hop.reverse.mtu);
        let (near, far) = match flow.from {
            End::Sender => (first, last),
            End::Receiver => (last, first),
        };
        let offered_by_sender = sender.mss.unwrap_or_else(|| self.mss_for(near));
        let offered_by_receiver = receiver.mss.unwrap_or_else(|| self.mss_for(far));
        let path = self.path.smallest_mtu();
        let options = option_bytes(sender, receiver);
        let decision = rfc::decide(&rfc::Inputs {
            ip: self.ip,
            local_mtu: near,
            peer_option: Some(offered_by_receiver.get()),
            path_mtu: Some(path),
            user_mss: sender.mss,
            ip_options: Bytes::ZERO,
            tcp_options: options,
        });
        MssDecision {
            asked: sender.mss,
            offered_by_sender,
            offered_by_receiver,
            path_allows: self.mss_for(path),
            options,
            effective: segment(&decision.effective),
        }
    }

    /// Bytes of IP and TCP headers of every segment, options left aside.
    pub fn tcp_ip_headers(&self) -> Bytes {
        Headers::plain(self.ip).bytes()
    }

    /// What a host offers whose interface has this MTU.
    fn mss_for(&self, mtu: Mtu) -> Mss {
        segment(&rfc::advertised(self.ip, mtu, None))
    }
}

/// Bytes of options that every segment carries: timestamps, where both hosts are willing and their
/// headers are real.
fn option_bytes(sender: &Settings, receiver: &Settings) -> Bytes {
    let real = receiver.window_scale != WindowScale::Unlimited;
    let used = real && sender.timestamps && receiver.timestamps;
    if used { TCP_TIMESTAMPS } else { Bytes::ZERO }
}

/// At least one byte: an IPv6 packet of the least IPv4 MTU has room for 8.
fn segment(derivation: &Derivation) -> Mss {
    let bytes = derivation.value().get().clamp(u64::from(Mss::MIN), u64::from(Mss::MAX));
    Mss::new(bytes).expect("clamped")
}
