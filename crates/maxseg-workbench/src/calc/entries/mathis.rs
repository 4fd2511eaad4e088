//! `mathis`

use maxseg_core::model::mathis::{self, Range};

use super::common::{
    LINK, LOSS, MSS, PER_ACK, RTT, WINDOW, against_simulation, bounded, measured, measured_with,
    segments,
};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "mathis",
    group: Group::Loss,
    about: "The square-root law: Reno's throughput under rare losses",
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
        let known = "Up to 1% loss with an unlimited window of at least 10 segments; doubtful up to 3%; above that \
         timeouts dominate, which it ignores.";
        let sack = measured_with(
            "Reno with SACK, stack `linux`, RTT 0.02 to 0.3 s",
            &mathis::MEASURED_SACK,
        );
        format!("{known} {} {sack}", measured(&mathis::MEASURED))
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
            "too high: above 1% loss or below 10 segments timeouts matter, which the law ignores",
        ),
        Range::Outside if window >= largest => answer.warn(
            "the largest window is the limit, not loss: use `maxseg calc window`, or `pftk` for both",
        ),
        Range::Outside => {
            answer.warn("above 3% loss timeouts dominate: use `pftk`")
        }
    })
}
