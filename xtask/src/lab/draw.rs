//! Paths by chance: each has a kind by its number, and is drawn anew where its numbers do not suit that.

use std::ops::Range;

use maxseg_core::rng::{Rng, Stream};

use super::kind::Kind;
use super::path::{Loss, Path};
use super::ranges::{
    BURST_PACKETS, LATER_S, LEAST_LOSSES, LEAST_PATH_SEGMENTS, LEAST_QUEUE_SEGMENTS, LINE_SHARE,
    LOSS, LOSSES, LOSSY_SECONDS, MOST_BYTES, MOST_PACKETS_PER_S, MOST_SECONDS, MSS_BYTES, QUEUE,
    RATE_BPS, REPLY_SEGMENTS, RTT_S, RTT_WITH_LOSS_S, SECONDS, SHORT_TRANSFER, THINK_S,
};
use crate::draws::{Application, Congestion, below, log_uniform, pick, uniform, whole};

/// Requests over a path with random losses are so many of all.
const LOSSY_REQUESTS: f64 = 0.5;
/// Losses in bursts are so many of all.
const BURSTY: f64 = 0.4;

impl Path {
    /// The path with this number under `seed`.
    pub(super) fn draw(seed: u64, number: u64) -> Self {
        let mut rng = Stream::named(seed, &format!("lab.{number}")).reader();
        let (kind, flows) = Kind::at(number / 2);
        // Not anew where the numbers do not suit it: else those that suit fewer would be drawn less often.
        let is_lossy = match kind {
            Kind::Lossy | Kind::LossyBbr => true,
            Kind::Requests => rng.uniform() < LOSSY_REQUESTS,
            Kind::Short | Kind::LossFree => false,
        };
        let congestion = match kind {
            Kind::Lossy => Congestion::LOSS_BASED[below(&mut rng, 2)],
            Kind::LossyBbr => Congestion::Bbr,
            Kind::Requests | Kind::Short | Kind::LossFree => Congestion::ALL[below(&mut rng, 3)],
        };
        let mss_bytes = pick(&mut rng, &MSS_BYTES);
        loop {
            let loss = is_lossy.then(|| losses(&mut rng));
            let mut path = Self {
                number,
                kind,
                seed: 0,
                congestion,
                rate_bps: whole(log_uniform(&mut rng, RATE_BPS)),
                rtt_s: log_uniform(&mut rng, if is_lossy { RTT_WITH_LOSS_S } else { RTT_S }),
                queue_bytes: 0,
                loss,
                mss_bytes,
                load: Application::Bulk,
                starts_s: starts(&mut rng, flows),
                seconds: 0.0,
            };
            path.shape(&mut rng);
            if path.is_suitable() {
                path.seed = rng.next_u64() % 1_000_000;
                return path;
            }
        }
    }

    /// Queue, application and time.
    fn shape(&mut self, rng: &mut Rng) {
        let held = self.path_packets() * self.packet_bytes();
        self.queue_bytes = whole(log_uniform(rng, QUEUE) * held);
        match self.kind {
            Kind::Lossy | Kind::LossyBbr | Kind::LossFree => {}
            Kind::Requests => {
                let segments = log_uniform(rng, REPLY_SEGMENTS);
                let reply_bytes = whole(segments * self.segment_bytes());
                self.load = Application::Requests { reply_bytes, think_s: uniform(rng, THINK_S) };
            }
            Kind::Short => {
                let segments = log_uniform(rng, SHORT_TRANSFER) * self.path_packets();
                self.load = Application::Bytes(whole(segments * self.segment_bytes()));
            }
        }
        let unhurried = uniform(rng, SECONDS);
        self.seconds = match (self.load, self.loss) {
            (Application::Bytes(_), _) => MOST_SECONDS,
            (Application::Bulk | Application::Requests { .. }, None) => unhurried,
            (Application::Bulk | Application::Requests { .. }, Some(_)) => {
                (LOSSES / self.losses_per_s()).clamp(LOSSY_SECONDS.start, LOSSY_SECONDS.end)
            }
        };
    }

    /// Packets that are lost by chance in a second, by the laws.
    pub(super) fn losses_per_s(&self) -> f64 {
        self.loss.map_or(0.0, |loss| loss.rate * self.packets_per_s() * self.line_shares().end)
    }

    /// How much of the line is used, by the laws: the least and the most.
    fn line_shares(&self) -> Range<f64> {
        let law = self.share_by_law();
        let (least, most) = match self.load {
            Application::Bulk => (law, law),
            // Handshake, and the last acknowledgement.
            Application::Bytes(bytes) => self.share_in_turns(bytes as f64, 2.0, 0.0),
            Application::Requests { reply_bytes, think_s } => {
                self.share_in_turns(reply_bytes as f64, 1.0, think_s)
            }
        };
        least.min(law)..most.min(law)
    }

    fn is_suitable(&self) -> bool {
        let shares = self.line_shares();
        let has_room = LINE_SHARE.contains(&shares.start) && LINE_SHARE.contains(&shares.end);
        let queue = self.queue_bytes as f64;
        let held = self.path_packets() * self.packet_bytes();
        let has_losses =
            self.loss.is_none() || self.losses_per_s() * LOSSY_SECONDS.end >= LEAST_LOSSES;
        (has_room || !self.kind.is_partial())
            && has_losses
            && self.path_packets() >= LEAST_PATH_SEGMENTS
            && queue >= LEAST_QUEUE_SEGMENTS * self.packet_bytes()
            && self.packets_per_s() <= MOST_PACKETS_PER_S
            && held + queue <= MOST_BYTES
    }
}

fn losses(rng: &mut Rng) -> Loss {
    let is_bursty = rng.uniform() < BURSTY;
    let burst = uniform(rng, BURST_PACKETS);
    Loss { rate: log_uniform(rng, LOSS), burst: is_bursty.then_some(burst) }
}

fn starts(rng: &mut Rng, flows: usize) -> Vec<f64> {
    let later = (1..flows).map(|_| uniform(rng, LATER_S));
    std::iter::once(0.0).chain(later).collect()
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;

    fn all() -> impl Iterator<Item = Path> {
        (1..4).flat_map(|seed| (0..60).map(move |number| Path::draw(seed, number)))
    }

    #[test]
    fn the_same_numbers_draw_the_same_path() {
        assert_eq!(Path::draw(1, 7), Path::draw(1, 7));
        assert_ne!(Path::draw(1, 7).rate_bps, Path::draw(2, 7).rate_bps);
        assert_ne!(Path::draw(1, 6).rate_bps, Path::draw(1, 7).rate_bps);
    }

    #[test]
    fn every_path_is_a_scenario_and_in_its_range() {
        for path in all() {
            Scenario::from_toml("drawn", &path.to_toml(path.seed, "")).unwrap();
            let rtt = if path.loss.is_some() { RTT_WITH_LOSS_S } else { RTT_S };
            assert!(rtt.contains(&path.rtt_s), "{path:?}");
            assert!(RATE_BPS.contains(&(path.rate_bps as f64)), "{path:?}");
            // The queue is a whole number of bytes.
            assert!((0.24..4.1).contains(&path.queue_in_paths()), "{path:?}");
            assert!(path.loss.is_none_or(|loss| loss.rate <= 0.03), "{path:?}");
            assert!(path.seconds <= 60.0, "{path:?}");
        }
    }

    #[test]
    fn all_that_ranges_have_is_drawn() {
        let has = |wanted: &dyn Fn(&Path) -> bool| all().any(|path| wanted(&path));
        for (mss, _) in MSS_BYTES {
            assert!(has(&|path| path.mss_bytes == mss), "{mss}");
        }
        for congestion in Congestion::ALL {
            assert!(has(&|path| path.congestion == congestion), "{congestion:?}");
        }
        assert!(has(&|path| path.loss.is_some_and(|loss| loss.burst.is_some())));
        assert!(has(&|path| path.kind == Kind::Requests && path.loss.is_some()));
        assert!(has(&|path| path.kind == Kind::Requests && path.loss.is_none()));
        assert!(has(&|path| path.queue_in_paths() < 0.5));
        assert!(has(&|path| path.rate_bps > 300_000_000));
        assert!(has(&|path| path.rate_bps < 3_000_000));
    }
}
