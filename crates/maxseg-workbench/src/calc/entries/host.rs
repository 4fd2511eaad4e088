//! `host`

use maxseg_core::framing::{Framing, Headers};
use maxseg_core::model::host::HostLimit;
use maxseg_core::units::{BitsPerSec, Time};

use super::common::{IP, MSS, PER_ACK};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const COST: Parameter<Time> = Parameter::required(
    "cost",
    "what the slower host's processor takes for each packet that it sends or receives",
)
.above(0.0);
const RATE: Parameter<BitsPerSec> =
    Parameter::optional("rate", "no link is compared", "of the slowest link, all headers included");
const FRAMING: Parameter<Framing> = Parameter::with_default(
    "framing",
    "ethernet",
    "what wraps a packet on that link, as in a scenario: ip (nothing), ethernet, ppp, serial, atm-aal5 …",
);

pub(super) const ENTRY: Entry = Entry {
    name: "host",
    group: Group::WindowsAndTimers,
    about: "What a host that takes time for each packet lets through",
    parameters: &[
        COST.described(),
        MSS.described(),
        PER_ACK.described(),
        RATE.described(),
        IP.described(),
        FRAMING.described(),
    ],
    formula: "packets_per_segment = 1 + 1 / per_ack; host_limit = 8 · mss / (cost · packets_per_segment); \
              link_limit = rate · mss / wire; goodput is the lesser; cost_allowed = 8 · mss / link_limit / \
              packets_per_segment",
    source: "arithmetic: a host sends each segment and receives its acknowledgement, or the other way round",
    range: || {
        "Exact for one bulk flow whose window keeps the host busy, where each packet costs the same, large or \
         small. Hosts that hand several segments to the network card at once (segmentation offload), or take \
         several from it, pay less: count such a batch as one packet."
            .to_owned()
    },
    example: "cost=0.5ms mss=536 per_ack=2 rate=10Mbit/s",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let mss = inputs.get(&MSS)?.bytes();
    let limit = HostLimit {
        packet_cost: inputs.get(&COST)?.as_secs_f64(),
        per_ack: inputs.get(&PER_ACK)?.0,
        payload: mss.bits() as f64,
    };
    let answer = Answer::default()
        .number("packets_per_second", limit.packets_per_second(), Unit::PacketsPerSec)
        .number("packets_per_segment", limit.packets_per_segment(), Unit::Ratio)
        .number("host_limit", limit.payload_limit(), Unit::BitsPerSec);
    let Some(rate) = inputs.maybe(&RATE)? else {
        return Ok(answer);
    };
    let framing = inputs.get(&FRAMING)?;
    let packet = Headers::plain(inputs.get(&IP)?).packet(mss);
    let wire_bits = (framing.on_wire(packet).get() * framing.bits_per_byte()) as f64;
    let link_limit = rate.get() as f64 * limit.payload / wire_bits;
    let held_back = limit.payload_limit() < link_limit;
    Ok(answer
        .number("link_limit", link_limit, Unit::BitsPerSec)
        .number("goodput", limit.payload_limit().min(link_limit), Unit::BitsPerSec)
        .number("cost_allowed", limit.cost_allowed(link_limit), Unit::Seconds)
        .warn_if(
            held_back,
            "the host is slower than the link: send larger segments, or acknowledge less often",
        ))
}
