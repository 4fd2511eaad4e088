//! `bdp`

use maxseg_core::units::Bytes;
use maxseg_core::window::{FIELD, LARGEST, Pipe, smallest_shift};

use super::common::{MSS, RATE, RTT};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "bdp",
    group: Group::WindowsAndTimers,
    about: "The bandwidth-delay product: the window that just fills a path",
    parameters: &[RATE.described(), RTT.described(), MSS.described()],
    formula: "bdp = rate · rtt / 8; segments = ⌈bdp / mss⌉; window = segments · mss; \
              window_scale = the least s with 65535 · 2^s ≥ window",
    source: "RFC 7323 §1.1 and §2.3; RFC 6349 §3.3.1",
    range: || {
        "Exact for a path whose slowest link has this rate and nothing queued. Headers take a part of the rate, \
         so that a little less will do; a queue or losses ask for more."
            .to_owned()
    },
    example: "rate=10Mbit/s rtt=80ms",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let pipe = Pipe { rate: inputs.get(&RATE)?, rtt: inputs.get(&RTT)? };
    let mss = inputs.get(&MSS)?.bytes();
    let segments = u64::try_from(pipe.segments(mss)).unwrap_or(u64::MAX);
    let window = Bytes::new(segments.saturating_mul(mss.get()));
    Ok(Answer::default()
        .number("bdp", pipe.bdp(), Unit::Bytes)
        .count("segments", segments, Unit::Segments)
        .count("window", window.get(), Unit::Bytes)
        .count("window_scale", u64::from(smallest_shift(window)), Unit::Count)
        .warn_if(
            window.get() > FIELD && window.get() <= LARGEST,
            "above 65535 bytes: both ends must speak window scaling (RFC 7323)",
        )
        .warn_if(
            window.get() > LARGEST,
            "above what TCP can offer, 65535 · 2^14 bytes: one connection cannot fill this path",
        ))
}
