//! Scenarios by chance: one transfer over one hop, each drawn so that something known limits it, far from the
//! borders between limits. What really limited a run is judged afterwards, from what it left ([`super::truth`]).

use std::ops::Range;

use maxseg_core::rng::{Rng, Stream};

use super::ranges::{
    LAW_THAT_DOES_NOT, LAW_THAT_LIMITS, LOSS, MOST_DRAIN, MOST_QUEUE, MOST_RATE_OF_SMALL_MSS_BPS,
    MOST_SLOW_START, OPEN_BUFFER, OPEN_WINDOW, QUEUE, RARE_LOSS, RATE_BPS, READERS_LINK_BPS,
    READERS_SHARE, RTT_S, SECONDS, SMALL_BUFFER, SMALL_MSS, SMALL_WINDOW, WITH_SMALL_MSS,
    WITH_TIMESTAMPS,
};
use super::setup::{Aim, Application, Congestion, INITIAL_SEGMENTS, Setup};

/// Aims by how many of all runs they get.
const AIMS: [(Aim, u64); 12] = [
    (Aim::Turns, 4),
    (Aim::Short, 3),
    (Aim::SmallWindow, 3),
    (Aim::SlowReader, 1),
    (Aim::SmallBuffer, 4),
    (Aim::FullLink, 3),
    (Aim::FullByWindow, 1),
    (Aim::FullInSpiteOfLoss, 2),
    (Aim::SmallPathWithLoss, 1),
    (Aim::Loss, 5),
    (Aim::ShortQueue, 2),
    (Aim::Any, 2),
];

/// How many of all draws keep away from no border.
pub(super) fn draws_without_border() -> (u64, u64) {
    let sum = |wanted: fn(Aim) -> bool| {
        AIMS.iter().filter(|(aim, _)| wanted(*aim)).map(|(_, weight)| weight).sum()
    };
    (sum(|aim| aim == Aim::Any), sum(|_| true))
}

/// A window or a buffer that never matters here.
const AMPLE: u64 = 8 << 20;

impl Setup {
    /// The `number`-th scenario under `seed`.
    pub fn draw(seed: u64, number: u64) -> Self {
        let mut rng = Stream::named(seed, &format!("explain.{number}")).reader();
        let aim = pick(&mut rng, &AIMS);
        loop {
            let setup = aim.attempt(&mut rng);
            if aim.accepts(&setup) {
                return setup;
            }
        }
    }
}

impl Aim {
    /// Draws every number in its own range; whether they go together is asked afterwards.
    fn attempt(self, rng: &mut Rng) -> Setup {
        let congestion = [Congestion::Reno, Congestion::Cubic, Congestion::Bbr][below(rng, 3)];
        let rate = log_uniform(rng, RATE_BPS);
        let mut setup = Setup {
            aim: self,
            congestion,
            rate_bps: whole(rate),
            rtt_s: log_uniform(rng, RTT_S),
            queue_bytes: 0,
            loss: 0.0,
            window_bytes: AMPLE,
            send_buffer_bytes: None,
            mss_bytes: (rng.uniform() < WITH_SMALL_MSS).then(|| whole(uniform(rng, SMALL_MSS))),
            timestamps: rng.uniform() < WITH_TIMESTAMPS,
            read_bps: None,
            application: Application::Bulk,
            seconds: uniform(rng, SECONDS),
        };
        let path = setup.path_bytes();
        let loss = log_uniform(rng, LOSS);
        let mut paths_of_queue = log_uniform(rng, QUEUE);
        match self {
            Self::Turns => take_turns(&mut setup, rng),
            Self::Short => {
                let first = INITIAL_SEGMENTS * setup.segment_bytes();
                setup.application =
                    Application::Bytes(whole(log_uniform(rng, 3.0 * first..0.4 * path)));
            }
            Self::SmallWindow => setup.window_bytes = whole(path * uniform(rng, SMALL_WINDOW)),
            Self::SlowReader => {
                setup.mss_bytes = None;
                setup.rate_bps = whole(uniform(rng, READERS_LINK_BPS));
                setup.seconds = uniform(rng, 6.0..8.0);
                setup.read_bps =
                    Some(whole(setup.link_payload_bps() * uniform(rng, READERS_SHARE)));
                setup.window_bytes = whole(setup.path_bytes() * uniform(rng, 1.5..2.5));
            }
            Self::SmallBuffer => {
                setup.congestion = WITH_BUFFERS;
                setup.send_buffer_bytes = Some(whole(path * uniform(rng, SMALL_BUFFER)));
            }
            Self::FullLink => paths_of_queue = log_uniform(rng, 1.2..4.0),
            Self::FullByWindow => {
                paths_of_queue = uniform(rng, 2.5..4.0);
                setup.window_bytes = whole(path * uniform(rng, 1.6..0.7 * paths_of_queue + 0.6));
            }
            Self::FullInSpiteOfLoss => {
                setup.congestion = Congestion::Bbr;
                setup.loss = loss;
                paths_of_queue = log_uniform(rng, 1.0..4.0);
            }
            Self::SmallPathWithLoss => {
                setup.loss = log_uniform(rng, RARE_LOSS);
                paths_of_queue = uniform(rng, 2.0..4.0);
            }
            Self::Loss => setup.loss = loss,
            Self::ShortQueue => paths_of_queue = uniform(rng, 0.3..0.4),
            Self::Any => {
                setup.loss = if rng.uniform() < 0.5 { 0.0 } else { loss };
                if rng.uniform() < 0.3 {
                    setup.window_bytes = whole(path * log_uniform(rng, OPEN_WINDOW));
                }
                if rng.uniform() < 0.2 && setup.congestion == WITH_BUFFERS {
                    setup.send_buffer_bytes = Some(whole(path * log_uniform(rng, OPEN_BUFFER)));
                }
                if rng.uniform() < 0.2 {
                    take_turns(&mut setup, rng);
                }
            }
        }
        let full = setup.rate_bps as f64 * setup.base_rtt_s() / 8.0;
        setup.queue_bytes = whole((paths_of_queue * full).max(LEAST_QUEUE));
        setup
    }

    /// Whether a scenario is far enough from the borders.
    fn accepts(self, setup: &Setup) -> bool {
        let (path, segment) = (setup.path_bytes(), setup.segment_bytes());
        let drain = setup.queue_bytes as f64 * 8.0 / setup.rate_bps as f64;
        let is_light = setup.mss_bytes.is_none() || setup.rate_bps <= MOST_RATE_OF_SMALL_MSS_BPS;
        // Slow start and a full queue's round trips must be a small part of the time.
        let is_long = setup.slow_start_s(path) + 2.0 * setup.rtt_s
            <= MOST_SLOW_START * setup.seconds
            && drain + setup.rtt_s <= MOST_DRAIN * setup.seconds;
        let has_queue = setup.queue_in_paths() <= MOST_QUEUE;
        let suits = match self {
            Self::Turns => match setup.application {
                Application::Requests { think_s, .. } => think_s <= setup.seconds / 5.0,
                Application::Bulk | Application::Bytes(_) => false,
            },
            Self::Short => 0.4 * path >= 4.0 * INITIAL_SEGMENTS * segment,
            Self::SmallWindow => setup.window_bytes as f64 >= 4.0 * segment,
            Self::SlowReader => {
                let unread_bps = setup.link_payload_bps() - setup.read_bps.unwrap_or(0) as f64;
                setup.window_bytes <= MOST_WINDOW_OF_READERS
                    && READERS_MEMORY * 8.0 / unread_bps <= 0.15 * setup.seconds
            }
            Self::SmallBuffer => {
                path >= LEAST_PATH_OF_BUFFERS
                    && setup.send_buffer_bytes.is_some_and(|bytes| bytes as f64 >= LEAST_BUFFER)
            }
            Self::FullLink | Self::FullInSpiteOfLoss | Self::Any => true,
            Self::FullByWindow => {
                let window = setup.window_bytes as f64;
                window >= 1.6 * path && window <= 0.7 * (path + setup.queue_bytes as f64)
            }
            Self::SmallPathWithLoss => {
                setup.congestion != Congestion::Bbr
                    && setup.law_window_bytes() >= LAW_THAT_DOES_NOT * path
            }
            Self::Loss => setup.law_window_bytes() <= LAW_THAT_LIMITS * path,
            Self::ShortQueue => setup.congestion != Congestion::Bbr && path >= 100.0 * segment,
        };
        is_light && suits && (self == Self::Short || is_long) && has_queue
    }
}

/// The kernel paces BBR, which writes and sends a little at a time. Without pacing it takes several times its send
/// buffer in super-packets (measured on Linux 6.18: 450 kB with `tcp_wmem` at 51 kB) and counts no time as limited by
/// it: what then limits Reno or CUBIC, nothing tells for sure.
const WITH_BUFFERS: Congestion = Congestion::Bbr;
/// Replies of a few segments at any pace, or larger ones with pauses.
fn take_turns(setup: &mut Setup, rng: &mut Rng) {
    let segment = setup.segment_bytes();
    let (segments, think) = if rng.uniform() < 0.5 {
        (uniform(rng, 0.3..8.0), uniform(rng, 0.0..0.2))
    } else {
        let segments = log_uniform(rng, 10.0..200.0);
        let takes = setup.slow_start_s(segments * segment)
            + 2.0 * setup.base_rtt_s()
            + segments * segment * 8.0 / setup.link_payload_bps();
        (segments, takes * uniform(rng, 3.0..8.0))
    };
    setup.application =
        Application::Requests { reply_bytes: whole(segments * segment), think_s: think };
}

/// A window shuts when the receiver's memory is full. The lab gives it 4 MiB, and more above this window.
const READERS_MEMORY: f64 = 4_194_304.0;
const MOST_WINDOW_OF_READERS: u64 = 262_144;
/// A queue holds some packets, however short the path.
const LEAST_QUEUE: f64 = 15_000.0;
/// Less is no buffer to the kernel, which grants what it counts for its own part too (socket(7)).
const LEAST_BUFFER: f64 = 16_384.0;
/// The kernel asks whether there is room before it takes a whole super-packet of up to 64 KiB: a path that one of
/// them fills is not limited by any buffer.
const LEAST_PATH_OF_BUFFERS: f64 = 262_144.0;

fn uniform(rng: &mut Rng, range: Range<f64>) -> f64 {
    range.start + (range.end - range.start) * rng.uniform()
}

fn log_uniform(rng: &mut Rng, range: Range<f64>) -> f64 {
    uniform(rng, range.start.ln()..range.end.ln()).exp()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "below a small number")]
fn below(rng: &mut Rng, count: u64) -> usize {
    (rng.next_u64() % count) as usize
}

fn pick<T: Copy>(rng: &mut Rng, weighted: &[(T, u64)]) -> T {
    let all: u64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut left = rng.next_u64() % all;
    for (item, weight) in weighted {
        if left < *weight {
            return *item;
        }
        left -= weight;
    }
    weighted[0].0
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    #[test]
    fn the_same_numbers_draw_the_same_scenario() {
        assert_eq!(Setup::draw(1, 7).to_toml(), Setup::draw(1, 7).to_toml());
        assert_ne!(Setup::draw(1, 7).to_toml(), Setup::draw(1, 8).to_toml());
        assert_ne!(Setup::draw(1, 7).to_toml(), Setup::draw(2, 7).to_toml());
    }

    #[test]
    fn every_draw_is_a_scenario_and_in_its_range() {
        for number in 0..400 {
            let setup = Setup::draw(1, number);
            Scenario::from_toml("drawn", &setup.to_toml()).unwrap();
            assert!((RATE_BPS.start..=RATE_BPS.end).contains(&(setup.rate_bps as f64)));
            assert!((RTT_S.start..=RTT_S.end).contains(&setup.rtt_s));
            assert!(setup.loss <= LOSS.end);
            assert!((SECONDS.start..=SECONDS.end).contains(&setup.seconds));
        }
    }

    #[test]
    fn all_aims_and_controls_are_drawn() {
        let setups: Vec<Setup> = (0..400).map(|number| Setup::draw(1, number)).collect();
        for (aim, _) in AIMS {
            assert!(setups.iter().any(|setup| setup.aim == aim), "{aim:?}");
        }
        for congestion in [Congestion::Reno, Congestion::Cubic, Congestion::Bbr] {
            assert!(setups.iter().any(|setup| setup.congestion == congestion), "{congestion:?}");
        }
    }
}
