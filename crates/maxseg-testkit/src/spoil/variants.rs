//! The spoilers.

use std::collections::BTreeMap;

use maxseg_core::rng::{Rng, Stream};

use super::offload;
use super::packets::{Packet, Packets};
use super::tcp::{Tcp, link_header, put_u16, source, start_of_ip, u16_at};

/// What an imperfect capture does to packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoiler {
    /// Nothing.
    Plain,
    /// One in ten neighbours within 1 ms change places, each with its own time: several queues of a card.
    Swap,
    /// The same with times in order: nothing in the file shows it.
    SwapRetimed,
    /// One packet in fifty twice, the second 2 µs later, byte for byte: a mirrored port.
    DuplicateSome,
    /// The first tenth is missing, four packets at least: the capture began in mid-stream.
    CutFirst,
    /// Packets cut to 58 bytes of an Ethernet frame, 24 of them TCP's.
    Snap58,
    /// Packets cut to 96 bytes of an Ethernet frame: all headers.
    Snap96,
    /// Only what the sender of the data sent.
    OneWayData,
    /// Only what came back to it.
    OneWayAcks,
    /// Segments joined by receive or segmentation offload.
    Offload,
    /// Times cut to milliseconds.
    Millis,
    /// Times cut to microseconds.
    Micros,
    /// The clock is set an hour ahead in the middle.
    JumpAhead,
    /// The clock is set back by 3 s in the middle.
    JumpBack,
    /// Every packet twice, the second 3 µs later with one hop less: all interfaces of a router.
    TwiceTtl,
    /// One packet in a hundred is missing in the capture alone.
    DropSome,
}

/// Packets are swapped where they are closer than this, in nanoseconds.
const NEIGHBOURS: u64 = 1_000_000;
const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

impl Spoiler {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Plain,
        Self::Swap,
        Self::SwapRetimed,
        Self::DuplicateSome,
        Self::CutFirst,
        Self::Snap58,
        Self::Snap96,
        Self::OneWayData,
        Self::OneWayAcks,
        Self::Offload,
        Self::Millis,
        Self::Micros,
        Self::JumpAhead,
        Self::JumpBack,
        Self::TwiceTtl,
        Self::DropSome,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Swap => "swap",
            Self::SwapRetimed => "swap-retimed",
            Self::DuplicateSome => "dup-2pct",
            Self::CutFirst => "cut-first",
            Self::Snap58 => "snap58",
            Self::Snap96 => "snap96",
            Self::OneWayData => "oneway-data",
            Self::OneWayAcks => "oneway-acks",
            Self::Offload => "gro",
            Self::Millis => "ts-1ms",
            Self::Micros => "ts-1us",
            Self::JumpAhead => "jump-1h",
            Self::JumpBack => "jump-back",
            Self::TwiceTtl => "twice-ttl",
            Self::DropSome => "drop-1pct",
        }
    }

    /// The spoilt capture as a pcap file.
    pub fn spoil(self, packets: &Packets, seed: u64) -> Vec<u8> {
        let chance = Stream::named(seed, self.name()).reader();
        let list = self.list(packets, chance);
        let is_micro = matches!(self, Self::Micros | Self::Millis);
        Packets { link_type: packets.link_type, list }.file(is_micro)
    }

    fn list(self, packets: &Packets, mut chance: Rng) -> Vec<Packet> {
        let (list, link_type) = (&packets.list, packets.link_type);
        let timed = |at: &dyn Fn(usize, u64) -> u64| -> Vec<Packet> {
            let all = list.iter().enumerate();
            all.map(|(n, packet)| retimed(packet, at(n, packet.at_nanos))).collect()
        };
        let half = list.len() / 2;
        match self {
            Self::Plain => list.clone(),
            Self::Swap => swapped(list, false, &mut chance),
            Self::SwapRetimed => swapped(list, true, &mut chance),
            Self::DuplicateSome => doubled(packets, 2 * MICRO, |packet| {
                (chance.uniform() < 0.02).then(|| packet.clone())
            }),
            Self::CutFirst => list.get((list.len() / 10).max(4)..).unwrap_or_default().to_vec(),
            Self::Snap58 => cut(packets, 58),
            Self::Snap96 => cut(packets, 96),
            Self::OneWayData | Self::OneWayAcks => {
                let sender = data_sender(packets);
                let is_of_sender = |packet: &&Packet| {
                    let from = source(&packet.data, link_type);
                    from.is_some_and(|from| {
                        (Some(from) == sender.as_deref()) == (self == Self::OneWayData)
                    })
                };
                list.iter().filter(is_of_sender).cloned().collect()
            }
            Self::Offload => offload::joined(list, link_type),
            Self::Millis => timed(&|_, at| at / MILLI * MILLI),
            Self::Micros => timed(&|_, at| at / MICRO * MICRO),
            Self::JumpAhead => timed(&|n, at| if n < half { at } else { at + 3600 * SECOND }),
            Self::JumpBack => {
                timed(&|n, at| if n < half { at } else { at.saturating_sub(3 * SECOND) })
            }
            Self::TwiceTtl => doubled(packets, 3 * MICRO, |packet| one_hop_on(packet, link_type)),
            Self::DropSome => list.iter().filter(|_| chance.uniform() >= 0.01).cloned().collect(),
        }
    }
}

fn retimed(packet: &Packet, at_nanos: u64) -> Packet {
    Packet { at_nanos, ..packet.clone() }
}

/// One in ten neighbours in the other order; with `keeps_times` each place keeps its time.
fn swapped(list: &[Packet], keeps_times: bool, chance: &mut Rng) -> Vec<Packet> {
    let mut swapped = list.to_vec();
    let mut n = 0;
    while n + 1 < swapped.len() {
        let (first, second) = (swapped[n].at_nanos, swapped[n + 1].at_nanos);
        let is_near = second.checked_sub(first).is_some_and(|apart| apart < NEIGHBOURS);
        if is_near && chance.uniform() < 0.1 {
            swapped.swap(n, n + 1);
            if keeps_times {
                (swapped[n].at_nanos, swapped[n + 1].at_nanos) = (first, second);
            }
            n += 1;
        }
        n += 1;
    }
    swapped
}

/// Every packet, and behind it the copy that `copy` makes of it, so much later.
fn doubled(
    packets: &Packets,
    later: u64,
    mut copy: impl FnMut(&Packet) -> Option<Packet>,
) -> Vec<Packet> {
    let mut list = Vec::with_capacity(2 * packets.list.len());
    for packet in &packets.list {
        list.push(packet.clone());
        list.extend(copy(packet).map(|copy| retimed(&copy, packet.at_nanos + later)));
    }
    if packets.are_ordered() {
        list.sort_by_key(|packet| packet.at_nanos);
    }
    list
}

/// The first bytes of each packet; `kept` counts as on Ethernet, so that every link type loses the same part of TCP.
fn cut(packets: &Packets, kept: usize) -> Vec<Packet> {
    let kept = kept - 14 + link_header(packets.link_type);
    let cut = |packet: &Packet| {
        let data = packet.data.get(..kept).unwrap_or(&packet.data).to_vec();
        Packet { data, ..packet.clone() }
    };
    packets.list.iter().map(cut).collect()
}

/// The packet behind the next router.
fn one_hop_on(packet: &Packet, link_type: u16) -> Option<Packet> {
    let at = start_of_ip(&packet.data, link_type)?;
    let mut next = packet.clone();
    let version = next.data.get(at)? >> 4;
    let hops = if version == 4 { at + 8 } else { at + 7 };
    if *next.data.get(hops)? > 1 {
        next.data[hops] -= 1;
        if version == 4 {
            // RFC 1624
            let sum = u32::from(u16_at(&next.data, at + 10)?) + 0x0100;
            let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap_or(u16::MAX);
            put_u16(&mut next.data, at + 10, folded);
        }
    }
    Some(next)
}

/// The address that sent most payload.
fn data_sender(packets: &Packets) -> Option<Vec<u8>> {
    let mut sent: BTreeMap<&[u8], usize> = BTreeMap::new();
    for packet in &packets.list {
        if let Some(tcp) = Tcp::of(&packet.data, packets.link_type)
            && let Some(from) = source(&packet.data, packets.link_type)
        {
            *sent.entry(from).or_default() += tcp.payload;
        }
    }
    sent.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(address, _)| address.to_vec())
}
