//! `cubic`

use maxseg_core::model::cubic::{self, Cubic, Region};
use maxseg_core::model::mathis::{self, Range};

use super::common::{
    LINK, LOSS, MSS, RTT, WINDOW, against_simulation, bounded, measured_with, segments,
};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "cubic",
    group: Group::Loss,
    about: "CUBIC's throughput under loss, and the round trip below which it equals Reno's",
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
        let known = "Derived for one loss every 1/loss segments, without timeouts, a largest window or a queue: up \
                     to about 2% loss.";
        let conditions = "stack `linux` under independent losses, RTT 0.02 to 0.3 s, large queues";
        format!("{known} {}", measured_with(conditions, &cubic::MEASURED))
    },
    example: "loss=0.001% rtt=100ms rate=1Gbit/s",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let loss = inputs.get(&LOSS)?.get();
    let cubic = Cubic::standard(loss, inputs.get(&RTT)?.as_secs_f64());
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
    let answer = against_simulation(answer, cubic::ratio_to_simulation(loss));
    Ok(answer
        .warn_if(bounded, "the largest window is the limit, not loss: use `maxseg calc window`")
        .warn_if(
            timeouts && cubic.region() == Region::RenoFriendly,
            "timeouts matter here, which the model ignores: `pftk` includes them, for Reno",
        )
        .warn_if(
            timeouts && cubic.region() == Region::Cubic,
            "too high: timeouts matter here, which the model ignores",
        ))
}
