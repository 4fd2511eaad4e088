//! Scenarios by chance: each has a stratum and an aim, a limit that is likely, and is drawn anew where its numbers do not
//! suit both. What really limited a run is judged afterwards, from what it left ([`super::truth`]).

use std::ops::Range;

use maxseg_core::rng::{Rng, Stream};

use super::lift::AMPLE;
use super::ranges::{
    LAW_THAT_DOES_NOT, LAW_THAT_LIMITS, LOSS, MOST_DRAIN, MOST_QUEUE, MOST_RATE_OF_SMALL_MSS_BPS,
    MOST_SLOW_START, QUEUE, RARE_LOSS, RATE_BPS, READERS_LINK_BPS, READERS_SECONDS, READERS_SHARE,
    RTT_S, SECONDS, SMALL_BUFFER, SMALL_MSS, SMALL_WINDOW, WITH_SACK, WITH_SMALL_MSS,
    WITH_TIMESTAMPS,
};
use super::setup::{Aim, INITIAL_SEGMENTS, Line, Setup};
use super::stratum::Stratum;
use crate::draws::{Application, Congestion, Engine, below, log_uniform, pick, uniform, whole};

impl Setup {
    /// The `number`-th scenario of a stratum under `seed`, to be run by an engine.
    pub fn drawn_for(engine: Engine, stratum: Stratum, seed: u64, number: u64) -> Self {
        let mut setup = Self { engine, ..Self::draw(stratum, seed, number) };
        if engine == Engine::Sim {
            let first_hop = setup.first_hop();
            for view in &mut setup.views {
                view.name_as_simulated(first_hop);
            }
        }
        setup
    }

    /// The same for the lab.
    pub fn draw(stratum: Stratum, seed: u64, number: u64) -> Self {
        let name = format!("explain.{}.{number}", stratum.word());
        let mut rng = Stream::named(seed, &name).reader();
        // Not anew where the numbers do not suit it: the aims that suit fewer numbers are drawn as often.
        let aim = pick(&mut rng, stratum.aims());
        loop {
            let mut setup = aim.attempt(stratum, &mut rng);
            stratum.shape(&mut setup, &mut rng);
            if aim.accepts(&setup) {
                setup.seed = rng.next_u64() % 1_000_000;
                return setup;
            }
        }
    }
}

impl Aim {
    /// Draws every number in its own range; whether they go together is asked afterwards.
    fn attempt(self, stratum: Stratum, rng: &mut Rng) -> Setup {
        let congestion = Congestion::ALL[below(rng, 3)];
        let rate = log_uniform(rng, RATE_BPS);
        let mut setup = Setup {
            stratum,
            aim: self,
            engine: Engine::Lab,
            seed: 0,
            congestion,
            rate_bps: whole(rate),
            rtt_s: log_uniform(rng, RTT_S),
            queue_bytes: 0,
            loss: 0.0,
            window_bytes: AMPLE,
            send_buffer_bytes: None,
            mss_bytes: (rng.uniform() < WITH_SMALL_MSS).then(|| whole(uniform(rng, SMALL_MSS))),
            timestamps: rng.uniform() < WITH_TIMESTAMPS,
            sack: rng.uniform() < WITH_SACK,
            read_bps: None,
            pace: None,
            line: Line::default(),
            other_hop: None,
            cross: None,
            application: Application::Bulk,
            seconds: uniform(rng, SECONDS),
            views: Vec::new(),
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
                setup.seconds = uniform(rng, READERS_SECONDS);
                setup.read_bps =
                    Some(whole(setup.link_payload_bps() * uniform(rng, READERS_SHARE)));
                setup.window_bytes = whole(setup.path_bytes() * uniform(rng, 1.5..2.5));
            }
            Self::SmallBuffer => {
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
            Self::WindowOrRate => {
                paths_of_queue = uniform(rng, 1.0..3.0);
                setup.window_bytes = whole(path * log_uniform(rng, BORDER));
            }
            Self::WindowOrLoss => {
                setup.congestion = Congestion::LOSS_BASED[below(rng, 2)];
                setup.loss = loss;
                setup.window_bytes = whole(setup.law_window_bytes() * log_uniform(rng, BORDER));
            }
            Self::LossOrRate => {
                setup.congestion = Congestion::LOSS_BASED[below(rng, 2)];
                setup.loss = loss;
                let holds = setup.law_window_bytes() * log_uniform(rng, BORDER);
                setup.rate_bps = whole(holds * 8.0 / setup.rtt_s * 1.04);
                paths_of_queue = uniform(rng, 1.0..3.0);
            }
            Self::BufferOrRate => {
                setup.send_buffer_bytes = Some(whole(path * log_uniform(rng, BUFFER_BORDER)));
                paths_of_queue = uniform(rng, 1.0..3.0);
            }
            Self::Paced | Self::Policed | Self::NarrowReverse => {
                paths_of_queue = uniform(rng, 1.0..4.0);
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
            Self::SlowReader => {
                let unread_bps = setup.link_payload_bps() - setup.read_bps.unwrap_or(0) as f64;
                setup.window_bytes <= MOST_WINDOW_OF_READERS
                    && READERS_MEMORY * 8.0 / unread_bps <= READERS_OPENING * setup.seconds
            }
            Self::SmallBuffer => {
                path >= LEAST_PATH_OF_BUFFERS
                    && setup.send_buffer_bytes.is_some_and(|bytes| bytes as f64 >= LEAST_BUFFER)
            }
            Self::FullLink
            | Self::FullInSpiteOfLoss
            | Self::LossOrRate
            | Self::Paced
            | Self::Policed
            | Self::NarrowReverse => true,
            Self::SmallWindow | Self::WindowOrRate => setup.window_bytes as f64 >= 4.0 * segment,
            Self::WindowOrLoss => {
                let window = setup.window_bytes as f64;
                window >= 4.0 * segment && 2.0 * window.max(setup.law_window_bytes()) <= path
            }
            Self::BufferOrRate => {
                setup.send_buffer_bytes.is_some_and(|bytes| bytes as f64 >= LEAST_BUFFER)
            }
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
        let has_rate = RATE_BPS.contains(&(setup.rate_bps as f64));
        is_light && suits && has_rate && (self == Self::Short || is_long) && has_queue
    }
}

/// Near a border one limit allows so many times what the other allows.
const BORDER: Range<f64> = 0.5..2.0;
/// Of a send buffer and the path: the kernel counts its own part too, and takes whole super-packets.
const BUFFER_BORDER: Range<f64> = 0.08..1.2;
/// The receiver's memory is full after this share of the time at the latest.
const READERS_OPENING: f64 = 0.3;

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

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    #[test]
    fn the_same_numbers_draw_the_same_scenario() {
        let draw = |seed, number| Setup::draw(Stratum::FarEnds, seed, number).to_toml();
        assert_eq!(draw(1, 7), draw(1, 7));
        assert_ne!(draw(1, 7), draw(1, 8));
        assert_ne!(draw(1, 7), draw(2, 7));
    }

    #[test]
    fn every_draw_is_a_scenario_and_in_its_range() {
        for stratum in Stratum::ALL {
            for number in 0..100 {
                let setup = Setup::draw(stratum, 1, number);
                Scenario::from_toml("drawn", &setup.to_toml()).unwrap();
                for lift in setup.suspects(true) {
                    Scenario::from_toml("second", &setup.without(lift).to_toml()).unwrap();
                }
                assert!(RATE_BPS.contains(&(setup.rate_bps as f64)));
                assert!(RTT_S.contains(&setup.rtt_s));
                assert!(setup.loss <= LOSS.end && !setup.views.is_empty());
            }
        }
    }

    #[test]
    fn all_aims_and_controls_are_drawn() {
        for stratum in Stratum::ALL {
            let setups: Vec<Setup> =
                (0..300).map(|number| Setup::draw(stratum, 1, number)).collect();
            for (aim, _) in stratum.aims() {
                assert!(setups.iter().any(|setup| setup.aim == *aim), "{aim:?}");
            }
            for congestion in Congestion::ALL {
                let is_drawn = setups.iter().any(|setup| setup.congestion == congestion);
                assert!(is_drawn, "{stratum:?} {congestion:?}");
            }
            for on in [true, false] {
                assert!(setups.iter().any(|setup| setup.sack == on && setup.timestamps != on));
            }
        }
    }
}
