//! Runs by chance: a limit, and a path on which it is the limit.

use std::ops::Range;

use maxseg_core::rng::{Rng, Stream};
use serde::{Deserialize, Serialize};

use super::limit::Limit;
use crate::draws::{Congestion, below, log_uniform, span, uniform, whole};

/// A drawn run in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// What it is drawn for.
    pub limit: Limit,
    /// The sender's congestion control.
    pub congestion: Congestion,
    /// Where the randomness of its links begins.
    pub seed: u64,
    /// The rate of the line.
    pub rate_bps: u64,
    /// Propagation, there and back.
    pub rtt_s: f64,
    /// The line's queue.
    pub queue_bytes: u64,
    /// Whether the queue is a fair one, with a limit of its own.
    pub is_fair_queue: bool,
    /// The share of packets that errors strike, and how many in a row; no errors where it is zero.
    pub loss: f64,
    /// See `loss`.
    pub burst: f64,
    /// The receive window or buffer that is too small.
    pub window_bytes: Option<u64>,
    /// Whether it is the first buffer, without autotuning; else the largest that autotuning may have.
    pub is_first_buffer: bool,
    /// What the send buffer holds.
    pub send_buffer_bytes: Option<u64>,
    /// The MSS that the receiver's route announces.
    pub mss_bytes: Option<u64>,
    /// The MTU of the second hop, which drops larger packets silently.
    pub hidden_mtu: Option<u64>,
    /// How long it lasts.
    pub seconds: f64,
    /// The host at which it is captured.
    pub captured_at: String,
}

const RATE_BPS: Range<f64> = 3e6..50e6;
const RTT_S: Range<f64> = 0.010..0.100;
const QUEUE: Range<f64> = 0.5..3.0;
const SECONDS: Range<f64> = 4.0..7.0;
/// A path MTU that is hidden costs seconds before the sender looks for it.
const SECONDS_OF_PATH_MTU: Range<f64> = 7.0..10.0;
const WINDOW: Range<f64> = 0.1..0.6;
const SEND_BUFFER: Range<f64> = 0.06..0.2;
const SHORT_QUEUE: Range<f64> = 0.1..0.35;
const LOSS: Range<f64> = 0.001..0.02;
const BURST: Range<f64> = 2.0..4.0;
const WITH_BURSTS: f64 = 0.33;
const MSS: Range<f64> = 200.0..700.0;
const HIDDEN_MTU: Range<f64> = 1100.0..1450.0;
/// Small segments at higher rates are many packets, and say no more.
const MOST_RATE_OF_SMALL_MSS_BPS: f64 = 10e6;
/// Losses limit where the window by law is at most this, in what the path holds.
const LAW_THAT_LIMITS: f64 = 0.45;
/// The kernel asks whether there is room before it takes a whole super-packet of 64 KiB.
const LEAST_PATH_OF_BUFFERS: f64 = 262_144.0;
const LEAST_BUFFER: f64 = 16_384.0;
/// A queue holds some packets, however short the path.
const LEAST_QUEUE: f64 = 15_000.0;
/// Slow start and two round trips take at most this share of the time.
const MOST_SLOW_START: f64 = 0.2;
/// A full segment with timestamps, and its packet.
const SEGMENT: f64 = 1448.0;
const PACKET: f64 = 1500.0;

impl Draw {
    /// The `number`-th run of a limit and a congestion control under `seed`.
    pub fn of(limit: Limit, congestion: Congestion, seed: u64, number: u64) -> Self {
        let name = format!("gain.{}.{}.{number}", limit.word(), congestion.word());
        let mut rng = Stream::named(seed, &name).reader();
        loop {
            let draw = Self::attempt(limit, congestion, &mut rng);
            if draw.accepts() {
                return Self { seed: rng.next_u64() % 1_000_000, ..draw };
            }
        }
    }

    fn attempt(limit: Limit, congestion: Congestion, rng: &mut Rng) -> Self {
        let mut draw = Self {
            limit,
            congestion,
            seed: 0,
            rate_bps: whole(log_uniform(rng, RATE_BPS)),
            rtt_s: log_uniform(rng, RTT_S),
            queue_bytes: 0,
            is_fair_queue: false,
            loss: 0.0,
            burst: 1.0,
            window_bytes: None,
            is_first_buffer: rng.uniform() < 0.5,
            send_buffer_bytes: None,
            mss_bytes: None,
            hidden_mtu: None,
            seconds: uniform(rng, SECONDS),
            captured_at: ["sender", "receiver"][below(rng, 2)].to_owned(),
        };
        let mut paths_of_queue = log_uniform(rng, QUEUE);
        let path = draw.path_bytes();
        match limit {
            Limit::ReceiveWindow => draw.window_bytes = Some(whole(path * uniform(rng, WINDOW))),
            Limit::SendBuffer => {
                draw.send_buffer_bytes = Some(whole(path * uniform(rng, SEND_BUFFER)));
            }
            Limit::SegmentSize => draw.mss_bytes = Some(whole(log_uniform(rng, MSS))),
            Limit::Queue => paths_of_queue = uniform(rng, SHORT_QUEUE),
            Limit::Errors => {
                draw.loss = log_uniform(rng, LOSS);
                if rng.uniform() < WITH_BURSTS {
                    draw.burst = uniform(rng, BURST);
                }
            }
            Limit::PathMtu => {
                draw.hidden_mtu = Some(whole(uniform(rng, HIDDEN_MTU)));
                draw.seconds = uniform(rng, SECONDS_OF_PATH_MTU);
            }
        }
        let full = draw.rate_bps as f64 * draw.rtt_s / 8.0;
        draw.queue_bytes = whole((paths_of_queue * full).max(LEAST_QUEUE));
        draw
    }

    /// What the path holds without a queue: payload in bytes.
    pub fn path_bytes(&self) -> f64 {
        let base_rtt_s = self.rtt_s + PACKET * 8.0 / self.rate_bps as f64;
        self.rate_bps as f64 * SEGMENT / PACKET * base_rtt_s / 8.0
    }

    fn accepts(&self) -> bool {
        let path = self.path_bytes();
        let rounds = (path / (10.0 * SEGMENT)).log2().max(0.0) + 2.0;
        let is_long = rounds * self.rtt_s <= MOST_SLOW_START * self.seconds;
        let queue = self.queue_bytes as f64 / path;
        let law = self.congestion.law_window_segments(self.loss / self.burst, self.rtt_s) * SEGMENT;
        is_long
            && match self.limit {
                Limit::ReceiveWindow => {
                    self.window_bytes.is_some_and(|bytes| bytes as f64 >= 8.0 * SEGMENT)
                }
                Limit::SendBuffer => {
                    path >= LEAST_PATH_OF_BUFFERS
                        && self.send_buffer_bytes.is_some_and(|bytes| bytes as f64 >= LEAST_BUFFER)
                }
                Limit::SegmentSize => {
                    self.rate_bps as f64 <= MOST_RATE_OF_SMALL_MSS_BPS && queue >= 1.0
                }
                Limit::Queue => path >= 100.0 * SEGMENT && queue <= SHORT_QUEUE.end,
                Limit::Errors => {
                    self.congestion == Congestion::Bbr || law <= LAW_THAT_LIMITS * path
                }
                Limit::PathMtu => true,
            }
    }

    /// In a line of a table.
    pub fn words(&self) -> String {
        let mut text = format!(
            "{}, {:.1} Mbit/s, {:.0} ms, queue {:.2}",
            self.congestion.word(),
            self.rate_bps as f64 / 1e6,
            1000.0 * self.rtt_s,
            self.queue_bytes as f64 / self.path_bytes()
        );
        let mut add = |words: String| {
            text.push_str(", ");
            text.push_str(&words);
        };
        if self.loss > 0.0 {
            add(format!("loss {:.2}%", 100.0 * self.loss));
        }
        if self.burst > 1.0 {
            add(format!("in bursts of {:.1}", self.burst));
        }
        let path = self.path_bytes();
        if let Some(bytes) = self.window_bytes {
            let of = if self.is_first_buffer { "first" } else { "largest" };
            add(format!("{of} window {:.2}", bytes as f64 / path));
        }
        if let Some(bytes) = self.send_buffer_bytes {
            add(format!("send buffer {:.2}", bytes as f64 / path));
        }
        if let Some(mss) = self.mss_bytes {
            add(format!("MSS {mss}"));
        }
        if let Some(mtu) = self.hidden_mtu {
            add(format!("hidden MTU {mtu}"));
        }
        add(format!("at the {}", self.captured_at));
        text
    }
}

/// What is drawn, for the page.
pub(super) fn in_words() -> String {
    format!(
        "**Drawn** are rates of {rate} Mbit/s, round trips of {rtt} ms, queues of {queue} times what the path holds, {seconds} s, \
         Reno, CUBIC and BBR in equal shares, captured at the sender or at the receiver. Receive windows are {window} times what \
         the path holds, half of them by the third number of `tcp_rmem`, half by the second without autotuning; send buffers {buffer} times that \
         (`tcp_wmem`); an MSS of {mss} bytes is announced by the receiver's route, on full links of at most {small} Mbit/s; \
         short queues hold {short} times what the path does; errors strike {loss} of the packets, a third of them in bursts of \
         {burst}; a hop behind a router has an MTU of {mtu} bytes and drops larger packets without ICMP, and the sender probes \
         (`tcp_mtu_probing = 1`), {stalled} s. Errors are drawn anew where the window by the laws of Reno and CUBIC is above \
         {law} of what the path holds. **Not drawn** are links above {fastest} Mbit/s, several limits at once, other traffic, IPv6, \
         other systems.",
        rate = span(RATE_BPS, 1e-6),
        rtt = span(RTT_S, 1e3),
        queue = span(QUEUE, 1.0),
        seconds = span(SECONDS, 1.0),
        window = span(WINDOW, 1.0),
        buffer = span(SEND_BUFFER, 1.0),
        mss = span(MSS, 1.0),
        small = MOST_RATE_OF_SMALL_MSS_BPS / 1e6,
        short = span(SHORT_QUEUE, 1.0),
        loss = crate::draws::percents(LOSS),
        burst = span(BURST, 1.0),
        mtu = span(HIDDEN_MTU, 1.0),
        stalled = span(SECONDS_OF_PATH_MTU, 1.0),
        law = LAW_THAT_LIMITS,
        fastest = RATE_BPS.end / 1e6,
    )
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    #[test]
    fn every_draw_is_a_scenario_with_and_without_its_limit() {
        for limit in Limit::ALL {
            for congestion in Congestion::ALL {
                for number in 0..20 {
                    let draw = Draw::of(limit, congestion, 1, number);
                    assert_eq!(draw, Draw::of(limit, congestion, 1, number));
                    for text in [draw.to_toml(), draw.lifted().to_toml()] {
                        let scenario = Scenario::from_toml("drawn", &text);
                        assert!(scenario.is_ok(), "{text}");
                    }
                }
            }
        }
    }
}
