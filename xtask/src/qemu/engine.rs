//! The program itself in the machine: the place for runs of the lab with the backend `netem`.

use anyhow::{Context, Result, ensure};
use maxseg_linux::lab::netem::Reply;

use super::guest::Guest;

/// Lines of shell, one after the other, and what must have come of them. `maxseg` is on the path; each
/// script begins without network namespaces, and those that it makes are taken away.
pub(super) struct Script {
    /// What is checked.
    pub(super) name: &'static str,
    /// Each below some 4000 characters.
    lines: &'static [&'static str],
    /// What was seen, or what is wrong with it: a reply for each line.
    judge: fn(&[Reply]) -> Result<String>,
}

/// Every script. Runs of `maxseg run FILE --engine lab --lab-backend netem` go here.
pub(super) const SCRIPTS: &[Script] = &[Script {
    name: "the program runs there",
    lines: &["maxseg --version"],
    judge: says_its_name,
}];

impl Script {
    pub(super) fn run(&self, guest: &mut Guest) -> Result<String> {
        let replies: Result<Vec<Reply>> = self.lines.iter().map(|line| guest.run(line)).collect();
        (self.judge)(&replies?)
    }
}

fn says_its_name(replies: &[Reply]) -> Result<String> {
    let reply = replies.first().context("no reply")?;
    ensure!(reply.success && reply.stdout.starts_with("maxseg "), "{reply:?}");
    Ok(reply.stdout.trim().to_owned())
}
