//! `pftk` and `pftk-approx`

use maxseg_core::model::pftk::{self, Pftk};

use super::common::{
    LINK, LOSS, MSS, PER_ACK, RTO, RTT, WINDOW, against_simulation, bounded, measured, pftk_limit,
    pftk_range, segments,
};
use crate::calc::parameter::Described;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const PARAMETERS: &[Described] = &[
    LOSS.described(),
    RTT.described(),
    RTO.described(),
    MSS.described(),
    PER_ACK.described(),
    WINDOW.described(),
    LINK.described(),
];

pub(super) const FULL: Entry = Entry {
    name: "pftk",
    group: Group::Loss,
    about: "Reno's goodput under loss, timeouts and the largest window included",
    parameters: PARAMETERS,
    formula: "with p = loss, q = 1 − p, b = per_ack, W the lesser of the largest window and \
              E[W] = (2+b)/3b + √(8q/3bp + ((2+b)/3b)²): goodput = 8 · mss · (q/p + W/2 + Q) / (rounds + Q·rto·f/q), \
              where rounds = rtt·(b·W/2 + 1), or rtt·(b·W/8 + q/(p·W) + 2) where the largest window bounds; \
              Q = min(1, (1−q³)(1+q³(1−q^(W−3)))/(1−q^W)) is the share of losses that end in a timeout (1 for \
              W ≤ 3), f = 1+p+2p²+4p³+8p⁴+16p⁵+32p⁶. send_rate has q/p + W + Q/q above the line.",
    source: "Padhye, Firoiu, Towsley, Kurose, \"Modeling TCP Throughput\", SIGCOMM 1998, equations 13, 22, 29, 32 \
             and section V",
    range: || {
        let bursts = "Bursts are not in it: give `loss` as the share of segments that begin one.";
        format!("{} {} {bursts}", pftk_limit(), measured(&pftk::MEASURED))
    },
    example: "loss=2% rtt=80ms rto=1s window=64KiB",
    compute: full,
};

pub(super) const APPROXIMATION: Entry = Entry {
    name: "pftk-approx",
    group: Group::Loss,
    about: "The same in one line: an approximation of the send rate",
    parameters: PARAMETERS,
    formula: "send_rate = 8 · mss · min(W/rtt, 1/(rtt·√(2bp/3) + rto·min(1, 3·√(3bp/8))·p·(1 + 32p²))) with p = loss, \
              b = per_ack, W the largest window in segments",
    source: "Padhye, Firoiu, Towsley, Kurose, \"Modeling TCP Throughput\", SIGCOMM 1998, equation 33",
    range: || {
        let window =
            "Where the largest window begins to bound (loss · W² about 1), `pftk` gives less.";
        format!("{} {window} {}", pftk_limit(), measured(&pftk::MEASURED_APPROXIMATION))
    },
    example: "loss=2% rtt=80ms rto=1s",
    compute: approximation,
};

/// The model, and the bits of a segment.
fn model(inputs: &Inputs<'_>) -> Result<(Pftk, f64), Error> {
    let mss = inputs.get(&MSS)?;
    let model = Pftk {
        loss: inputs.get(&LOSS)?.get(),
        rtt: inputs.get(&RTT)?.as_secs_f64(),
        first_timeout: inputs.get(&RTO)?.as_secs_f64(),
        per_ack: inputs.get(&PER_ACK)?.0,
        largest_window: segments(inputs.maybe(&WINDOW)?, mss),
    };
    Ok((model, mss.bytes().bits() as f64))
}

fn full(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (model, bits) = model(inputs)?;
    let answer = bounded("goodput", bits * model.goodput(), inputs.maybe(&LINK)?)
        .number("send_rate", bits * model.send_rate(), Unit::BitsPerSec)
        .number("window", model.window(), Unit::Segments)
        .number("timeout_share", model.timeout_share(model.window()), Unit::Share)
        .number("time_in_timeouts", model.timeout_time_share(), Unit::Share);
    let answer = against_simulation(answer, pftk::ratio_to_simulation(model.loss));
    Ok(pftk_range(timer_below_round_trip(answer, &model), model.loss))
}

fn approximation(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (model, bits) = model(inputs)?;
    let answer = bounded("send_rate", bits * model.approximate_send_rate(), inputs.maybe(&LINK)?);
    let answer = against_simulation(answer, pftk::approximation_to_simulation(model.loss));
    let meets = model.loss * model.largest_window * model.largest_window;
    let answer = answer.warn_if(
        (0.1..10.0).contains(&meets),
        "the largest window begins to bound here, where this approximation is too high: use `pftk`",
    );
    Ok(pftk_range(timer_below_round_trip(answer, &model), model.loss))
}

fn timer_below_round_trip(answer: Answer, model: &Pftk) -> Answer {
    answer.warn_if(
        model.first_timeout < model.rtt,
        "a timeout below the round trip expires for every segment: no TCP sets its timer so",
    )
}
