//! `fragments`

use maxseg_core::framing::{Fragment, Framing, IpVersion, fragments, ip_header};
use maxseg_core::units::{Bytes, Mtu, Probability};

use super::common::MTU;
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Octets;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const PACKET: Parameter<Octets> =
    Parameter::required("packet", "length of the IPv4 packet, headers included")
        .at_least(20.0)
        .at_most(65_535.0);
const HEADER: Parameter<Octets> =
    Parameter::with_default("header", "20", "length of its IP header: every fragment has one")
        .at_least(20.0)
        .at_most(60.0);
const FRAMING: Parameter<Framing> = Parameter::with_default(
    "framing",
    "ip",
    "what wraps a packet on the wire, as in a scenario: ip (nothing), ethernet, ppp, pppoe …",
);
const LOSS: Parameter<Probability> = Parameter::optional(
    "loss",
    "nothing is said of losses",
    "chance that one fragment is lost, independent of others",
);

/// So many fragments are written down one by one.
const SHOWN: usize = 10;

pub(super) const ENTRY: Entry = Entry {
    name: "fragments",
    group: Group::Sizes,
    about: "As which fragments an IPv4 packet passes an MTU, and what that costs",
    parameters: &[
        PACKET.described(),
        MTU.described(),
        HEADER.described(),
        FRAMING.described(),
        LOSS.described(),
    ],
    formula: "every fragment but the last carries the largest multiple of 8 up to mtu − header; each has a \
              header of its own; packet_loss = 1 − (1 − loss)ⁿ, as one lost fragment loses the packet",
    source: "RFC 791 §3.2; RFC 8900 on why not to",
    range: || {
        "Exact for a packet without DF that no router has fragmented before, and whose options, if any, are \
         copied into every fragment. Routers never fragment IPv6."
            .to_owned()
    },
    example: "packet=1500 mtu=576",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (length, header) = (inputs.get(&PACKET)?.0, inputs.get(&HEADER)?.0);
    let (mtu, framing): (Mtu, _) = (inputs.get(&MTU)?, inputs.get(&FRAMING)?);
    if length < header {
        return Err(inputs.refuse(&PACKET, format!("it is shorter than its header of {header}")));
    }
    let all: Vec<Fragment> = fragments(length, mtu, header).collect();
    let count = all.len() as u64;
    let total = all.iter().fold(Bytes::ZERO, |sum, fragment| sum + fragment.length);
    let wire = all.iter().fold(Bytes::ZERO, |sum, fragment| sum + framing.on_wire(fragment.length));
    let whole = framing.on_wire(length);
    let mut answer = Answer::default()
        .count("fragments", count, Unit::Count)
        .count("ip_bytes", total.get(), Unit::Bytes)
        .count("wire", wire.get(), Unit::Bytes)
        .number("more_than_whole", wire.get() as f64 / whole.get() as f64 - 1.0, Unit::Share);
    if let Some(loss) = inputs.maybe(&LOSS)? {
        answer = answer.number("packet_loss", loss.at_least_once_in(count).get(), Unit::Share);
    }
    for (index, fragment) in all.iter().take(SHOWN).enumerate() {
        answer = answer.word(&format!("fragment_{}", index + 1), &in_words(fragment));
    }
    let has_options = header > ip_header(IpVersion::V4);
    Ok(answer
        .warn_if(all.len() > SHOWN, &format!("only the first {SHOWN} fragments are written down"))
        .warn_if(
            has_options && count > 1,
            "options that are not to be copied would leave later fragments a shorter header",
        ))
}

fn in_words(fragment: &Fragment) -> String {
    let Fragment { offset, payload, length } = fragment;
    let (offset, payload, length) = (offset.get(), payload.get(), length.get());
    format!("{length} B, of which {payload} B of payload at offset {offset}")
}
