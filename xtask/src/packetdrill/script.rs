//! A script of packetdrill: options, then events with their times.

use maxseg_core::units::Time;

/// Options and events in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) options: Options,
    pub(super) events: Vec<Event>,
}

/// What `--name=value` says at the head of a script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// How far from its time something may happen: 4 ms where nothing is said.
    pub(super) tolerance: Time,
    /// How a burst is cut into packets counts.
    pub(super) strict_segments: bool,
    /// IPv6 instead of IPv4.
    pub(super) is_v6: bool,
    /// The unit of timestamps; where none is given they are not compared.
    pub(super) stamp_tick: Option<Time>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: Time::from_millis(4),
            strict_segments: false,
            is_v6: false,
            stamp_tick: None,
        }
    }
}

/// Something that happens, or that is to happen.
#[derive(Debug)]
pub(super) struct Event {
    /// Its line, counted from 1.
    pub(super) line: usize,
    pub(super) when: When,
    pub(super) what: What,
}

/// When.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Since the script began.
    At(Time),
    /// Since the event before.
    After(Time),
    /// In this window, counted from now.
    Within(Time, Time),
    /// Whenever.
    Any,
}

/// What.
#[derive(Debug)]
pub(super) enum What {
    /// A packet reaches the host under test.
    Incoming(Pattern),
    /// The host under test sends a packet.
    Outgoing(Pattern),
    Call(Call),
    /// What a shell would be given.
    Command(String),
    /// What Python would be given.
    Code(String),
}

/// A packet as a script writes it: numbers count from the sender's first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) flags: Flags,
    /// `ect0` and the like, without brackets.
    pub(super) ip_ecn: Option<String>,
    pub(super) seq: u64,
    /// Payload bytes.
    pub(super) len: u64,
    pub(super) ack: Option<u64>,
    /// The window field as it stands in the header.
    pub(super) window: Option<u64>,
    /// `None`: any.
    pub(super) options: Option<TcpOptions>,
}

/// Flags of a TCP header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a header")]
pub(super) struct Flags {
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    pub(super) push: bool,
    pub(super) ack: bool,
    pub(super) ece: bool,
    pub(super) cwr: bool,
}

/// TCP options, whatever pads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TcpOptions {
    pub(super) mss: Option<u64>,
    pub(super) sack_permitted: bool,
    pub(super) window_scale: Option<u32>,
    /// `TSval` and `TSecr`.
    pub(super) stamps: Option<(u64, u64)>,
    pub(super) sack: Vec<(u64, u64)>,
}

/// A system call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// The value that it is to return.
    pub(super) result: i64,
    /// The error that it is to return, by its name.
    pub(super) error: Option<String>,
    /// It blocks, and is to return then, counted as its time is.
    pub(super) until: Option<Time>,
}

impl Call {
    /// An argument, or nothing.
    pub(super) fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).map_or("", String::as_str)
    }

    /// A number that stands in brackets or alone.
    pub(super) fn number(&self, index: usize) -> Option<u64> {
        self.argument(index).trim_matches(['[', ']']).parse().ok()
    }
}
