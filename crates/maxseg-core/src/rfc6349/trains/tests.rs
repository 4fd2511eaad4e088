//! Trains over a path of one link, with what disturbs them.

use super::*;
use crate::rng::Stream;

/// A path: a policer, a token bucket that queues, a link with a queue, and losses behind it.
#[derive(Debug, Clone, Copy)]
struct Path {
    link_bps: f64,
    queue_packets: f64,
    loss: f64,
    /// Rate and burst, bytes.
    policer: Option<(f64, f64)>,
    /// The same of a bucket whose packets wait.
    shaper: Option<(f64, f64)>,
    /// The receiver notes packets together that arrive within so long.
    coalescing_s: f64,
    /// A host pauses now and then for so long.
    pause_s: f64,
    /// What a moment of other traffic takes of the link, at most.
    other: f64,
}

const PLAIN: Path = Path {
    link_bps: 30e6,
    queue_packets: 200.0,
    loss: 0.0,
    policer: None,
    shaper: None,
    coalescing_s: 0.0,
    pause_s: 0.0,
    other: 0.0,
};
const BYTES: u32 = 1500;
const BITS: f64 = 12_000.0;

/// Tokens in bits.
struct Bucket {
    rate: f64,
    most: f64,
    tokens: f64,
    at: f64,
}

impl Bucket {
    fn new((rate, burst): (f64, f64)) -> Self {
        Self { rate, most: 8.0 * burst, tokens: 8.0 * burst, at: 0.0 }
    }

    /// How long a packet at `at` has to wait.
    fn wait(&mut self, at: f64) -> f64 {
        self.tokens = (self.tokens + self.rate * (at - self.at)).min(self.most);
        self.at = at;
        ((BITS - self.tokens) / self.rate).max(0.0)
    }
}

impl Path {
    fn train(&self, sent: u32, bps: f64) -> Train {
        let mut chance = Stream::named(7, "trains").reader();
        let (mut policer, mut shaper) =
            (self.policer.map(Bucket::new), self.shaper.map(Bucket::new));
        let (mut free, mut last_shaped, mut arrivals, mut paused) =
            (0.0_f64, 0.0_f64, Vec::new(), 0.0_f64);
        for number in 0..sent {
            let mut at = f64::from(number) * BITS / bps;
            let draws = [(); 3].map(|()| chance.uniform());
            if let Some(bucket) = &mut policer {
                if bucket.wait(at) > 0.0 {
                    continue;
                }
                bucket.tokens -= BITS;
            }
            if let Some(bucket) = &mut shaper {
                let begin = at.max(last_shaped);
                if begin - at > self.queue_packets * BITS / bucket.rate {
                    continue;
                }
                at = begin + bucket.wait(begin);
                let _ = bucket.wait(at);
                bucket.tokens -= BITS;
                last_shaped = at;
            }
            let busy = (free - at).max(0.0);
            if busy > self.queue_packets * BITS / self.link_bps {
                continue;
            }
            let other = 1.0 + self.other * draws[2];
            free = at.max(free) + other * BITS / self.link_bps;
            if draws[0] < self.loss {
                continue;
            }
            let mut seen = free;
            if self.coalescing_s > 0.0 {
                seen = (seen / self.coalescing_s).ceil() * self.coalescing_s;
            }
            if self.pause_s > 0.0 && draws[1] < 0.003 {
                paused = seen + self.pause_s;
            }
            arrivals.push(Arrival { number, at_s: seen.max(paused) });
        }
        let sent_s = f64::from(sent - 1) * BITS / bps;
        Train { packet_bytes: BYTES, sent, sent_s, arrivals, dropped_by_host: 0 }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    fn found(&self) -> TrainsFound {
        let short = self.train(64, 1e9);
        let link = short.spacing_bps().unwrap();
        let train = |bps: f64, seconds: f64| self.train((bps * seconds / BITS) as u32, bps);
        judge_trains(&short, &train(0.5 * link, 0.5), &train(1.15 * link, 1.0)).unwrap()
    }
}

/// That these are the limit and the rate, within a share.
fn assert_found(name: &str, path: &Path, limit: TrainLimit, bps: f64, within: f64) {
    let found = path.found();
    assert_eq!(found.limit, limit, "{name}: {found:?}");
    assert!((found.lasting_bps / bps - 1.0).abs() < within, "{name}: {found:?}");
}

#[test]
fn a_link_is_found_whatever_is_lost_behind_it() {
    assert_found("plain", &PLAIN, TrainLimit::Link, 30e6, 0.002);
    for (loss, within) in [(0.005, 0.005), (0.02, 0.005), (0.05, 0.005)] {
        assert_found("losses", &Path { loss, ..PLAIN }, TrainLimit::Link, 30e6, within);
    }
    let short = Path { queue_packets: 8.0, ..PLAIN };
    assert_found("short queue", &short, TrainLimit::Link, 30e6, 0.01);
    let paused = Path { pause_s: 0.004, loss: 0.005, ..PLAIN };
    assert_found("pauses", &paused, TrainLimit::Link, 30e6, 0.02);
    let together = Path { coalescing_s: 0.001, loss: 0.005, ..PLAIN };
    assert_found("coalescing", &together, TrainLimit::Link, 30e6, 0.02);
}

#[test]
fn a_policer_is_told_from_a_link_and_from_losses() {
    for (rate, burst) in [(20e6, 256e3), (20e6, 15e3), (60e6, 64e3), (80e6, 256e3)] {
        for loss in [0.0, 0.005] {
            let path = Path { link_bps: 100e6, loss, policer: Some((rate, burst)), ..PLAIN };
            assert_found("policed", &path, TrainLimit::Policer, rate, 0.02);
        }
    }
}

#[test]
fn a_shapers_burst_is_not_its_rate() {
    let path = Path { link_bps: 100e6, shaper: Some((20e6, 256e3)), ..PLAIN };
    assert_found("shaped", &path, TrainLimit::Link, 20e6, 0.01);
    assert!(path.found().short_train_bps > 90e6);
}

#[test]
fn what_is_not_known_is_a_lower_bound() {
    let other = Path { other: 4.0, ..PLAIN }.found();
    assert!(other.limit != TrainLimit::Policer && other.lasting_bps < 30e6, "{other:?}");
    let short = PLAIN.train(64, 1e9);
    let (slower, faster) = (PLAIN.train(600, 10e6), PLAIN.train(1200, 20e6));
    assert!(has_passed(&slower, &faster));
    let found = judge_trains(&short, &slower, &faster).unwrap();
    assert_eq!(found.limit, TrainLimit::AtLeast);
    let lossy = Path { loss: 0.5, ..PLAIN }.found();
    assert_eq!(lossy.limit, TrainLimit::AtLeast, "{lossy:?}");
    let mut blurred = PLAIN.train(1600, 34e6);
    blurred.dropped_by_host = 40;
    assert_eq!(judge_trains(&short, &slower, &blurred).unwrap().limit, TrainLimit::AtLeast);
    assert!(judge_trains(&short, &slower, &PLAIN.train(8, 34e6)).is_none());
    assert!(Train { arrivals: Vec::new(), ..short }.spacing_bps().is_none());
}
