//! `plateau`

use maxseg_core::framing::{IpVersion, PLATEAUS, TCP_HEADER, ip_header, next_plateau};
use maxseg_core::units::{Bytes, Mtu};

use crate::calc::parameter::Parameter;
use crate::calc::quantity::Octets;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const PACKET: Parameter<Octets> =
    Parameter::required("packet", "length of the IPv4 packet that a router refused")
        .at_least(20.0)
        .at_most(65_535.0);
const MTU: Parameter<Mtu> =
    Parameter::optional("mtu", "the steps down to it are not listed", "of the path in truth");

pub(super) const ENTRY: Entry = Entry {
    name: "plateau",
    group: Group::Sizes,
    about: "The next path MTU to try after an ICMP message without an MTU",
    parameters: &[PACKET.described(), MTU.described()],
    formula: "next = the largest below packet of 65535, 32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68, \
              and so on until the path takes it; mss = next − 40",
    source: "RFC 1191 §5, §7 and table 7-1",
    range: || {
        "For routers that write 0 as the next hop's MTU, as before RFC 1191. Routers of 4.2BSD report the length \
         with the header counted twice: take 4 · IHL off first (§5). A host that hears nothing at all needs RFC 4821."
            .to_owned()
    },
    example: "packet=1500 mtu=576",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let refused = inputs.get(&PACKET)?.0;
    let next = next_plateau(refused);
    let answer = Answer::default()
        .count("mtu", u64::from(next.get()), Unit::Bytes)
        .count("mss", mss(next).get(), Unit::Bytes)
        .count("plateaus_below", below(next), Unit::Count);
    let least = refused <= next.bytes();
    let answer =
        answer.warn_if(least, "every IPv4 link must carry 68 bytes: nothing smaller is tried");
    let Some(truth) = inputs.maybe(&MTU)? else { return Ok(answer) };
    if refused <= truth.bytes() {
        return Err(
            inputs.refuse(&MTU, format!("a packet of {refused} passes it and is not refused"))
        );
    }
    let refusals =
        std::iter::successors(Some(refused), |length| Some(next_plateau(*length).bytes()))
            .take_while(|length| *length > truth.bytes());
    let refused_packets = refusals.count() as u64;
    let found = PLATEAUS.into_iter().find(|plateau| *plateau <= truth.get()).unwrap_or(Mtu::MIN);
    let unused = truth.bytes().saturating_sub(Bytes::new(u64::from(found)));
    Ok(answer
        .count("refused_packets", refused_packets, Unit::Count)
        .count("found", u64::from(found), Unit::Bytes)
        .count("unused", unused.get(), Unit::Bytes))
}

fn mss(mtu: Mtu) -> Bytes {
    mtu.bytes().saturating_sub(ip_header(IpVersion::V4) + TCP_HEADER)
}

/// How many more there are to fall to.
fn below(mtu: Mtu) -> u64 {
    PLATEAUS.into_iter().filter(|plateau| *plateau < mtu.get()).count() as u64
}
