//! `window`

use maxseg_core::units::Bytes;
use maxseg_core::window::{FIELD, LARGEST, Pipe, linux_shift, smallest_shift};

use super::common::{RATE, RTT};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const WINDOW: Parameter<Bytes> = Parameter::required("window", "bytes in flight").above(0.0);

pub(super) const ENTRY: Entry = Entry {
    name: "window",
    group: Group::WindowsAndTimers,
    about: "What a window lets through, and what it leaves standing in the queue",
    parameters: &[RATE.described(), RTT.described(), WINDOW.described()],
    formula: "rate_limit = min(rate, 8 · window / rtt); standing_queue = max(0, 8 · window / rate − rtt); \
              rtt_under_load = rtt + standing_queue; drain_time = 8 · window / rate; window_scale: the least s with \
              65535 · 2^s ≥ window; Linux takes ⌊log₂ window⌋ − 15, from 0 to 14",
    source: "RFC 6349 §3.3.1; RFC 7323 §2.3",
    range: || {
        "Exact without loss, for a lone flow whose queue holds what the path does not. All bytes of a packet \
         count alike: with headers the payload is less (`maxseg calc overhead`)."
            .to_owned()
    },
    example: "rate=10Mbit/s rtt=80ms window=64KiB",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let pipe = Pipe { rate: inputs.get(&RATE)?, rtt: inputs.get(&RTT)? };
    let window = inputs.get(&WINDOW)?;
    let rate = pipe.rate_with(window);
    let queue = pipe.standing_queue(window);
    Ok(Answer::default()
        .number("rate_limit", rate, Unit::BitsPerSec)
        .number("utilisation", rate / pipe.rate.get() as f64, Unit::Share)
        .number("bdp", pipe.bdp(), Unit::Bytes)
        .number("standing_queue", queue, Unit::Seconds)
        .number("rtt_under_load", pipe.rtt.as_secs_f64() + queue, Unit::Seconds)
        .number("drain_time", pipe.drain_time(window), Unit::Seconds)
        .count("window_scale", u64::from(smallest_shift(window)), Unit::Count)
        .count("window_scale_of_linux", u64::from(linux_shift(window)), Unit::Count)
        .warn_if(window.get() > LARGEST, "above what TCP can offer, 65535 · 2^14 bytes")
        .warn_if(
            window.get() > FIELD && window.get() <= LARGEST,
            "above 65535 bytes: both ends must speak window scaling (RFC 7323)",
        ))
}
