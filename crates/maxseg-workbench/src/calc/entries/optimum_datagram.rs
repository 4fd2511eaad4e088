//! `optimum-datagram`

use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum::{
    Datagram, datagram, datagram_within, goodput_factor, goodput_factor_of,
};
use maxseg_core::units::{Bytes, Probability};

use super::common::{FRAME, FRAME_ERROR, MTU};
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Octets;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const HEADER: Parameter<Octets> = Parameter::with_default(
    "header",
    "28",
    "headers in front of the payload, H: 28 for UDP over IPv4",
);

pub(super) const ENTRY: Entry = Entry {
    name: "optimum-datagram",
    group: Group::Frames,
    about: "The best datagram size on a link with frame errors",
    parameters: &[FRAME.described(), FRAME_ERROR.described(), HEADER.described(), MTU.described()],
    formula: "over the sizes that fill whole frames, and the largest that the MTU allows: the greatest of payload/(payload + H) · \
              (1 − error)ⁿ with n = ⌈(payload + H)/M⌉; of whole frames g(n) = (n·M − H)/(n·M) · (1 − error)ⁿ is largest near \
              continuous_frames = (H + √(H² + 4·M·H/L)) / 2M with L = −ln(1 − error)",
    source: "Choi, Choi, Yoo, \"Adapting TCP Segment Size in Cellular Networks\", equations 1 and 2, maximised",
    range: || {
        "Exact for datagrams at the full rate of the link, with independent frame errors, no link \
         retransmissions, and a last frame that is only as long as what it carries. With bursts the best datagram is larger; for TCP, which slows down after losses, use \
         `optimum-tcp`."
            .to_owned()
    },
    example: "frame=128 error=5%",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (header, error) = (inputs.get(&HEADER)?.0, inputs.get(&FRAME_ERROR)?);
    let mtu = inputs.get(&MTU)?;
    let Some(frames) = Frames::new(header, inputs.get(&FRAME)?.0) else {
        return Err(inputs.refuse(&FRAME, "a frame must have at least 1 byte"));
    };
    let largest = mtu.bytes().saturating_sub(header);
    let Some(best) = datagram_within(frames, error, largest) else {
        let what = format!("an MTU of {mtu} leaves nothing behind {header} of headers");
        return Err(inputs.refuse(&MTU, what));
    };
    let most = frames.count(largest);
    let is_largest = best.payload == largest;
    let grows = !frames.is_aligned(largest) || best.continuous_frames > most as f64;
    let answer = Answer::default()
        .count("payload", best.payload.get(), Unit::Bytes)
        .count("frames", best.frames, Unit::Frames)
        .number("continuous_frames", best.continuous_frames, Unit::Frames)
        .number("goodput_factor", best.goodput_factor, Unit::Share)
        .count("largest_payload", largest.get(), Unit::Bytes)
        .number("goodput_factor_of_largest", goodput_factor_of(frames, largest, error), Unit::Share)
        .warn_if(is_largest && grows, "the MTU is the limit: a larger one would be better")
        .warn_if(best.goodput_factor <= 0.0, "every frame is lost: nothing arrives at any size");
    Ok(match better_if_padded(frames, error, &best) {
        Some(payload) => answer.warn(format!(
            "where the last frame is sent full (`pad = true`), {payload} of payload are better"
        )),
        None => answer,
    })
}

/// The payload that is better than the best where the last frame is sent full; `None` where the best fills it, or is the best then as well.
fn better_if_padded(frames: Frames, error: Probability, best: &Datagram) -> Option<Bytes> {
    let filled = datagram(frames, error, best.frames - 1)?;
    let share = best.payload.get() as f64 / frames.payload(best.frames).get() as f64;
    let padded = goodput_factor(frames, best.frames, error) * share;
    (!frames.is_aligned(best.payload) && filled.goodput_factor > padded).then_some(filled.payload)
}
