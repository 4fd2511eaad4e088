//! Queueing disciplines as values, and the words in which `tc` takes them.

use std::fmt::Display;

use maxseg_core::path::CodelSettings;
use maxseg_core::units::{Probability, Time};

use super::command::TcCommand;
use super::size_table::SizeTable;

/// One qdisc at its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Qdisc {
    /// The interface.
    pub device: String,
    /// What it hangs on.
    pub parent: Parent,
    /// The major number of its handle.
    pub handle: u16,
    /// How packets are counted from here on, unless as the device has them.
    pub sizes: Option<SizeTable>,
    /// What it is.
    pub kind: Kind,
}

/// What a qdisc hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// The interface.
    Root,
    /// The only class of the qdisc with this handle.
    Only(u16),
}

/// A qdisc and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// tc-netem(8).
    Netem(NetemParameters),
    /// tc-tbf(8), with a queue in bytes unless a child takes its place.
    Tbf {
        /// Bytes per second.
        rate: u64,
        /// The bucket in bytes; larger packets are dropped, super-packets cut.
        burst: u32,
        /// Bytes that may wait.
        limit: u32,
    },
    /// tc-pfifo(8): so many packets may wait.
    Pfifo {
        /// Packets.
        limit: u32,
    },
    /// tc-codel(8).
    Codel {
        /// Packets that may wait.
        limit: u32,
        /// Target and interval.
        settings: CodelSettings,
        /// Whether packets are marked that know ECN.
        ecn: bool,
    },
    /// tc-red(8).
    Red(RedParameters),
}

/// What netem is told; what is nothing is not mentioned.
#[derive(Debug, Clone, PartialEq)]
pub struct NetemParameters {
    /// Packets that it may hold, those under way included.
    pub limit: u32,
    /// What every packet waits.
    pub delay: Time,
    /// How far that varies, up and down, with equal chance.
    pub jitter: Time,
    /// The share of packets that leave the delay out.
    pub reorder: Probability,
    /// The share of packets that go twice.
    pub duplicate: Probability,
    /// What is lost.
    pub loss: Loss,
    /// How fast packets leave, in bytes per second.
    pub rate: Option<u64>,
    /// The size in bytes whose multiples packets take at that rate.
    pub cell: Option<u32>,
    /// Seeds its chance.
    pub seed: Option<u64>,
}

/// netem's models of loss that have a use here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet with the same chance.
    Random(Probability),
    /// Bursts.
    Chain(Chain),
}

/// netem's Gilbert-Elliott chain, in the manual page's names. It begins in the good state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    /// From good to bad, `p`.
    pub to_bad: Probability,
    /// From bad to good, `r`.
    pub to_good: Probability,
    /// Loss in the bad state, `1-h`.
    pub in_bad: Probability,
    /// Loss in the good state, `1-k`.
    pub in_good: Probability,
}

/// What RED is told, all in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedParameters {
    /// Bytes that may wait.
    pub limit: u32,
    /// The average from which on packets may be dropped.
    pub min: u32,
    /// The average from which on all are.
    pub max: u32,
    /// A full packet.
    pub packet: u32,
    /// Packets, from which `tc` makes the average's weight.
    pub burst: u32,
    /// The chance just below `max`.
    pub probability: Probability,
    /// The link's, from which idle time is counted in packets; bytes per second.
    pub bandwidth: u64,
    /// Whether packets are marked that know ECN.
    pub ecn: bool,
}

/// Takes an interface's qdiscs out.
pub fn clear(device: &str) -> TcCommand {
    TcCommand::new("tc", ["qdisc", "del", "dev", device, "root"])
}

impl Qdisc {
    /// Adds it where there is none.
    pub fn add(&self) -> TcCommand {
        self.command("add")
    }

    /// Gives these parameters to one that is there; what waits in it stays.
    pub fn change(&self) -> TcCommand {
        self.command("change")
    }

    fn command(&self, verb: &str) -> TcCommand {
        let mut words: Vec<String> =
            ["qdisc", verb, "dev", &self.device].map(str::to_owned).to_vec();
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
    /// What `tc` calls it.
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
    /// One that passes every packet at once.
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
        // tc refuses to let packets leave out a delay that there is not.
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
        // A plain number: this one is no percentage to tc.
        words.add("probability", self.probability.get());
        words.add("bandwidth", bits(self.bandwidth));
        if self.ecn {
            // Above `max` the link drops even what knows ECN (RFC 3168 section 7).
            words.flag("ecn");
            words.flag("harddrop");
        }
    }
}

/// The words of a command line.
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

/// A rate as `tc` reads it back to the same bytes per second.
fn bits(bytes_per_second: u64) -> String {
    format!("{}bit", u128::from(bytes_per_second) * 8)
}

/// A time as `tc` reads it: in microseconds where it is whole ones, for the sake of iproute2 before
/// 4.16, which knows nothing finer.
fn time(time: Time) -> String {
    match time.as_nanos() {
        whole if whole % 1000 == 0 => format!("{}us", whole / 1000),
        nanos => format!("{nanos}ns"),
    }
}

/// To the nearest microsecond, and not nothing: what `CoDel`'s parameters are given in.
fn microseconds(time: Time) -> String {
    format!("{}us", ((time.as_nanos().saturating_add(500)) / 1000).clamp(1, u32::MAX.into()))
}
