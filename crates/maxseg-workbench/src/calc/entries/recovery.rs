//! `recovery`

use maxseg_core::model::recovery::Recovery;
use maxseg_core::units::Bytes;

use super::common::{MSS, PER_ACK, RATE, RTT};
use crate::calc::parameter::Parameter;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const QUEUE: Parameter<Bytes> =
    Parameter::with_default("queue", "0B", "queue size of the slowest link");

/// With fewer segments in flight no three duplicate acknowledgements follow a loss (RFC 5681 §3.2).
const LEAST_FOR_FAST_RETRANSMIT: f64 = 4.0;

pub(super) const ENTRY: Entry = Entry {
    name: "recovery",
    group: Group::WindowsAndTimers,
    about: "Time to full rate after one loss",
    parameters: &[
        RATE.described(),
        RTT.described(),
        MSS.described(),
        PER_ACK.described(),
        QUEUE.described(),
    ],
    formula: "without a queue, time = per_ack · rate · rtt² / (16 · mss), with rate in bit/s, times in seconds, \
              mss in bytes; 16 = 2 (a loss halves the window) · 8 (bits a byte). \
              With one, the path misses (bdp − queue)/2 bytes, and time = per_ack · that · rtt / mss.\n\
              Each round adds one segment, whatever its size: the growth is proportional to mss (and so about \
              to the MTU), the time inversely so. \
              CUBIC's window is what it was after ∛(W·(1−β)/C), or sooner by its estimate of Reno's, which grows by \
              3(1−β)/(1+β) segments a round: without a queue after W·(1+β)/3 · rtt; with one a round lasts rtt · w/bdp \
              while the window w is above the bdp.",
    source: "RFC 5681 §3.1 (the window is halved, and grows by a segment a round trip); RFC 9438 §4.2, §4.3",
    range: || {
        "One loss, repaired without a timeout, on a path without other flows; the rate is that of payload. Loss \
         recovery takes about one round trip more. Without a queue CUBIC's time is until the path is full; \
         with one, until path and queue are."
            .to_owned()
    },
    example: "rate=10Gbit/s rtt=120ms mss=8948",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let recovery = Recovery {
        rate: inputs.get(&RATE)?.get() as f64,
        rtt: inputs.get(&RTT)?.as_secs_f64(),
        segment: f64::from(inputs.get(&MSS)?.get()),
        per_ack: inputs.get(&PER_ACK)?.0,
        queue: inputs.get(&QUEUE)?.get() as f64,
    };
    Ok(Answer::default()
        .number("time", recovery.time(), Unit::Seconds)
        .number("rounds", recovery.rounds(), Unit::Rounds)
        .number("growth", recovery.growth(), Unit::BitsPerSecSquared)
        .number("unused", recovery.unused(), Unit::Bytes)
        .number("window_at_loss", recovery.window(), Unit::Segments)
        .number("time_of_cubic", recovery.time_of_cubic(), Unit::Seconds)
        .warn_if(
            recovery.window() < LEAST_FOR_FAST_RETRANSMIT,
            "a window below 4 segments: too few duplicate ACKs for fast retransmit, timeouts dominate",
        )
        .warn_if(
            recovery.queue >= recovery.path(),
            "the queue holds a bandwidth-delay product: half the window still fills the path",
        ))
}
