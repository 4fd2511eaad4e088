//! The rules: what a SYN of each system looks like.

use super::{System, initial_ttl};
use crate::evidence::OptionKind::{
    self, EndOfList, Mss, NoOperation, SackPermitted, Timestamps, WindowScale,
};
use crate::evidence::SynFacts;

/// A SYN of a system.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) system: System,
    /// Initial time to live.
    ttl: u8,
    /// The options in order.
    order: &'static [OptionKind],
    window: Window,
    side: Side,
    pub(super) confidence: f64,
}

/// The windows that a rule allows, in bytes.
#[derive(Debug)]
enum Window {
    Any,
    OneOf(&'static [u16]),
    NotOneOf(&'static [u16]),
    AtMost(u16),
}

/// Which SYNs a rule is for.
#[derive(Debug, PartialEq)]
enum Side {
    Both,
    /// SYNs without ACK.
    Client,
    /// Answers.
    Server,
    /// Answers to a SYN that offered more options.
    Refuses,
}

impl Rule {
    /// Whether a SYN with these [essential](super::essential) options looks like this; `asked` is the SYN that it answers.
    pub(super) fn fits(
        &self,
        syn: &SynFacts,
        options: &[OptionKind],
        asked: Option<&SynFacts>,
    ) -> bool {
        if initial_ttl(syn.ttl) != Some(self.ttl) || options != self.order {
            return false;
        }
        let offered_more = || {
            asked.is_some_and(|asked| {
                asked
                    .order
                    .kinds()
                    .any(|kind| matches!(kind, WindowScale | SackPermitted | Timestamps))
            })
        };
        let fits_side = match self.side {
            Side::Both => true,
            Side::Client => !syn.is_answer,
            Side::Server => syn.is_answer,
            Side::Refuses => syn.is_answer && offered_more(),
        };
        let fits_window = match self.window {
            Window::Any => true,
            Window::OneOf(windows) => windows.contains(&syn.window),
            Window::NotOneOf(windows) => !windows.contains(&syn.window),
            Window::AtMost(most) => syn.window <= most,
        };
        fits_side && fits_window
    }
}

const fn rule(
    system: System,
    ttl: u8,
    order: &'static [OptionKind],
    window: Window,
    side: Side,
    confidence: f64,
) -> Rule {
    Rule { system, ttl, order, window, side, confidence }
}

const SACK_STAMPS_SCALE: &[OptionKind] =
    &[Mss, SackPermitted, Timestamps, NoOperation, WindowScale];
const SACK_SCALE: &[OptionKind] =
    &[Mss, NoOperation, NoOperation, SackPermitted, NoOperation, WindowScale];
const STAMPS_SCALE: &[OptionKind] =
    &[Mss, NoOperation, NoOperation, Timestamps, NoOperation, WindowScale];
const SCALE: &[OptionKind] = &[Mss, NoOperation, WindowScale];
const SACK_STAMPS: &[OptionKind] = &[Mss, SackPermitted, Timestamps];
const SACK: &[OptionKind] = &[Mss, NoOperation, NoOperation, SackPermitted];
const STAMPS: &[OptionKind] = &[Mss, NoOperation, NoOperation, Timestamps];
const SCALE_SACK: &[OptionKind] =
    &[Mss, NoOperation, WindowScale, NoOperation, NoOperation, SackPermitted];
const SCALE_SACK_STAMPS: &[OptionKind] =
    &[Mss, NoOperation, WindowScale, SackPermitted, Timestamps];
const SCALE_STAMPS: &[OptionKind] =
    &[Mss, NoOperation, WindowScale, NoOperation, NoOperation, Timestamps];
const XP_ALL: &[OptionKind] = &[
    Mss,
    NoOperation,
    WindowScale,
    NoOperation,
    NoOperation,
    Timestamps,
    NoOperation,
    NoOperation,
    SackPermitted,
];
const MAC_ALL: &[OptionKind] = &[
    Mss,
    NoOperation,
    WindowScale,
    NoOperation,
    NoOperation,
    Timestamps,
    SackPermitted,
    EndOfList,
];
const BSD_SACK: &[OptionKind] = &[Mss, NoOperation, WindowScale, SackPermitted, EndOfList];
const BSD_SACK_ALONE: &[OptionKind] = &[Mss, SackPermitted, EndOfList];
const OPEN_BSD: &[OptionKind] = &[
    Mss,
    NoOperation,
    NoOperation,
    SackPermitted,
    NoOperation,
    WindowScale,
    NoOperation,
    NoOperation,
    Timestamps,
];
const SOLARIS_ALL: &[OptionKind] = &[
    NoOperation,
    NoOperation,
    Timestamps,
    Mss,
    NoOperation,
    WindowScale,
    NoOperation,
    NoOperation,
    SackPermitted,
];
const MSS_ALONE: &[OptionKind] = &[Mss];
const NO_OPTION: &[OptionKind] = &[];

/// The first window of BSD systems and macOS (`TCP_MAXWIN`).
const BSD_WINDOW: &[u16] = &[65_535];
/// Windows from XP to 11.
const WINDOWS: &[u16] = &[8192, 16_384, 64_240, 65_535];
pub(super) const RULES: &[Rule] = {
    use Side::{Both, Client, Refuses, Server};
    use System::{Embedded, FreeBsd, Linux, MacOs, OpenBsd, Solaris, Windows};
    use Window::{Any, AtMost, NotOneOf, OneOf};
    &[
        // Linux, net/ipv4/tcp_output.c, tcp_options_write: SACK stands in the padding before the timestamps.
        rule(Linux, 64, SACK_STAMPS_SCALE, Any, Both, 0.95),
        rule(Linux, 64, SACK_SCALE, Any, Both, 0.9),
        rule(Linux, 64, STAMPS_SCALE, Any, Both, 0.9),
        // Without SACK and timestamps BSD systems offer no scale, but they answer one.
        rule(Linux, 64, SCALE, Any, Client, 0.75),
        rule(Linux, 64, SCALE, NotOneOf(BSD_WINDOW), Server, 0.75),
        rule(Linux, 64, SCALE, OneOf(BSD_WINDOW), Server, 0.5),
        // A client too, where tcp_window_scaling is 0.
        rule(Linux, 64, SACK_STAMPS, NotOneOf(BSD_WINDOW), Both, 0.75),
        rule(Linux, 64, SACK, NotOneOf(BSD_WINDOW), Both, 0.7),
        rule(Linux, 64, STAMPS, NotOneOf(BSD_WINDOW), Both, 0.7),
        // Windows: p0f.fp 3.09 (labels XP and "7 or 8"); 64240 and 65535 of Windows 10 and 11 from captures of them.
        rule(Windows, 128, SCALE_SACK, OneOf(WINDOWS), Both, 0.95),
        rule(Windows, 128, SCALE_SACK, NotOneOf(WINDOWS), Both, 0.85),
        rule(Windows, 128, SACK, Any, Both, 0.85),
        rule(Windows, 128, SCALE_SACK_STAMPS, Any, Both, 0.9),
        rule(Windows, 128, XP_ALL, Any, Both, 0.9),
        rule(Windows, 128, SCALE_STAMPS, Any, Both, 0.85),
        rule(Windows, 128, SACK_STAMPS, OneOf(WINDOWS), Server, 0.8),
        rule(Windows, 128, STAMPS, OneOf(WINDOWS), Server, 0.75),
        rule(Windows, 128, SCALE, OneOf(WINDOWS), Both, 0.75),
        rule(Windows, 128, MSS_ALONE, OneOf(WINDOWS), Server, 0.6),
        // macOS and iOS: XNU, bsd/netinet/tcp_output.c, and p0f.fp 3.09 (labels "Mac OS X", "iPhone or iPad").
        rule(MacOs, 64, MAC_ALL, OneOf(BSD_WINDOW), Both, 0.95),
        rule(MacOs, 64, MAC_ALL, NotOneOf(BSD_WINDOW), Both, 0.8),
        // FreeBSD: sys/netinet/tcp_output.c, tcp_addoptions: the scale before SACK and timestamps.
        rule(FreeBsd, 64, SCALE_SACK_STAMPS, OneOf(BSD_WINDOW), Both, 0.9),
        rule(FreeBsd, 64, SCALE_SACK_STAMPS, NotOneOf(BSD_WINDOW), Both, 0.7),
        // Both answer so where the client offers less.
        rule(FreeBsd, 64, SCALE_STAMPS, OneOf(BSD_WINDOW), Server, 0.5),
        rule(MacOs, 64, SCALE_STAMPS, OneOf(BSD_WINDOW), Server, 0.5),
        rule(FreeBsd, 64, BSD_SACK, Any, Server, 0.5),
        rule(MacOs, 64, BSD_SACK, Any, Server, 0.5),
        rule(FreeBsd, 64, BSD_SACK_ALONE, Any, Server, 0.5),
        rule(MacOs, 64, BSD_SACK_ALONE, Any, Server, 0.5),
        rule(FreeBsd, 64, SCALE, OneOf(BSD_WINDOW), Server, 0.5),
        rule(FreeBsd, 64, SACK_STAMPS, OneOf(BSD_WINDOW), Server, 0.6),
        // OpenBSD: p0f.fp 3.09 (label "OpenBSD 4.x-5.x").
        rule(OpenBsd, 64, OPEN_BSD, Any, Both, 0.9),
        // Solaris 8 to 10: p0f.fp 3.09; the timestamps come before the MSS.
        rule(Solaris, 64, SOLARIS_ALL, Any, Both, 0.85),
        rule(Solaris, 255, SOLARIS_ALL, Any, Both, 0.85),
        // Small stacks: lwIP has an initial TTL of 255, uIP neither options nor a large window; they ignore what a
        // client offers. Load balancers answer for others with a TTL of 255.
        rule(Embedded, 255, MSS_ALONE, AtMost(16_384), Client, 0.7),
        rule(Embedded, 255, NO_OPTION, AtMost(16_384), Client, 0.7),
        rule(Embedded, 64, MSS_ALONE, AtMost(8760), Refuses, 0.6),
        rule(Embedded, 64, NO_OPTION, AtMost(8760), Refuses, 0.6),
    ]
};
