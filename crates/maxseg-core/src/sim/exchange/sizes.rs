//! How large the packets of a two-way connection are.

use super::super::flow::{Options, charges_options, syn_options};
use crate::framing::{Headers, IpPacket};
use crate::scenario::{Flow, Scenario};
use crate::settings::WindowScale;
use crate::tcp::{Config, Segment};
use crate::units::Bytes;

/// What the two ends of `flow` agree on: for data from its client, and for data from its server.
pub(in crate::sim) fn agreed(scenario: &Scenario, flow: &Flow) -> (Config, Config) {
    let (client, server) = scenario.endpoints(flow);
    let (mut client, mut server) = (client.clone(), server.clone());
    // RFC 7323 §2.2: both scale their windows, or neither does.
    if [&client, &server].iter().any(|host| host.window_scale == WindowScale::Off) {
        for host in [&mut client, &mut server] {
            if host.window_scale != WindowScale::Unlimited {
                host.window_scale = WindowScale::Off;
            }
        }
    }
    let requests = Config {
        sender: client.clone(),
        receiver: server.clone(),
        mss: scenario.mss(flow).initial,
    };
    let mss = scenario.mss(&flow.reversed()).initial;
    (requests, Config { sender: server, receiver: client, mss })
}

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
        let with_least = if charges_options(requests) { replies } else { requests };
        Self {
            header: header.packet(Bytes::ZERO),
            syn: IpPacket::from(header.bytes() + syn_options(with_least)),
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
