//! Packets and bytes that a relay carries, by flow.

use std::collections::{BTreeMap, VecDeque};

use maxseg_core::link::Fate;
use maxseg_core::path::LinkSpec;
use maxseg_core::units::{Bytes, Time};
use maxseg_core::window::LARGEST_SHIFT;
use maxseg_wire::options::TcpOption;

use super::layout::{Layout, fragments_key};
use crate::lab::topology::FIRST_PORT;
use crate::sys::VNET_HEADER;

/// Packets and bytes of one direction of a hop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    flows: BTreeMap<u16, FlowMeter>,
    /// Of the latest first fragments: what their packet's other fragments have in common with them, and its ports.
    fragments: VecDeque<([u8; 11], (u16, u16))>,
    /// The latest packets of which a fragment was lost: ports and identification.
    in_part: VecDeque<((u16, u16), u16)>,
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
    /// Packets with payload handed to the next host.
    pub(crate) delivered_packets: u64,
    /// MSS option and window scale of the SYN.
    pub(crate) mss: Option<u16>,
    pub(crate) shift: Option<u8>,
    /// The largest advertised window, in bytes.
    pub(crate) window: u64,
}

/// Packets in fragments that are remembered.
const FRAGMENTED: usize = 1024;

impl Meter {
    /// Gives a fragment the ports of its packet's first one, if that has passed.
    pub(super) fn find_flow(&mut self, bytes: &[u8], layout: &mut Layout) {
        let Some(fragment) = layout.fragment else { return };
        let Some(key) = fragments_key(bytes) else { return };
        if fragment.is_first {
            remember(&mut self.fragments, (key, layout.ports));
            return;
        }
        let latest = self.fragments.iter().rev().find(|(known, _)| *known == key);
        layout.ports = latest.map_or(layout.ports, |(_, ports)| *ports);
    }

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
        if layout.is_later_fragment() {
            flow.payload += layout.data_bytes();
        } else if layout.carries_data() {
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

    /// The link has lost `packets` of a super-packet. A packet that lacks several fragments is lost once.
    pub(super) fn lose(&mut self, layout: &Layout, packets: u16, fate: Fate) {
        let packets = u64::from(packets);
        self.too_big += packets * u64::from(matches!(fate, Fate::TooBig { .. }));
        if !layout.carries_data() {
            return;
        }
        if let Some(fragment) = layout.fragment {
            let packet = (layout.ports, fragment.id);
            if self.in_part.contains(&packet) {
                return;
            }
            remember(&mut self.in_part, packet);
        }
        if let Some(flow) = self.flow_of(layout) {
            flow.lost += packets;
        }
    }

    /// Packets `first` to `last` of a super-packet are handed to the next host.
    pub(super) fn deliver(&mut self, layout: &Layout, first: u16, last: u16) {
        if !layout.carries_data() || layout.is_later_fragment() {
            return;
        }
        if let Some(flow) = self.flow_of(layout) {
            flow.delivered_packets += u64::from(last - first) + 1;
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

fn remember<T>(latest: &mut VecDeque<T>, one: T) {
    if latest.len() == FRAGMENTED {
        latest.pop_front();
    }
    latest.push_back(one);
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
    use maxseg_core::units::BitsPerSec;

    use super::*;

    #[test]
    fn a_window_scale_above_14_counts_as_14() {
        for (offered, used) in [(7, 7), (14, 14), (15, 14), (255, 14)] {
            let mut meter = FlowMeter::default();
            meter.read_option(TcpOption::WindowScale(offered));
            assert_eq!(meter.shift, Some(used));
        }
    }

    /// Three fragments of a datagram.
    fn in_fragments(id: u16) -> Vec<Vec<u8>> {
        let fragment = |units: u16, more: bool, payload: &[u8]| {
            let mut packet = vec![0x45, 0, 0, 0];
            let length = u16::try_from(20 + payload.len()).unwrap();
            packet[2..].copy_from_slice(&length.to_be_bytes());
            packet.extend(id.to_be_bytes());
            packet.extend((units | u16::from(more) << 13).to_be_bytes());
            packet.extend([64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 1, 2]);
            packet.extend(payload);
            [&[0; VNET_HEADER][..], &packet].concat()
        };
        let mut udp = [40_000_u16.to_be_bytes(), FIRST_PORT.to_be_bytes()].concat();
        udp.resize(800, 0);
        vec![
            fragment(0, true, &udp),
            fragment(100, true, &[0; 800]),
            fragment(200, false, &[0; 100]),
        ]
    }

    #[test]
    fn a_datagram_in_fragments_is_one_packet_of_its_flow_and_lost_once() {
        let link = LinkSpec::plain(BitsPerSec::new(1_000_000).unwrap(), Time::ZERO);
        let mut meter = Meter::default();
        for (id, lost) in [(1, [false, false, false]), (2, [false, true, true]), (3, [true; 3])] {
            for (bytes, is_lost) in in_fragments(id).iter().zip(lost) {
                let mut layout = Layout::of(bytes).unwrap();
                meter.find_flow(bytes, &mut layout);
                meter.take(bytes, &layout, &link);
                if is_lost {
                    meter.lose(&layout, 1, Fate::Damaged(Time::ZERO));
                } else {
                    meter.deliver(&layout, 0, 0);
                }
            }
        }
        let flow = meter.flow(0);
        assert_eq!((flow.packets, flow.data_packets, flow.lost, flow.acks), (9, 3, 2, 0));
        assert_eq!((flow.payload, flow.delivered_packets), (3 * (792 + 800 + 100), 2));
    }
}
