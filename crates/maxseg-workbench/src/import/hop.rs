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
use crate::error::ImportError;

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
    /// The hop of a link in `file`.
    ///
    /// # Errors
    /// An option has a value that it cannot have.
    pub(super) fn new(step: &Step<'_>, file: &str, notes: &mut Notes) -> Result<Self, ImportError> {
        let between = format!("{} - {}", shown(&step.from.name), shown(&step.to.name));
        let table = step.link.options.clone();
        let mut options = LinkOptions { file, table, between: &between, notes };
        let rate = options.rate()?;
        let delay = options.delay()?;
        let jitter = options.jitter(delay)?;
        let queue = options.queue()?;
        let loss = options.loss()?;
        options.leave("speedup", "Mininet's own experiment with a switch's rate");
        note_unknown(&options.table, &format!(" of {between}"), options.notes);
        Ok(Self {
            name: format!("{}-{}", word(&step.from.name), word(&step.to.name)),
            rate_is_chosen: rate.is_none(),
            rate: rate.map_or_else(|| UNLIMITED.to_owned(), |rate| rate.to_string()),
            delay: delay.unwrap_or(Time::ZERO),
            jitter,
            queue_is_default: queue.is_none(),
            queue: queue.unwrap_or(DEFAULT_QUEUE),
            loss,
            between,
        })
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
    file: &'a str,
    table: Table,
    between: &'a str,
    notes: &'a mut Notes,
}

impl LinkOptions<'_> {
    /// How fast: `None` for as fast as the machine.
    fn rate(&mut self) -> Result<Option<BitsPerSec>, ImportError> {
        let Some(value) = self.table.take_said("bw") else {
            self.notes.add(
                self.between,
                format!("no bw, so Mininet sets no limit; {UNLIMITED} is chosen here"),
            );
            return Ok(None);
        };
        let takes = "a rate in Mbit/s, a number above 0";
        let wrong = || self.wrong("bw", &value, takes, "\"bw\": 10");
        let megabits = number(&value).ok_or_else(wrong)?;
        let rate = format!("{megabits} Mbit/s").parse().map_err(|_| wrong())?;
        if megabits > MOST_MININET_SHAPES {
            let why = "carried over, but Mininet ignores more than 1000 (Mbit/s) and sets no limit";
            self.note("bw", &value, why);
        }
        Ok(Some(rate))
    }

    fn delay(&mut self) -> Result<Option<Time>, ImportError> {
        let Some(said) = self.table.take_said("delay") else { return Ok(None) };
        self.time("delay", &said, "\"delay\": \"5ms\"").map(Some)
    }

    /// A time as `tc` would take it.
    fn time(
        &mut self,
        key: &str,
        said: &Value,
        example: &'static str,
    ) -> Result<Time, ImportError> {
        let text = text(said).unwrap_or_default();
        if let Some(time) = tc_time(&text) {
            return Ok(time);
        }
        let unspaced: String = text.split_whitespace().collect();
        let Some(time) = tc_time(&unspaced) else {
            return Err(self.wrong(key, said, "a time of tc's, in s, ms or us", example));
        };
        let why = "carried over, but tc refuses the space, and with it netem on that link";
        self.note(key, said, why);
        Ok(time)
    }

    fn jitter(&mut self, delay: Option<Time>) -> Result<Option<Time>, ImportError> {
        let Some(said) = self.table.take_said("jitter") else { return Ok(None) };
        let jitter = self.time("jitter", &said, "\"jitter\": \"1ms\"")?;
        let Some(delay) = delay else {
            self.note("jitter", &said, "tc takes no jitter without a delay");
            return Ok(None);
        };
        if jitter > delay {
            let why = format!("{delay}, the delay, instead: no packet arrives before it leaves");
            self.note("jitter", &said, why);
        }
        Ok(Some(jitter.min(delay)).filter(|jitter| *jitter > Time::ZERO))
    }

    /// How many packets may wait.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 1 to ten million, cut as Python's %d cuts it"
    )]
    fn queue(&mut self) -> Result<Option<u64>, ImportError> {
        let key = "max_queue_size";
        let Some(value) = self.table.take_said(key) else { return Ok(None) };
        let takes = "a number of packets from 1 to 10000000";
        let packets = number(&value)
            .filter(|packets| (1.0..=MOST_QUEUED).contains(packets))
            .ok_or_else(|| self.wrong(key, &value, takes, "\"max_queue_size\": 100"))?;
        Ok(Some(packets as u64))
    }

    /// The share of packets that are lost.
    fn loss(&mut self) -> Result<Option<Probability>, ImportError> {
        let Some(value) = self.table.take_said("loss") else { return Ok(None) };
        let loss = number(&value)
            .and_then(|percent| format!("{percent}%").parse::<Probability>().ok())
            .ok_or_else(|| {
                self.wrong("loss", &value, "a share in percent, from 0 to 100", "\"loss\": 1")
            })?;
        Ok(Some(loss).filter(|loss| loss.get() > 0.0))
    }

    fn leave(&mut self, key: &str, why: &str) {
        if let Some(value) = self.table.take_said(key) {
            self.note(key, &value, why);
        }
    }

    fn note(&mut self, key: &str, value: &Value, why: impl Into<String>) {
        self.notes.add(format!("{key} {} of {}", quoted(value), self.between), why);
    }

    /// The error of an option with a value that it cannot have.
    fn wrong(
        &self,
        key: &str,
        value: &Value,
        takes: &'static str,
        example: &'static str,
    ) -> ImportError {
        ImportError::WrongOption {
            file: self.file.to_owned(),
            key: format!("{}.{key}", self.table.place),
            is: format!("of {} is {}", self.between, quoted(value)),
            takes,
            example,
        }
    }
}
