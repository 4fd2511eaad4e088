//! The system that each host of a connection probably is, by its SYN: time to live, window, options and their order, as
//! p0f tells systems apart (Zalewski, "Silence on the Wire", 2005).

mod rules;

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Direction, DirectionStats, Evidence, OptionKind, SynFacts};
use rules::{RULES, Rule};

/// An operating system, or a family of them with one TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Linux, Android included.
    Linux,
    /// FreeBSD.
    FreeBsd,
    /// macOS or iOS.
    MacOs,
    /// Windows.
    Windows,
    /// OpenBSD.
    OpenBsd,
    /// Solaris or illumos.
    Solaris,
    /// A small stack, as of printers and controllers.
    Embedded,
    /// Not known.
    Unknown,
}

impl System {
    /// Whether a host of it may have Linux's TCP.
    pub(crate) const fn may_be_linux(self) -> bool {
        matches!(self, Self::Linux | Self::Unknown)
    }

    /// What shows on a host of it what holds a sender back: the subject of a clause.
    pub(crate) fn sender_state(self, host: &str) -> String {
        match self {
            Self::Linux | Self::Unknown => format!("`ss -ti` on {host}"),
            Self::FreeBsd | Self::MacOs | Self::OpenBsd | Self::Solaris => {
                format!("its send queue in `netstat -n` on {host}")
            }
            Self::Windows => format!("GetPerTcpConnectionEStats (RFC 4898) on {host}"),
            Self::Embedded => format!("the send queue of {host}"),
        }
    }

    /// Its name as its maker writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::FreeBsd => "FreeBSD",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
            Self::OpenBsd => "OpenBSD",
            Self::Solaris => "Solaris",
            Self::Embedded => "embedded",
            Self::Unknown => "unknown",
        }
    }
}

/// The system that a host probably is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostSystem {
    /// Its name.
    pub name: System,
    /// An estimate from 0 to 1 of how sure that is; 0 where it is unknown.
    pub confidence: f64,
    /// What shows it, or why it is unknown; a clause without a full stop.
    pub evidence: String,
}

/// Both hosts of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostSystems {
    /// The client.
    pub client: HostSystem,
    /// The server.
    pub server: HostSystem,
}

/// A rule counts alone where it is surer than every rule of another system by so much: what two systems fit about as well is neither.
const LEAD: f64 = 0.15;
/// A route may change by so many hops within a handshake; more is another host.
const MOST_HOPS: u8 = 3;

impl HostSystems {
    /// The hosts of a connection.
    pub fn of(evidence: &Evidence) -> Self {
        let [client, server] = [Direction::Forward, Direction::Reverse]
            .map(|direction| HostSystem::of_sender(evidence, direction));
        Self { client, server }
    }
}

impl HostSystem {
    /// The host that sends a direction.
    pub(super) fn of_sender(evidence: &Evidence, direction: Direction) -> Self {
        if let Some(there) = evidence.capture.translated
            && let Some(own) = there.own_address(evidence, direction)
        {
            return Self::unknown(format!(
                "its address is translated (NAT); connection {} has the host's own, {}",
                there.id,
                own.ip()
            ));
        }
        let (own, peer) = (evidence.stats(direction), evidence.stats(direction.other()));
        Self::of(own, peer.syn.as_ref().filter(|syn| !syn.is_answer))
    }

    fn unknown(evidence: impl Into<String>) -> Self {
        Self { name: System::Unknown, confidence: 0.0, evidence: evidence.into() }
    }

    /// The host that sends a direction; `asked` is the SYN that it answers.
    fn of(stats: &DirectionStats, asked: Option<&SynFacts>) -> Self {
        let Some(syn) = &stats.syn else {
            return Self::unknown(if stats.packets == 0 {
                "none of its packets was captured"
            } else {
                "its SYN was not captured"
            });
        };
        if let Some(why) = unusable(syn) {
            return Self::unknown(why);
        }
        let seen = described(syn);
        let options = essential(syn);
        let matching: Vec<&Rule> =
            RULES.iter().filter(|rule| rule.fits(syn, &options, asked)).collect();
        let best = matching.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
        let Some(best) = best else {
            return Self::unknown(seen + ": no known system");
        };
        let rival = matching
            .iter()
            .find(|rule| rule.system != best.system && rule.confidence + LEAD > best.confidence);
        match rival {
            Some(rival) => Self::unknown(format!(
                "{seen}: as of {} and of {}",
                best.system.word(),
                rival.system.word()
            )),
            None => Self {
                name: best.system,
                confidence: best.confidence,
                evidence: seen + release(best, syn),
            },
        }
    }
}

/// Why a SYN shows nothing of the host.
fn unusable(syn: &SynFacts) -> Option<String> {
    if syn.is_cut {
        return Some("the capture cut its SYN short".to_owned());
    }
    if initial_ttl(syn.ttl).is_none() {
        return Some(format!("TTL {} of its SYN is of no known system", syn.ttl));
    }
    let later = syn.later_ttl?;
    (later.abs_diff(syn.ttl) > MOST_HOPS).then(|| {
        format!("its SYN has TTL {}, its next packet {later}: a middlebox answers for it", syn.ttl)
    })
}

/// The least of the usual initial values that it can have come from: 64, 128 or 255, after at most 32 hops or so.
const fn initial_ttl(ttl: u8) -> Option<u8> {
    match ttl {
        0..=32 => None,
        33..=64 => Some(64),
        65..=128 => Some(128),
        129.. => Some(255),
    }
}

/// `TTL 64, window 64240, MSS SACK TS NOP WS`.
fn described(syn: &SynFacts) -> String {
    format!("TTL {}, window {}, {}", syn.ttl, syn.window, syn.order)
}

/// Which Linux, where the first window shows it: so many segments of the MSS (RFC 6928), less timestamps in an answer.
fn release(rule: &Rule, syn: &SynFacts) -> &'static str {
    const TIMESTAMPS: u32 = 12;
    let Some(mss) = syn.mss.map(u32::from).filter(|_| rule.system == System::Linux) else {
        return "";
    };
    let window = u32::from(syn.window);
    let payload = mss.saturating_sub(TIMESTAMPS);
    let segments = |count: u32| window == count * mss || window == count * payload;
    // tcp_select_initial_window in net/ipv4/tcp_output.c: 4 segments up to 2.6.38, 10 up to 3.10, 20 up to 4.19, then
    // as many as fit into 65 535 bytes.
    if segments(4) {
        ": Linux 2.6"
    } else if segments(10) {
        ": Linux 3.0 to 3.10"
    } else if segments(20) {
        ": Linux 3.11 to 4.19"
    } else if window + mss > 65_535
        && (window.is_multiple_of(mss) || window.is_multiple_of(payload.max(1)))
    {
        ": Linux 4.20 or later"
    } else {
        ""
    }
}

/// The order without what extensions append: cookies, multipath and their padding.
fn essential(syn: &SynFacts) -> Vec<OptionKind> {
    let mut kinds: Vec<OptionKind> =
        syn.order.kinds().take_while(|kind| *kind != OptionKind::Other).collect();
    if kinds.len() < syn.order.kinds().count() {
        while kinds.last() == Some(&OptionKind::NoOperation) {
            kinds.pop();
        }
    }
    kinds
}

#[cfg(test)]
mod tests;
