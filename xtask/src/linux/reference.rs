//! What was recorded of the kernel: packets at the sender's interface, and `tcp_info` in intervals.

use std::fs::File;
use std::io::{Cursor, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use maxseg_core::evidence::SocketInfo;
use maxseg_core::tcp::linux::Packet;
use maxseg_core::units::Time;
use maxseg_wire::options::{TcpOption, walk};
use maxseg_wire::pcap::{FileHeader, RecordHeader};
use maxseg_wire::tcp::{Flags, Segment};

/// The receiver's port.
const PORT: u16 = 5001;
/// `TCP_INFINITE_SSTHRESH`.
const UNLIMITED: u64 = 0x7fff_ffff;

/// One packet at the sender's interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Since the SYN.
    pub at: Time,
    /// From the sender.
    pub is_sent: bool,
    /// First payload byte; 0 for the SYN.
    pub seq: u64,
    /// Payload bytes.
    pub len: u64,
    /// Acknowledged number.
    pub ack: u64,
    /// Window in bytes.
    pub window: u64,
    /// Whether it is pushed.
    pub push: bool,
    /// SACK blocks; `None` where the capture ends within the options.
    pub sack: Option<Vec<(u64, u64)>>,
}

impl Seen {
    /// A packet of ours.
    pub fn new(at: Time, is_sent: bool, packet: &Packet) -> Self {
        let sack = Some(packet.sack.as_slice().to_vec());
        let Packet { seq, len, ack, window, push, .. } = *packet;
        Self { at, is_sent, seq, len, ack, window, push, sack }
    }

    /// Its segments with so much payload; the last has its push.
    fn segments(&self, mss: u64) -> impl Iterator<Item = Self> {
        let count = self.len.div_ceil(mss).max(1);
        (0..count).map(move |index| Self {
            seq: self.seq + index * mss,
            len: mss.min(self.len - index * mss),
            push: self.push && index + 1 == count,
            ..self.clone()
        })
    }
}

/// The sender's state at one instant.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Since `connect()`.
    pub at: Time,
    /// The state.
    pub info: SocketInfo,
}

/// What a cell has beside its row.
#[derive(Debug, Default)]
pub struct Reference {
    /// Packets, empty where none were recorded.
    pub seen: Vec<Seen>,
    /// Samples, empty where none were recorded.
    pub samples: Vec<Sample>,
}

impl Reference {
    /// What there is of a cell in this folder.
    ///
    /// # Errors
    /// A file is not what it should be.
    pub fn of(folder: &Path, cell: &str) -> Result<Self> {
        let packets = folder.join(format!("packets/{cell}.pcap.gz"));
        let trace = folder.join(format!("traces/{cell}.csv.gz"));
        let seen = if packets.exists() {
            read_packets(&unpack(&packets)?).with_context(|| packets.display().to_string())?
        } else {
            Vec::new()
        };
        let samples = if trace.exists() {
            let text = String::from_utf8(unpack(&trace)?)?;
            read_trace(&text).with_context(|| trace.display().to_string())?
        } else {
            Vec::new()
        };
        Ok(Self { seen, samples })
    }

    /// What the host leaves to its interface to cut (`tso_segment`), as it then goes: segments with so much payload.
    pub(super) fn cut(&mut self, mss: u64) {
        self.seen = self.seen.iter().flat_map(|seen| seen.segments(mss)).collect();
    }
}

fn unpack(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(file)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What both sides began with, so that numbers can be told from there.
#[derive(Debug, Default)]
struct Origin {
    first: Option<u64>,
    numbers: [Option<u32>; 2],
    scales: [u8; 2],
}

fn read_packets(bytes: &[u8]) -> Result<Vec<Seen>> {
    let mut input = Cursor::new(bytes);
    let mut head = [0; FileHeader::LEN];
    input.read_exact(&mut head)?;
    let Some(header) = FileHeader::read(&head) else { bail!("this is no capture") };
    let mut origin = Origin::default();
    let mut seen = Vec::new();
    let mut record = [0; RecordHeader::LEN];
    while input.read_exact(&mut record).is_ok() {
        let record = header.record(&record);
        let mut packet = vec![0; usize::try_from(record.captured_len)?];
        input.read_exact(&mut packet)?;
        seen.extend(origin.read(record.at_nanos, &packet)?);
    }
    Ok(seen)
}

impl Origin {
    fn read(&mut self, at: u64, frame: &[u8]) -> Result<Option<Seen>> {
        let Some(ip) = frame.get(14..).filter(|ip| ip.len() >= 20) else { return Ok(None) };
        let header = usize::from(ip[0] & 15) * 4;
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let segment = Segment::decode(&ip[header..], total - header, (nobody, nobody))?;
        let tcp = segment.header;
        let is_sent = tcp.destination_port == PORT;
        let (mine, peers) = (usize::from(!is_sent), usize::from(is_sent));
        let is_syn = tcp.flags.contains(Flags::SYN);
        let mut blocks = Vec::new();
        for option in walk(segment.options).values() {
            if let TcpOption::WindowScale(scale) = option {
                self.scales[mine] = scale;
            } else if let TcpOption::Sack(sack) = option {
                blocks.extend(sack.iter());
            }
        }
        let first = *self.first.get_or_insert(at);
        let number = *self.numbers[mine].get_or_insert(tcp.seq);
        let peer = self.numbers[peers].unwrap_or(tcp.ack);
        let from = |origin: u32, number: u32| u64::from(number.wrapping_sub(origin));
        let is_whole = segment.options.len() + 20 == usize::from(tcp.header_words) * 4;
        let sack = blocks.iter().map(|b| (from(peer, b.left), from(peer, b.right))).collect();
        let shift = if is_syn { 0 } else { self.scales[mine] };
        Ok(Some(Seen {
            at: Time::from_nanos(at - first),
            is_sent,
            seq: from(number, tcp.seq),
            len: segment.payload_len as u64,
            ack: if tcp.flags.contains(Flags::ACK) { from(peer, tcp.ack) } else { 0 },
            window: u64::from(tcp.window) << shift,
            push: tcp.flags.contains(Flags::PSH),
            sack: is_whole.then_some(sack),
        }))
    }
}

fn read_trace(text: &str) -> Result<Vec<Sample>> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().context("the trace is empty")?.split(',').collect();
    lines
        .map(|line| {
            let values: Vec<u64> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
            let get = |name: &str| -> Result<u64> {
                let at = columns.iter().position(|column| *column == name);
                at.and_then(|at| values.get(at)).copied().with_context(|| format!("no {name}"))
            };
            let ssthresh = get("ssthresh")?;
            Ok(Sample {
                at: Time::from_nanos(get("t_us")? * 1000),
                info: SocketInfo {
                    ca_state: u8::try_from(get("ca_state")?)?,
                    cwnd: get("cwnd")?,
                    ssthresh: (ssthresh < UNLIMITED).then_some(ssthresh),
                    srtt: get("srtt_us")?,
                    rttvar: get("rttvar_us")?,
                    min_rtt: get("min_rtt_us")?,
                    rto: get("rto_us")?,
                    unacked: get("unacked")?,
                    sacked: get("sacked")?,
                    lost: get("lost")?,
                    retrans: get("retrans")?,
                    delivered: get("delivered")?,
                    bytes_acked: get("bytes_acked")?,
                    snd_wnd: get("snd_wnd")?,
                    notsent: get("notsent")?,
                    pacing_rate: get("pacing_rate_Bps")?,
                    delivery_rate: get("delivery_rate_Bps")?,
                    is_app_limited: get("app_limited")? > 0,
                    total_retrans: get("total_retrans")?,
                    bytes_sent: get("bytes_sent")?,
                    ..SocketInfo::default()
                },
            })
        })
        .collect()
}
