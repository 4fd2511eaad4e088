//! How large the packets of a two-way connection are.

use super::super::flow::Options;
use crate::framing::{Headers, IpPacket};
use crate::scenario::{Flow, Scenario};
use crate::tcp::{Config, Segment};
use crate::units::Bytes;

/// The sizes of segments as packets, the same in both directions.
#[derive(Debug)]
pub(in crate::sim) struct Sizes {
    /// A segment without payload, and a SYN.
    header: IpPacket,
    syn: IpPacket,
    options: Options,
    /// Bytes of options in every segment.
    constant_options: Bytes,
}

impl Sizes {
    pub(super) fn new(
        scenario: &Scenario,
        flow: &Flow,
        requests: &Config,
        replies: &Config,
    ) -> Self {
        let header = Headers::plain(scenario.ip);
        // Where one end is a simulator's stack without options, there are none.
        let with_least = if requests.has_options() { replies } else { requests };
        Self {
            header: header.packet(Bytes::ZERO),
            syn: IpPacket::from(header.bytes() + with_least.syn_options()),
            options: Options::of(with_least),
            constant_options: scenario.mss(flow).options,
        }
    }

    /// `segment` as a packet.
    pub(in crate::sim) fn packet(&self, segment: &Segment) -> IpPacket {
        if segment.syn {
            return self.syn;
        }
        let options = match self.options {
            Options::Absent => return self.header.with_payload(segment.len),
            Options::BlocksAlone => segment.sack().bytes(),
            Options::Padded => segment.option_bytes(),
        };
        IpPacket::from(self.header.length() + segment.payload() + options)
    }

    /// What a full segment's packet holds besides payload.
    pub(in crate::sim) fn overhead(&self) -> Bytes {
        self.header.length() + self.constant_options
    }
}
