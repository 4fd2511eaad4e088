//! Queueing disciplines and their `tc` arguments.

use std::fmt::Display;

use maxseg_core::path::CodelSettings;
use maxseg_core::units::{Probability, Time};

use super::command::TcCommand;
use super::size_table::SizeTable;

/// A qdisc attached to an interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Qdisc {
    /// The interface.
    pub device: String,
    /// The parent.
    pub parent: Parent,
    /// Major number of the handle.
    pub handle: u16,
    /// The size table; `None` where sizes are the device's.
    pub sizes: Option<SizeTable>,
    /// Kind and parameters.
    pub kind: Kind,
}

/// The parent of a qdisc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// The interface: a root qdisc.
    Root,
    /// The only class of the qdisc with this major number.
    Only(u16),
}

/// The kind of a qdisc, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// tc-netem(8).
    Netem(NetemParameters),
    /// tc-tbf(8), with a queue in bytes unless a child qdisc replaces it.
    Tbf {
        /// Bytes per second.
        rate: u64,
        /// Bucket size in bytes; larger packets are dropped, super-packets segmented.
        burst: u32,
        /// Queue limit in bytes.
        limit: u32,
    },
    /// tc-pfifo(8).
    Pfifo {
        /// Queue limit in packets.
        limit: u32,
    },
    /// tc-codel(8).
    Codel {
        /// Queue limit in packets.
        limit: u32,
        /// Target delay and interval.
        settings: CodelSettings,
        /// Whether ECN-capable packets are marked.
        ecn: bool,
    },
    /// tc-red(8).
    Red(RedParameters),
}

/// Parameters of netem; zero values are omitted.
#[derive(Debug, Clone, PartialEq)]
pub struct NetemParameters {
    /// Limit in packets, delayed ones included.
    pub limit: u32,
    /// Delay of each packet.
    pub delay: Time,
    /// Jitter: uniform deviation from the delay, up and down.
    pub jitter: Time,
    /// Share of packets sent without delay (`reorder`).
    pub reorder: Probability,
    /// Share of packets duplicated.
    pub duplicate: Probability,
    /// The loss model.
    pub loss: Loss,
    /// Rate in bytes per second.
    pub rate: Option<u64>,
    /// Cell size in bytes: packets take whole cells of the rate.
    pub cell: Option<u32>,
    /// Seed of the random numbers.
    pub seed: Option<u64>,
}

/// Loss models of netem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent loss with this probability.
    Random(Probability),
    /// Loss in bursts.
    Chain(Chain),
}

/// netem's Gilbert-Elliott model, with the names of tc-netem(8). It starts in the good state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    /// Probability of the transition from good to bad, `p`.
    pub to_bad: Probability,
    /// Probability of the transition from bad to good, `r`.
    pub to_good: Probability,
    /// Loss probability in the bad state, `1-h`.
    pub in_bad: Probability,
    /// Loss probability in the good state, `1-k`.
    pub in_good: Probability,
}

/// Parameters of RED, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedParameters {
    /// Queue limit.
    pub limit: u32,
    /// Average queue above which packets are dropped with rising probability.
    pub min: u32,
    /// Average queue above which all packets are dropped.
    pub max: u32,
    /// Size of a full packet.
    pub packet: u32,
    /// Burst in packets, from which `tc` computes the weight of the average.
    pub burst: u32,
    /// Drop probability just below `max`.
    pub probability: Probability,
    /// The link's rate in bytes per second, by which idle time is counted in packets.
    pub bandwidth: u64,
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
}

/// Removes the qdiscs of an interface.
pub fn clear(device: &str) -> TcCommand {
    TcCommand::new("tc", ["qdisc", "del", "dev", device, "root"])
}

impl Qdisc {
    /// The command that adds the qdisc.
    pub fn add(&self) -> TcCommand {
        let mut words: Vec<String> =
            ["qdisc", "add", "dev", &self.device].map(str::to_owned).to_vec();
        match self.parent {
            Parent::Root => words.push("root".to_owned()),
            Parent::Only(major) => words.extend(["parent".to_owned(), format!("{major}:1")]),
        }
        words.extend(["handle".to_owned(), format!("{}:", self.handle)]);
        words.extend(self.sizes.iter().flat_map(SizeTable::words));
        words.push(self.kind.word().to_owned());
        words.extend(self.kind.parameters());
        TcCommand::new("tc", words)
    }
}

impl Kind {
    /// The kind's name in `tc`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Netem(_) => "netem",
            Self::Tbf { .. } => "tbf",
            Self::Pfifo { .. } => "pfifo",
            Self::Codel { .. } => "codel",
            Self::Red(_) => "red",
        }
    }

    fn parameters(&self) -> Vec<String> {
        let mut words = Words::default();
        match self {
            Self::Netem(netem) => netem.write(&mut words),
            Self::Tbf { rate, burst, limit } => {
                words.add("rate", bits(*rate));
                words.add("burst", burst);
                words.add("limit", limit);
            }
            Self::Pfifo { limit } => words.add("limit", limit),
            Self::Codel { limit, settings, ecn } => {
                words.add("limit", limit);
                words.add("target", microseconds(settings.target));
                words.add("interval", microseconds(settings.interval));
                words.flag(if *ecn { "ecn" } else { "noecn" });
            }
            Self::Red(red) => red.write(&mut words),
        }
        words.0
    }
}

impl NetemParameters {
    /// A netem without delay, loss or rate.
    pub fn idle(limit: u32) -> Self {
        Self {
            limit,
            delay: Time::ZERO,
            jitter: Time::ZERO,
            reorder: Probability::NEVER,
            duplicate: Probability::NEVER,
            loss: Loss::None,
            rate: None,
            cell: None,
            seed: None,
        }
    }

    fn write(&self, words: &mut Words) {
        words.add("limit", self.limit);
        if self.delay > Time::ZERO {
            words.add("delay", time(self.delay));
            if self.jitter > Time::ZERO {
                words.flag(&time(self.jitter));
            }
        }
        match self.loss {
            Loss::None => {}
            Loss::Random(share) => words.add("loss", share),
            Loss::Chain(chain) => {
                words.flag("loss");
                words.add("gemodel", chain.to_bad);
                for share in [chain.to_good, chain.in_bad, chain.in_good] {
                    words.flag(&share.to_string());
                }
            }
        }
        if self.duplicate > Probability::NEVER {
            words.add("duplicate", self.duplicate);
        }
        // tc refuses reordering without a delay.
        if self.reorder > Probability::NEVER && self.delay > Time::ZERO {
            words.add("reorder", self.reorder);
        }
        if let Some(rate) = self.rate {
            words.add("rate", bits(rate));
            if let Some(cell) = self.cell {
                // Overhead of a packet, size of a cell, overhead of a cell.
                words.add("0", cell);
                words.flag("0");
            }
        }
        if let Some(seed) = self.seed {
            words.add("seed", seed);
        }
    }
}

impl RedParameters {
    fn write(&self, words: &mut Words) {
        words.add("limit", self.limit);
        words.add("min", self.min);
        words.add("max", self.max);
        words.add("avpkt", self.packet);
        words.add("burst", self.burst);
        // tc takes this one as a plain number, not as a percentage.
        words.add("probability", self.probability.get());
        words.add("bandwidth", bits(self.bandwidth));
        if self.ecn {
            // Above `max` the link drops ECN-capable packets too (RFC 3168 §7).
            words.flag("ecn");
            words.flag("harddrop");
        }
    }
}

/// The arguments of a command line.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, key: &str, value: impl Display) {
        self.0.extend([key.to_owned(), format!("{value}")]);
    }

    fn flag(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }
}

/// A rate in a form that `tc` parses to the same bytes per second.
fn bits(bytes_per_second: u64) -> String {
    format!("{}bit", u128::from(bytes_per_second) * 8)
}

/// A time as `tc` parses it: in microseconds where it is a whole number of them, since iproute2 before 4.16
/// knows no finer unit.
fn time(time: Time) -> String {
    match time.as_nanos() {
        whole if whole % 1000 == 0 => format!("{}us", whole / 1000),
        nanos => format!("{nanos}ns"),
    }
}

/// Rounded to microseconds, at least 1: the unit of `CoDel`'s parameters.
fn microseconds(time: Time) -> String {
    format!("{}us", ((time.as_nanos().saturating_add(500)) / 1000).clamp(1, u32::MAX.into()))
}
