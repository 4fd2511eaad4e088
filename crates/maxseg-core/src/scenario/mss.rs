//! Which segment size a connection uses, and why.

use super::{Flow, Scenario};
use crate::framing::{TCP_HEADER, ip_header};
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
        let offered_by_sender = sender.mss.unwrap_or_else(|| self.mss_for(near.mtu));
        let offered_by_receiver = receiver.mss.unwrap_or_else(|| self.mss_for(far.mtu));
        let path_allows = self.mss_for(smallest_mtu(self.hops(flow)));
        MssDecision {
            asked: sender.mss,
            offered_by_sender,
            offered_by_receiver,
            path_allows,
            effective: offered_by_sender.min(offered_by_receiver).min(path_allows),
        }
    }

    /// Bytes of IP and TCP headers of every segment.
    pub fn tcp_ip_headers(&self) -> Bytes {
        ip_header(self.ip) + TCP_HEADER
    }

    /// The MTU less the headers without options (RFC 6691), at least one byte.
    fn mss_for(&self, mtu: Mtu) -> Mss {
        let room = mtu.bytes().saturating_sub(self.tcp_ip_headers()).get().max(1);
        Mss::new(room).expect("an MTU less headers is a segment size")
    }
}
