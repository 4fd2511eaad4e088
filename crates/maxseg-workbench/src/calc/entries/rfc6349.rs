//! `rfc6349`

use maxseg_core::framing::{Framing, Headers};
use maxseg_core::model::rfc6349;
use maxseg_core::units::{Bytes, Time};
use maxseg_core::window::Pipe;

use super::common::{IP, MTU, RATE, RTT, WINDOW};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const FRAMING: Parameter<Framing> = Parameter::with_default(
    "framing",
    "ethernet",
    "framing of a packet on the wire, as in a scenario: ip (nothing), ethernet, ppp, serial, atm-aal5 …",
);
const RTT_UNDER_LOAD: Parameter<Time> = Parameter::optional(
    "rtt_under_load",
    "there is no buffer delay",
    "mean round trip during the transfer",
);
const SIZE: Parameter<Bytes> =
    Parameter::optional("size", "there is no transfer time", "bytes transferred").above(0.0);
const TIME: Parameter<Time> = Parameter::optional(
    "time",
    "there is no transfer time ratio",
    "actual time of the transfer; needs size",
);
const SENT: Parameter<Bytes> =
    Parameter::optional("sent", "there is no efficiency", "bytes sent, retransmissions included")
        .above(0.0);
const RESENT: Parameter<Bytes> =
    Parameter::with_default("resent", "0B", "bytes retransmitted, of those sent");

pub(super) const ENTRY: Entry = Entry {
    name: "rfc6349",
    group: Group::WindowsAndTimers,
    about: "Metrics of a TCP throughput test: ideal, efficiency, buffer delay, time ratio",
    parameters: &[
        RATE.described(),
        RTT.described(),
        MTU.described(),
        IP.described(),
        FRAMING.described(),
        WINDOW.described(),
        RTT_UNDER_LOAD.described(),
        SIZE.described(),
        TIME.described(),
        SENT.described(),
        RESENT.described(),
    ],
    formula: "packets_per_second = rate / (8 · wire bytes of a full packet); max_throughput = \
              ⌊packets_per_second⌋ · (mtu − headers) · 8; throughput_with_window = min(8 · window / rtt, \
              max_throughput); buffer_delay = (rtt_under_load − rtt) / rtt; efficiency = (sent − resent) / sent; \
              ideal_time = 8 · size / max_throughput; transfer_time_ratio = time / ideal_time",
    source: "RFC 6349 §3.3.1, §4.1, §4.2, §4.3",
    range: || {
        "Definitions, exact as such: headers without TCP options, whole packets a second. Some tables of the RFC \
         are rounded first: its 1.4 Mbit/s for a T1 is 1.48, and the times that follow from it differ as well."
            .to_owned()
    },
    example: "rate=44.21Mbit/s rtt=25ms framing=ppp window=64kB size=100MB time=30s",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (rate, rtt) = (inputs.get(&RATE)?, inputs.get(&RTT)?);
    let (mtu, framing) = (inputs.get(&MTU)?, inputs.get(&FRAMING)?);
    let headers = Headers::plain(inputs.get(&IP)?).bytes();
    if mtu.bytes() <= headers {
        let what = format!("an MTU of {mtu} leaves nothing behind {headers} of headers");
        return Err(inputs.refuse(&MTU, what));
    }
    let seconds = rtt.as_secs_f64();
    let max = rfc6349::max_throughput(rate, framing, mtu, headers);
    let per_second = rfc6349::frames_per_second(rate, framing, mtu);
    let mut answer = Answer::default()
        .number("packets_per_second", per_second, Unit::PacketsPerSec)
        .number("max_throughput", max, Unit::BitsPerSec)
        .number("bdp", Pipe { rate, rtt }.bdp(), Unit::Bytes)
        .warn_if(
            max <= 0.0,
            "less than one full packet per second, which the RFC rounds down to none",
        );
    if let Some(window) = inputs.maybe(&WINDOW)? {
        let through = rfc6349::throughput_with_window(window.get() as f64, seconds, max);
        answer = answer.number("throughput_with_window", through, Unit::BitsPerSec);
    }
    if let Some(loaded) = inputs.maybe(&RTT_UNDER_LOAD)? {
        let delay = rfc6349::buffer_delay(seconds, loaded.as_secs_f64());
        answer = answer.number("buffer_delay", delay, Unit::Share).warn_if(
            loaded < rtt,
            "a round trip under load below the baseline: the baseline was not the minimum",
        );
    }
    transfer(inputs, efficiency(inputs, answer)?, max)
}

fn efficiency(inputs: &Inputs<'_>, answer: Answer) -> Result<Answer, Error> {
    let resent = inputs.get(&RESENT)?;
    let Some(sent) = inputs.maybe(&SENT)? else {
        if resent > Bytes::ZERO {
            return Err(inputs.refuse(&RESENT, "a share of what was sent needs `sent` too"));
        }
        return Ok(answer);
    };
    if resent > sent {
        return Err(inputs.refuse(&RESENT, format!("more resent ({resent}) than sent ({sent})")));
    }
    let share = rfc6349::efficiency(sent.get() as f64, resent.get() as f64);
    Ok(answer.number("efficiency", share, Unit::Share))
}

fn transfer(inputs: &Inputs<'_>, answer: Answer, max: f64) -> Result<Answer, Error> {
    let actual = inputs.maybe(&TIME)?;
    let Some(size) = inputs.maybe(&SIZE)? else {
        return match actual {
            Some(_) => Err(inputs.refuse(&TIME, "a ratio of transfer times needs `size` too")),
            None => Ok(answer),
        };
    };
    // At no throughput no time is ideal.
    if max <= 0.0 {
        return Ok(answer);
    }
    let ideal = rfc6349::ideal_time(size.get() as f64, max);
    let answer = answer.number("ideal_time", ideal, Unit::Seconds);
    let Some(actual) = actual else { return Ok(answer) };
    let ratio = rfc6349::transfer_time_ratio(actual.as_secs_f64(), ideal);
    Ok(answer
        .number("transfer_time_ratio", ratio, Unit::Ratio)
        .warn_if(ratio < 1.0, "faster than the ideal: check rate, framing and size"))
}
