//! The segment size that fits a link of error-prone frames best.
//!
//! Large segments waste less on headers, and let TCP's window hold more; small ones are lost less often.
//! Between two sizes that fill their frames nothing is won, so these are what is compared, and the largest.

use super::Formula;
use super::frames::Frames;
use super::pftk::Pftk;
use crate::units::{Bytes, Probability};
use crate::window::rate_per_round_trip;

/// The best size of datagrams that are sent as fast as the link allows, each lost for good with any of
/// its frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datagram {
    /// Frames at the maximum if n were continuous: (H + √(H² + 4MH/L)) / 2M with L = −ln(1 − e);
    /// infinite without errors.
    pub continuous_frames: f64,
    /// Its frames.
    pub frames: u64,
    /// Its payload: what fills them, or the largest that is allowed.
    pub payload: Bytes,
    /// The share of the link's rate that arrives as payload, g(n).
    pub goodput_factor: f64,
}

/// The share of the link's rate that arrives as payload with `n` full frames each:
/// g(n) = (nM − H)/(nM) · (1 − e)ⁿ.
pub fn goodput_factor(frames: Frames, n: u64, e: Probability) -> f64 {
    let payload = frames.payload(n).get() as f64;
    let all = n as f64 * frames.frame().get() as f64;
    payload / all * libm::pow(e.complement(), n as f64)
}

/// The best datagram of at most `most` frames: the first maximum of [`goodput_factor`], `None` where not
/// even `most` frames hold any payload.
pub fn datagram(frames: Frames, e: Probability, most: u64) -> Option<Datagram> {
    let mut best = frames.fewest();
    if best > most {
        return None;
    }
    // It rises to one maximum and falls from there.
    while best < most && goodput_factor(frames, best + 1, e) > goodput_factor(frames, best, e) {
        best += 1;
    }
    Some(Datagram {
        continuous_frames: continuous_frames(frames, e),
        frames: best,
        payload: frames.payload(best),
        goodput_factor: goodput_factor(frames, best, e),
    })
}

fn continuous_frames(frames: Frames, e: Probability) -> f64 {
    let (h, m) = (frames.header.get() as f64, frames.frame().get() as f64);
    let l = -libm::log1p(-e.get());
    (h + libm::sqrt(h * h + 4.0 * m * h / l)) / (2.0 * m)
}

/// The best datagram whose payload is at most `largest`: that of [`datagram`], or the largest itself, whose last frame is only as long as
/// what it carries; `None` where `largest` is nothing.
pub fn datagram_within(frames: Frames, e: Probability, largest: Bytes) -> Option<Datagram> {
    let most = largest.get().saturating_add(frames.header.get()) / frames.frame().get();
    let filled = datagram(frames, e, most);
    if largest == Bytes::ZERO || frames.is_aligned(largest) {
        return filled;
    }
    let unfilled = Datagram {
        continuous_frames: continuous_frames(frames, e),
        frames: frames.count(largest),
        payload: largest,
        goodput_factor: goodput_factor_of(frames, largest, e),
    };
    let is_better = |filled: &Datagram| filled.goodput_factor >= unfilled.goodput_factor;
    Some(filled.filter(is_better).unwrap_or(unfilled))
}

/// The share of the link's rate that arrives as payload where the last frame is only as long as what it carries:
/// s/(s + H) · (1 − e)ⁿ.
pub fn goodput_factor_of(frames: Frames, payload: Bytes, e: Probability) -> f64 {
    let (s, h) = (payload.get() as f64, frames.header.get() as f64);
    s / (s + h).max(1.0) * frames.loss(payload, e).complement()
}

/// A bulk transfer over a link of frames, for which TCP's own reaction to losses counts too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tcp {
    /// The link's frames behind TCP and IP headers.
    pub frames: Frames,
    /// Chance that a frame is lost.
    pub frame_loss: Probability,
    /// The link's rate in bits per second; infinite for none.
    pub rate: f64,
    /// Round trip in seconds.
    pub rtt: f64,
    /// The first retransmission timeout in seconds, T₀.
    pub first_timeout: f64,
    /// Segments per acknowledgement, b.
    pub per_ack: f64,
    /// The largest window in bytes; infinite for none.
    pub window: f64,
    /// The largest payload that a packet may have.
    pub largest: Bytes,
}

/// What becomes of one segment size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Payload of a segment.
    pub payload: Bytes,
    /// Chance that a segment is lost.
    pub loss: Probability,
    /// Payload that arrives, in bits per second.
    pub goodput: f64,
    /// Which bound that is.
    pub bound: Formula,
}

impl Tcp {
    /// The goodput of segments of this payload: s·T(p(s)) by PFTK, at most what the window lets through a
    /// round trip and what arrives of what the link carries beside headers.
    pub fn choice(&self, payload: Bytes) -> Choice {
        let loss = self.frames.loss(payload, self.frame_loss);
        let bits = 8.0 * payload.get() as f64;
        let segments = libm::floor(self.window / payload.get() as f64).max(1.0);
        let all = payload.get() as f64 + self.frames.header.get() as f64;
        let bounds = [
            (rate_per_round_trip(segments * payload.get() as f64, self.rtt), Formula::Window),
            self.by_loss(loss, segments, bits),
            (loss.complement() * self.rate * payload.get() as f64 / all, Formula::Link),
        ];
        let (goodput, bound) = bounds
            .into_iter()
            .reduce(|least, bound| if bound.0 < least.0 { bound } else { least })
            .unwrap_or((0.0, Formula::NothingArrives));
        Choice { payload, loss, goodput, bound }
    }

    fn by_loss(&self, loss: Probability, segments: f64, bits: f64) -> (f64, Formula) {
        match loss.get() {
            p if p <= 0.0 => (f64::INFINITY, Formula::PftkFull),
            p if p >= 1.0 => (0.0, Formula::NothingArrives),
            p => {
                let pftk = Pftk {
                    loss: p,
                    rtt: self.rtt,
                    first_timeout: self.first_timeout,
                    per_ack: self.per_ack,
                    largest_window: segments,
                };
                (bits * pftk.goodput(), Formula::PftkFull)
            }
        }
    }

    /// What becomes of every size worth comparing: those that fill their frames, and the largest.
    pub fn choices(&self) -> Vec<Choice> {
        let aligned = self.frames.aligned_up_to(self.largest);
        let largest = (!self.frames.is_aligned(self.largest)).then_some(self.largest);
        let sizes = aligned.chain(largest).filter(|size| *size > Bytes::ZERO);
        sizes.map(|size| self.choice(size)).collect()
    }

    /// The choice with the highest goodput, the smallest of equal ones; `None` where nothing fits.
    pub fn best(&self) -> Option<Choice> {
        self.choices().into_iter().reduce(
            |best, choice| {
                if choice.goodput > best.goodput { choice } else { best }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cellular() -> Frames {
        Frames::new(Bytes::new(40), Bytes::new(128)).unwrap()
    }

    fn share(e: f64) -> Probability {
        Probability::new(e).unwrap()
    }

    #[test]
    fn datagrams_shrink_with_the_error_rate() {
        // Frame error, frames, payload.
        let cases =
            [(0.002, 13, 1624), (0.01, 6, 728), (0.05, 3, 344), (0.1, 2, 216), (0.2, 1, 88)];
        for (e, frames, payload) in cases {
            let best = datagram(cellular(), share(e), 1000).unwrap();
            assert_eq!((best.frames, best.payload.get()), (frames, payload), "{e}");
            assert!((best.continuous_frames - frames as f64).abs() < 1.0, "{e}");
        }
    }

    #[test]
    fn one_climb_finds_what_a_search_of_all_finds() {
        for header in [1, 28, 40, 128, 300] {
            for frame in [1, 48, 128, 1500] {
                for e in [1e-6, 0.003, 0.04, 0.5, 0.999] {
                    let frames = Frames::new(Bytes::new(header), Bytes::new(frame)).unwrap();
                    let climbed = datagram(frames, share(e), 1000).unwrap();
                    let all = (frames.fewest()..=1000).map(|n| goodput_factor(frames, n, share(e)));
                    let most = all.fold(0.0, f64::max);
                    assert!(climbed.goodput_factor >= most, "{header} {frame} {e}");
                }
            }
        }
    }

    #[test]
    fn ends_are_answered() {
        let clean = datagram(cellular(), Probability::NEVER, 11).unwrap();
        assert_eq!((clean.frames, clean.payload.get()), (11, 1368));
        assert!(clean.continuous_frames.is_infinite());
        assert_eq!(datagram(cellular(), Probability::ALWAYS, 11).unwrap().frames, 1);
        assert!(
            datagram(Frames::new(Bytes::new(300), Bytes::new(128)).unwrap(), share(0.1), 2)
                .is_none()
        );
    }

    #[test]
    fn no_size_up_to_the_largest_is_better() {
        for (header, frame, e, largest) in [
            (28, 300, 0.001, 548),
            (28, 1600, 0.01, 1472),
            (28, 128, 0.0, 1472),
            (28, 128, 0.05, 1472),
        ] {
            let frames = Frames::new(Bytes::new(header), Bytes::new(frame)).unwrap();
            let best = datagram_within(frames, share(e), Bytes::new(largest)).unwrap();
            let all =
                (1..=largest).map(|size| goodput_factor_of(frames, Bytes::new(size), share(e)));
            let most = all.fold(0.0, f64::max);
            assert!((best.goodput_factor - most).abs() < 1e-12, "{frame} {e}: {best:?}, {most}");
        }
        let full = datagram_within(cellular(), share(0.05), Bytes::new(1460)).unwrap();
        assert_eq!(full, datagram(cellular(), share(0.05), 11).unwrap());
        assert!(datagram_within(cellular(), share(0.05), Bytes::ZERO).is_none());
    }

    fn transfer(e: f64) -> Tcp {
        Tcp {
            frames: cellular(),
            frame_loss: share(e),
            rate: 2e6,
            rtt: 0.44,
            first_timeout: 1.0,
            per_ack: 1.0,
            window: 65_536.0,
            largest: Bytes::new(1460),
        }
    }

    #[test]
    fn tcp_shrinks_too_but_less_at_low_errors() {
        // What PFTK picks on the cellular path when the timer stands at 1.5 s.
        for (e, payload) in [(0.05, 472), (0.1, 216), (0.2, 88)] {
            let slow_timer = Tcp { first_timeout: 1.5, ..transfer(e) };
            assert_eq!(slow_timer.best().unwrap().payload.get(), payload, "{e}");
        }
        assert!(transfer(0.002).best().unwrap().payload.get() >= 1368);
    }

    #[test]
    fn a_longer_timer_asks_for_smaller_segments() {
        let best = |first_timeout| {
            let transfer = Tcp { first_timeout, ..transfer(0.05) };
            transfer.best().unwrap().payload.get()
        };
        let sizes = [0.44, 0.64, 1.0, 1.5, 3.0].map(best);
        assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > sizes[4], "{sizes:?}");
    }

    #[test]
    fn the_best_is_never_below_a_size_everybody_knows() {
        for e in [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0] {
            let transfer = transfer(e);
            let best = transfer.best().unwrap();
            for size in [88, 536, 600, 1460] {
                assert!(best.goodput >= transfer.choice(Bytes::new(size)).goodput, "{e} {size}");
            }
        }
    }

    #[test]
    fn no_more_arrives_than_the_link_carries_less_losses() {
        let slow = Tcp { rate: 9600.0, rtt: 0.3, window: f64::INFINITY, ..transfer(0.05) };
        for choice in slow.choices() {
            let payload = choice.payload.get() as f64;
            let arriving = 9600.0 * payload / (payload + 40.0) * choice.loss.complement();
            assert!(choice.goodput < arriving * (1.0 + 1e-12), "{choice:?}");
        }
        // On a link that is slow enough the timer hardly counts: about the best datagram, of three frames.
        assert_eq!(slow.best().unwrap().payload, Bytes::new(344));
    }

    #[test]
    fn without_errors_window_and_link_are_left() {
        let clean = transfer(0.0).best().unwrap();
        assert_eq!(clean.bound, Formula::Window);
        let wide = Tcp { window: 1e6, ..transfer(0.0) }.best().unwrap();
        assert_eq!((wide.bound, wide.payload.get()), (Formula::Link, 1460));
        assert!((wide.goodput - 2e6 * 1460.0 / 1500.0).abs() < 1e-6);
    }
}
