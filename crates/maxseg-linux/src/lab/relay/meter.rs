//! Packets and bytes that a relay carries, by flow.

use std::collections::BTreeMap;

use maxseg_core::link::Fate;
use maxseg_core::path::LinkSpec;
use maxseg_core::units::{Bytes, Time};
use maxseg_core::window::LARGEST_SHIFT;
use maxseg_wire::options::TcpOption;

use super::layout::Layout;
use crate::lab::topology::FIRST_PORT;
use crate::sys::VNET_HEADER;

/// Packets and bytes of one direction of a hop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    flows: BTreeMap<u16, FlowMeter>,
    /// Packets on the wire by their IP length in bytes.
    lengths: BTreeMap<u32, u64>,
    /// Super-packets that the kernel handed over.
    pub(crate) super_packets: u64,
    /// Packets on the wire, and their IP bytes.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// ICMP messages about packets that were too large, withheld.
    pub(crate) withheld: u64,
    /// Packets above the MTU.
    pub(crate) too_big: u64,
    /// Packets that the receiving kernel rejected.
    pub(crate) kernel_drops: u64,
}

/// Packets and bytes of one flow in one direction of a hop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlowMeter {
    /// Packets with payload.
    pub(crate) data_packets: u64,
    /// Their payload, in bytes.
    pub(crate) payload: u64,
    /// Packets without payload, but SYNs.
    pub(crate) acks: u64,
    /// All packets, and their bytes on the wire with the link's framing.
    pub(crate) packets: u64,
    pub(crate) wire_bytes: u64,
    /// Packets with payload that were lost on the link.
    pub(crate) lost: u64,
    /// The largest payload of a packet, in bytes.
    pub(crate) largest_segment: u64,
    /// Packets with payload handed to the next host, and their payload in bytes.
    pub(crate) delivered_packets: u64,
    pub(crate) delivered: u64,
    /// MSS option and window scale of the SYN.
    pub(crate) mss: Option<u16>,
    pub(crate) shift: Option<u8>,
    /// The largest advertised window, in bytes.
    pub(crate) window: u64,
}

impl Meter {
    /// The kernel hands over a super-packet.
    pub(super) fn take(&mut self, bytes: &[u8], layout: &Layout, spec: &LinkSpec) {
        self.super_packets += 1;
        let last = layout.count - 1;
        let (full, rest) = (u64::from(last), layout.length_of(last));
        if full > 0 {
            *self.lengths.entry(layout.length_of(0)).or_default() += full;
        }
        *self.lengths.entry(rest).or_default() += 1;
        let count = full + 1;
        let length = full * u64::from(layout.length_of(0)) + u64::from(rest);
        self.packets += count;
        self.bytes += length;
        let Some(flow) = self.flow_of(layout) else { return };
        flow.packets += count;
        flow.wire_bytes += full * spec.wire_bytes(layout.shape_of(0)).get()
            + spec.wire_bytes(layout.shape_of(last)).get();
        if layout.carries_data() {
            flow.data_packets += count;
            flow.payload += layout.data_bytes();
            flow.largest_segment = flow.largest_segment.max(layout.payload_of(0).into());
        } else if !layout.is_syn() {
            flow.acks += count;
        }
        if layout.is_tcp() {
            flow.read_header(bytes, layout);
        }
    }

    /// The link has lost `packets` of a super-packet.
    pub(super) fn lose(&mut self, layout: &Layout, packets: u16, fate: Fate) {
        let packets = u64::from(packets);
        self.too_big += packets * u64::from(matches!(fate, Fate::TooBig { .. }));
        if let Some(flow) = self.flow_of(layout) {
            flow.lost += packets * u64::from(layout.carries_data());
        }
    }

    /// Packets `first` to `last` of a super-packet are handed to the next host.
    pub(super) fn deliver(&mut self, layout: &Layout, first: u16, last: u16) {
        if !layout.carries_data() {
            return;
        }
        let payload = (first..=last).map(|index| u64::from(layout.payload_of(index))).sum::<u64>();
        if let Some(flow) = self.flow_of(layout) {
            flow.delivered_packets += u64::from(last - first) + 1;
            flow.delivered += payload;
        }
    }

    /// An ICMP message about a packet that was too large was withheld.
    pub(super) fn withhold(&mut self) {
        self.withheld += 1;
    }

    /// The receiving kernel rejected a packet.
    pub(super) fn kernel_drop(&mut self) {
        self.kernel_drops += 1;
    }

    /// Packets and bytes of flow `n`, counted from 0.
    pub(crate) fn flow(&self, n: usize) -> FlowMeter {
        let number = u16::try_from(n).unwrap_or(u16::MAX);
        self.flows.get(&number).copied().unwrap_or_default()
    }

    /// The expected share of damaged packets on a link by `spec`, for packets of these lengths.
    pub(crate) fn expected_loss(&self, spec: &LinkSpec, until: Time) -> Option<f64> {
        let (mut lost, mut all) = (0.0, 0.0);
        for (length, count) in &self.lengths {
            let chance = spec.loss(Bytes::new(u64::from(*length)), until).get();
            lost += chance * *count as f64;
            all += *count as f64;
        }
        (all > 0.0).then(|| lost / all)
    }

    fn flow_of(&mut self, layout: &Layout) -> Option<&mut FlowMeter> {
        /// More than the flows of any scenario.
        const MOST: u16 = 1000;
        let (source, destination) = layout.ports;
        let number = [destination, source]
            .into_iter()
            .filter_map(|port| port.checked_sub(FIRST_PORT))
            .find(|number| *number < MOST)?;
        Some(self.flows.entry(number).or_default())
    }
}

impl FlowMeter {
    /// Reads MSS, window scale and window of a TCP header.
    fn read_header(&mut self, bytes: &[u8], layout: &Layout) {
        let start = VNET_HEADER + usize::from(layout.ip);
        let Some(tcp) = bytes.get(start..VNET_HEADER + usize::from(layout.headers)) else { return };
        let window = u64::from(u16::from_be_bytes([tcp[14], tcp[15]]));
        if layout.is_syn() {
            for option in maxseg_wire::options::walk(&tcp[20..]).values() {
                self.read_option(option);
            }
            self.window = self.window.max(window);
        } else {
            self.window = self.window.max(window << self.shift.unwrap_or(0));
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other option concerns MSS or window")]
    fn read_option(&mut self, option: TcpOption<'_>) {
        match option {
            TcpOption::Mss(mss) => self.mss = Some(mss),
            // RFC 7323 section 2.3: a larger shift counts as 14.
            TcpOption::WindowScale(shift) => self.shift = Some(shift.min(LARGEST_SHIFT)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_scale_above_14_counts_as_14() {
        for (offered, used) in [(7, 7), (14, 14), (15, 14), (255, 14)] {
            let mut meter = FlowMeter::default();
            meter.read_option(TcpOption::WindowScale(offered));
            assert_eq!(meter.shift, Some(used));
        }
    }
}
