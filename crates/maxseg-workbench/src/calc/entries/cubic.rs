//! `cubic`

use maxseg_core::model::cubic::{Cubic, Region};
use maxseg_core::model::mathis::{self, Range};

use super::common::{LINK, LOSS, MSS, RTT, WINDOW, bounded, segments};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "cubic",
    group: Group::Loss,
    about: "CUBIC's throughput under loss, and the round trip below which it is Reno",
    parameters: &[
        LOSS.described(),
        RTT.described(),
        MSS.described(),
        WINDOW.described(),
        LINK.described(),
    ],
    formula: "cubic_window = (C·(3+β)/(4·(1−β)))^¼ · (rtt/loss)^¾ with C = 0.4, β = 0.7; reno_window = √(3/(2·loss)); \
              window = the larger; throughput = 8 · mss · window / rtt; crossover_rtt: where both are equal",
    source: "RFC 9438 §5 (RFC 8312 equations 5 and 6)",
    range: || {
        "Derived for one loss every 1/loss segments, without timeouts, a largest window or a queue: up to about \
         1% loss, as for `mathis`. Nothing here has measured how far random losses depart from it."
            .to_owned()
    },
    example: "loss=0.001% rtt=100ms rate=1Gbit/s",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let cubic = Cubic::standard(inputs.get(&LOSS)?.get(), inputs.get(&RTT)?.as_secs_f64());
    let mss = inputs.get(&MSS)?;
    let rate = mss.bytes().bits() as f64 * cubic.rate();
    let answer = bounded("throughput", rate, inputs.maybe(&LINK)?)
        .word("region", cubic.region().name())
        .number("window", cubic.window(), Unit::Segments)
        .number("cubic_window", cubic.cubic_window(), Unit::Segments)
        .number("reno_window", cubic.reno_window(), Unit::Segments)
        .number("crossover_rtt", cubic.crossover_rtt(), Unit::Seconds);
    let largest = segments(inputs.maybe(&WINDOW)?, mss);
    let bounded = cubic.window() >= largest;
    let timeouts = mathis::range(cubic.loss, cubic.reno_window(), f64::INFINITY) != Range::Good;
    Ok(answer
        .warn_if(bounded, "the largest window holds, not loss: `maxseg calc window`")
        .warn_if(
            timeouts && cubic.region() == Region::RenoFriendly,
            "timeouts begin to count, which the model does not know: `pftk` does, for Reno",
        )
        .warn_if(
            timeouts && cubic.region() == Region::Cubic,
            "timeouts begin to count, which the model does not know: too high",
        ))
}
