//! Parameters that several formulas share, and what their ranges say alike.

use maxseg_core::framing::IpVersion;
use maxseg_core::model::measured::Measured;
use maxseg_core::model::pftk;
use maxseg_core::units::{BitsPerSec, Bytes, Mss, Mtu, Probability, Time, approx};

use crate::calc::parameter::Parameter;
use crate::calc::quantity::{Number, Octets};
use crate::calc::{Answer, Unit};

pub(super) const RATE: Parameter<BitsPerSec> = Parameter::required("rate", "of the slowest link");

pub(super) const LINK: Parameter<BitsPerSec> = Parameter::optional(
    "rate",
    "no link bounds the result",
    "payload rate of the slowest link: the upper bound of the result",
);

pub(super) const RTT: Parameter<Time> =
    Parameter::required("rtt", "round trip with empty queues").above(0.0);

pub(super) const LOSS: Parameter<Probability> = Parameter::required(
    "loss",
    "probability that a segment is lost, independent of others; with bursts, the share of segments that begin a burst",
)
.above(0.0)
.below(1.0);

pub(super) const FRAME_ERROR: Parameter<Probability> =
    Parameter::required("error", "probability that a frame is lost, independent of others");

pub(super) const MSS: Parameter<Mss> =
    Parameter::with_default("mss", "1460", "payload of a segment");

pub(super) const MTU: Parameter<Mtu> =
    Parameter::with_default("mtu", "1500", "largest IP packet of the path");

pub(super) const PER_ACK: Parameter<Number> = Parameter::with_default(
    "per_ack",
    "1",
    "segments per acknowledgement, b: 2 with delayed acknowledgements, 1 with one each or where bytes are counted \
     (RFC 3465)",
)
.at_least(1.0);

pub(super) const RTO: Parameter<Time> = Parameter::required(
    "rto",
    "first retransmission timeout, T0: at least 1 s by RFC 6298, at least 200 ms beyond the round trip on Linux",
)
.above(0.0);

pub(super) const WINDOW: Parameter<Bytes> =
    Parameter::optional("window", "no window bounds the result", "largest window").above(0.0);

pub(super) const IP: Parameter<IpVersion> =
    Parameter::with_default("ip", "4", "version of IP: headers of 20 or 40 bytes");

pub(super) const FRAME: Parameter<Octets> =
    Parameter::required("frame", "payload of a frame, M").above(0.0);

pub(super) const TCP_HEADERS: Parameter<Octets> = Parameter::with_default(
    "header",
    "40",
    "headers in front of the payload, H: 40 for TCP over IPv4 without options",
);

/// The largest window in whole segments: one at least, and without limit where none is given.
pub(super) fn segments(window: Option<Bytes>, mss: Mss) -> f64 {
    window.map_or(f64::INFINITY, |bytes| (bytes.get() / mss.bytes().get()).max(1) as f64)
}

/// The rate of a formula that knows no link, as a figure of this name; with a link, also the lesser of both.
pub(super) fn bounded(name: &str, bps: f64, link: Option<BitsPerSec>) -> Answer {
    let answer = Answer::default().number(name, bps, Unit::BitsPerSec);
    let Some(link) = link.map(|link| link.get() as f64) else { return answer };
    answer
        .number("bounded_by_link", bps.min(link), Unit::BitsPerSec)
        .warn_if(bps > link, "above the link's rate: the link limits this transfer, not loss")
}

/// What was measured around a loss, as two figures; a warning where nothing was.
pub(super) fn against_simulation(answer: Answer, ratio: Option<(f64, f64)>) -> Answer {
    match ratio {
        Some((least, most)) => answer
            .number("least_ratio_to_simulation", least, Unit::Ratio)
            .number("most_ratio_to_simulation", most, Unit::Ratio),
        None => answer.warn("not compared with the simulator at this loss"),
    }
}

/// A table of what was measured, in words.
pub(super) fn measured(table: &[Measured]) -> String {
    measured_with(
        "Reno and NewReno, RTT 0.1 s, minimum RTO 0.2 s and 1 s, one ACK per segment, large queues",
        table,
    )
}

/// The same, under these conditions.
pub(super) fn measured_with(conditions: &str, table: &[Measured]) -> String {
    let points = table
        .iter()
        .map(|(loss, low, high)| format!("{low:.2} to {high:.2} at {}", percent(*loss)));
    let points = points.collect::<Vec<_>>().join(", ");
    format!("Ratio to the packet-level simulation ({conditions}): {points} loss.")
}

/// A share as it would be typed: `1%`.
pub(super) fn percent(share: f64) -> String {
    Probability::new(share).map_or_else(|error| error.to_string(), |share| share.to_string())
}

/// Up to which loss PFTK is to be used, in words.
pub(super) fn pftk_limit() -> String {
    format!("Up to {} loss.", percent(pftk::VALID_UP_TO))
}

/// PFTK's warning about a loss.
pub(super) fn pftk_range(answer: Answer, loss: f64) -> Answer {
    if loss <= pftk::VALID_UP_TO {
        return answer;
    }
    answer.warn(format!(
        "PFTK does not hold above {} loss, and here it is {}: it ignores that TCP keeps its timer backed off until \
         a segment arrives that was sent once",
        percent(pftk::VALID_UP_TO),
        approx::percent(loss)
    ))
}
