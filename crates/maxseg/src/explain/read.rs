//! From a capture to an explanation: reader, decoder and flows in one loop.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use maxseg_core::evidence::Evidence;
use maxseg_core::units::Time;
use maxseg_wire::capture_file::{CaptureFile, Fault, InterfaceInfo, OpenError, ReadError};
use maxseg_wire::encapsulation::{Opaque, Passed};
use maxseg_wire::flow::tshark::Tshark;
use maxseg_wire::flow::{Decoder, FlowOptions, Flows, FragmentCounts, Skimmed};
use maxseg_wire::link_type;

use super::{Explanation, Fragments, Interface, Problem, TsharkStreams};
use crate::failure::Failure;

/// How a capture is read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading<'a> {
    /// Only packets of this interface, by its name or number.
    pub(crate) interface: Option<&'a str>,
    /// So many connections are followed.
    pub(crate) most_connections: usize,
    /// Whether every segment is kept, for graphs.
    pub(crate) trace: bool,
    /// Whether tshark's counts are wanted.
    pub(crate) tshark: bool,
}

/// The connections of a capture, each made when it is asked for.
pub(crate) type Connections = Box<dyn Iterator<Item = Evidence>>;

/// Reads the capture at this path, or standard input for `-`, to its end or its first fault. The explanation has no
/// connections yet: there may be more than fit into memory at once.
///
/// # Errors
/// It cannot be opened, is no capture, or does not have the interface.
pub(crate) fn read(
    file: &str,
    reading: &Reading<'_>,
) -> Result<(Explanation, Connections), Failure> {
    if file == "-" {
        return explain(file, io::stdin().lock(), reading);
    }
    let input = File::open(file).map_err(|error| Failure::file("read", Path::new(file), &error))?;
    explain(file, input, reading)
}

fn explain<R: Read>(
    name: &str,
    input: R,
    reading: &Reading<'_>,
) -> Result<(Explanation, Connections), Failure> {
    let mut capture = CaptureFile::open(input).map_err(|error| not_a_capture(name, &error))?;
    let mut gathered = Gathered::new(name, reading);
    let fault = loop {
        match gathered.next(&mut capture, reading) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(fault) => break Some(fault),
        }
    };
    gathered.finish(&capture, fault, reading)
}

fn not_a_capture(name: &str, error: &OpenError) -> Failure {
    let what = format!("{} {error}", if name == "-" { "standard input" } else { name });
    match error.hint() {
        Some(hint) => Failure::with_hint(what, hint),
        None => Failure::new(what),
    }
}

/// What has been gathered of a capture so far.
struct Gathered {
    explanation: Explanation,
    decoder: Decoder,
    flows: Flows,
    tshark: Option<Tshark>,
    /// Packets of each interface, and whether it is wanted.
    interfaces: Vec<(u64, bool)>,
    /// The ways of encapsulation so far: there are few.
    passed: Vec<Passed>,
    last_passed: Option<Passed>,
    without_time: u64,
    back_in_time: u64,
    strange: Strange,
}

/// Packets that could not be understood, by the reason, each with the first one's number.
#[derive(Debug, Default)]
struct Strange {
    link_type: Option<(u16, u64, u64)>,
    broken: Option<(String, u64, u64)>,
    short: Option<(u64, u64)>,
}

impl Gathered {
    fn new(name: &str, reading: &Reading<'_>) -> Self {
        let options =
            FlowOptions { most_connections: reading.most_connections, trace: reading.trace };
        Self {
            explanation: Explanation::of(name),
            decoder: Decoder::default(),
            flows: Flows::new(options),
            tshark: reading.tshark.then(Tshark::new),
            interfaces: Vec::new(),
            passed: Vec::new(),
            last_passed: None,
            without_time: 0,
            back_in_time: 0,
            strange: Strange::default(),
        }
    }

    /// Takes the next packet; whether there was one.
    #[inline]
    fn next<R: Read>(
        &mut self,
        capture: &mut CaptureFile<R>,
        reading: &Reading<'_>,
    ) -> Result<bool, ReadError> {
        let Some((record, infos)) = capture.next_and_interfaces()? else { return Ok(false) };
        let number = record.interface as usize;
        if number >= self.interfaces.len() {
            // An interface is described in front of its first packet: only now is its name known.
            self.look_at_interfaces(infos, number, reading.interface);
        }
        let is_wanted = match self.interfaces.get_mut(number) {
            Some((packets, wanted)) => {
                *packets += 1;
                *wanted
            }
            None => true,
        };
        if !is_wanted {
            return Ok(true);
        }
        let file = &mut self.explanation.file;
        file.packets += 1;
        file.bytes += u64::from(record.original_len);
        match record.at_nanos.map(Time::from_nanos) {
            Some(at) => {
                self.back_in_time += u64::from(file.last.is_some_and(|last| at < last));
                file.first = Some(file.first.map_or(at, |first| first.min(at)));
                file.last = Some(file.last.map_or(at, |last| last.max(at)));
            }
            None => self.without_time += 1,
        }
        let packet = self.decoder.decode(&record);
        self.flows.on_packet(&packet);
        match &packet.what {
            Skimmed::Tcp(seen) => {
                if let Some(tshark) = &mut self.tshark {
                    tshark.on_segment(seen);
                }
                if self.last_passed != Some(packet.passed) {
                    self.last_passed = Some(packet.passed);
                    if !self.passed.contains(&packet.passed) && self.passed.len() < MOST_WAYS {
                        self.passed.push(packet.passed);
                    }
                }
            }
            Skimmed::NotUnderstood(why) => self.strange.note(why, record.number),
            Skimmed::Fragment(_) | Skimmed::TooBig(_) | Skimmed::Other(_) => {}
        }
        Ok(true)
    }

    /// Decides about the interfaces up to this one, of which no packet came before.
    #[cold]
    fn look_at_interfaces(&mut self, infos: &[InterfaceInfo], last: usize, wanted: Option<&str>) {
        for number in self.interfaces.len()..=last {
            let is_wanted = wanted.is_none_or(|wanted| is_called(infos, number, wanted));
            self.interfaces.push((0, is_wanted));
        }
    }

    fn finish<R: Read>(
        mut self,
        capture: &CaptureFile<R>,
        fault: Option<ReadError>,
        reading: &Reading<'_>,
    ) -> Result<(Explanation, Connections), Failure> {
        let infos = capture.interfaces();
        if let Some(last) = infos.len().checked_sub(1) {
            self.look_at_interfaces(infos, last, reading.interface);
        }
        if let Some(wanted) = reading.interface
            && !(0..infos.len()).any(|number| is_called(infos, number, wanted))
        {
            let names: Vec<String> =
                (0..infos.len()).map(|number| name_of(infos, number)).collect();
            return Err(Failure::with_hint(
                format!("the capture has no interface `{wanted}`"),
                format!("it has: {}", names.join(", ")),
            ));
        }
        let counts = self.decoder.fragment_counts();
        let explanation = &mut self.explanation;
        let compression = capture.compression().map(|how| format!(", {}", how.name()));
        explanation.file.format =
            format!("{}{}", capture.format().name(), compression.unwrap_or_default());
        explanation.file.interfaces = self
            .interfaces
            .iter()
            .enumerate()
            .map(|(number, (packets, _))| Interface {
                name: name_of(infos, number),
                link: infos.get(number).map_or_else(String::new, |info| link_name(info.link_type)),
                packets: *packets,
            })
            .collect();
        explanation.file.encapsulations = encapsulations(&self.passed);
        explanation.fragments =
            Fragments { ipv4: counts.ipv4_fragments, ipv6: counts.ipv6_fragments };
        let problems = &mut explanation.problems;
        problems.extend(fault.map(|fault| fault_problem(&fault)));
        problems.extend(self.strange.problems());
        problems.extend(drops(infos));
        problems.extend(fragment_problems(&counts));
        problems.extend(counted(
            self.without_time,
            "no-time",
            "packets carry no time: that of the one before counts",
        ));
        problems.extend(counted(
            self.back_in_time,
            "time-goes-back",
            "packets are older than one before them",
        ));
        if let Some(tshark) = &self.tshark {
            explanation.tshark = TsharkStreams::of(tshark);
        }
        let harvest = self.flows.finish();
        explanation.path_mtu_events = harvest.path_mtu_events;
        explanation.untracked_connections = harvest.untracked_connections;
        problems_of_untracked(explanation, harvest.untracked_packets, reading.most_connections);
        Ok((self.explanation, Box::new(harvest.connections)))
    }
}

/// More ways of encapsulation than a capture has.
const MOST_WAYS: usize = 64;

/// Whether an interface has this name or number.
fn is_called(infos: &[InterfaceInfo], number: usize, wanted: &str) -> bool {
    let name = infos.get(number).and_then(|info| info.name.as_deref());
    name == Some(wanted) || wanted.parse() == Ok(number)
}

fn name_of(infos: &[InterfaceInfo], number: usize) -> String {
    let name = infos.get(number).and_then(|info| info.name.clone());
    name.unwrap_or_else(|| number.to_string())
}

fn link_name(number: u16) -> String {
    let name = match number {
        link_type::NULL | link_type::LOOP => "loopback",
        link_type::ETHERNET => "Ethernet",
        link_type::PPP | link_type::PPP_HDLC => "PPP",
        link_type::PPP_ETHER => "PPPoE",
        link_type::FDDI => "FDDI",
        link_type::RAW | link_type::RAW_BSD | link_type::RAW_OPENBSD => "raw IP",
        link_type::IPV4 => "raw IPv4",
        link_type::IPV6 => "raw IPv6",
        link_type::CISCO_HDLC => "Cisco HDLC",
        link_type::LINUX_SLL => "Linux cooked",
        link_type::LINUX_SLL2 => "Linux cooked v2",
        other => return format!("link type {other}"),
    };
    name.to_owned()
}

/// The ways in which TCP travelled, but for plain Ethernet and IP alone.
fn encapsulations(passed: &[Passed]) -> Vec<String> {
    let words = passed.iter().map(ToString::to_string);
    words.filter(|words| !words.is_empty() && words != "Ethernet").collect()
}

impl Strange {
    #[cold]
    fn note(&mut self, why: &Opaque, frame: u64) {
        match why {
            // ARP and its like are nothing strange.
            Opaque::NotIp(_) => {}
            Opaque::LinkType(number) => self.link_type.get_or_insert((*number, frame, 0)).2 += 1,
            Opaque::Short => self.short.get_or_insert((frame, 0)).1 += 1,
            Opaque::Broken(_) | Opaque::TooDeep => {
                self.broken.get_or_insert_with(|| (why.to_string(), frame, 0)).2 += 1;
            }
        }
    }

    fn problems(self) -> Vec<Problem> {
        let problem =
            |code, text, count| Problem { code, text, offset: None, count, is_fault: false };
        let link_type = self.link_type.map(|(number, frame, count)| {
            let text = format!(
                "link type {number} is not known: its packets are left out (first: packet {frame})"
            );
            problem("link-type", text, count)
        });
        let short = self.short.map(|(frame, count)| {
            let text =
                format!("a packet ends within the headers below TCP (first: packet {frame})");
            problem("cut-header", text, count)
        });
        let broken = self.broken.map(|(why, frame, count)| {
            problem(
                "broken-header",
                format!("a packet is broken: {why} (first: packet {frame})"),
                count,
            )
        });
        [link_type, short, broken].into_iter().flatten().collect()
    }
}

fn fault_problem(error: &ReadError) -> Problem {
    let code = match &error.fault {
        Fault::Cut { .. } => "truncated",
        Fault::Io(_) => "unreadable",
        Fault::TooLong(_) | Fault::Interfaces | Fault::Block(_) => "corrupt",
    };
    Problem {
        code,
        text: error.fault.to_string(),
        offset: Some(error.offset),
        count: 1,
        is_fault: true,
    }
}

/// What the capturing machine had no room for.
fn drops(infos: &[InterfaceInfo]) -> Vec<Problem> {
    let dropped = (0..infos.len()).filter_map(|number| {
        let count = infos.get(number)?.dropped.filter(|count| *count > 0)?;
        let text = format!(
            "packets were dropped by the capture itself at interface {}",
            name_of(infos, number)
        );
        counted(count, "capture-drops", &text)
    });
    dropped.collect()
}

fn fragment_problems(counts: &FragmentCounts) -> Vec<Problem> {
    let problems = [
        counted(
            counts.incomplete,
            "incomplete-fragments",
            "packets came in fragments of which some are missing",
        ),
        counted(
            counts.overlapping,
            "overlapping-fragments",
            "fragments bring again or contradict what was there",
        ),
    ];
    problems.into_iter().flatten().collect()
}

/// `17 packets carry no time …`, where there are any.
fn counted(count: u64, code: &'static str, text: &str) -> Option<Problem> {
    (count > 0).then(|| Problem {
        code,
        text: text.to_owned(),
        offset: None,
        count,
        is_fault: false,
    })
}

fn problems_of_untracked(explanation: &mut Explanation, packets: u64, most: usize) {
    let text = format!(
        "packets are of connections beyond the {most} that are followed: --most-connections follows more"
    );
    explanation.problems.extend(counted(packets, "untracked-packets", &text));
}
