//! A finding with its numbers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::Direction;
use crate::outcome::LimitedBy;
use crate::units::Time;

/// One thing that the evidence of a connection shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Its severity.
    pub severity: Severity,
    /// The direction it is about; `None` for both.
    pub direction: Option<Direction>,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// Its numbers, named with their units.
    pub evidence: Vec<Number>,
    /// The first packets that show it, counted from 1.
    pub frames: Vec<u64>,
    /// The observation with its numbers, as a sentence without a full stop.
    pub text: String,
    /// Why it matters.
    pub why: &'static str,
    /// The RFC or paper.
    pub source: &'static str,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its name, with its unit: `mss_bytes`, `share`, `retransmitted_packets`.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// A number with its name.
pub(super) const fn number(name: &'static str, value: f64) -> Number {
    Number { name, value }
}

/// `1 packet` or `5 packets`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `once` or `5 times`.
pub(super) fn counted_times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The verb of what is counted.
pub(crate) const fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Information.
    Note,
    /// It may reduce goodput or add delay.
    Warning,
    /// It reduces goodput or adds delay considerably.
    Problem,
}

impl Severity {
    /// The word that reports and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// Declares the kinds of findings with their words, so that the list of all kinds is complete.
macro_rules! finding_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $word:literal,)+) => {
        /// The kind of a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum FindingKind {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $kind,)+
        }

        impl FindingKind {
            /// Every kind, in the order of the rules.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The word that reports and JSON use.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }
        }
    };
}

finding_kinds! {
    /// The capture has duplicates, lost packets, offload, or one direction only.
    CaptureQuality = "capture-quality",
    /// The server answered the SYN with a RST.
    Refused = "refused",
    /// The SYN was not answered.
    NoAnswer = "no-answer",
    /// One end stopped answering.
    GoneSilent = "gone-silent",
    /// The SYN was retransmitted.
    SynRetransmission = "syn-retransmission",
    /// One SYN lacks window scale, SACK or timestamps.
    OptionMissing = "option-missing",
    /// An option has an invalid value.
    BadOption = "bad-option",
    /// The connection was reset.
    Reset = "reset",
    /// Keep-alives were sent (RFC 9293 §3.8.4): the connection was idle.
    KeepAlive = "keep-alive",
    /// The round trips of requests and replies took a large share of the time.
    RequestResponse = "request-response",
    /// The server took a large share of the time to reply to requests.
    ServerResponseTime = "server-response-time",
    /// The client took a large share of the time between a reply and its next request.
    ClientThinkTime = "client-think-time",
    /// A window of the programs' own protocol, below TCP's windows.
    ApplicationWindow = "application-window",
    /// The congestion window was reduced after idle times (RFC 5681 §4.1).
    SlowStartAfterIdle = "slow-start-after-idle",
    /// Nagle's algorithm waited for delayed acknowledgements.
    NagleDelayedAck = "nagle-delayed-ack",
    /// Small rests of messages left long after all before them was acknowledged, as `TCP_CORK` holds them.
    Corked = "corked",
    /// Full-size packets are lost without ICMP, while smaller ones arrive (RFC 2923 §2.1).
    BlackHole = "black-hole",
    /// A hop reported a smaller MTU (RFC 1191, RFC 8201).
    PathMtuReduced = "path-mtu-reduced",
    /// Packets arrived in fragments.
    Fragmentation = "fragmentation",
    /// Segments are smaller than the path allows.
    SmallMss = "small-mss",
    /// The receiver closed its window.
    ZeroWindow = "zero-window",
    /// The window stays at 64 KiB or below, and below the bandwidth-delay product.
    WindowClamped = "window-clamped",
    /// Segments were lost.
    Loss = "loss",
    /// SACK blocks lie outside of all that was sent: a device changes the sequence numbers, and not those in SACK blocks.
    UselessSack = "useless-sack",
    /// Nothing of one end passed for a while, and then something did.
    Outage = "outage",
    /// The retransmission timer expired.
    Timeouts = "timeouts",
    /// The retransmission timer expired without a loss.
    SpuriousRto = "spurious-rto",
    /// Segments were retransmitted without a loss.
    SpuriousRetransmission = "spurious-retransmission",
    /// Packets arrived out of order.
    Reordering = "reordering",
    /// Round trips are much longer under load than without.
    Bufferbloat = "bufferbloat",
    /// Round trips became longer at once, without load.
    LongerRoute = "longer-route",
    /// The acknowledgements queue for a narrow link and clock the sender (RFC 3449 §2).
    AckPath = "ack-path",
    /// Hops marked congestion (RFC 3168).
    CongestionMarked = "congestion-marked",
}

impl FindingKind {
    /// The limit that a finding gives details of.
    pub const fn limit(self) -> Option<LimitedBy> {
        match self {
            Self::WindowClamped | Self::ZeroWindow => Some(LimitedBy::ReceiveWindow),
            Self::BlackHole | Self::PathMtuReduced | Self::Fragmentation => {
                Some(LimitedBy::PathMtu)
            }
            Self::UselessSack | Self::Outage | Self::SpuriousRto | Self::Timeouts => {
                Some(LimitedBy::Rto)
            }
            Self::Loss | Self::CongestionMarked => Some(LimitedBy::Congestion),
            Self::SmallMss | Self::Bufferbloat | Self::AckPath => Some(LimitedBy::Bandwidth),
            Self::SlowStartAfterIdle => Some(LimitedBy::StartUp),
            Self::ApplicationWindow
            | Self::RequestResponse
            | Self::ServerResponseTime
            | Self::ClientThinkTime
            | Self::NagleDelayedAck
            | Self::Corked => Some(LimitedBy::Application),
            Self::Refused
            | Self::NoAnswer
            | Self::GoneSilent
            | Self::KeepAlive
            | Self::SynRetransmission
            | Self::OptionMissing
            | Self::BadOption
            | Self::CaptureQuality
            | Self::Reset
            | Self::SpuriousRetransmission
            | Self::LongerRoute
            | Self::Reordering => None,
        }
    }
}
