//! `frames`

use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum::goodput_factor;

use super::common::{FRAME, FRAME_ERROR, TCP_HEADERS};
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Octets;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const PAYLOAD: Parameter<Octets> =
    Parameter::required("payload", "of a segment or datagram, s").above(0.0).at_most(65_535.0);

pub(super) const ENTRY: Entry = Entry {
    name: "frames",
    group: Group::Frames,
    about: "How many frames a packet takes, and how likely it is lost with one of them",
    parameters: &[
        PAYLOAD.described(),
        FRAME.described(),
        FRAME_ERROR.described(),
        TCP_HEADERS.described(),
    ],
    formula: "frames n = ⌈(payload + header) / frame⌉; segment_loss = 1 − (1 − error)ⁿ; delivery = (1 − error)ⁿ; \
              goodput_factor = payload / (payload + header) · delivery, and payload / (n · frame) · delivery where \
              the last frame is sent full",
    source: "Choi, Choi, Yoo, \"Adapting TCP Segment Size in Cellular Networks\", equations 1 and 2",
    range: || {
        "Exact for frames that err independently and are not repeated; with bursts fewer segments are lost \
         (`gilbert`), with repeats far fewer (`arq`)."
            .to_owned()
    },
    example: "payload=1460 frame=128 error=1%",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let payload = inputs.get(&PAYLOAD)?.0;
    let header = inputs.get(&TCP_HEADERS)?.0;
    let error = inputs.get(&FRAME_ERROR)?;
    let Some(frames) = Frames::new(header, inputs.get(&FRAME)?.0) else {
        return Err(inputs.refuse(&FRAME, "a frame of no bytes holds nothing"));
    };
    let count = frames.count(payload);
    let loss = frames.loss(payload, error);
    let bytes = payload.get() as f64;
    let share = bytes / (bytes + header.get() as f64);
    let full = frames.payload(count);
    let padded = goodput_factor(frames, count, error) * bytes / full.get() as f64;
    let answer = Answer::default()
        .count("frames", count, Unit::Frames)
        .number("segment_loss", loss.get(), Unit::Share)
        .word("aligned", if frames.is_aligned(payload) { "yes" } else { "no" })
        .count("unused", frames.unused(payload).get(), Unit::Bytes)
        .number("protocol_efficiency", share, Unit::Share)
        .number("delivery", loss.complement(), Unit::Share)
        .number("goodput_factor", share * loss.complement(), Unit::Share)
        .number("goodput_factor_padded", padded, Unit::Share);
    if frames.is_aligned(payload) {
        return Ok(answer);
    }
    Ok(answer.warn(format!("{full} would fill the same {count} frames")))
}
