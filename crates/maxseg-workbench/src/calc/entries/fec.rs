//! `fec`

use maxseg_core::model::fec::Fec;

use super::common::FRAME_ERROR;
use crate::calc::parameter::Parameter;
use crate::calc::quantity::Count;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const DATA: Parameter<Count> =
    Parameter::required("data", "frames of data in a block, n").at_least(1.0).at_most(1e6);
const PARITY: Parameter<Count> =
    Parameter::required("parity", "frames of parity added to them, m").at_most(1e6);

pub(super) const ENTRY: Entry = Entry {
    name: "fec",
    group: Group::Frames,
    about: "What parity frames leave of frame losses, and cost",
    parameters: &[FRAME_ERROR.described(), DATA.described(), PARITY.described()],
    formula: "segment_loss = 1 − Σ C(n+m, k)·error^k·(1 − error)^(n+m−k) over k = 0 … m; code_rate = n/(n+m)",
    source: "the binomial distribution, for codes of which any n frames restore all (maximum distance separable, as \
             the Reed-Solomon codes of RFC 5510)",
    range: || {
        "Exact for frames that err independently, and a block that is a segment. Codes that need a few frames \
         more than n lose more, and so do bursts, unless blocks are interleaved."
            .to_owned()
    },
    example: "error=5% data=12 parity=2",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let error = inputs.get(&FRAME_ERROR)?;
    let fec = Fec { data: inputs.get(&DATA)?.0, parity: inputs.get(&PARITY)?.0 };
    let left = fec.segment_loss(error).get();
    let without = Fec { parity: 0, ..fec }.segment_loss(error).get();
    Ok(Answer::default()
        .number("segment_loss", left, Unit::Share)
        .number("without_parity", without, Unit::Share)
        .number("code_rate", fec.code_rate(), Unit::Share)
        .number("delivered_per_frame", fec.code_rate() * (1.0 - left), Unit::Share))
}
