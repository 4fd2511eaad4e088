//! What a capture says besides its connections.

use std::io::Read;

use maxseg_core::evidence::PathMtuEvent;
use maxseg_core::units::Time;

use super::not_followed::OtherTraffic;
use super::problem::HeaderFault;
use super::{FileFacts, FilePart, NotFollowed, PacketReader, Problem, ProblemKind, ReadOptions};
use crate::capture_file::{ReadError, Record};
use crate::encapsulation::{EncapPath, Undecodable};
use crate::flow::{Decoded, DecodedPacket, FlowResults, FragmentCounts};
use crate::tshark::{ConnectionCounts, Tshark};

/// What a capture says besides its connections.
#[derive(Debug, Clone)]
pub struct CaptureSummary {
    /// The file itself.
    pub file: FileFacts,
    /// What is wrong with it, and what was left out; a fault that ended the reading comes first.
    pub problems: Vec<Problem>,
    /// Fragments of IP packets.
    pub fragments: FragmentCounts,
    /// ICMP messages about packets that were too big, those of no connection included (RFC 1191, RFC 8201).
    pub path_mtu_events: Vec<PathMtuEvent>,
    /// Connections that were not followed, because there were too many.
    pub untracked_connections: u64,
    /// Packets of other protocols than TCP, the most first.
    pub not_followed: Vec<NotFollowed>,
    /// Counts by tshark's definitions; empty unless [`ReadOptions::tshark`].
    pub tshark: ConnectionCounts,
}

impl CaptureSummary {
    /// The problem that makes the file no capture to rely on: one that ended the reading, or a link type that is not
    /// known and that all packets have. A file that only ends within a packet, as a capture that was killed does, is
    /// whole up to there: that is a fault only before the first packet.
    pub fn fault(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| {
            let is_of_all = problem.count == self.file.packets;
            let is_link_type = matches!(problem.kind, ProblemKind::LinkType { .. });
            problem.kind.ends_reading() && !self.is_cut(problem) || is_link_type && is_of_all
        })
    }

    /// Where and how the file ends within a packet behind others; of several files, the first that does.
    pub fn cut(&self) -> Option<&Problem> {
        self.cuts().next()
    }

    /// Where and how files end within a packet: one, or several that follow each other.
    pub fn cuts(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| self.is_cut(problem))
    }

    fn is_cut(&self, problem: &Problem) -> bool {
        matches!(problem.kind, ProblemKind::Truncated(_)) && self.file.packets > 0
    }

    /// Takes how many connections were not followed.
    pub(super) fn take_flow_counts<I>(
        &mut self,
        results: &FlowResults<I>,
        most_connections: usize,
    ) {
        self.untracked_connections = results.untracked_connections;
        let kind = ProblemKind::UntrackedPackets { most_connections };
        self.problems.extend(Problem::counted(results.untracked_packets, kind));
    }
}

/// What has been gathered of a capture so far.
pub(super) struct SummaryBuilder {
    packets: u64,
    bytes: u64,
    first: Option<Time>,
    last: Option<Time>,
    without_time: u64,
    back_in_time: u64,
    /// The encapsulations so far: there are few.
    encapsulations: Vec<EncapPath>,
    last_encapsulation: Option<EncapPath>,
    undecodable: UndecodableCounts,
    others: OtherTraffic,
    tshark: Option<Tshark>,
}

/// More encapsulations than a capture has.
const MOST_ENCAPSULATIONS: usize = 64;

impl SummaryBuilder {
    pub(super) fn new(options: &ReadOptions<'_>) -> Self {
        Self {
            packets: 0,
            bytes: 0,
            first: None,
            last: None,
            without_time: 0,
            back_in_time: 0,
            encapsulations: Vec::new(),
            last_encapsulation: None,
            undecodable: UndecodableCounts::default(),
            others: OtherTraffic::default(),
            tshark: options.tshark.then(Tshark::new),
        }
    }

    /// Takes the next packet.
    #[inline(always)]
    pub(super) fn on_packet(&mut self, record: &Record<'_>, packet: &DecodedPacket<'_>) {
        self.packets += 1;
        self.bytes += u64::from(record.original_len);
        match record.at_nanos.map(Time::from_nanos) {
            Some(at) => {
                if self.last.is_some_and(|last| last <= at) {
                    self.last = Some(at);
                } else {
                    self.on_first_or_earlier(at);
                }
            }
            None => self.without_time += 1,
        }
        match &packet.what {
            Decoded::Tcp(seen) => {
                if let Some(tshark) = &mut self.tshark {
                    tshark.on_segment(seen);
                }
                if self.last_encapsulation != Some(packet.encapsulation) {
                    self.on_encapsulation(packet.encapsulation);
                }
            }
            other @ (Decoded::Fragment(_)
            | Decoded::TooBig(_)
            | Decoded::Unreachable(_)
            | Decoded::Udp(_)
            | Decoded::Other(_)
            | Decoded::Undecodable(_)) => self.on_other(record, other),
        }
    }

    /// A packet that is no segment of TCP.
    #[inline(never)]
    fn on_other(&mut self, record: &Record<'_>, what: &Decoded<'_>) {
        match what {
            Decoded::Undecodable(Undecodable::NotIp(_)) => self.others.on_not_ip(),
            Decoded::Undecodable(why) => self.undecodable.count(*why, record.number),
            Decoded::Udp(datagram) => self.others.on_datagram(datagram),
            Decoded::Other(protocol) => self.others.on_other(*protocol),
            Decoded::Fragment(_)
            | Decoded::TooBig(_)
            | Decoded::Unreachable(_)
            | Decoded::Tcp(_) => {}
        }
    }

    /// The first packet, or one with an earlier time than one before.
    #[cold]
    fn on_first_or_earlier(&mut self, at: Time) {
        self.back_in_time += u64::from(self.last.is_some());
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = self.last.max(Some(at));
    }

    #[cold]
    fn on_encapsulation(&mut self, encapsulation: EncapPath) {
        self.last_encapsulation = Some(encapsulation);
        let is_new = !self.encapsulations.contains(&encapsulation);
        if is_new && self.encapsulations.len() < MOST_ENCAPSULATIONS {
            self.encapsulations.push(encapsulation);
        }
    }

    /// The summary of all packets that were read, but for what the flows know.
    pub(super) fn finish<R: Read>(
        self,
        packets: &PacketReader<'_, R>,
        fault: Option<&ReadError>,
    ) -> CaptureSummary {
        let (capture, fragments) = (packets.capture(), packets.fragment_counts());
        let parts = packets.parts().to_vec();
        let first = parts.first();
        let file = FileFacts {
            format: first.map_or_else(|| capture.format(), |part| part.format),
            compression: first.map_or_else(|| capture.compression(), |part| part.compression),
            packets: self.packets,
            bytes: self.bytes,
            first: self.first,
            last: self.last,
            interfaces: packets.interfaces(),
            encapsulations: self.encapsulations,
            parts,
            holes: packets.holes().to_vec(),
        };
        let mut problems = Vec::new();
        let faulty = packets.faulty().cloned();
        problems.extend(fault.map(|fault| Problem { file: faulty, ..Problem::from(fault) }));
        problems.extend(file.parts.iter().filter_map(FilePart::cut_problem));
        problems.extend(file.hole_problems());
        problems.extend(self.undecodable.problems());
        problems.extend(file.interfaces.iter().filter_map(|interface| {
            let kind = ProblemKind::CaptureDrops { interface: interface.name.clone() };
            Problem::counted(interface.dropped?, kind)
        }));
        let counted = [
            (fragments.incomplete, ProblemKind::IncompleteFragments),
            (fragments.overlapping, ProblemKind::OverlappingFragments),
            (packets.repeats(), ProblemKind::InTwoFiles),
            (self.without_time, ProblemKind::NoTime),
            (self.back_in_time, ProblemKind::TimeGoesBack),
        ];
        problems.extend(counted.into_iter().filter_map(|(n, kind)| Problem::counted(n, kind)));
        CaptureSummary {
            file,
            problems,
            fragments,
            path_mtu_events: Vec::new(),
            untracked_connections: 0,
            not_followed: self.others.finish(),
            tshark: self.tshark.as_ref().map(ConnectionCounts::of).unwrap_or_default(),
        }
    }
}

/// Packets that could not be decoded, by the reason, each with the first one's number.
#[derive(Debug, Default)]
struct UndecodableCounts {
    link_type: Option<Counted<u16>>,
    broken: Option<Counted<HeaderFault>>,
    short: Option<Counted<()>>,
}

#[derive(Debug)]
struct Counted<T> {
    reason: T,
    /// The first such packet, counted from 1.
    frame: u64,
    count: u64,
}

impl UndecodableCounts {
    #[cold]
    fn count(&mut self, why: Undecodable, frame: u64) {
        match why {
            // ARP and the like are no problem.
            Undecodable::NotIp(_) => {}
            Undecodable::LinkType(number) => add(&mut self.link_type, number, frame),
            Undecodable::Short => add(&mut self.short, (), frame),
            Undecodable::Broken(error) => add(&mut self.broken, error.into(), frame),
            Undecodable::TooDeep => {
                add(&mut self.broken, HeaderFault::TooDeep(EncapPath::MOST), frame);
            }
        }
    }

    fn problems(self) -> impl Iterator<Item = Problem> {
        let problem = |kind, count| Problem { kind, offset: None, count, file: None };
        let link_type = self.link_type.map(|Counted { reason, frame, count }| {
            problem(ProblemKind::LinkType { number: reason, frame }, count)
        });
        let short = self
            .short
            .map(|Counted { frame, count, .. }| problem(ProblemKind::CutHeader { frame }, count));
        let broken = self.broken.map(|Counted { reason, frame, count }| {
            problem(ProblemKind::BrokenHeader { reason, frame }, count)
        });
        [link_type, short, broken].into_iter().flatten()
    }
}

fn add<T>(counted: &mut Option<Counted<T>>, reason: T, frame: u64) {
    counted.get_or_insert(Counted { reason, frame, count: 0 }).count += 1;
}
