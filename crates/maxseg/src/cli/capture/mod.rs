//! `maxseg capture`

mod output;
mod replay;
mod sudo;

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use maxseg_core::units::{Bytes, Time};
use maxseg_linux::observe::capture::{
    Capture, CaptureOptions, InterfaceChoice, LONGEST, OpenError, Stayed, give_up_rights, is_down,
};
use maxseg_linux::sys::Waker;
use maxseg_wire::bpf::{Protocol, Selection};

use crate::cli::zoned_address::ZonedAddress;
use crate::failure::Failure;
use crate::interrupt;
use crate::monitor::{Manner, TimeFormat};
use crate::printer::Printer;
use output::{CaptureFile, Output};

/// Capture packets live and print every header and TCP option
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg capture
  maxseg capture --interface any --host 192.0.2.7 --port 443 -v
  maxseg capture --protocol icmp --duration \"10 s\" --json-stream
  maxseg capture --port 80 -w slow.pcapng --count 10000
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
    /// Interface, or `any`; default: that of a link-local --host (`fe80::1%eth0`), or of the default route
    #[arg(long, short, value_name = "NAME")]
    interface: Option<String>,
    /// Only packets from or to one of these addresses
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    host: Vec<ZonedAddress>,
    /// Only TCP and UDP from or to one of these ports
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    port: Vec<u16>,
    /// Only these protocols: tcp, udp, icmp
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_possible_values = true)]
    protocol: Vec<ProtocolName>,
    /// Read packets from a capture file; `-` for standard input
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["interface", "write", "print", "duration", "promiscuous", "snaplen", "buffer"])]
    read: Option<PathBuf>,
    /// Write packets to a pcapng file, readable at any time; `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print packets while writing them to a file
    #[arg(long, requires = "write")]
    print: bool,
    /// Print one JSON object per packet
    #[arg(long)]
    json_stream: bool,
    /// Stop after N packets
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Stop after this time, such as "10 s"
    #[arg(long, value_name = "TIME")]
    duration: Option<Time>,
    /// Bytes kept of each packet
    #[arg(long, short, value_name = "BYTES", default_value_t = LONGEST, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(14..=i64::from(LONGEST)))]
    snaplen: u32,
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

pub(crate) fn run(args: &CaptureArgs, printer: Printer) -> Result<(), Failure> {
    if let Some(file) = &args.read {
        return replay::run(args, file, printer);
    }
    let mut capture = Capture::open(args.options()?).map_err(|error| refused(&error))?;
    let file = become_who_asked(args, printer)?;
    let mut output = Output::begin(args, &capture, printer, file)?;
    let waker = Arc::new(Waker::new()?);
    let on_interrupt = Arc::clone(&waker);
    interrupt::on_first(move || on_interrupt.wake());
    printer.note(&format!("listening on {}", in_words(&capture.options().place)));
    let ended = watch(args, &mut capture, &mut output, &waker, printer);
    match ended {
        Ok(ended) => {
            output.end(&mut capture)?;
            ended.verdict(args, output.packets())
        }
        Err(failure) => Err(failure),
    }
}

/// Gives up all rights, and opens the file that is to be written as whoever asked for it: the user who called sudo,
/// who gets at no file through us that was not theirs, by a link or otherwise. Root itself must do so first, as it
/// goes on as nobody.
fn become_who_asked(args: &CaptureArgs, printer: Printer) -> Result<Option<CaptureFile>, Failure> {
    let user = sudo::user();
    let open = || CaptureFile::of(args, user);
    let opened = if user.is_none() { open()? } else { None };
    // Before there is a second thread: rights are a thread's own.
    let stayed = give_up_rights(user).map_err(|error| {
        Failure::new(format!("cannot drop the capabilities that are no longer needed: {error}"))
    })?;
    if let Some(Stayed { user, group, why }) = stayed {
        printer.note(&format!(
            "all capabilities are dropped, but the user could not be changed ({why}): it is user {user}, group {group}"
        ));
    }
    if user.is_none() { Ok(opened) } else { open() }
}

/// What ended a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    /// As many packets or as much time as was asked for.
    AsAsked,
    /// The user.
    Interrupted,
    /// Its interface has gone.
    Gone(String),
}

impl Ended {
    fn verdict(self, args: &CaptureArgs, packets: u64) -> Result<(), Failure> {
        let has_goal = args.count.is_some() || args.duration.is_some();
        match self {
            Self::Gone(name) => Err(Failure::new(format!("interface {name} is gone"))),
            Self::Interrupted if has_goal => {
                Err(Failure::Interrupted(format!("{packets} packets were captured")))
            }
            Self::AsAsked | Self::Interrupted => Ok(()),
        }
    }
}

/// Why no more packets are shown.
enum Stop {
    /// There were as many as was asked for.
    Enough,
    Failed(Failure),
}

/// An interface that was down is looked for so often.
const LOOK: Duration = Duration::from_millis(500);

/// Shows packets until something ends it, and what passed before that.
fn watch(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
    waker: &Waker,
    printer: Printer,
) -> Result<Ended, Failure> {
    let deadline = args.duration.map(|time| Instant::now() + Duration::from_nanos(time.as_nanos()));
    let mut was_down = capture.begins_down();
    if was_down && let InterfaceChoice::Interface(name) = &capture.options().place {
        printer.note(&format!("interface {name} is down; waiting for it"));
    }
    let stdout = io::stdout();
    let stdout = output.is_to_stdout().then(|| stdout.as_fd());
    let ended = loop {
        if show_ready(args, capture, output)? {
            return Ok(Ended::AsAsked);
        }
        if waker.was_woken() {
            break Ended::Interrupted;
        }
        let left = deadline.map(|then| then.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            break Ended::AsAsked;
        }
        // Nothing tells when an interface that is down is removed.
        let longest = if was_down { Some(left.unwrap_or(LOOK).min(LOOK)) } else { left };
        match (capture.wait(waker, stdout, longest), &capture.options().place) {
            (Ok(()), InterfaceChoice::Interface(name)) if was_down && capture.is_gone() => {
                break Ended::Gone(name.clone());
            }
            (Ok(()), _) => {}
            (Err(error), InterfaceChoice::Interface(name)) if is_down(&error) => {
                if capture.is_gone() {
                    break Ended::Gone(name.clone());
                }
                was_down = true;
                printer.note(&format!("interface {name} is down; waiting for it"));
            }
            (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Err(Failure::BrokenPipe);
            }
            (Err(error), _) => return Err(Failure::new(format!("cannot listen: {error}"))),
        }
    };
    show_rest(args, capture, output)?;
    Ok(ended)
}

/// Shows the packets that are ready; whether these were enough.
fn show_ready(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
) -> Result<bool, Failure> {
    loop {
        let read = capture.read(|sighting, interface| {
            output.packet(sighting, interface).map_err(Stop::Failed)?;
            if args.count == Some(output.packets()) { Err(Stop::Enough) } else { Ok(()) }
        });
        let (enough, more) = match read {
            Ok(more) => (false, more),
            Err(Stop::Enough) => (true, false),
            Err(Stop::Failed(failure)) => return Err(failure),
        };
        output.flush()?;
        if !more {
            return Ok(enough);
        }
    }
}

/// Shows what passed before now and the kernel has not handed over yet.
fn show_rest(
    args: &CaptureArgs,
    capture: &mut Capture,
    output: &mut Output,
) -> Result<(), Failure> {
    /// Longer than the kernel keeps packets back.
    const PATIENCE: Duration = Duration::from_secs(1);
    const GLANCE: Duration = Duration::from_millis(20);
    capture.close()?;
    let silent = Waker::new()?;
    let deadline = Instant::now() + PATIENCE;
    while !show_ready(args, capture, output)? && !capture.is_drained()? && Instant::now() < deadline
    {
        // An interface that is down has packets from before.
        let _ = capture.wait(&silent, None, Some(GLANCE));
    }
    Ok(())
}

impl CaptureArgs {
    /// Whether it looks at packets that pass, not at those of a file.
    pub(crate) const fn is_live(&self) -> bool {
        self.read.is_none()
    }

    fn options(&self) -> Result<CaptureOptions, Failure> {
        let selection = self.selection()?;
        if self.duration == Some(Time::ZERO) {
            let what = "--duration 0 s captures nothing";
            return Err(Failure::with_hint(what, "for example --duration \"10 s\""));
        }
        let place = self.place();
        if self.promiscuous && place == InterfaceChoice::Any {
            let what = "--promiscuous is for one interface";
            return Err(Failure::with_hint(what, "name it: --interface NAME"));
        }
        let buffer = self.buffer.get();
        if buffer < LEAST_ROOM {
            let what = format!("--buffer {} is too small: at least 512 KiB", self.buffer);
            return Err(Failure::with_hint(what, "for example --buffer \"256 MiB\""));
        }
        if buffer > MOST_ROOM {
            let what = format!("--buffer {}: at most 4 GiB", self.buffer);
            return Err(Failure::with_hint(what, "for example --buffer \"256 MiB\""));
        }
        Ok(CaptureOptions {
            place,
            selection,
            snap_len: self.snaplen,
            promiscuous: self.promiscuous,
            buffer: usize::try_from(buffer).unwrap_or(usize::MAX),
        })
    }

    fn selection(&self) -> Result<Selection, Failure> {
        if self.port.contains(&0) {
            let what = "no packet has port 0: it stands for none (RFC 6335)";
            return Err(Failure::with_hint(what, "for example --port 443"));
        }
        let protocol = |name: &ProtocolName| match name {
            ProtocolName::Tcp => Protocol::Tcp,
            ProtocolName::Udp => Protocol::Udp,
            ProtocolName::Icmp => Protocol::Icmp,
        };
        let selection = Selection {
            hosts: self.host.iter().map(|host| host.address).collect(),
            ports: self.port.clone(),
            protocols: self.protocol.iter().map(protocol).collect(),
        };
        if selection.is_nothing() {
            let what =
                "no packet has both: --port is for TCP and UDP, and --protocol asks for others";
            return Err(Failure::with_hint(what, "leave one of them out"));
        }
        Ok(selection)
    }

    /// How packets are shown.
    fn manner(&self, names_interface: bool) -> Manner {
        Manner {
            json: self.json_stream,
            time: self.time,
            absolute_seq: self.absolute_seq,
            hex: self.hex,
            names_interface,
        }
    }

    fn place(&self) -> InterfaceChoice {
        // A link-local address is of one interface.
        let zone = self.host.iter().find_map(|host| host.zone.as_deref());
        match self.interface.as_deref().or(zone) {
            None => InterfaceChoice::default_here(),
            Some("any") => InterfaceChoice::Any,
            Some(name) => InterfaceChoice::Interface(name.to_owned()),
        }
    }
}

fn in_words(place: &InterfaceChoice) -> &str {
    match place {
        InterfaceChoice::Any => "all interfaces",
        InterfaceChoice::Interface(name) => name,
    }
}

/// A mistake or a lack of rights, with what mends it.
fn refused(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::NoRight(_) => {
            "sudo setcap cap_net_raw=ep $(command -v maxseg)   # gives this program the one capability that it needs; \
             or run it with sudo"
                .to_owned()
        }
        OpenError::NoInterface { there, .. } => {
            format!("there are: {}; `any` looks at all", there.join(", "))
        }
        OpenError::Hardware { .. } => {
            "Ethernet, loopback, TUN, PPP and IP tunnels are understood".to_owned()
        }
        OpenError::Filter(_) => "ask for fewer hosts or ports".to_owned(),
        OpenError::Kernel { what: "memory for packets", .. } => "a smaller --buffer".to_owned(),
        OpenError::Kernel { .. } => return Failure::new(error.to_string()),
    };
    Failure::with_hint(error.to_string(), hint)
}
