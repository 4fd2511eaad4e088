//! Loss, reordering, queues.

use std::fmt;

use super::{Facts, Host, Remedy, System, linux, middlebox};
use crate::advise::Change;
use crate::advise::path::{Confidence, four_digits, whole};
use crate::diagnose::{
    CongestionAlgorithm, LossCause, counted, policed_rate, rate_of_possible_policer,
};
use crate::outcome::LimitedBy;
use crate::units::{BitsPerSec, Bytes, approx};

/// The commands that show drops and errors: of the sender's own interfaces, and of each hop's.
pub(super) fn with_drops(remedy: Remedy, facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    let hops = Host::role("each hop");
    remedy
        .look_linux(on, format!("{}; tc -s qdisc show; ip -s link", linux::show_tcp(to)))
        .look(System::FreeBsd, on, "netstat -i; netstat -s -p tcp")
        .look(System::MacOs, on, "netstat -i; netstat -s -p tcp")
        .look(System::Windows, on, "netstat -s -p tcp")
        .look_linux(&hops, "ip -s link; tc -s qdisc show")
        .wanted("captures at both ends of the path, or on both sides of a hop, show where packets are lost")
}

pub(super) fn congestion(facts: &Facts<'_>) -> Remedy {
    if let Some(remedy) = middlebox::of_sequence_numbers(facts) {
        return remedy;
    }
    match facts.case.diagnosis.loss.cause {
        LossCause::Queue => overflowing(facts),
        LossCause::Errors => with_bbr(
            with_drops(
                Remedy::new(
                    "find the hop that loses packets: no full queue was seen when they were lost, so it was bit errors, a policer, \
                     or a queue that drops early (RED, CoDel)",
                ),
                facts,
            ),
            facts,
        )
        .tries(Change::NoErrors),
        LossCause::Policer => policed(facts),
        LossCause::Reordering | LossCause::Needless => reordering(facts),
        LossCause::None | LossCause::Unknown => unknown(facts),
    }
}

/// A queue for fewer segments holds no bandwidth-delay product of a path, but that of the part of it that was captured.
const LEAST_ROOM: u64 = 4;

/// The room of a queue that holds a bandwidth-delay product; `None` where the capture does not show it: the round trip is of a part of
/// the path, or others share it, whose part of the rate and of the queue is not this connection's.
fn told_room(facts: &Facts<'_>) -> Option<Room> {
    let path = facts.path.filter(|_| facts.case.others_send().is_none())?;
    let room = whole(path.bdp_bytes());
    let is_whole = path.rtt_s.confidence != Confidence::Low;
    let is_least = path.rate_bps.confidence == Confidence::Low;
    (is_whole && room >= LEAST_ROOM * u64::from(path.segment.value))
        .then_some(Room { bytes: Bytes::new(room), is_least })
}

/// Room for a bandwidth-delay product.
#[derive(Debug, Clone, Copy)]
struct Room {
    bytes: Bytes,
    /// Whether the link may be faster than was seen, and the product larger.
    is_least: bool,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = if self.is_least { "at least " } else { "" };
        write!(
            f,
            "room for {least}{} kB, a bandwidth-delay product",
            self.bytes.get().div_ceil(1000)
        )
    }
}

/// Whichever drops packets, mending it is what gains.
fn unknown(facts: &Facts<'_>) -> Remedy {
    let look = "look at the drop counters of each hop: the capture does not show whether a queue, errors or a policer drops \
                packets";
    let room = told_room(facts);
    let mend = room.map_or_else(String::new, |room| {
        format!(". Give a queue that overflows {room}; repair the hop that has errors")
    });
    let pace = rate_of_possible_policer(facts.data).map_or_else(String::new, |passed| {
        format!(
            ". If it is a policer, let {} pace what it sends (SO_MAX_PACING_RATE) at the policer's rate: at least {}, which passed between losses",
            facts.sender_host,
            approx::rate(passed)
        )
    });
    let remedy =
        with_drops(Remedy::new(format!("{look}{mend}{pace}")), facts).what_if(Change::NoErrors);
    match room {
        Some(room) => remedy.what_if(Change::Queue(room.bytes)),
        None => remedy,
    }
}

/// A policer drops what exceeds its rate: the sender is to send no faster.
fn policed(facts: &Facts<'_>) -> Remedy {
    let on = &facts.sender_host;
    let of_path =
        facts.path.and_then(|path| path.policer.as_ref()).map(|policer| policer.value.rate);
    let rate = of_path.or_else(|| rate_between_losses(facts));
    let below = match rate {
        Some(rate) => format!(
            "at {} with headers, as much as passed between losses, by SO_MAX_PACING_RATE ({} bytes/s, of payload: Linux paces that)",
            approx::rate(rate.get() as f64),
            payload_of(rate.get() / 8, facts)
        ),
        None => "a little below the policer's rate by SO_MAX_PACING_RATE".to_owned(),
    };
    let remedy = with_drops(
        Remedy::new(format!(
            "let {on} send {below} in the program, or a shaper before the policer: it drops what is above its rate, and has no queue"
        )),
        facts,
    )
    .note(
        "A shaper at that rate queues what a policer drops: the losses end, the goodput stays about the same. The policer's own rate is no \
         less, and is in the contract, or in its counters: at 95% of it nothing is lost either. Connections that share the policer share its \
         rate.",
    );
    match of_path {
        // A bucket that is empty at a loss passes no more than its rate until the next: a sender at that rate loses nothing.
        Some(rate) => remedy.tries(Change::Pacing(rate)),
        None => remedy,
    }
}

/// The rate that passed between losses, with headers.
fn rate_between_losses(facts: &Facts<'_>) -> Option<BitsPerSec> {
    let segment = f64::from(facts.data.full_segment());
    let with_headers = 1.0 + f64::from(facts.case.evidence.headers().octets()) / segment;
    Some(four_digits(policed_rate(facts.data)? * with_headers))
}

/// The payload in so many bytes of packets. TCP's own pacing counts it (`tcp_update_skb_after_send`, `net/ipv4/tcp_output.c`: the length
/// without headers); the fq qdisc counts headers as well, and paces a little more slowly then.
fn payload_of(bytes: u64, facts: &Facts<'_>) -> u64 {
    let segment = u64::from(facts.data.full_segment());
    bytes * segment / (segment + u64::from(facts.case.evidence.headers().octets()))
}

/// A queue that overflows. One that holds less than the path does empties at every loss of Reno, and the link with it
/// (Appenzeller, Keslassy, `McKeown`: Sizing Router Buffers, 2004).
fn overflowing(facts: &Facts<'_>) -> Remedy {
    let fair = "use a fair queue (fq_codel, CAKE) on the router before the bottleneck link";
    let queue = facts.path.map_or(0, |path| path.queue_bytes.value);
    let short = told_room(facts).filter(|room| queue < room.bytes.get());
    let is_full = facts.case.diagnosis.limited_by == LimitedBy::Bandwidth;
    let (change, what_if) = match short {
        Some(room) => {
            let change = format!(
                "give the queue before the bottleneck link {room}: it overflows. Or {fair}, which keeps delays short and gains less"
            );
            (change, Some(Change::Queue(room.bytes)))
        }
        None if is_full => {
            let fills = match (facts.case.evidence.beside, facts.data.nearby) {
                (None, None) => "this transfer fills the link",
                (None, Some(_)) => "this transfer fills the link, or its share of it",
                (Some(_), _) => "this transfer fills its share of the link",
            };
            (format!("{fair}, if others share it: its queue overflows, and {fills}"), None)
        }
        None => (format!("{fair}: its queue overflows"), Some(Change::FairQueue)),
    };
    let remedy = with_drops(Remedy::new(change), facts).advises(what_if.unwrap_or(Change::FairQueue)).note(
        "Losses tell the sender the rate of a full link: another congestion control on the host would take from the others in that \
         queue.",
    );
    match what_if {
        Some(change) => remedy.what_if(change),
        None => remedy,
    }
}

/// BBR for one route, unless it is in use, where errors that nobody can mend keep a window small that losses reduce.
fn with_bbr(remedy: Remedy, facts: &Facts<'_>) -> Remedy {
    if facts.case.diagnosis.congestion_control.name == CongestionAlgorithm::Bbr {
        return remedy;
    }
    let (on, to) = (&facts.sender_host, facts.receiver);
    remedy
        .look_linux(
            on,
            format!("sysctl net.ipv4.tcp_available_congestion_control; {}", linux::show_route(to)),
        )
        .linux_route(
            on,
            to,
            "congctl bbr",
            Some("the errors cannot be repaired, and the loss is not of a queue that others share"),
        )
        .note(format!(
            "BBR does not reduce its rate at every loss: it treats the symptom, for new connections to {to} alone."
        ))
}

pub(super) fn reordering(facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    let (recovery, most) = ("net.ipv4.tcp_recovery", "net.ipv4.tcp_max_reordering");
    Remedy::new(format!(
        "make {on} tolerate reordering (RACK, RFC 8985), or route each connection over one path"
    ))
    .look_linux(on, format!("sysctl {recovery} {most}; {}", linux::show_tcp(to)))
    .advises(Change::ReorderingTolerance)
    .linux(on, linux::raise(recovery, 1))
    .linux(on, linux::raise(most, 300))
    .wanted("a capture at the receiver shows the order in which packets arrive")
    .note("Per-packet load balancing over parallel links is the usual cause.")
}

/// The sender knows already what [`reordering`] is to teach it.
pub(super) fn tolerated(facts: &Facts<'_>) -> Remedy {
    let needless = match facts.data.spurious_retransmissions {
        0 => String::new(),
        count => format!(", and sent {} again needlessly", counted(count, "segment")),
    };
    Remedy::new(format!(
        "no change needed: {} tells packets that are overtaken or late from lost ones{needless}",
        facts.sender_host
    ))
}

pub(super) fn bufferbloat(facts: &Facts<'_>) -> Remedy {
    let router = Host::role("the router before the bottleneck link");
    let (on, to) = (&facts.sender_host, facts.receiver);
    Remedy::new("limit the queue at the bottleneck link: use fq_codel or CAKE on its router")
        .advises(Change::FairQueue)
        .look_linux(on, format!("{} -c 20 {to}; tc -s qdisc show", linux::ping(to)))
        .look_linux(&router, "tc -s qdisc show")
        .change(System::Linux, &router, "tc qdisc replace dev DEVICE root cake bandwidth RATE")
        .look(System::FreeBsd, &router, "dnctl pipe show")
        .wanted("a capture on each side of a hop shows how long it holds packets")
        .note(format!(
            "The delay of all traffic on the link falls; the goodput of {on} stays about the same, or falls by a few percent where the \
             queue becomes empty now and then."
        ))
}

/// Marks alone kept the congestion window small.
pub(super) fn slowed_by_marks(facts: &Facts<'_>) -> Remedy {
    Remedy::new("look at the marking threshold of the bottleneck's queue: it marks before the link is full, or others fill it")
        .look_linux(&Host::role("each hop"), "tc -s qdisc show")
        .wanted("a capture behind each hop shows where packets are marked")
        .note(format!(
            "A threshold below the bandwidth-delay product costs {} a part of the rate and keeps the delay short.",
            facts.sender
        ))
}

pub(super) fn longer_route(facts: &Facts<'_>) -> Remedy {
    let (on, to) = (&facts.sender_host, facts.receiver);
    Remedy::new(format!("compare the route from {on} to {to} with the one before"))
        .look_linux(on, linux::show_route(to))
        .wanted("a capture at the other end shows which direction became longer")
}

pub(super) fn ack_path(facts: &Facts<'_>) -> Remedy {
    let (from, to) = (facts.receiver, facts.sender);
    Remedy::new(format!(
        "look at the link from {from} to {to}: it is slow, or full of other traffic; its router may filter acknowledgements"
    ))
    .look_linux(&Host::role("each hop"), "tc -s qdisc show")
    .wanted("a capture at the other end shows what else its link carries")
    .note("CAKE with `ack-filter` on the router before that link keeps the newest acknowledgement only (RFC 3449 §5.2.1).")
}

pub(super) fn marked() -> Remedy {
    Remedy::new("no change needed: ECN signals congestion without loss (RFC 3168)")
}
