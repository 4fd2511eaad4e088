//! `cardwell`

use maxseg_core::model::cardwell::Cardwell;
use maxseg_core::model::pftk;
use maxseg_core::units::{Bytes, Probability, Time};

use super::common::{MSS, PER_ACK, RTT, WINDOW, measured, pftk_limit, pftk_range, segments};
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Count;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const SIZE: Parameter<Bytes> = Parameter::required("size", "what is transferred").above(0.0);
const LOSS: Parameter<Probability> = Parameter::with_default(
    "loss",
    "0%",
    "probability that a packet is lost, in the handshake too",
)
.below(0.5);
const RTO: Parameter<Time> =
    Parameter::with_default("rto", "1s", "first retransmission timeout of data").above(0.0);
const SYN_TIMEOUT: Parameter<Time> = Parameter::with_default(
    "syn_timeout",
    "1s",
    "first timeout of a SYN: 1 s by RFC 6298, 3 s before it",
);
const INITIAL: Parameter<Count> =
    Parameter::with_default("initial_window", "10", "segments of the first window (RFC 6928)")
        .at_least(1.0);
const DELAYED_ACK: Parameter<Time> = Parameter::with_default(
    "delayed_ack",
    "0s",
    "mean delay of the ACK of a single first segment: 100 ms for a free-running 200 ms timer",
);

pub(super) const ENTRY: Entry = Entry {
    name: "cardwell",
    group: Group::Loss,
    about: "Duration of a short transfer: handshake, slow start, first loss, remainder",
    parameters: &[
        SIZE.described(),
        RTT.described(),
        LOSS.described(),
        MSS.described(),
        RTO.described(),
        SYN_TIMEOUT.described(),
        INITIAL.described(),
        PER_ACK.described(),
        WINDOW.described(),
        DELAYED_ACK.described(),
    ],
    formula: "with d segments, p = loss, q = 1 − p, g = 1 + 1/per_ack, w the first window: handshake = \
              rtt + syn_timeout·(2q/(1−2p) − 2); slow start sends E = min(d, (1−q^d)·q/p + 1) in \
              rtt·log_g(E·(g−1)/w + 1), and a window a round once the largest is reached; first_loss = \
              (1−q^d)·(Q·f·rto/q + (1−Q)·rtt); remainder = (d − E) segments at PFTK's rate; total is their sum",
    source: "Cardwell, Savage, Anderson, \"Modeling TCP Latency\", INFOCOM 2000",
    range: || {
        let slow_link = "Slow start ends only by loss or at the largest window: the time is too short for a slow \
         link that fills first.";
        let remainder = "What follows the first loss is PFTK's:";
        format!("{} {slow_link} {remainder} {}", pftk_limit(), measured(&pftk::MEASURED))
    },
    example: "size=64KiB rtt=100ms loss=1%",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (size, mss) = (inputs.get(&SIZE)?, inputs.get(&MSS)?);
    let loss = inputs.get(&LOSS)?.get();
    let largest_window = segments(inputs.maybe(&WINDOW)?, mss);
    let count = size.get().div_ceil(mss.bytes().get());
    let model = Cardwell {
        segments: count as f64,
        loss,
        rtt: inputs.get(&RTT)?.as_secs_f64(),
        first_timeout: inputs.get(&RTO)?.as_secs_f64(),
        // A receiver's window bounds the first one as well.
        initial_window: f64::from(inputs.get(&INITIAL)?.0).min(largest_window),
        per_ack: inputs.get(&PER_ACK)?.0,
        largest_window,
        syn_timeout: inputs.get(&SYN_TIMEOUT)?.as_secs_f64(),
        delayed_ack: inputs.get(&DELAYED_ACK)?.as_secs_f64(),
    };
    let latency = model.latency();
    let answer = Answer::default()
        .number("total", latency.total(), Unit::Seconds)
        .number("handshake", latency.handshake, Unit::Seconds)
        .number("slow_start", latency.slow_start, Unit::Seconds)
        .number("first_loss", latency.first_loss, Unit::Seconds)
        .number("remainder", latency.remainder, Unit::Seconds)
        .number("delayed_ack", latency.delayed_ack, Unit::Seconds)
        .number("goodput", size.bits() as f64 / latency.total(), Unit::BitsPerSec)
        .count("segments", count, Unit::Segments)
        .number("sent_in_slow_start", model.sent_in_slow_start(), Unit::Segments)
        .warn_if(
            model.segments <= model.initial_window && latency.slow_start < model.rtt,
            "all segments go in the first flight, which is acknowledged after a round trip: the formula's logarithm gives less",
        );
    Ok(pftk_range(answer, loss))
}
