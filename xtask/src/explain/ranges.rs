//! What draws range over and which are rejected: numbers for [`super::draw`], words for the page.

use std::ops::Range;

/// The link's rate.
pub(super) const RATE_BPS: Range<f64> = 2e6..100e6;
/// Propagation, there and back.
pub(super) const RTT_S: Range<f64> = 0.005..0.150;
/// The queue, in what the path holds.
pub(super) const QUEUE: Range<f64> = 0.3..4.0;
/// The chance that a packet is lost, where there is one.
pub(super) const LOSS: Range<f64> = 0.001..0.03;
/// That of runs in which it must not matter.
pub(super) const RARE_LOSS: Range<f64> = 0.001..0.004;
/// How long a run lasts.
pub(super) const SECONDS: Range<f64> = 3.0..8.0;
/// Where the MSS option is small.
pub(super) const SMALL_MSS: Range<f64> = 300.0..1200.0;
/// The share of runs with a small MSS.
pub(super) const WITH_SMALL_MSS: f64 = 0.15;
/// The share of runs with timestamps.
pub(super) const WITH_TIMESTAMPS: f64 = 0.75;
/// A small window, in what the path holds.
pub(super) const SMALL_WINDOW: Range<f64> = 0.1..0.6;
/// A small send buffer, in what the path holds.
pub(super) const SMALL_BUFFER: Range<f64> = 0.06..0.2;
/// Some windows where the limit is left open, in what the path holds.
pub(super) const OPEN_WINDOW: Range<f64> = 0.2..4.0;
/// Some send buffers there, in what the path holds.
pub(super) const OPEN_BUFFER: Range<f64> = 0.1..4.0;
/// The link's rate where a reader is slow: its memory must be full early.
pub(super) const READERS_LINK_BPS: Range<f64> = 60e6..100e6;
/// How fast a slow reader reads, in what the link carries.
pub(super) const READERS_SHARE: Range<f64> = 0.1..0.3;

/// Small segments at higher rates are many packets, and say no more.
pub(super) const MOST_RATE_OF_SMALL_MSS_BPS: u64 = 20_000_000;
/// Slow start and two round trips take at most this share of the time.
pub(super) const MOST_SLOW_START: f64 = 0.15;
/// A full queue and a round trip take at most this share of it.
pub(super) const MOST_DRAIN: f64 = 0.1;
/// Deeper than this, in what the path holds, it was the least queue that made it so.
pub(super) const MOST_QUEUE: f64 = 4.5;
/// Losses limit where the window that the laws of Reno and CUBIC give is at most this, in what the path holds.
pub(super) const LAW_THAT_LIMITS: f64 = 0.45;
/// And do not where it is at least this.
pub(super) const LAW_THAT_DOES_NOT: f64 = 2.5;

/// All that, in words; `any` of `all` aims keep away from no border.
pub(super) fn in_words(any: u64, all: u64) -> String {
    format!(
        "rate {rate} Mbit/s, round trip {rtt} ms, queue {queue} times what the path holds, loss none or {loss}, Reno, CUBIC or \
         BBR, {seconds} s, windows ample or {window} times what the path holds, send buffers ample or {buffer} times that, slow \
         readers at {reader} of the link, an MSS of {mss} bytes in {small} of the draws, timestamps in {timestamps}, bulk \
         transfers, short ones, requests and replies. Both hosts are captured.\n\n\
         **Not drawn.** Each draw has an aim, a limit, and is rejected and drawn anew where it does not suit that \
         (`Aim::accepts` in `xtask/src/explain/draw.rs`): most runs are far from the borders between limits, and the score is \
         that of such runs. In {any} of {all} draws the limit is left open (windows down to {open_window} of the path, \
         send buffers down to {open_buffer}). Rejected are an MSS below the usual above {light} \
         Mbit/s; slow start with two round trips above {slow_start} of the time, and a full queue with a round trip above \
         {drain} of it, but for short transfers; queues above {deep} times what the path holds; for losses that limit, those \
         whose window by the laws of Reno and CUBIC (BBR knows none) is above {limits} of what the path holds, and for losses \
         that do not, those where it is below {free} times that; and windows, buffers, pauses and transfers too small or too \
         large for their aim. Small send buffers are drawn with BBR only: **Reno and CUBIC with a small send buffer are \
         untested**. Slow readers are drawn on links of {fast} Mbit/s only: **on slower ones they are untested**.",
        rate = span(RATE_BPS, 1e-6),
        rtt = span(RTT_S, 1e3),
        queue = span(QUEUE, 1.0),
        loss = percents(LOSS),
        seconds = span(SECONDS, 1.0),
        window = span(SMALL_WINDOW, 1.0),
        buffer = span(SMALL_BUFFER, 1.0),
        open_window = OPEN_WINDOW.start,
        open_buffer = OPEN_BUFFER.start,
        reader = percents(READERS_SHARE),
        mss = span(SMALL_MSS, 1.0),
        small = percent(WITH_SMALL_MSS),
        timestamps = percent(WITH_TIMESTAMPS),
        light = MOST_RATE_OF_SMALL_MSS_BPS / 1_000_000,
        slow_start = percent(MOST_SLOW_START),
        drain = percent(MOST_DRAIN),
        deep = MOST_QUEUE,
        limits = LAW_THAT_LIMITS,
        free = LAW_THAT_DOES_NOT,
        fast = span(READERS_LINK_BPS, 1e-6),
    )
}

fn span(range: Range<f64>, unit: f64) -> String {
    format!("{} to {}", short(range.start * unit), short(range.end * unit))
}

fn percents(range: Range<f64>) -> String {
    format!("{} to {}", percent(range.start), percent(range.end))
}

fn percent(share: f64) -> String {
    format!("{}%", short(100.0 * share))
}

/// Without the noise of a product's last digits.
fn short(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_numbers() {
        assert_eq!(span(2e6..100e6, 1e-6), "2 to 100");
        assert_eq!(span(0.005..0.150, 1e3), "5 to 150");
        assert_eq!(percents(0.001..0.03), "0.1% to 3%");
    }
}
