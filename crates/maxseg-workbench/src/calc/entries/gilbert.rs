//! `gilbert`

use maxseg_core::errors::{Clock, ErrorModel, Exposure, GilbertElliott, Per};
use maxseg_core::units::{Probability, Time};

use crate::calc::parameter::Parameter;
use crate::calc::quantity::Count;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const FRAMES: Parameter<Count> =
    Parameter::required("frames", "of a segment, n").at_least(1.0).at_most(1e6);
const TO_BAD: Parameter<Probability> =
    Parameter::required("to_bad", "chance to go from good to bad after each frame");
const TO_GOOD: Parameter<Probability> =
    Parameter::required("to_good", "chance to go from bad to good after each frame").above(0.0);
const GOOD: Parameter<Probability> =
    Parameter::with_default("good", "0%", "chance that a frame is lost in the good state");
const BAD: Parameter<Probability> =
    Parameter::with_default("bad", "100%", "chance that a frame is lost in the bad state");

pub(super) const ENTRY: Entry = Entry {
    name: "gilbert",
    group: Group::Frames,
    about: "How likely a segment is lost when frames err in bursts",
    parameters: &[
        FRAMES.described(),
        TO_BAD.described(),
        TO_GOOD.described(),
        GOOD.described(),
        BAD.described(),
    ],
    formula: "bad_share = to_bad / (to_bad + to_good); mean_burst = 1 / to_good; mean_frame_error = \
              (1 − bad_share)·good + bad_share·bad; segment_loss: the chain begins anywhere, its two states' \
              chances of no loss so far are carried over n frames; independent_loss = 1 − (1 − mean_frame_error)ⁿ",
    source: "Gilbert 1960, Elliott 1963 (Bell System Technical Journal)",
    range: || {
        "Exact for a chain that a frame moves by a step, in its stationary state when the segment begins. At the \
         same mean error bursts lose fewer segments than independent errors do, so the best segment is larger."
            .to_owned()
    },
    example: "frames=12 to_bad=1% to_good=20%",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let frames = inputs.get(&FRAMES)?.0;
    let (to_bad, to_good) = (inputs.get(&TO_BAD)?.get(), inputs.get(&TO_GOOD)?.get());
    let rate = Probability::new(to_bad / (to_bad + to_good))
        .map_err(|error| inputs.refuse(&TO_BAD, error.to_string()))?;
    let burst = 1.0 / to_good;
    let chain = GilbertElliott {
        clock: Clock::Units { per: Per::Frame, burst },
        rate,
        good: inputs.get(&GOOD)?,
        bad: inputs.get(&BAD)?,
    };
    let exposure = Exposure { bytes: 0, frames, airtime: Time::ZERO };
    let loss = ErrorModel::GilbertElliott(chain).chance(&exposure).get();
    let independent = chain.mean().at_least_once_in(u64::from(frames)).get();
    Ok(Answer::default()
        .number("segment_loss", loss, Unit::Share)
        .number("independent_loss", independent, Unit::Share)
        .number("mean_frame_error", chain.mean().get(), Unit::Share)
        .number("bad_share", rate.get(), Unit::Share)
        .number("mean_burst", burst, Unit::Frames)
        .warn_if(
            to_bad + to_good > 1.0,
            "the states alternate more than chance would: errors are spread out, not in bursts",
        )
        .warn_if(chain.good > chain.bad, "the good state loses more than the bad one"))
}
