//! `optimum-datagram`

use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum::{datagram, goodput_factor};

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
    about: "The datagram that carries most over a link of error-prone frames",
    parameters: &[FRAME.described(), FRAME_ERROR.described(), HEADER.described(), MTU.described()],
    formula: "goodput_factor g(n) = (n·M − H)/(n·M) · (1 − error)ⁿ, largest at one whole n, near continuous_frames = \
              (H + √(H² + 4·M·H/L)) / 2M with L = −ln(1 − error); payload = n·M − H",
    source: "Choi, Choi, Yoo, \"Adapting TCP Segment Size in Cellular Networks\", equations 1 and 2, maximised",
    range: || {
        "Exact for datagrams sent as fast as the link allows, and frames that err independently and are not \
         repeated. With bursts the best datagram is larger; TCP slows down upon losses and wants its own \
         (`optimum-tcp`)."
            .to_owned()
    },
    example: "frame=128 error=5%",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (header, error) = (inputs.get(&HEADER)?.0, inputs.get(&FRAME_ERROR)?);
    let mtu = inputs.get(&MTU)?;
    let frames = Frames::new(header, inputs.get(&FRAME)?.0);
    // Whole frames within the MTU: none where a frame is larger than it.
    let fitting = frames.map(|frames| (frames, u64::from(mtu.get()) / frames.frame().get()));
    let best =
        fitting.and_then(|(frames, most)| Some((frames, most, datagram(frames, error, most)?)));
    let Some((frames, most, best)) = best else {
        let what = format!("no full frame behind {header} of headers fits an MTU of {mtu}");
        return Err(inputs.refuse(&MTU, what));
    };
    Ok(Answer::default()
        .count("payload", best.payload.get(), Unit::Bytes)
        .count("frames", best.frames, Unit::Frames)
        .number("continuous_frames", best.continuous_frames, Unit::Frames)
        .number("goodput_factor", best.goodput_factor, Unit::Share)
        .count("largest_payload", frames.payload(most).get(), Unit::Bytes)
        .number("goodput_factor_of_largest", goodput_factor(frames, most, error), Unit::Share)
        .warn_if(
            best.frames == most && best.continuous_frames > most as f64,
            "the MTU bounds it: larger would be better still",
        )
        .warn_if(
            best.goodput_factor <= 0.0,
            "every frame is lost: nothing arrives, whatever its size",
        ))
}
