//! `tfrc`

use maxseg_core::model::tfrc::Tfrc;
use maxseg_core::units::{Probability, Time};

use super::common::{LINK, MSS, PER_ACK, RTT, bounded};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const LOSS_EVENTS: Parameter<Probability> = Parameter::required(
    "loss",
    "loss events as a share of packets: losses within a round trip are one event",
)
.above(0.0);
const TIMEOUT: Parameter<Time> =
    Parameter::optional("rto", "it is four round trips", "retransmission timeout, t_RTO")
        .above(0.0);

pub(super) const ENTRY: Entry = Entry {
    name: "tfrc",
    group: Group::Loss,
    about: "The rate that TFRC allows: what a TCP would have, smoothed",
    parameters: &[
        LOSS_EVENTS.described(),
        RTT.described(),
        MSS.described(),
        TIMEOUT.described(),
        PER_ACK.described(),
        LINK.described(),
    ],
    formula: "throughput = 8 · mss / (rtt·√(2bp/3) + rto·3·√(3bp/8)·p·(1 + 32p²)) with p = loss, b = per_ack",
    source: "RFC 5348 §3.1",
    range: || {
        "A definition, exact as such. As an estimate of TCP it is `pftk-approx` without the bound on timeouts: \
         too low where every loss is a timeout."
            .to_owned()
    },
    example: "loss=1% rtt=100ms",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let rtt = inputs.get(&RTT)?.as_secs_f64();
    let mss = f64::from(inputs.get(&MSS)?.get());
    let mut tfrc = Tfrc::recommended(mss, rtt, inputs.get(&LOSS_EVENTS)?.get());
    tfrc.timeout = inputs.maybe(&TIMEOUT)?.map_or(tfrc.timeout, Time::as_secs_f64);
    tfrc.per_ack = inputs.get(&PER_ACK)?.0;
    let all_timeouts = tfrc.timeouts_per_loss() >= 1.0;
    Ok(bounded("throughput", 8.0 * tfrc.rate(), inputs.maybe(&LINK)?)
        .number("packets_per_second", tfrc.rate() / mss, Unit::PacketsPerSec)
        .number("rto", tfrc.timeout, Unit::Seconds)
        .warn_if(
            all_timeouts,
            "every loss counts as more than one timeout here: the equation is below what TCP gets",
        ))
}
