//! What limited a flow: from the time that each limit held, and from how busy was what it shares with other flows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;

/// The share of the time that a limit held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitShare {
    /// The limit.
    pub kind: LimitedBy,
    /// Share of the time, from 0 to 1.
    pub share: f64,
}

impl LimitShare {
    /// Less of the time is not told: it is what a kernel's clock of 1 ms leaves of none.
    pub const LEAST: f64 = 0.0005;

    /// The shares of a flow's time, largest first: `held` is how long each limit held, in one unit. While a link is full, or a host
    /// busy, that is the limit, whatever held the sender back meanwhile: faster than full it cannot be. Not so of a program that had
    /// nothing to send, or of its pace, while others filled the link. Nor do losses limit that leave a link idle for less than a tenth of the
    /// time behind slow start: without them the transfer would be faster by as little.
    pub fn of_times(held: impl IntoIterator<Item = (LimitedBy, f64)>, usage: &Usage) -> Vec<Self> {
        let held: Vec<(LimitedBy, f64)> = held.into_iter().collect();
        let is_program = |kind| matches!(kind, LimitedBy::Application | LimitedBy::Paced);
        let time_of = |is_meant: &dyn Fn(LimitedBy) -> bool| -> f64 {
            held.iter().filter(|(kind, _)| is_meant(*kind)).map(|(_, time)| time).sum()
        };
        let total = time_of(&|_| true).max(SHORTEST);
        let programs = time_of(&is_program).max(SHORTEST);
        let behind_start = 1.0 - time_of(&|kind| kind == LimitedBy::StartUp) / total;
        let beside_others = usage.beside_others(programs / total);
        let full =
            usage.full().map(|full| Self { share: full.share.min(1.0 - beside_others), ..full });
        let rest = (1.0 - beside_others - full.map_or(0.0, |full| full.share)) / total;
        let is_nearly_full = full.is_none() && usage.is_nearly_full(behind_start);
        let held = held.iter().map(|(kind, time)| {
            let own = if is_program(*kind) { beside_others * time / programs } else { 0.0 };
            let is_of_link = is_nearly_full && *kind == LimitedBy::Congestion;
            let kind = if is_of_link { LimitedBy::Bandwidth } else { *kind };
            Self { kind, share: rest * time + own }
        });
        let mut shares: Vec<Self> = held.chain(full).filter(|limit| limit.share > 0.0).collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        shares
    }

    /// The mean share of each limit over the runs that know theirs, largest first.
    pub(super) fn mean<'a>(runs: impl IntoIterator<Item = &'a Outcome>) -> Vec<Self> {
        let runs = runs.into_iter().filter(|run| !run.limits.is_empty());
        let (mut sums, mut count) = (BTreeMap::<LimitedBy, f64>::new(), 0_u32);
        for run in runs {
            count += 1;
            for limit in &run.limits {
                *sums.entry(limit.kind).or_default() += limit.share;
            }
        }
        let mean = |(kind, sum): (LimitedBy, f64)| Self { kind, share: sum / f64::from(count) };
        let mut limits: Vec<Self> = sums.into_iter().map(mean).collect();
        limits.sort_by(|a, b| b.share.total_cmp(&a.share));
        limits
    }
}

/// How busy was what a flow shares with others: shares of the time from its start to the end of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// The busiest link on the way of its data, or of its replies to requests.
    pub link: f64,
    /// The same link, by this flow's packets alone.
    pub own_link: f64,
    /// The busiest link on the way back.
    pub way_back: f64,
    /// The first link on the way back, by this flow's packets alone.
    pub own_way_back: f64,
    /// The busier of its hosts.
    pub host: f64,
}

/// From this share of the time on, a link counts as full, and a host as busy.
const FULL: f64 = 0.95;
/// From this share on losses cost less than a tenth of what the link carries.
pub(crate) const NEARLY_FULL: f64 = 0.9;
/// A full link is that of the flow whose packets fill more than this share of it.
const OWN: f64 = 0.5;
/// Less time than this, in seconds, is none.
const SHORTEST: f64 = 1e-9;

impl Usage {
    /// Whether the data's way is full.
    pub fn has_full_link(&self) -> bool {
        self.link > FULL
    }

    /// The share of the time in which others filled the data's way while the flow's program had nothing to send, or paced, which it did for
    /// a share `resting`: its own packets may have been on the link for a part of that.
    fn beside_others(&self, resting: f64) -> f64 {
        let is_of_others = self.has_full_link() && self.own_link < OWN;
        if is_of_others { (resting - self.own_link).max(0.0) } else { 0.0 }
    }

    /// Whether the data's way was nearly full in the time behind slow start, which is this share of all.
    fn is_nearly_full(&self, behind_start: f64) -> bool {
        behind_start > 0.0 && self.link >= NEARLY_FULL * behind_start
    }

    /// The limit that is none of the sender's, with the share of the time that it held.
    fn full(&self) -> Option<LimitShare> {
        let link = if self.has_full_link() {
            self.link
        } else if self.way_back > FULL && self.own_way_back > OWN {
            self.way_back
        } else {
            0.0
        };
        if self.host > FULL && self.host > link {
            Some(LimitShare { kind: LimitedBy::Host, share: self.host })
        } else {
            (link > 0.0).then_some(LimitShare { kind: LimitedBy::Bandwidth, share: link })
        }
    }
}

/// What limits the throughput of a flow.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The application had no data to send.
    Application,
    /// The sender spaced its segments at a rate below what window and path allow: writes at a rate, pacing, a shaper of
    /// its host.
    Paced,
    /// Start-up: handshake and slow start. Older stored results may call it `opportunity`.
    #[serde(alias = "opportunity")]
    StartUp,
    /// The receiver's advertised window.
    ReceiveWindow,
    /// The sender's buffer (`sndbuf_limited`).
    SendBuffer,
    /// The slowest link was fully used.
    Bandwidth,
    /// Losses kept the congestion window small.
    Congestion,
    /// A host's processing time per packet.
    Host,
    /// Packets were larger than the path MTU.
    PathMtu,
    /// Waiting for the retransmission timer.
    Rto,
    /// Unknown.
    Unknown,
}

impl LimitedBy {
    /// What limits datagrams at a constant rate.
    pub const fn of_datagrams(are_too_big: bool, is_link_full: bool) -> Self {
        match (are_too_big, is_link_full) {
            (true, _) => Self::PathMtu,
            (false, true) => Self::Bandwidth,
            (false, false) => Self::Application,
        }
    }

    /// The limit of most of several runs.
    pub fn of_most(limits: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut counts: BTreeMap<Self, usize> = BTreeMap::new();
        for limit in limits {
            *counts.entry(limit).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(limit, _)| limit)
    }

    /// The name in reports and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Paced => "paced",
            Self::StartUp => "start-up",
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::Bandwidth => "bandwidth",
            Self::Congestion => "congestion",
            Self::Host => "host",
            Self::PathMtu => "path-mtu",
            Self::Rto => "rto",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: [(LimitedBy, f64); 2] =
        [(LimitedBy::SendBuffer, 3.0), (LimitedBy::Application, 1.0)];

    fn limits(usage: Usage) -> Vec<(LimitedBy, f64)> {
        let shares = LimitShare::of_times(HELD, &usage);
        shares.iter().map(|limit| (limit.kind, (limit.share * 1e6).round() / 1e6)).collect()
    }

    /// Half of the time the sender's buffer was full, and the link nearly always: a larger buffer would fill it no more.
    #[test]
    fn what_is_full_limits_whatever_held_the_sender() {
        let (buffer, rest) = (LimitedBy::SendBuffer, LimitedBy::Application);
        let idle = Usage { link: 0.95, host: 0.5, ..Usage::default() };
        assert_eq!(limits(idle), [(buffer, 0.75), (rest, 0.25)]);
        let link = Usage { link: 0.96, own_link: 0.96, host: 0.955, ..Usage::default() };
        let by_link = [(LimitedBy::Bandwidth, 0.96), (buffer, 0.03), (rest, 0.01)];
        assert_eq!(limits(link), by_link);
        let host = Usage { link: 0.96, own_link: 0.96, host: 1.0, ..Usage::default() };
        assert_eq!(limits(host), [(LimitedBy::Host, 1.0)]);
        let back = Usage { way_back: 0.96, own_way_back: 0.6, ..Usage::default() };
        assert_eq!(limits(back), by_link);
        let of_others = Usage { own_way_back: 0.4, ..back };
        assert_eq!(limits(of_others), limits(idle), "others fill the way back");
    }

    /// Requests beside a download that fills the link: their program rests for most of the time, and their replies take a tenth of the link.
    #[test]
    fn a_program_at_rest_is_not_held_by_what_others_send() {
        let held = [(LimitedBy::Application, 0.7), (LimitedBy::Congestion, 0.3)];
        let limits = |own_link| {
            let usage = Usage { link: 0.98, own_link, ..Usage::default() };
            let shares = LimitShare::of_times(held, &usage);
            assert!((shares.iter().map(|limit| limit.share).sum::<f64>() - 1.0).abs() < 1e-9);
            (shares[0].kind, (shares[0].share * 1e6).round() / 1e6)
        };
        assert_eq!(limits(0.1), (LimitedBy::Application, 0.6));
        assert_eq!(limits(0.0), (LimitedBy::Application, 0.7));
        // What fills the link is its own: then it is the limit, and the program only looks as if it rested.
        assert_eq!(limits(0.9), (LimitedBy::Bandwidth, 0.98));
    }

    /// A link that is idle for a tenth of the time would carry a ninth more without losses, and much more if it was faster.
    #[test]
    fn losses_that_leave_little_of_a_link_idle_are_no_limit() {
        let first = |start_up: f64, link: f64| {
            let held = [(LimitedBy::StartUp, start_up), (LimitedBy::Congestion, 1.0 - start_up)];
            LimitShare::of_times(held, &Usage { link, ..Usage::default() })[0]
        };
        let (losses, link) = (LimitedBy::Congestion, LimitedBy::Bandwidth);
        assert_eq!((first(0.0, 0.92).kind, first(0.0, 0.85).kind), (link, losses));
        assert_eq!(first(0.25, 0.72), LimitShare { kind: link, share: 0.75 });
        assert_eq!(first(1.0, 0.0).kind, LimitedBy::StartUp);
        // A window that is full all the time leaves it idle, whatever losses there are.
        let held = [(LimitedBy::ReceiveWindow, 1.0)];
        let shares = LimitShare::of_times(held, &Usage { link: 0.92, ..Usage::default() });
        assert_eq!(shares[0].kind, LimitedBy::ReceiveWindow);
    }
}
