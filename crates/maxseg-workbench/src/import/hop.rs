//! A link of MiniEdit's as a hop: what Mininet's `TCLink` would make of its options, in a scenario's words.
//!
//! `TCIntf` (Mininet's `mininet/link.py`) gives both interfaces of the link the same: HTB at `bw`, and below
//! it netem with `delay`, `jitter`, `loss` and `max_queue_size` as its limit.

use serde_json::Value;

use maxseg_core::units::{BitsPerSec, Probability, Time};

use super::chain::Step;
use super::miniedit::note_unknown;
use super::notes::{Notes, shown};
use super::tc_time::tc_time;
use super::value::{Table, number, quoted, text};

/// What a veth without a limit is taken for: a hop must have a rate.
const UNLIMITED: &str = "10 Gbit/s";
/// Above this, Mininet sets no limit (`TCIntf.bwParamMax`).
const MOST_MININET_SHAPES: f64 = 1000.0;
/// What waits where nothing is said: netem's limit, and a veth's queue length (`txqueuelen`).
const DEFAULT_QUEUE: u64 = 1000;
/// More than a scenario's queue may hold.
const MOST_QUEUED: f64 = 1e7;

/// A hop, as it will be written.
#[derive(Debug)]
pub(super) struct Hop {
    pub(super) name: String,
    /// Between which nodes, in words.
    pub(super) between: String,
    pub(super) rate: String,
    /// Whether nobody gave a rate.
    pub(super) rate_is_chosen: bool,
    pub(super) delay: Time,
    pub(super) jitter: Option<Time>,
    pub(super) queue: u64,
    /// Whether nobody gave a queue.
    pub(super) queue_is_default: bool,
    /// Of packets, each way.
    pub(super) loss: Option<Probability>,
}

impl Hop {
    pub(super) fn new(step: &Step<'_>, notes: &mut Notes) -> Self {
        let between = format!("{} - {}", shown(&step.from.name), shown(&step.to.name));
        let mut options =
            LinkOptions { table: step.link.options.clone(), between: &between, notes };
        let rate = options.rate();
        let delay = options.delay();
        let jitter = options.jitter(delay);
        let queue = options.queue();
        let loss = options.loss();
        options.leave("speedup", "Mininet's own experiment with a switch's rate");
        note_unknown(&options.table, &format!(" of {between}"), options.notes);
        Self {
            name: format!("{}-{}", word(&step.from.name), word(&step.to.name)),
            rate_is_chosen: rate.is_none(),
            rate: rate.map_or_else(|| UNLIMITED.to_owned(), |rate| rate.to_string()),
            delay: delay.unwrap_or(Time::ZERO),
            jitter,
            queue_is_default: queue.is_none(),
            queue: queue.unwrap_or(DEFAULT_QUEUE),
            loss,
            between,
        }
    }
}

/// A node's name where keys such as `hop.h1-s1.rate` must find it.
fn word(name: &str) -> String {
    name.chars()
        .map(|c| if matches!(c, '.' | '*' | '=') || c.is_control() { '_' } else { c })
        .collect()
}

/// Numbers hops that would be called the same.
pub(super) fn name_apart(hops: &mut [Hop]) {
    let mut taken = std::collections::BTreeSet::new();
    for hop in hops {
        let name = hop.name.clone();
        let mut n = 2;
        while !taken.insert(hop.name.clone()) {
            hop.name = format!("{name}-{n}");
            n += 1;
        }
    }
}

/// The options of a link; each is taken out as it is read.
struct LinkOptions<'a> {
    table: Table,
    between: &'a str,
    notes: &'a mut Notes,
}

impl LinkOptions<'_> {
    /// How fast: `None` for as fast as the machine.
    fn rate(&mut self) -> Option<BitsPerSec> {
        let Some(value) = self.table.take_said("bw") else {
            self.notes.add(
                self.between,
                format!("no bw, so Mininet sets no limit; {UNLIMITED} is chosen here"),
            );
            return None;
        };
        let megabits = number(&value);
        let rate = megabits.and_then(|megabits| format!("{megabits} Mbit/s").parse().ok());
        if rate.is_none() {
            self.note("bw", &value, format!("no rate in Mbit/s; {UNLIMITED} is chosen here"));
        } else if megabits.is_some_and(|megabits| megabits > MOST_MININET_SHAPES) {
            let why = "carried over, but Mininet ignores more than 1000 (Mbit/s) and sets no limit";
            self.note("bw", &value, why);
        }
        rate
    }

    fn delay(&mut self) -> Option<Time> {
        let said = self.table.take_said("delay")?;
        self.time("delay", &said)
    }

    /// A time as `tc` would take it.
    fn time(&mut self, key: &str, said: &Value) -> Option<Time> {
        let text = text(said).unwrap_or_default();
        if let Some(time) = tc_time(&text) {
            return Some(time);
        }
        let unspaced: String = text.split_whitespace().collect();
        if let Some(time) = tc_time(&unspaced) {
            let why = "carried over, but tc refuses the space, and with it netem on that link";
            self.note(key, said, why);
            return Some(time);
        }
        let why = "tc knows no such time; none here, and in Mininet no netem on that link";
        self.note(key, said, why);
        None
    }

    fn jitter(&mut self, delay: Option<Time>) -> Option<Time> {
        let said = self.table.take_said("jitter")?;
        let Some(delay) = delay else {
            self.note("jitter", &said, "tc takes no jitter without a delay");
            return None;
        };
        let jitter = self.time("jitter", &said)?;
        if jitter > delay {
            let why = format!("{delay}, the delay, instead: no packet arrives before it leaves");
            self.note("jitter", &said, why);
        }
        Some(jitter.min(delay)).filter(|jitter| *jitter > Time::ZERO)
    }

    /// How many packets may wait.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 1 to ten million, cut as Python's %d cuts it"
    )]
    fn queue(&mut self) -> Option<u64> {
        let value = self.table.take_said("max_queue_size")?;
        let packets = number(&value).filter(|packets| (1.0..=MOST_QUEUED).contains(packets));
        if packets.is_none() {
            self.note(
                "max_queue_size",
                &value,
                format!("no number of packets from 1 to {MOST_QUEUED}; {DEFAULT_QUEUE} here"),
            );
        }
        packets.map(|packets| packets as u64)
    }

    /// The share of packets that are lost.
    fn loss(&mut self) -> Option<Probability> {
        let value = self.table.take_said("loss")?;
        let loss =
            number(&value).and_then(|percent| format!("{percent}%").parse::<Probability>().ok());
        if loss.is_none() {
            self.note(
                "loss",
                &value,
                "no share in percent; none here, and in Mininet no netem on that link",
            );
        }
        loss.filter(|loss| loss.get() > 0.0)
    }

    fn leave(&mut self, key: &str, why: &str) {
        if let Some(value) = self.table.take_said(key) {
            self.note(key, &value, why);
        }
    }

    fn note(&mut self, key: &str, value: &Value, why: impl Into<String>) {
        self.notes.add(format!("{key} {} of {}", quoted(value), self.between), why);
    }
}
