//! What draws range over and which are rejected: numbers for [`super::draw`] and [`super::strata`], words for the page.

use std::ops::Range;

use crate::draws::{percent, percents, short, span};

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
pub(super) const SECONDS: Range<f64> = 3.0..6.0;
/// Where a reader is slow: its memory must be full early.
pub(super) const READERS_SECONDS: Range<f64> = 5.0..7.0;
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
/// The link's rate where a reader is slow: its memory must be full early.
pub(super) const READERS_LINK_BPS: Range<f64> = 15e6..100e6;
/// How fast a slow reader reads, in what the link carries.
pub(super) const READERS_SHARE: Range<f64> = 0.1..0.3;

/// The share of runs with selective acknowledgements.
pub(super) const WITH_SACK: f64 = 0.75;
/// How much of the time is over when a late capture begins.
pub(super) const CUT: Range<f64> = 0.1..0.5;
/// What a paced sender sends, in what the line carries.
pub(super) const PACE_SHARE: Range<f64> = 0.1..0.6;
/// What a shaper lets pass at once.
pub(super) const SHAPER_BURST_BYTES: Range<f64> = 3e3..30e3;
/// A policer's rate, in that of the line.
pub(super) const POLICER_SHARE: Range<f64> = 0.1..0.5;
/// And its burst.
pub(super) const BURST_BYTES: Range<f64> = 10e3..100e3;
/// What the acknowledgements that pass release, in what the line carries.
pub(super) const ACK_PATH_SHARE: Range<f64> = 0.1..0.6;
/// Their queue, in seconds of their link.
pub(super) const ACK_PATH_QUEUE_S: Range<f64> = 0.2..2.0;
/// The share of packets that are reordered.
pub(super) const REORDER: Range<f64> = 0.002..0.08;
/// What datagrams take of the line.
pub(super) const CROSS_SHARE: Range<f64> = 0.2..0.6;

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

/// All that, in words.
pub(super) fn in_words() -> String {
    format!(
        "**Drawn** are rates of {rate} Mbit/s, round trips of {rtt} ms, queues of {queue} times what the path holds, losses of \
         none or {loss}, Reno, CUBIC or BBR, {seconds} s, windows ample or {window} times what the path holds, send buffers \
         ample or {buffer} times that with every congestion control, readers at {reader} of links of {fast} Mbit/s, an MSS \
         of {mss} bytes in {small} of the draws, SACK in {sack} and timestamps in {timestamps}, bulk transfers, short ones, \
         requests and replies. Near borders one limit allows 0.5 to 2 times what the other does (window and rate, window and \
         losses, losses and rate; send buffers of 0.08 to 1.2 times the path). A late capture begins after {cut} of the \
         time; a paced sender sends {pace} of what the line carries, a shaper passes {shaper} kB at once; policers pass \
         {policer} of the line with bursts of {burst} kB; the acknowledgements' link lets so many pass as release {ack} of \
         what the line carries, with a queue of {ack_queue} s; {reorder} of the packets are reordered; other traffic is one or \
         two transfers, or datagrams at {cross} of the line.\n\n\
         **Not drawn** are links above {most} Mbit/s, IPv6, ECN, queue disciplines but tail-drop, jitter, radio frames, \
         one direction alone where it cannot show the limit (send buffers, windows that do not shut, start-up), other kernels \
         and senders without Linux's pacing and offload, connections of more than {longest} s, several faults \
         of a capture at once. Each draw has an aim, a limit that is likely, and its numbers are drawn anew where they do \
         not suit it (`Aim::accepts` in `xtask/src/explain/draw.rs`): rejected are an MSS below the usual above {light} \
         Mbit/s; slow start with two round trips above {slow_start} of the time, and a full queue with a round trip above \
         {drain} of it, but for short transfers; queues above {deep} times what the path holds; and far from borders, for \
         losses that limit, those whose window by the laws of Reno and CUBIC is above {limits} of what the path holds (BBR \
         knows none, and is not drawn there), and for losses that do not, those where it is below {free} times that.",
        rate = span(RATE_BPS, 1e-6),
        rtt = span(RTT_S, 1e3),
        queue = span(QUEUE, 1.0),
        loss = percents(LOSS),
        seconds = span(SECONDS, 1.0),
        window = span(SMALL_WINDOW, 1.0),
        buffer = span(SMALL_BUFFER, 1.0),
        reader = percents(READERS_SHARE),
        fast = span(READERS_LINK_BPS, 1e-6),
        mss = span(SMALL_MSS, 1.0),
        small = percent(WITH_SMALL_MSS),
        sack = percent(WITH_SACK),
        timestamps = percent(WITH_TIMESTAMPS),
        cut = percents(CUT),
        pace = percents(PACE_SHARE),
        shaper = span(SHAPER_BURST_BYTES, 1e-3),
        policer = percents(POLICER_SHARE),
        burst = span(BURST_BYTES, 1e-3),
        ack = percents(ACK_PATH_SHARE),
        ack_queue = span(ACK_PATH_QUEUE_S, 1.0),
        reorder = percents(REORDER),
        cross = percents(CROSS_SHARE),
        most = short(RATE_BPS.end * 1e-6),
        longest = READERS_SECONDS.end,
        light = MOST_RATE_OF_SMALL_MSS_BPS / 1_000_000,
        slow_start = percent(MOST_SLOW_START),
        drain = percent(MOST_DRAIN),
        deep = MOST_QUEUE,
        limits = LAW_THAT_LIMITS,
        free = LAW_THAT_DOES_NOT,
    )
}
