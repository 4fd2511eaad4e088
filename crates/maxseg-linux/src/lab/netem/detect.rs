//! Detects netem by setting it up.

use std::io;

use thiserror::Error;

use super::command::{TcCommand, TcReply};
use super::fault::TcError;
use super::qdisc::clear;

/// The abilities of a kernel's netem and its `tc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Netem {
    /// What `tc -V` says of itself.
    pub tc: String,
    /// Whether netem's chance can be seeded: Linux 6.6 with iproute2 6.6, or newer.
    pub seeds: bool,
}

/// Why netem cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// `tc` cannot be started.
    #[error("the netem backend needs `tc`, which cannot be run: {0}")]
    NoTc(String),
    /// `tc` could not set netem up.
    #[error("the netem backend cannot be used: {0}")]
    Refused(TcError),
}

impl Unavailable {
    /// How to fix it, where known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoTc(_) => Some("install iproute2"),
            Self::Refused(fault) => fault.hint(),
        }
    }
}

/// Of a number that no kernel chooses by itself in a lifetime.
const SEED: u64 = 0x6d61_7873_6567;

/// Sets netem up on `lo` of the namespace in which `run` runs commands, looks at it, and takes it out
/// again. That must be a network namespace of the caller's own, just made: whatever passes its `lo`
/// meanwhile is lost.
///
/// The seed is tried, not derived from versions: a kernel before 6.6 accepts the attribute and drops it, so it is read
/// back.
///
/// # Errors
/// There is no `tc`, the kernel has no netem, or this user may not use it.
pub fn detect(
    mut run: impl FnMut(&TcCommand) -> io::Result<TcReply>,
) -> Result<Netem, Unavailable> {
    let mut tc = |arguments: &[&str]| {
        run(&TcCommand::new("tc", arguments.iter().copied()))
            .map_err(|error| Unavailable::NoTc(error.to_string()))
    };
    let version = tc(&["-V"])?.stdout.trim().to_owned();
    let plain = ["qdisc", "add", "dev", "lo", "root", "handle", "1:", "netem", "limit", "1"];
    let seed = SEED.to_string();
    let seeded: Vec<&str> = plain.iter().copied().chain(["seed", seed.as_str()]).collect();

    let mut reply = tc(&seeded)?;
    if !reply.success && matches!(TcError::of(&reply), TcError::UnknownOption(_)) {
        reply = tc(&plain)?;
    }
    if !reply.success {
        return Err(Unavailable::Refused(TcError::of(&reply)));
    }
    let shown = tc(&["qdisc", "show", "dev", "lo"])?;
    let seeds = shown.stdout.split_whitespace().any(|word| word == seed);
    let cleared = run(&clear("lo")).map_err(|error| Unavailable::NoTc(error.to_string()))?;
    if !cleared.success {
        return Err(Unavailable::Refused(TcError::of(&cleared)));
    }
    Ok(Netem { tc: version, seeds })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `tc` of so much understanding on a kernel of so much.
    fn machine(tc_seeds: bool, has_netem: bool, kernel_seeds: bool) -> Result<Netem, Unavailable> {
        let mut there: Option<String> = None;
        detect(|command| {
            let line = command.to_string();
            let failed = |stderr: &str| TcReply { stderr: stderr.to_owned(), ..TcReply::default() };
            let done = |stdout: String| TcReply { success: true, stdout, stderr: String::new() };
            Ok(if line == "tc -V" {
                done("tc utility, iproute2-6.1.0\n".to_owned())
            } else if line.contains("add") {
                if line.contains("seed") && !tc_seeds {
                    failed("What is \"seed\"?\nUsage: ... netem\n")
                } else if has_netem {
                    let seed = line.split_once("seed").map_or("", |(_, seed)| seed);
                    let seed = if kernel_seeds { seed.trim() } else { "81985529216486895" };
                    there = Some(format!("qdisc netem 1: root refcnt 2 limit 1 seed {seed}\n"));
                    done(String::new())
                } else {
                    failed("Error: Specified qdisc kind is unknown.\n")
                }
            } else if line.contains("show") {
                done(there.clone().unwrap())
            } else {
                assert_eq!(line, "tc qdisc del dev lo root");
                there = None;
                done(String::new())
            })
        })
        .inspect(|_| assert_eq!(there, None, "nothing stays behind"))
    }

    #[test]
    fn a_seed_counts_when_it_can_be_read_back() {
        assert!(machine(true, true, true).unwrap().seeds);
        assert!(!machine(true, true, false).unwrap().seeds);
        assert!(!machine(false, true, false).unwrap().seeds);
    }

    #[test]
    fn a_kernel_without_netem_is_told_apart() {
        for tc_seeds in [false, true] {
            let none = machine(tc_seeds, false, false).unwrap_err();
            assert_eq!(none, Unavailable::Refused(TcError::UnknownKind));
            assert!(none.hint().unwrap().contains("modprobe sch_netem"));
        }
    }

    #[test]
    fn a_machine_without_tc_is_told_apart() {
        let missing = detect(|_| Err(io::ErrorKind::NotFound.into())).unwrap_err();
        assert!(matches!(missing, Unavailable::NoTc(_)));
        assert_eq!(missing.hint(), Some("install iproute2"));
    }
}
