//! `ack-path`

use maxseg_core::framing::{Framing, Headers, IpPacket};
use maxseg_core::model::ack_path::AckPath;
use maxseg_core::units::{BitsPerSec, Bytes};

use super::common::{IP, MSS, PER_ACK};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const FORWARD: Parameter<BitsPerSec> =
    Parameter::required("forward", "rate of the slowest link towards the receiver");
const REVERSE: Parameter<BitsPerSec> =
    Parameter::required("reverse", "rate of the slowest link back to the sender");
const FRAMING: Parameter<Framing> = Parameter::with_default(
    "framing",
    "ip",
    "what wraps a packet on the wire, as in a scenario: ip (nothing), ethernet, ppp, serial, atm-aal5 …",
);

pub(super) const ENTRY: Entry = Entry {
    name: "ack-path",
    group: Group::WindowsAndTimers,
    about: "What acknowledgements on a slow way back leave of a fast way there",
    parameters: &[
        FORWARD.described(),
        REVERSE.described(),
        MSS.described(),
        PER_ACK.described(),
        IP.described(),
        FRAMING.described(),
    ],
    formula: "normalised_ratio k = (forward / reverse) / (data packet / acknowledgement); acks_per_second = \
              reverse / (8 · acknowledgement); ack_limit = acks_per_second · per_ack · 8 · mss; \
              reverse_needed = forward · acknowledgement / (data packet · per_ack)",
    source: "RFC 3449 §3.1",
    range: || {
        "Exact for one bulk flow and a way back with nothing else on it, whose acknowledgements are neither \
         lost, thinned nor compressed. A full queue on the way back drops some, so that each of the others \
         acknowledges more: the limit then gives way, in bursts."
            .to_owned()
    },
    example: "forward=10Mbit/s reverse=50kbit/s mss=960",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let headers = Headers::plain(inputs.get(&IP)?);
    let framing = inputs.get(&FRAMING)?;
    let mss = inputs.get(&MSS)?.bytes();
    let on_wire =
        |packet: IpPacket| (framing.on_wire(packet).get() * framing.bits_per_byte()) as f64;
    let path = AckPath {
        forward: inputs.get(&FORWARD)?.get() as f64,
        reverse: inputs.get(&REVERSE)?.get() as f64,
        data: on_wire(headers.packet(mss)),
        ack: on_wire(headers.packet(Bytes::ZERO)),
        payload: mss.bits() as f64,
        per_ack: inputs.get(&PER_ACK)?.0,
    };
    Ok(Answer::default()
        .number("normalised_ratio", path.normalised_ratio(), Unit::Ratio)
        .number("acks_per_second", path.acks_per_second(), Unit::AcksPerSec)
        .number("ack_limit", path.payload_limit(), Unit::BitsPerSec)
        .number("link_limit", path.link_limit(), Unit::BitsPerSec)
        .number("goodput", path.payload_limit().min(path.link_limit()), Unit::BitsPerSec)
        .number("reverse_needed", path.reverse_needed(), Unit::BitsPerSec)
        .warn_if(
            path.holds_back(),
            "the way back is full before the way there: acknowledge less often, compress headers, or send \
             larger segments",
        ))
}
