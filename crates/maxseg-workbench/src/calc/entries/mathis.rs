//! `mathis`

use maxseg_core::model::mathis::{self, Range};

use super::common::{
    LINK, LOSS, MSS, PER_ACK, RTT, WINDOW, against_simulation, bounded, measured, segments,
};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "mathis",
    group: Group::Loss,
    about: "The square-root law: Reno's throughput where losses are rare",
    parameters: &[
        LOSS.described(),
        RTT.described(),
        MSS.described(),
        PER_ACK.described(),
        WINDOW.described(),
        LINK.described(),
    ],
    formula: "throughput = 8 · mss / rtt · C / √loss with C = √(3 / (2 · per_ack)); window = C / √loss",
    source: "Mathis, Semke, Mahdavi, Ott, \"The Macroscopic Behavior of the TCP Congestion Avoidance \
             Algorithm\", CCR 1997",
    range: || {
        let known = "Up to 1% loss with a window of 10 segments and more that nothing else bounds; doubtful up \
                     to 3%; beyond that timeouts rule, which it does not know.";
        format!("{known} {}", measured(&mathis::MEASURED))
    },
    example: "loss=0.1% rtt=80ms",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let loss = inputs.get(&LOSS)?.get();
    let (rtt, per_ack) = (inputs.get(&RTT)?.as_secs_f64(), inputs.get(&PER_ACK)?.0);
    let mss = inputs.get(&MSS)?;
    let rate = mathis::rate(loss, rtt, per_ack);
    let window = rate * rtt;
    let answer = bounded("throughput", mss.bytes().bits() as f64 * rate, inputs.maybe(&LINK)?)
        .number("window", window, Unit::Segments)
        .number("constant", mathis::constant(per_ack), Unit::Ratio);
    let answer = against_simulation(answer, mathis::ratio_to_simulation(loss));
    let largest = segments(inputs.maybe(&WINDOW)?, mss);
    Ok(match mathis::range(loss, window, largest) {
        Range::Good => answer,
        Range::Doubtful => answer.warn(
            "above 1% loss or below 10 segments timeouts begin to count, and the law knows none: too high",
        ),
        Range::Outside if window >= largest => answer.warn(
            "the largest window holds, not loss: `maxseg calc window`, or `pftk`, which knows both",
        ),
        Range::Outside => {
            answer.warn("above 3% loss timeouts rule: use `pftk`")
        }
    })
}
