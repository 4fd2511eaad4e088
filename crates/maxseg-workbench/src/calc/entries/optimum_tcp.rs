//! `optimum-tcp`

use maxseg_core::framing::IpVersion;
use maxseg_core::model::Formula;
use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum::Tcp;
use maxseg_core::model::pftk;
use maxseg_core::mss::default_mss;
use maxseg_core::units::{BitsPerSec, Bytes};

use super::common::{
    FRAME, FRAME_ERROR, MTU, PER_ACK, RTO, RTT, TCP_HEADERS, WINDOW, against_simulation, measured,
    pftk_range,
};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const LINK: Parameter<BitsPerSec> =
    Parameter::optional("rate", "no link bounds the result", "of the link, headers included");

/// What hosts use that know nothing better (RFC 9293 §3.7.1).
const DEFAULT_MSS: Bytes = Bytes::new(default_mss(IpVersion::V4) as u64);

pub(super) const ENTRY: Entry = Entry {
    name: "optimum-tcp",
    group: Group::Frames,
    about: "The best TCP segment size on a link with frame errors",
    parameters: &[
        FRAME.described(),
        FRAME_ERROR.described(),
        RTT.described(),
        RTO.described(),
        LINK.described(),
        WINDOW.described(),
        PER_ACK.described(),
        TCP_HEADERS.described(),
        MTU.described(),
    ],
    formula: "over the sizes s that fill whole frames, and the largest: the greatest of min(8·s·pftk(p(s)), \
              8·W/rtt, rate·s/(s + header)·(1 − p(s))) with p(s) = 1 − (1 − error)^⌈(s + header)/frame⌉ and W the window in \
              whole segments",
    source: "Choi, Choi, Yoo, \"Adapting TCP Segment Size in Cellular Networks\" for p(s); Padhye et al. 1998 for TCP",
    range: || {
        format!(
            "The choice is PFTK's, as the goodput beside it is. Up to a few percent of segments lost the curve is \
             flat around its top, so that the choice is surer than the goodput; beyond, the simulator prefers \
             smaller segments still, and so does a longer timer. Bursts and repeats move it to larger \
             segments. {}",
            measured(&pftk::MEASURED)
        )
    },
    example: "frame=128 error=5% rtt=440ms rto=1s rate=2Mbit/s window=64KiB",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let header = inputs.get(&TCP_HEADERS)?.0;
    let mtu = inputs.get(&MTU)?;
    let Some(frames) = Frames::new(header, inputs.get(&FRAME)?.0) else {
        return Err(inputs.refuse(&FRAME, "a frame must have at least 1 byte"));
    };
    let transfer = Tcp {
        frames,
        frame_loss: inputs.get(&FRAME_ERROR)?,
        rate: inputs.maybe(&LINK)?.map_or(f64::INFINITY, |rate| rate.get() as f64),
        rtt: inputs.get(&RTT)?.as_secs_f64(),
        first_timeout: inputs.get(&RTO)?.as_secs_f64(),
        per_ack: inputs.get(&PER_ACK)?.0,
        window: inputs.maybe(&WINDOW)?.map_or(f64::INFINITY, |window| window.get() as f64),
        largest: mtu.bytes().saturating_sub(header),
    };
    let Some(best) = transfer.best() else {
        let what = format!("an MTU of {mtu} leaves nothing behind {header} of headers");
        return Err(inputs.refuse(&MTU, what));
    };
    let mut answer = Answer::default()
        .count("mss", best.payload.get(), Unit::Bytes)
        .count("frames", frames.count(best.payload), Unit::Frames)
        .number("segment_loss", best.loss.get(), Unit::Share)
        .number("goodput", best.goodput, Unit::BitsPerSec)
        .word("bound", best.bound.name());
    for (name, size) in [("goodput_of_536", DEFAULT_MSS), ("goodput_of_largest", transfer.largest)]
    {
        if size <= transfer.largest {
            answer = answer.number(name, transfer.choice(size).goodput, Unit::BitsPerSec);
        }
    }
    let loss = best.loss.get();
    let answer = if best.bound == Formula::PftkFull {
        against_simulation(answer, pftk::ratio_to_simulation(loss))
    } else {
        answer.warn_if(
            best.goodput.is_infinite(),
            "no errors, no window and no link: nothing bounds the rate, and any size is as good",
        )
    };
    // Whichever bound holds of the best size, the formula decided that no other is better.
    Ok(pftk_range(answer, loss))
}
