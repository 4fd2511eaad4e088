//! `arq`

use maxseg_core::errors::Arq;
use maxseg_core::units::Time;

use super::common::FRAME_ERROR;
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Count;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const RETRIES: Parameter<Count> =
    Parameter::required("retries", "repeats of a frame, after which its packet dies, R");
const FRAMES: Parameter<Count> =
    Parameter::with_default("frames", "1", "of a segment, n").at_least(1.0);

pub(super) const ENTRY: Entry = Entry {
    name: "arq",
    group: Group::Frames,
    about: "What repeating lost frames on the link leaves of their losses, and costs",
    parameters: &[FRAME_ERROR.described(), RETRIES.described(), FRAMES.described()],
    formula: "residual_frame_loss = error^(retries+1); segment_loss = 1 − (1 − residual_frame_loss)ⁿ; \
              mean_transmissions = (1 − residual_frame_loss)/(1 − error); channel_efficiency = 1 − error",
    source: "RFC 3366 §2 (persistence of link ARQ); the sums are geometric series",
    range: || {
        "Exact for tries that err independently; where errors last longer than a repeat takes to come, more is \
         left. The price, time, is not in it: a repeated frame delays its packet and all behind it, which TCP \
         sees as a varying round trip."
            .to_owned()
    },
    example: "error=5% retries=3 frames=12",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let error = inputs.get(&FRAME_ERROR)?;
    let frames = u64::from(inputs.get(&FRAMES)?.0);
    let arq = Arq { retries: inputs.get(&RETRIES)?.0, delay: Time::ZERO };
    let residual = arq.residual(error);
    Ok(Answer::default()
        .number("residual_frame_loss", residual.get(), Unit::Share)
        .number("segment_loss", residual.at_least_once_in(frames).get(), Unit::Share)
        .number("without_repeats", error.at_least_once_in(frames).get(), Unit::Share)
        .number("mean_transmissions", arq.mean_tries(error), Unit::Ratio)
        .number("channel_efficiency", Arq::channel_efficiency(error), Unit::Share))
}
