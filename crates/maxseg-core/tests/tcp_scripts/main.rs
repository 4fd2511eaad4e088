//! TCP by scripts: time, direction, segment, one behaviour a file (`tests/tcp/*.script`).
//!
//! ```text
//! # Why this is right, with its source.
//! sender mss=1000 stack="rfc" initial_window="4 segments"    (or: receiver …, client …, server …)
//! +0     write 5000  > 0:1000  > 1000:2000
//! +100ms < ack 1000  > 2000:3000
//! ```
//! Times are relative to the line before. Payload is counted from 0. Before the first line the
//! connection is opened with a round trip of 100 ms and a peer's window of 1 MiB, unless the script
//! says `unopened`. Whatever is sent must be expected, at its very time. A client and a server are whole
//! endpoints: what they send and get with payload has an acknowledgement, `0:1000 ack 200`.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

mod words;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use maxseg_core::tcp::{Endpoint, OptionsPool, Receiver, Segment, Sender};
use maxseg_core::units::{Bytes, Time};
use words::{
    config, data, describe, describe_ack, describe_data, equal, limit, number, options, syn,
    syn_ack, time,
};

#[test]
fn every_script_runs_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tcp");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "script"))
        .collect();
    scripts.sort();
    assert!(scripts.len() > 10, "the scripts are gone");
    let mut faults = String::new();
    for script in scripts {
        #[expect(clippy::disallowed_methods, reason = "a test reads its scripts")]
        let text = std::fs::read_to_string(&script).unwrap();
        if let Err(fault) = run(&text) {
            writeln!(faults, "{}: {fault}", script.display()).unwrap();
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// One of the two machines, with its clock and what it has sent.
struct Bench {
    machine: Machine,
    now: Time,
    sent: VecDeque<(Time, String)>,
    /// After the highest number that an endpoint's peer has sent.
    peer: u64,
}

enum Machine {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
    Endpoint(Box<Endpoint>),
}

fn run(text: &str) -> Result<(), String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let (_, header) = lines.next().ok_or("the script is empty")?;
    let mut bench = Bench::new(header)?;
    for (number, line) in lines {
        bench.line(line).map_err(|fault| format!("line {number}: {fault}"))?;
    }
    bench.nothing_unexpected().map_err(|fault| format!("at the end: {fault}"))
}

impl Bench {
    fn new(header: &str) -> Result<Self, String> {
        let (role, rest) = header.split_once(' ').ok_or("the first line names the machine")?;
        let (config, opened) = config(rest)?;
        let machine = match role {
            "sender" => Machine::Sender(Box::new(Sender::new(&config, Time::ZERO))),
            "receiver" => Machine::Receiver(Box::new(Receiver::new(&config))),
            "client" => {
                Machine::Endpoint(Box::new(Endpoint::connect(&config, &config, 0, Time::ZERO)))
            }
            "server" => Machine::Endpoint(Box::new(Endpoint::accept(
                &config,
                &config,
                Time::ZERO,
                &Segment { window: 1 << 20, ..syn() },
            ))),
            other => return Err(format!("there is no machine `{other}`")),
        };
        let mut bench = Self { machine, now: Time::ZERO, sent: VecDeque::new(), peer: 1 };
        if opened {
            bench.open();
        }
        Ok(bench)
    }

    fn open(&mut self) {
        self.poll();
        self.now = Time::from_millis(100);
        match &mut self.machine {
            Machine::Sender(sender) => sender.on_ack(self.now, &syn_ack(1 << 20)),
            Machine::Receiver(receiver) => receiver.on_segment(self.now, &syn()),
            Machine::Endpoint(end) if self.sent.iter().any(|(_, what)| what == "syn") => {
                end.on_segment(self.now, &syn_ack(1 << 20));
            }
            Machine::Endpoint(end) => end.on_segment(self.now, &Segment::ack(1, 1 << 20)),
        }
        self.poll();
        self.sent.clear();
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.split('#').next().unwrap_or(line);
        let mut words: VecDeque<&str> = line.split_whitespace().collect();
        let first = words.pop_front().ok_or("an empty line")?;
        let span = first.strip_prefix('+').ok_or("a line begins with +TIME")?;
        self.pass(if span == "0" { Time::ZERO } else { time(span)? })?;
        while let Some(word) = words.pop_front() {
            self.action(word, &mut words)?;
            self.poll();
        }
        Ok(())
    }

    fn action(&mut self, word: &str, words: &mut VecDeque<&str>) -> Result<(), String> {
        if let (Machine::Endpoint(end), false) = (&mut self.machine, [">", "idle"].contains(&word))
        {
            return endpoint_action(end, self.now, &mut self.peer, word, words);
        }
        let mut next = || words.pop_front().ok_or(format!("`{word}` needs a word more"));
        match (word, &mut self.machine) {
            (">", _) => {
                let mut wanted = next()?.to_owned();
                if wanted == "probe"
                    || (wanted == "ack" && !matches!(self.machine, Machine::Sender(_)))
                {
                    write!(wanted, " {}", next()?).unwrap();
                }
                while let Some(option) = words.front().copied() {
                    match option {
                        "sack" | "echo" | "win" | "ack" => {
                            words.pop_front();
                            let value = words.pop_front().unwrap_or("?");
                            write!(wanted, " {option} {value}").unwrap();
                        }
                        "ece" | "cwr" | "ts" => {
                            words.pop_front();
                            write!(wanted, " {option}").unwrap();
                        }
                        _ => break,
                    }
                }
                self.expect(&wanted)
            }
            ("<", Machine::Sender(sender)) => {
                let segment = match next()? {
                    "synack" => syn_ack(1 << 20),
                    "ack" => {
                        let ack = number(next()?)? + 1;
                        let mut window = 1 << 20;
                        if words.front() == Some(&"win") {
                            words.pop_front();
                            let text = words.pop_front().unwrap_or("?");
                            window = u32::try_from(number(text)?).map_err(|e| e.to_string())?;
                        }
                        options(Segment::ack(ack, window), words)?
                    }
                    "toobig" => {
                        sender.on_too_big(self.now, Bytes::new(number(next()?)?));
                        return Ok(());
                    }
                    other => return Err(format!("a sender does not get `{other}`")),
                };
                sender.on_ack(self.now, &segment);
                Ok(())
            }
            ("<", Machine::Receiver(receiver)) => {
                let segment = match next()? {
                    "syn" => syn(),
                    range => options(data(range, words)?, words)?,
                };
                receiver.on_segment(self.now, &segment);
                Ok(())
            }
            ("write", Machine::Sender(sender)) => {
                sender.write(Bytes::new(number(next()?)?));
                Ok(())
            }
            ("duplicate", Machine::Receiver(receiver)) => {
                equal(word, receiver.stats().duplicate_bytes, number(next()?)?)
            }
            ("spurious", Machine::Receiver(receiver)) => {
                equal(word, receiver.stats().spurious_retransmissions, number(next()?)?)
            }
            ("marked", Machine::Receiver(receiver)) => {
                equal(word, receiver.stats().marked, number(next()?)?)
            }
            ("idle", _) => equal(word, self.next_timeout(), Time::NEVER),
            (_, Machine::Sender(sender)) => sender_state(sender, self.now, word, next()?, words),
            _ => Err(format!("`{word}` is no action of this machine")),
        }
    }

    /// Time passes; timers expire on the way.
    fn pass(&mut self, span: Time) -> Result<(), String> {
        let until = self.now + span;
        while self.next_timeout() <= until {
            self.now = self.next_timeout();
            if self.now < until {
                self.nothing_unexpected()?;
            }
            match &mut self.machine {
                Machine::Sender(sender) => sender.on_timeout(self.now),
                Machine::Receiver(receiver) => receiver.on_timeout(self.now),
                Machine::Endpoint(end) => end.on_timeout(self.now),
            }
            self.poll();
        }
        if self.now < until {
            self.nothing_unexpected()?;
        }
        self.now = until;
        Ok(())
    }

    fn poll(&mut self) {
        match &mut self.machine {
            Machine::Sender(sender) => {
                while let Some(segment) =
                    sender.poll_transmit(self.now, &mut OptionsPool::default())
                {
                    // No script has so many: it would fill the memory instead of failing.
                    assert!(self.sent.len() < 1000, "the sender never stops");
                    self.sent.push_back((self.now, describe_data(&segment)));
                }
            }
            Machine::Receiver(receiver) => {
                while let Some(segment) =
                    receiver.poll_transmit(self.now, &mut OptionsPool::default())
                {
                    self.sent.push_back((self.now, describe_ack(&segment)));
                }
            }
            Machine::Endpoint(end) => {
                while let Some(segment) = end.poll_transmit(self.now, &mut OptionsPool::default()) {
                    assert!(self.sent.len() < 1000, "the endpoint never stops");
                    self.sent.push_back((self.now, describe(&segment)));
                }
            }
        }
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        self.poll();
        match self.sent.pop_front() {
            None => Err(format!("nothing was sent, but {wanted} was expected")),
            Some((at, got)) if at != self.now => {
                Err(format!("{got} was sent at {at}, {} too early", self.now.since(at)))
            }
            Some((_, got)) => match got.strip_prefix(wanted) {
                Some("") => Ok(()),
                Some(rest) if rest.starts_with(" win ") => Ok(()),
                Some(_) | None => Err(format!("{got} was sent, but {wanted} was expected")),
            },
        }
    }

    fn nothing_unexpected(&self) -> Result<(), String> {
        match self.sent.front() {
            None => Ok(()),
            Some((at, got)) => Err(format!("{got} was sent at {at} and not expected")),
        }
    }

    fn next_timeout(&self) -> Time {
        match &self.machine {
            Machine::Sender(sender) => sender.next_timeout(),
            Machine::Receiver(receiver) => receiver.next_timeout(),
            Machine::Endpoint(end) => end.next_timeout(),
        }
    }
}

/// Compares a number of a sender.
fn sender_state(
    sender: &mut Sender,
    now: Time,
    word: &str,
    value: &str,
    words: &mut VecDeque<&str>,
) -> Result<(), String> {
    let got = match word {
        "cwnd" => sender.cwnd().get(),
        "ssthresh" => sender.ssthresh().get(),
        "mss" => sender.mss().get(),
        "flight" => sender.in_flight().get(),
        "window" => sender.peer_window().get(),
        "packets" => sender.stats().packets,
        "timeouts" => sender.stats().timeouts,
        "spurious" => sender.stats().spurious_cuts,
        "spurious-timeouts" => sender.stats().spurious_timeouts,
        "mark-cuts" => sender.stats().mark_cuts,
        "probes" => sender.stats().window_probes,
        "rto" => return equal(word, sender.rto().current(), time(value)?),
        "limited" => {
            let span = time(words.pop_front().unwrap_or("?"))?;
            sender.account(now);
            return equal(value, sender.stats().limited[limit(value)? as usize], span);
        }
        _ => return Err(format!("`{word}` is no action of a sender")),
    };
    equal(word, got, number(value)?)
}

/// What only an endpoint gets, does and says; `peer` is the number after the highest that it got.
fn endpoint_action(
    end: &mut Endpoint,
    now: Time,
    peer: &mut u64,
    word: &str,
    words: &mut VecDeque<&str>,
) -> Result<(), String> {
    let next = words.pop_front().ok_or(format!("`{word}` needs a word more"))?;
    match word {
        "<" => {
            let segment = match next {
                "syn" => syn(),
                "synack" => syn_ack(1 << 20),
                "ack" => {
                    let ack = 1 + number(words.pop_front().unwrap_or("?"))?;
                    options(Segment { seq: *peer, ..Segment::ack(ack, 1 << 20) }, words)?
                }
                range => {
                    let segment = data(range, words)?;
                    if words.pop_front() != Some("ack") {
                        return Err(format!("{range} acknowledges what?"));
                    }
                    let ack = 1 + number(words.pop_front().unwrap_or("?"))?;
                    options(Segment { ack, window: 1 << 20, ..segment }, words)?
                }
            };
            *peer = segment.end().max(*peer);
            end.on_segment(now, &segment);
            Ok(())
        }
        "write" => {
            end.write(Bytes::new(number(next)?));
            Ok(())
        }
        "delivered" => equal(word, end.delivered().get(), number(next)?),
        "cwnd" => equal(word, end.sender().cwnd().get(), number(next)?),
        _ => Err(format!("`{word}` is no action of an endpoint")),
    }
}
