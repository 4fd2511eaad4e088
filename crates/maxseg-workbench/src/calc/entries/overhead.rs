//! `overhead`

use maxseg_core::framing::{Framing, Headers};
use maxseg_core::units::{BitsPerSec, Bytes, Mtu};

use super::common::IP;
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Octets;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const PAYLOAD: Parameter<Octets> = Parameter::with_default("payload", "1460", "of a segment");
const OPTIONS: Parameter<Octets> =
    Parameter::with_default("options", "0", "TCP options: 12 with timestamps").at_most(40.0);
const FRAMING: Parameter<Framing> = Parameter::with_default(
    "framing",
    "ethernet",
    "what wraps a packet on the wire, as in a scenario: ip (nothing), ethernet, ppp, serial, atm-aal5 …",
);
const RATE: Parameter<BitsPerSec> =
    Parameter::optional("rate", "there is no goodput", "of the wire, all headers included");

pub(super) const ENTRY: Entry = Entry {
    name: "overhead",
    group: Group::Sizes,
    about: "What a segment costs on the wire, and what share of it is payload",
    parameters: &[
        PAYLOAD.described(),
        OPTIONS.described(),
        IP.described(),
        FRAMING.described(),
        RATE.described(),
    ],
    formula: "ip_packet = payload + options + 20 (TCP) + 20 or 40 (IP); wire adds the framing, for Ethernet \
              14 of header, 4 of FCS, 8 of preamble, 12 of gap, with frames of at least 64; \
              efficiency = payload / wire (in bits: a serial line sends 10 for \
              each byte); goodput = rate · efficiency",
    source: "RFC 9293 §3.1, RFC 791, RFC 8200; IEEE 802.3, RFC 1662, RFC 2516",
    range: || {
        "Exact for segments of this size. Acknowledgements go the other way and are not counted; tools that \
         shape traffic often count less than the wire does (IP packet and 14 bytes)."
            .to_owned()
    },
    example: "payload=1448 options=12 rate=1Gbit/s",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (payload, options) = (inputs.get(&PAYLOAD)?.0, inputs.get(&OPTIONS)?.0);
    let (ip, framing) = (inputs.get(&IP)?, inputs.get(&FRAMING)?);
    let headers = Headers { ip, tcp_options: options };
    if payload > Bytes::new(u64::from(Mtu::MAX)).saturating_sub(headers.bytes()) {
        let what = format!("no IP packet holds {payload} behind {} of headers", headers.bytes());
        return Err(inputs.refuse(&PAYLOAD, what));
    }
    let packet = headers.packet(payload);
    let wire = framing.on_wire(packet);
    let bits = wire.get() * framing.bits_per_byte();
    let efficiency = payload.bits() as f64 / bits as f64;
    let mut answer = Answer::default()
        .count("ip_packet", packet.length().get(), Unit::Bytes)
        .count("wire", wire.get(), Unit::Bytes)
        .number("efficiency", efficiency, Unit::Share);
    if let Some(rate) = inputs.maybe(&RATE)? {
        answer = answer.number("goodput", rate.get() as f64 * efficiency, Unit::BitsPerSec);
    }
    let jumbo = is_ethernet(framing) && packet.length() > Mtu::ETHERNET.bytes();
    Ok(answer.warn_if(jumbo, "larger than the 1500 bytes that Ethernet takes without jumbo frames"))
}

fn is_ethernet(framing: Framing) -> bool {
    matches!(framing, Framing::Ethernet | Framing::EthernetVlan | Framing::Pppoe)
}
