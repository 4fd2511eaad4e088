//! Paths by chance: each has a kind by its number.

use std::fmt::Write as _;

use maxseg_core::rng::{Rng, Stream};
use serde::{Deserialize, Serialize};

use crate::draws::{below, log_uniform, pick, uniform, whole};

/// What a drawn path is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Fast,
    Long,
    Lossy,
    Framed,
    SmallMtu,
    Bufferbloat,
    Tunnelled,
    Slow,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Fast,
        Self::Long,
        Self::Lossy,
        Self::Framed,
        Self::SmallMtu,
        Self::Bufferbloat,
        Self::Tunnelled,
        Self::Slow,
    ];

    /// Of the path with this number.
    pub(super) fn of(number: u64) -> Self {
        Self::ALL[usize::try_from(number % Self::ALL.len() as u64).unwrap_or(0)]
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Long => "long",
            Self::Lossy => "lossy",
            Self::Framed => "framed",
            Self::SmallMtu => "small MTU",
            Self::Bufferbloat => "bufferbloat",
            Self::Tunnelled => "tunnelled",
            Self::Slow => "slow",
        }
    }
}

/// A drawn path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Drawn {
    pub(super) number: u64,
    pub(super) kind: Kind,
    /// Its scenario, as TOML.
    pub(super) text: String,
    /// It in a few words.
    pub(super) words: String,
}

/// A run has about so many full packets, and so many round trips at least; seconds.
const PACKETS: f64 = 25_000.0;
const ROUND_TRIPS: f64 = 60.0;
const SECONDS: [f64; 2] = [4.0, 120.0];

impl Drawn {
    /// The path with this number under `seed`, of a set called `set`.
    pub(super) fn draw(set: &str, seed: u64, number: u64) -> Self {
        let mut rng = Stream::named(seed, &format!("advise.{set}.{number}")).reader();
        let kind = Kind::of(number);
        let (rate, rtt) = match kind {
            Kind::Fast => (log_uniform(&mut rng, 50e6..400e6), log_uniform(&mut rng, 0.002..0.02)),
            Kind::Long => (log_uniform(&mut rng, 20e6..200e6), log_uniform(&mut rng, 0.06..0.2)),
            Kind::Lossy => (log_uniform(&mut rng, 1e6..50e6), log_uniform(&mut rng, 0.01..0.12)),
            Kind::Framed => (log_uniform(&mut rng, 0.3e6..4e6), log_uniform(&mut rng, 0.05..0.45)),
            Kind::SmallMtu | Kind::Tunnelled => {
                (log_uniform(&mut rng, 2e6..100e6), log_uniform(&mut rng, 0.01..0.12))
            }
            Kind::Bufferbloat => {
                (log_uniform(&mut rng, 1e6..30e6), log_uniform(&mut rng, 0.01..0.1))
            }
            Kind::Slow => (log_uniform(&mut rng, 28.8e3..512e3), log_uniform(&mut rng, 0.04..0.4)),
        };
        let held = rate * rtt / 8.0;
        let queue = match kind {
            Kind::Bufferbloat => rate / 8.0 * log_uniform(&mut rng, 0.3..2.0),
            Kind::Fast
            | Kind::Long
            | Kind::Lossy
            | Kind::Framed
            | Kind::SmallMtu
            | Kind::Tunnelled
            | Kind::Slow => (held * log_uniform(&mut rng, 0.3..3.0)).max(12_000.0),
        };
        let mtu = match kind {
            Kind::SmallMtu => pick(&mut rng, &[(576, 1), (1006, 1), (1280, 2), (1400, 1)]),
            Kind::Fast
            | Kind::Long
            | Kind::Lossy
            | Kind::Framed
            | Kind::Bufferbloat
            | Kind::Tunnelled
            | Kind::Slow => 1500,
        };
        let (rate, queue) = (whole(rate), whole(queue));
        let mut words = format!(
            "{:.3} Mbit/s, {:.0} ms, queue {} kB",
            rate as f64 / 1e6,
            1e3 * rtt,
            queue / 1000
        );
        let mut text = format!(
            "name = \"{} {number}\"\n[[hop]]\nname = \"near\"\nrate = \"{} bit/s\"\ndelay = \"0.1 ms\"\nqueue = \"4000 packets\"\n\
             [[hop]]\nname = \"far\"\nrate = \"{rate} bit/s\"\ndelay = \"{:.0} us\"\nqueue = \"{queue} B\"\nmtu = {mtu}\n",
            kind.word(),
            (rate * 10).max(10_000_000),
            5e5 * rtt
        );
        special(&mut rng, kind, &mut text, &mut words);
        text.push_str("[[hop]]\nname = \"end\"\nrate = \"1 Gbit/s\"\ndelay = \"0.1 ms\"\n");
        ends(&mut rng, held, &mut text, &mut words);
        let seconds =
            (PACKETS * 12_000.0 / rate as f64).max(ROUND_TRIPS * rtt).clamp(SECONDS[0], SECONDS[1]);
        let _ = write!(text, "[until]\ntime = \"{:.0} ms\"\n", 1e3 * seconds);
        Self { number, kind, text, words }
    }
}

/// What only paths of a kind have.
fn special(rng: &mut Rng, kind: Kind, text: &mut String, words: &mut String) {
    match kind {
        Kind::Lossy => {
            let rate = log_uniform(rng, 0.0005..0.03);
            if rng.uniform() < 0.3 {
                let burst = uniform(rng, 2.0..6.0);
                let _ = writeln!(
                    text,
                    "errors = {{ model = \"gilbert-elliott\", per = \"packet\", rate = {rate:.5}, burst = {burst:.1} }}"
                );
                let _ = write!(words, ", {:.2}% lost in bursts", 100.0 * rate);
            } else {
                let _ = writeln!(
                    text,
                    "errors = {{ model = \"uniform\", per = \"packet\", rate = {rate:.5} }}"
                );
                let _ = write!(words, ", {:.2}% lost", 100.0 * rate);
            }
        }
        Kind::Framed => {
            let frame = pick(rng, &[(64, 1), (128, 2), (256, 1)]);
            let rate = log_uniform(rng, 0.002..0.1);
            let _ = writeln!(
                text,
                "frame = {frame}\nerrors = {{ model = \"uniform\", per = \"frame\", rate = {rate:.5} }}"
            );
            let _ = write!(words, ", frames of {frame} B, {:.1}% lost", 100.0 * rate);
        }
        Kind::SmallMtu => {
            if rng.uniform() < 0.4 {
                text.push_str("icmp = \"drop\"\n");
                words.push_str(", black hole");
            } else {
                words.push_str(", small MTU");
            }
        }
        Kind::Tunnelled => {
            let tunnel = pick(rng, &[("wireguard", 1), ("vxlan", 1), ("gre", 1)]);
            let _ = writeln!(text, "tunnel = \"{tunnel}\"");
            let _ = write!(words, ", {tunnel}");
        }
        Kind::Fast | Kind::Long | Kind::Bufferbloat | Kind::Slow => {}
    }
}

/// The hosts as somebody has left them.
fn ends(rng: &mut Rng, held: f64, text: &mut String, words: &mut String) {
    let congestion = ["cubic", "cubic", "reno", "bbr"][below(rng, 4)];
    let probing = if rng.uniform() < 0.5 { "mtu_probing = true\n" } else { "" };
    let _ = write!(
        text,
        "[sender]\nstack = \"linux\"\ncongestion = \"{congestion}\"\n{probing}[receiver]\nstack = \"linux\"\n"
    );
    let _ = write!(words, ", {congestion}");
    if rng.uniform() < 0.5 {
        let window = whole((held * log_uniform(rng, 0.15..6.0)).max(8000.0));
        let _ = writeln!(text, "window = \"{window} B\"");
        let _ = write!(words, ", window {} kB", window / 1000);
    }
}
