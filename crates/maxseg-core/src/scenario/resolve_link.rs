//! The less common keys of a hop: what they mean together.

use super::link_entries::{ArqEntry, IcmpName, OrOff, PolicerEntry};
use super::problem::{Problem, problem};
use super::spec::{HopEntry, ReverseEntry};
use crate::errors::{Arq, Clock, ErrorModel, Per};
use crate::path::{IcmpPolicy, LinkSpec, PolicerSpec};
use crate::units::{Bytes, Probability, Time};

/// No path on earth, and none to the planets, is longer.
pub(super) const LONGEST_ROUND_TRIP: Time = Time::from_secs(24 * 3600);

/// The less common keys as one direction's entry has them.
pub(super) struct LinkKeys {
    arq: Option<OrOff<ArqEntry>>,
    burst: Option<Bytes>,
    policer: Option<OrOff<PolicerEntry>>,
    ecn: Option<bool>,
    jitter: Option<Time>,
    reorder: Option<Probability>,
    duplicate: Option<Probability>,
    icmp: Option<IcmpName>,
}

/// Both entries have these keys, and TOML knows no inheritance.
macro_rules! keys_of {
    ($entry:expr) => {
        LinkKeys {
            arq: $entry.arq,
            burst: $entry.burst,
            policer: $entry.policer,
            ecn: $entry.ecn,
            jitter: $entry.jitter,
            reorder: $entry.reorder,
            duplicate: $entry.duplicate,
            icmp: $entry.icmp,
        }
    };
}

impl From<&HopEntry> for LinkKeys {
    fn from(entry: &HopEntry) -> Self {
        keys_of!(entry)
    }
}

impl From<&ReverseEntry> for LinkKeys {
    fn from(entry: &ReverseEntry) -> Self {
        keys_of!(entry)
    }
}

impl LinkKeys {
    /// `link` but for what these keys say.
    pub(super) fn over(self, link: LinkSpec) -> LinkSpec {
        let arq = |entry: ArqEntry| Arq { retries: entry.retries.into(), delay: entry.delay };
        let policer = |entry: PolicerEntry| PolicerSpec { rate: entry.rate, burst: entry.burst };
        LinkSpec {
            arq: self.arq.map_or(link.arq, |entry| entry.on().map(arq)),
            burst: self.burst.unwrap_or(link.burst),
            policer: self.policer.map_or(link.policer, |entry| entry.on().map(policer)),
            ecn: self.ecn.unwrap_or(link.ecn),
            jitter: self.jitter.unwrap_or(link.jitter),
            reorder: self.reorder.unwrap_or(link.reorder),
            duplicate: self.duplicate.unwrap_or(link.duplicate),
            icmp: match self.icmp {
                None => link.icmp,
                Some(IcmpName::Send) => IcmpPolicy::Send,
                Some(IcmpName::Drop) => IcmpPolicy::Drop,
            },
            ..link
        }
    }
}

/// What cannot stand together, in the link whose keys begin with `key`.
pub(super) fn check_link(key: &str, link: &LinkSpec) -> Result<(), Problem> {
    if link.jitter > link.delay {
        let what = format!(
            "a jitter of {} is above the delay of {}: no packet arrives before it leaves",
            link.jitter, link.delay
        );
        let hint = "each delay lies between delay - jitter and delay + jitter";
        return Err(problem(format!("{key}.jitter"), what, hint));
    }
    let largest = link.wire_bytes(link.mtu.bytes());
    if link.burst > Bytes::ZERO && link.burst < largest {
        let what = format!(
            "a burst of {} holds no packet of {largest} on the wire (MTU {})",
            link.burst, link.mtu
        );
        let hint = format!("write burst = \"{largest}\" or more, or take it out");
        return Err(problem(format!("{key}.burst"), what, hint));
    }
    if let Some(policer) = link.policer
        && policer.burst < largest
    {
        let what = format!(
            "a bucket of {} never lets a packet of {largest} on the wire (MTU {}) pass",
            policer.burst, link.mtu
        );
        let hint = format!("write burst = \"{largest}\" or more");
        return Err(problem(format!("{key}.policer.burst"), what, hint));
    }
    if link.pad && link.frame.is_none() {
        let what = "the last frame of a packet is padded, and this link has no frames";
        return Err(problem(
            format!("{key}.pad"),
            what,
            "add frame = 128 (bytes), or take pad out",
        ));
    }
    if let Some(arq) = link.arq {
        let most = arq.delay.times(u64::from(arq.retries));
        if most > LONGEST_ROUND_TRIP {
            let what = format!(
                "{} repeats that are each {} late are beyond {LONGEST_ROUND_TRIP}",
                arq.retries, arq.delay
            );
            return Err(problem(format!("{key}.arq.delay"), what, "write delay = \"20 ms\""));
        }
        check_repeats(key, link)?;
    }
    Ok(())
}

/// What is repeated must be what errors hit.
fn check_repeats(key: &str, link: &LinkSpec) -> Result<(), Problem> {
    for (_, model) in link.errors.entries() {
        let per = match model {
            ErrorModel::List { .. } => {
                return Err(problem(
                    format!("{key}.arq"),
                    "a list names packets that are lost, and arq would repeat them",
                    "take arq out, or use errors of another model",
                ));
            }
            ErrorModel::None => None,
            ErrorModel::Uniform { per, .. } => Some(*per),
            ErrorModel::GilbertElliott(chain) => match chain.clock {
                Clock::Units { per, .. } => Some(per),
                Clock::Time { .. } => None,
            },
        };
        if per == Some(Per::Packet) && link.frame.is_some() {
            return Err(problem(
                format!("{key}.errors"),
                "arq repeats frames here, and these errors hit whole packets",
                "write per = \"frame\", or take frame out: then packets are repeated",
            ));
        }
    }
    Ok(())
}
