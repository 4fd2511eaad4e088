//! What draws range over and which are rejected, and how long runs last: numbers for [`super::draw`], words for the page.

use std::ops::Range;

use crate::draws::{percent, percents, span};

/// The line's rate.
pub(super) const RATE_BPS: Range<f64> = 1e6..1e9;
/// Propagation, there and back, where packets are lost by chance.
pub(super) const RTT_WITH_LOSS_S: Range<f64> = 0.020..0.300;
/// And where none are.
pub(super) const RTT_S: Range<f64> = 0.005..0.300;
/// The queue, in what the path holds.
pub(super) const QUEUE: Range<f64> = 0.25..4.0;
/// The share of packets that are lost.
pub(super) const LOSS: Range<f64> = 0.0005..0.03;
/// Mean length of a burst of losses, in packets.
pub(super) const BURST_PACKETS: Range<f64> = 2.0..6.0;
/// Values of the MSS option, and how often each is drawn; the largest has an MTU of 9000.
pub(super) const MSS_BYTES: [(u64, u64); 3] = [(536, 1), (1460, 2), (8960, 1)];
/// Replies, in full segments.
pub(super) const REPLY_SEGMENTS: Range<f64> = 3.0..400.0;
/// From a request to its reply.
pub(super) const THINK_S: Range<f64> = 0.0..0.1;
/// Short transfers, in what the path holds.
pub(super) const SHORT_TRANSFER: Range<f64> = 0.3..8.0;
/// Second and third flow begin this much after the first.
pub(super) const LATER_S: Range<f64> = 0.1..1.0;

/// Where losses, requests or a short time keep the line from being full, what the laws say of its use.
pub(super) const LINE_SHARE: Range<f64> = 0.07..0.75;
/// A path holds at least so many segments.
pub(super) const LEAST_PATH_SEGMENTS: f64 = 8.0;
/// A queue holds at least so many.
pub(super) const LEAST_QUEUE_SEGMENTS: f64 = 4.0;
/// More packets in a second would test the machine.
pub(super) const MOST_PACKETS_PER_S: f64 = 85_000.0;
/// Path and queue hold at most this, so that no host's buffer is the limit.
pub(super) const MOST_BYTES: f64 = 12e6;

/// A run with random losses lasts until so many are expected,
pub(super) const LOSSES: f64 = 200.0;
/// and within these bounds;
pub(super) const LOSSY_SECONDS: Range<f64> = 10.0..60.0;
/// one in which fewer than this are expected by then is not drawn.
pub(super) const LEAST_LOSSES: f64 = 60.0;
/// How long others last.
pub(super) const SECONDS: Range<f64> = 12.0..20.0;
/// A transfer that ends by itself has this long.
pub(super) const MOST_SECONDS: f64 = 60.0;

/// All that, in words.
pub(super) fn in_words() -> String {
    let sizes: Vec<String> = MSS_BYTES.iter().map(|(mss, _)| mss.to_string()).collect();
    format!(
        "**Drawn** are rates of {} Mbit/s, round trips of {} ms with random losses and {} ms without, queues of {} times what \
         the path holds, losses of none or {}, single or in bursts of {} packets, an MSS of {} bytes, Reno, CUBIC or BBR, one \
         flow or three (the others begin {} s later), requests with replies of {} segments after {} ms, and transfers of {} \
         times what the path holds. Two thirds of the paths are drawn so that losses under Reno and CUBIC, requests or a short \
         time leave the line {} full by the laws that `calc` has. **Not drawn** are paths of fewer than {} segments, queues of \
         fewer than {}, more than {} packets a second, and paths and queues of more than {} MB together. With random losses a \
         run lasts until {} losses are expected, {} s; paths on which fewer than {} are expected in that time are not drawn. \
         Other runs last {} s, transfers as long as they take.",
        span(RATE_BPS, 1e-6),
        span(RTT_WITH_LOSS_S, 1e3),
        span(RTT_S, 1e3),
        span(QUEUE, 1.0),
        percents(LOSS),
        span(BURST_PACKETS, 1.0),
        sizes.join(", "),
        span(LATER_S, 1.0),
        span(REPLY_SEGMENTS, 1.0),
        span(THINK_S, 1e3),
        span(SHORT_TRANSFER, 1.0),
        [percent(LINE_SHARE.start), percent(LINE_SHARE.end)].join(" to "),
        LEAST_PATH_SEGMENTS,
        LEAST_QUEUE_SEGMENTS,
        MOST_PACKETS_PER_S,
        MOST_BYTES * 1e-6,
        LOSSES,
        span(LOSSY_SECONDS, 1.0),
        LEAST_LOSSES,
        span(SECONDS, 1.0),
    )
}
