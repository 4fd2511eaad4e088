//! Scenarios by chance: one transfer over one hop, each drawn so that something known limits it, far from the
//! borders between limits. What really limited a run is judged afterwards, from what it left ([`super::truth`]).

use std::fmt::Write as _;

use maxseg_core::model::cubic::Cubic;
use maxseg_core::model::mathis;
use maxseg_core::rng::{Rng, Stream};
use serde::{Deserialize, Serialize};

/// What a scenario is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// Requests whose replies fit the first window, or come far apart.
    Turns,
    /// A transfer that ends long before slow start does.
    Short,
    /// A window that holds a part of the path.
    SmallWindow,
    /// An application that reads more slowly than the path brings.
    SlowReader,
    /// A send buffer that holds a part of the path.
    SmallBuffer,
    /// Nothing but the link, its queue deep enough to keep it busy.
    FullLink,
    /// A window that fills path and queue without a loss: the kernel calls that limited by the window.
    FullByWindow,
    /// BBR, which goes on in spite of losses.
    FullInSpiteOfLoss,
    /// Losses that come too rarely to matter on so small a path.
    SmallPathWithLoss,
    /// Losses by chance that keep the congestion window below the path.
    Loss,
    /// A queue too short for the halves of a congestion window.
    ShortQueue,
    /// Whatever comes: no border is kept away from.
    Any,
}

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

/// The congestion controls that this kernel is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "names")]
pub enum Congestion {
    Reno,
    Cubic,
    Bbr,
}

impl Congestion {
    /// As a scenario and the kernel call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// What the application does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// Writes as much as it can until the time is over.
    Bulk,
    /// Writes so much.
    Bytes(u64),
    /// Answers requests on one connection.
    Requests {
        /// Payload of each reply.
        reply_bytes: u64,
        /// From a request to its reply.
        think_s: f64,
    },
}

/// A scenario's numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    /// What it was drawn for.
    pub aim: Aim,
    /// The sender's congestion control.
    pub congestion: Congestion,
    /// The link's rate.
    pub rate_bps: u64,
    /// Propagation, there and back.
    pub rtt_s: f64,
    /// The link's waiting room.
    pub queue_bytes: u64,
    /// The chance that a packet is lost on the way to the receiver.
    pub loss: f64,
    /// The window that the receiver offers.
    pub window_bytes: u64,
    /// What the sender's buffer holds; `None` leaves it to the kernel.
    pub send_buffer_bytes: Option<u64>,
    /// The MSS option of both hosts; `None` leaves it to the MTU of 1500.
    pub mss_bytes: Option<u64>,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// How fast the receiving application reads, where that is not at once.
    pub read_bps: Option<u64>,
    /// What the application does.
    pub application: Application,
    /// How long it lasts at most.
    pub seconds: f64,
}

/// IPv4 and TCP headers without options.
const HEADERS: f64 = 40.0;
/// Of timestamps, padded (RFC 7323 appendix A).
const TIMESTAMPS: f64 = 12.0;
/// The kernel's initial window in segments (RFC 6928).
pub(super) const INITIAL_SEGMENTS: f64 = 10.0;
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

    /// Payload of a full segment.
    pub fn segment_bytes(&self) -> f64 {
        self.mss_bytes.unwrap_or(1460) as f64 - self.option_bytes()
    }

    fn option_bytes(&self) -> f64 {
        if self.timestamps { TIMESTAMPS } else { 0.0 }
    }

    /// The payload that the link carries at most, in bits per second.
    pub fn link_payload_bps(&self) -> f64 {
        let segment = self.segment_bytes();
        self.rate_bps as f64 * segment / (segment + HEADERS + self.option_bytes())
    }

    /// The round trip of a full segment through empty queues.
    pub fn base_rtt_s(&self) -> f64 {
        let packet = self.segment_bytes() + HEADERS + self.option_bytes();
        self.rtt_s + packet * 8.0 / self.rate_bps as f64
    }

    /// The payload that the path holds without a queue.
    pub fn path_bytes(&self) -> f64 {
        self.link_payload_bps() * self.base_rtt_s() / 8.0
    }

    /// The queue as a multiple of that.
    pub fn queue_in_paths(&self) -> f64 {
        self.queue_bytes as f64 * 8.0 / (self.rate_bps as f64 * self.base_rtt_s())
    }

    /// How long slow start takes until so many bytes are in flight.
    pub fn slow_start_s(&self, bytes: f64) -> f64 {
        let rounds = (bytes / (INITIAL_SEGMENTS * self.segment_bytes())).log2().max(0.0);
        rounds * self.base_rtt_s()
    }

    /// The mean window by the laws of Reno and CUBIC at this loss, in bytes. BBR knows none.
    pub fn law_window_bytes(&self) -> f64 {
        /// Segments per acknowledgement: the lab's receivers delay theirs.
        const PER_ACK: f64 = 2.0;
        let segments = match self.congestion {
            _ if self.loss <= 0.0 => f64::INFINITY,
            Congestion::Bbr => f64::INFINITY,
            Congestion::Reno => mathis::rate(self.loss, self.rtt_s, PER_ACK) * self.rtt_s,
            Congestion::Cubic => Cubic::standard(self.loss, self.rtt_s).window(),
        };
        segments * self.segment_bytes()
    }

    /// The scenario as a file. Requests are asked by the receiver, so that their replies travel forward.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "[[hop]]\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = \"{} B\"\n",
            self.rate_bps,
            self.rtt_s * 500.0,
            self.queue_bytes
        );
        if self.loss > 0.0 {
            let _ = writeln!(
                text,
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.6} }}",
                self.loss
            );
        }
        let host = format!(
            "sack = true\ntimestamps = {}\ninitial_window = \"10 segments\"\nrto = {{ min = \"200 ms\" }}\n{}",
            self.timestamps,
            self.mss_bytes.map(|mss| format!("mss = {mss}\n")).unwrap_or_default()
        );
        let _ = write!(text, "[sender]\n{host}congestion = \"{}\"\n", self.congestion.word());
        if let Some(bytes) = self.send_buffer_bytes {
            let _ = writeln!(text, "send_buffer = \"{bytes} B\"");
        }
        let _ = write!(text, "[receiver]\n{host}window = \"{} B\"\n", self.window_bytes);
        if let Some(rate) = self.read_bps {
            let _ = writeln!(text, "read_rate = \"{rate} bit/s\"");
        }
        let _ = match self.application {
            Application::Bulk | Application::Bytes(_) => {
                writeln!(text, "[[flow]]\nkind = \"bulk\"")
            }
            Application::Requests { reply_bytes, think_s } => writeln!(
                text,
                "[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"{REQUEST} B\"\n\
                 reply = \"{reply_bytes} B\"\nthink = \"{:.3} ms\"",
                1000.0 * think_s
            ),
        };
        let _ = writeln!(text, "[until]\ntime = \"{:.3} s\"", self.seconds);
        if let Application::Bytes(bytes) = self.application {
            let _ = writeln!(text, "bytes = \"{bytes} B\"");
        }
        text
    }
}

/// Payload of a request.
const REQUEST: u64 = 300;

impl Aim {
    /// Draws every number in its own range; whether they go together is asked afterwards.
    fn attempt(self, rng: &mut Rng) -> Setup {
        let congestion = [Congestion::Reno, Congestion::Cubic, Congestion::Bbr][below(rng, 3)];
        let rate = log_uniform(rng, 2e6, 100e6);
        let mut setup = Setup {
            aim: self,
            congestion,
            rate_bps: whole(rate),
            rtt_s: log_uniform(rng, 0.005, 0.150),
            queue_bytes: 0,
            loss: 0.0,
            window_bytes: AMPLE,
            send_buffer_bytes: None,
            mss_bytes: (rng.uniform() < 0.15).then(|| whole(uniform(rng, 300.0, 1200.0))),
            timestamps: rng.uniform() < 0.75,
            read_bps: None,
            application: Application::Bulk,
            seconds: uniform(rng, 3.0, 8.0),
        };
        let path = setup.path_bytes();
        let loss = log_uniform(rng, 0.001, 0.03);
        let mut paths_of_queue = log_uniform(rng, 0.3, 4.0);
        match self {
            Self::Turns => self.turns(&mut setup, rng),
            Self::Short => {
                let first = INITIAL_SEGMENTS * setup.segment_bytes();
                setup.application =
                    Application::Bytes(whole(log_uniform(rng, 3.0 * first, 0.4 * path)));
            }
            Self::SmallWindow => setup.window_bytes = whole(path * uniform(rng, 0.1, 0.6)),
            Self::SlowReader => {
                setup.mss_bytes = None;
                setup.rate_bps = whole(uniform(rng, 60e6, 100e6));
                setup.seconds = uniform(rng, 6.0, 8.0);
                setup.read_bps = Some(whole(setup.link_payload_bps() * uniform(rng, 0.1, 0.3)));
                setup.window_bytes = whole(setup.path_bytes() * uniform(rng, 1.5, 2.5));
            }
            Self::SmallBuffer => {
                setup.congestion = WITH_BUFFERS;
                setup.send_buffer_bytes = Some(whole(path * uniform(rng, 0.06, 0.2)));
            }
            Self::FullLink => paths_of_queue = log_uniform(rng, 1.2, 4.0),
            Self::FullByWindow => {
                paths_of_queue = uniform(rng, 2.5, 4.0);
                setup.window_bytes = whole(path * uniform(rng, 1.6, 0.7 * paths_of_queue + 0.6));
            }
            Self::FullInSpiteOfLoss => {
                setup.congestion = Congestion::Bbr;
                setup.loss = loss;
                paths_of_queue = log_uniform(rng, 1.0, 4.0);
            }
            Self::SmallPathWithLoss => {
                setup.loss = log_uniform(rng, 0.001, 0.004);
                paths_of_queue = uniform(rng, 2.0, 4.0);
            }
            Self::Loss => setup.loss = loss,
            Self::ShortQueue => paths_of_queue = uniform(rng, 0.3, 0.4),
            Self::Any => {
                setup.loss = if rng.uniform() < 0.5 { 0.0 } else { loss };
                if rng.uniform() < 0.3 {
                    setup.window_bytes = whole(path * log_uniform(rng, 0.2, 4.0));
                }
                if rng.uniform() < 0.2 && setup.congestion == WITH_BUFFERS {
                    setup.send_buffer_bytes = Some(whole(path * log_uniform(rng, 0.1, 4.0)));
                }
                if rng.uniform() < 0.2 {
                    self.turns(&mut setup, rng);
                }
            }
        }
        let full = setup.rate_bps as f64 * setup.base_rtt_s() / 8.0;
        setup.queue_bytes = whole((paths_of_queue * full).max(LEAST_QUEUE));
        setup
    }

    /// Replies of a few segments at any pace, or larger ones with pauses.
    fn turns(self, setup: &mut Setup, rng: &mut Rng) {
        let segment = setup.segment_bytes();
        let (segments, think) = if rng.uniform() < 0.5 {
            (uniform(rng, 0.3, 8.0), uniform(rng, 0.0, 0.2))
        } else {
            let segments = log_uniform(rng, 10.0, 200.0);
            let takes = setup.slow_start_s(segments * segment)
                + 2.0 * setup.base_rtt_s()
                + segments * segment * 8.0 / setup.link_payload_bps();
            (segments, takes * uniform(rng, 3.0, 8.0))
        };
        setup.application =
            Application::Requests { reply_bytes: whole(segments * segment), think_s: think };
    }

    /// Whether a scenario is far enough from the borders.
    fn accepts(self, setup: &Setup) -> bool {
        let (path, segment) = (setup.path_bytes(), setup.segment_bytes());
        let drain = setup.queue_bytes as f64 * 8.0 / setup.rate_bps as f64;
        // Small segments at high rates are many packets, and say no more.
        let is_light = setup.mss_bytes.is_none() || setup.rate_bps <= 20_000_000;
        // Slow start and a full queue's round trips must be a small part of the time.
        let is_long = setup.slow_start_s(path) + 2.0 * setup.rtt_s <= 0.15 * setup.seconds
            && drain + setup.rtt_s <= 0.1 * setup.seconds;
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
            Self::FullLink | Self::FullInSpiteOfLoss => true,
            Self::FullByWindow => {
                let window = setup.window_bytes as f64;
                window >= 1.6 * path && window <= 0.7 * (path + setup.queue_bytes as f64)
            }
            Self::SmallPathWithLoss => {
                setup.congestion != Congestion::Bbr && setup.law_window_bytes() >= 2.5 * path
            }
            Self::Loss => setup.law_window_bytes() <= 0.45 * path,
            Self::ShortQueue => setup.congestion != Congestion::Bbr && path >= 100.0 * segment,
            Self::Any => true,
        };
        is_light && suits && (self == Self::Short || is_long) && has_queue
    }
}

/// The kernel paces BBR, which writes and sends a little at a time. Without pacing it takes several times its send
/// buffer in super-packets (measured on Linux 6.18: 450 kB with `tcp_wmem` at 51 kB) and counts no time as limited by
/// it: what then limits Reno or CUBIC, nothing tells for sure.
const WITH_BUFFERS: Congestion = Congestion::Bbr;
/// A window shuts when the receiver's memory is full. The lab gives it 4 MiB, and more above this window.
const READERS_MEMORY: f64 = 4_194_304.0;
const MOST_WINDOW_OF_READERS: u64 = 262_144;
/// A queue holds some packets, however short the path.
const LEAST_QUEUE: f64 = 15_000.0;
/// Deeper than this it was the least queue that made it so.
const MOST_QUEUE: f64 = 4.5;
/// Less is no buffer to the kernel, which grants what it counts for its own part too (socket(7)).
const LEAST_BUFFER: f64 = 16_384.0;
/// The kernel asks whether there is room before it takes a whole super-packet of up to 64 KiB: a path that one of
/// them fills is not limited by any buffer.
const LEAST_PATH_OF_BUFFERS: f64 = 262_144.0;

fn uniform(rng: &mut Rng, from: f64, to: f64) -> f64 {
    from + (to - from) * rng.uniform()
}

fn log_uniform(rng: &mut Rng, from: f64, to: f64) -> f64 {
    uniform(rng, from.ln(), to.ln()).exp()
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
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

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
            assert!((2_000_000..=100_000_000).contains(&setup.rate_bps));
            assert!((0.005..=0.150).contains(&setup.rtt_s));
            assert!(setup.loss <= 0.03);
            assert!((3.0..=8.0).contains(&setup.seconds));
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
