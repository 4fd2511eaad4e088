//! The command line of `maxseg capture`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use maxseg_core::units::{Bytes, Time};
use maxseg_linux::observe::capture::{CaptureOptions, InterfaceChoice, LONGEST};
use maxseg_linux::observe::sockets::Place;
use maxseg_wire::bpf::{Protocol, Selection};

use crate::cli::zoned_prefix::ZonedPrefix;
use crate::failure::Failure;
use crate::monitor::{Manner, TimeFormat};

/// Capture packets live and print every header and TCP option
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg capture
  maxseg capture --interface any --host 192.0.2.7 --port 443 -v
  maxseg capture --protocol icmp --duration \"10 s\" --json-stream
  maxseg capture --port 80 -w slow.pcapng --count 10000
  maxseg capture -w ring.pcapng --rotate \"100 MB\" --files 10
  maxseg capture --netns blue --interface eth0,eth1
  maxseg capture -w - | tshark -r -
  maxseg capture --read slow.pcapng --host 192.0.2.7 --time delta

Sequence numbers are relative to the SYN. Windows are in bytes if the handshake was captured; `rawwin` is an unscaled \
window. Several hosts, ports or protocols match any of them. An ICMP error matches if the packet that it quotes does: \
--host with the other end of a connection also shows a router's \"fragmentation needed\" about it. Fragments without \
ports match every --port. The kernel filters, from the first packet on.

CAP_NET_RAW is dropped before the first packet is read. Ctrl-C stops the capture and prints the number of packets \
that the kernel dropped. Exit codes: 0 done, 1 no such interface, no privilege or a broken file, 2 usage, 130 interrupted before --count or \
--duration was reached.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct CaptureArgs {
    /// Interfaces, or `any`; default: that of a link-local --host (`fe80::1%eth0`), or of the default route
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    interface: Vec<String>,
    /// Interfaces of another network namespace: a name of `ip netns`, or the PID of a process in it
    #[arg(long, value_name = "NAME|PID")]
    netns: Option<String>,
    /// Only packets from or to one of these addresses or prefixes, as 192.0.2.0/24
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    host: Vec<ZonedPrefix>,
    /// Only TCP and UDP from or to one of these ports
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    port: Vec<u16>,
    /// Only these protocols: tcp, udp, icmp
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_possible_values = true)]
    protocol: Vec<ProtocolName>,
    /// Read packets from a capture file; `-` for standard input
    #[arg(long, short, value_name = "FILE",
        conflicts_with_all = ["interface", "netns", "write", "print", "duration", "promiscuous", "snaplen", "buffer"])]
    pub(super) read: Option<PathBuf>,
    /// Write packets to a pcapng file, readable at any time; `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,
    /// Begin the next file at this size or age, such as "100 MB" or "1 h": files are numbered, `slow_01.pcapng`
    #[arg(long, value_name = "SIZE|TIME", requires_all = ["write", "files"], value_parser = full_at)]
    pub(super) rotate: Option<FullAt>,
    /// Files of --rotate, emptied at the beginning; when the last is full, the first is overwritten
    #[arg(long, value_name = "N", requires = "rotate",
        value_parser = clap::value_parser!(u16).range(2..=MOST_FILES))]
    pub(super) files: Option<u16>,
    /// Print packets while writing them to a file
    #[arg(long, requires = "write")]
    pub(super) print: bool,
    /// Print one JSON object per packet
    #[arg(long)]
    pub(super) json_stream: bool,
    /// Stop after N packets
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,
    /// Stop after this time, such as "10 s"
    #[arg(long, value_name = "TIME")]
    pub(super) duration: Option<Time>,
    /// Bytes kept of each packet
    #[arg(long, short, value_name = "BYTES", default_value_t = LONGEST, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(14..=i64::from(LONGEST)))]
    pub(super) snaplen: u32,
    /// Promiscuous mode
    #[arg(long)]
    promiscuous: bool,
    /// Kernel capture buffer
    #[arg(long, value_name = "SIZE", default_value = "32 MiB")]
    buffer: Bytes,
    /// Time stamps: absolute (UTC), relative (to the first packet), delta (to the previous one)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHICH",
        hide_possible_values = true,
        hide_default_value = true
    )]
    time: TimeFormat,
    /// Absolute sequence numbers
    #[arg(long)]
    absolute_seq: bool,
    /// Hex dump of each packet; with --json-stream, its bytes as `hex`
    #[arg(long, short = 'x')]
    hex: bool,
}

/// What `--protocol` takes.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProtocolName {
    Tcp,
    Udp,
    Icmp,
}

/// The kernel's buffer has at least two blocks of 256 KiB.
const LEAST_ROOM: u64 = 512 << 10;

/// More room for packets than this is a mistake.
const MOST_ROOM: u64 = 4 << 30;

/// When a file of `--rotate` is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FullAt {
    /// It would be larger than so many bytes.
    Size(u64),
    /// A packet comes so long after its first.
    Age(Duration),
}

/// Files of --rotate at most: each is kept open, and a process has 1024 files by default.
const MOST_FILES: i64 = 500;

/// The least size and age at which a file is full.
const LEAST_FILE: Bytes = Bytes::new(64 << 10);
const LEAST_AGE: Time = Time::from_secs(1);

/// What --rotate takes.
fn full_at(text: &str) -> Result<FullAt, String> {
    match (text.parse::<Bytes>(), text.parse::<Time>()) {
        (Ok(size), _) if size >= LEAST_FILE => Ok(FullAt::Size(size.get())),
        (Ok(_), _) => Err(format!("a file has at least {LEAST_FILE}")),
        (_, Ok(age)) if age >= LEAST_AGE => Ok(FullAt::Age(Duration::from_nanos(age.as_nanos()))),
        (_, Ok(_)) => Err(format!("a file lasts at least {LEAST_AGE}")),
        _ => Err("neither a size nor a time".to_owned()),
    }
}

impl CaptureArgs {
    /// Whether it looks at packets that pass, not at those of a file.
    pub(crate) const fn is_live(&self) -> bool {
        self.read.is_none()
    }

    pub(super) fn options(&self) -> Result<CaptureOptions, Failure> {
        let selection = self.selection()?;
        if self.duration == Some(Time::ZERO) {
            let what = "--duration 0 s captures nothing";
            return Err(Failure::usage(what, "for example --duration \"10 s\""));
        }
        let place = self.place()?;
        if self.promiscuous && place == InterfaceChoice::Any {
            let what = "--promiscuous is for interfaces by name";
            return Err(Failure::usage(what, "for example --interface eth0"));
        }
        let buffer = self.buffer.get();
        if buffer < LEAST_ROOM {
            let what = format!("--buffer {} is too small: at least 512 KiB", self.buffer);
            return Err(Failure::usage(what, "for example --buffer \"256 MiB\""));
        }
        if buffer > MOST_ROOM {
            let what = format!("--buffer {}: at most 4 GiB", self.buffer);
            return Err(Failure::usage(what, "for example --buffer \"256 MiB\""));
        }
        Ok(CaptureOptions {
            place,
            selection,
            snap_len: self.snaplen,
            promiscuous: self.promiscuous,
            buffer: usize::try_from(buffer).unwrap_or(usize::MAX),
        })
    }

    pub(super) fn selection(&self) -> Result<Selection, Failure> {
        if self.port.contains(&0) {
            let what = "port 0 is reserved (RFC 6335): no connection has it";
            return Err(Failure::usage(what, "for example --port 443"));
        }
        let protocol = |name: &ProtocolName| match name {
            ProtocolName::Tcp => Protocol::Tcp,
            ProtocolName::Udp => Protocol::Udp,
            ProtocolName::Icmp => Protocol::Icmp,
        };
        let selection = Selection {
            hosts: self.host.iter().map(|host| host.prefix).collect(),
            ports: self.port.clone(),
            protocols: self.protocol.iter().map(protocol).collect(),
        };
        if selection.is_nothing() {
            let what =
                "no packet has both: --port is for TCP and UDP, and --protocol asks for others";
            return Err(Failure::usage(what, "leave one of them out"));
        }
        Ok(selection)
    }

    /// How packets are shown.
    pub(super) fn manner(&self, names_interface: bool) -> Manner {
        Manner {
            json: self.json_stream,
            time: self.time,
            absolute_seq: self.absolute_seq,
            hex: self.hex,
            names_interface,
        }
    }

    /// The network namespace that is asked for.
    pub(super) fn namespace(&self) -> Result<Option<Place>, Failure> {
        match self.netns.as_deref() {
            None => Ok(None),
            Some("") => Err(Failure::usage("--netns has no name", "`ip netns list` shows names")),
            Some("all") => Err(Failure::usage(
                "a capture is of one network namespace, not all",
                "`ip netns list` shows names: --netns NAME, for each a capture of its own",
            )),
            Some(name) => Ok(Some(Place::called(name))),
        }
    }

    fn place(&self) -> Result<InterfaceChoice, Failure> {
        // A link-local address is of one interface.
        let zone = self.host.iter().find_map(|host| host.zone.as_ref());
        let mut names: Vec<&String> = self.interface.iter().collect();
        if names.is_empty() {
            names.extend(zone);
        }
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(*name);
                true
            }
        });
        match names[..] {
            [] => Ok(InterfaceChoice::default_here()),
            [one] if one == "any" => Ok(InterfaceChoice::Any),
            [one] => Ok(InterfaceChoice::Interface(one.clone())),
            _ if names.iter().any(|name| *name == "any") => Err(Failure::usage(
                "--interface any has all interfaces already",
                "leave the others out, or `any`",
            )),
            _ => Ok(InterfaceChoice::Several(names.into_iter().cloned().collect())),
        }
    }
}
