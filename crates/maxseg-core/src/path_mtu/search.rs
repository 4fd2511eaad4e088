//! The search over sizes: a posterior over the path MTU, sharpened by rounds of probes.

mod posterior;

use std::collections::BTreeMap;

use super::probe::{Probe, ProbeFate, Refusal};
use super::threshold::{ALIKE_AT_LAST, LossEstimate, MOST_ERROR, SURE_SILENCES};
use crate::framing::{IpVersion, next_plateau};
use crate::units::{Bytes, Mtu};
use posterior::{Posterior, Stated};

/// How sure a path MTU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A packet of this size arrived, as its answer shows. Larger ones did not, repeatedly, while smaller ones did, or this host
    /// cannot send them.
    Confirmed,
    /// Messages of routers alone say it: nothing at the destination answers, and such messages can be forged.
    IcmpOnly,
    /// A packet of this size arrived; what is larger is not known.
    AtLeast,
    /// Nothing is known; the reason is beside it.
    Unknown,
}

impl Confidence {
    /// As documents have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::IcmpOnly => "icmp-only",
            Self::AtLeast => "at-least",
            Self::Unknown => "unknown",
        }
    }
}

/// What a search has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settled {
    /// The largest packet that arrived, bytes.
    pub mtu: u32,
    /// The chance that a larger one would arrive too, with independent losses.
    pub error: f64,
    /// A size at which routers that follow the path MTU stop hearing of it: packets of it vanish without a message.
    pub vanishes: Option<u32>,
}

/// A search for the largest packet that arrives, between one that is known to arrive and one that this host can send.
#[derive(Debug, Clone)]
pub struct Search {
    ip: IpVersion,
    /// The largest that arrived.
    arrived: u32,
    /// The largest that this host can send.
    most: u32,
    /// Whether it refused larger ones without its MTU, which may be less than `most` then.
    is_most_a_bound: bool,
    /// Sizes that were not answered, and how often, while smaller ones were.
    silent: BTreeMap<u32, u32>,
    /// Sizes about which a router said something.
    refused: BTreeMap<u32, Refusal>,
    /// Small packets.
    small: LossEstimate,
    /// Packets that are nearly as large as what arrives.
    large: LossEstimate,
    /// Sizes sent in a round, at most.
    most_sizes: usize,
}

/// A packet that is this share of what arrives shows how often large ones are lost.
const NEARLY: f64 = 0.75;
/// A size that is this likely is checked, and no longer searched for.
const LIKELY: f64 = 0.4;
/// Most packets of one size in a round: a burst of losses may meet all of them.
const MOST_ALIKE: usize = 4;

impl Search {
    /// A search from a size that arrives to the largest that this host can send. A round has at most `most_sizes` sizes.
    pub fn new(ip: IpVersion, arrives: u32, most: u32, most_sizes: usize) -> Self {
        Self {
            ip,
            arrived: arrives.min(most),
            most,
            is_most_a_bound: false,
            silent: BTreeMap::new(),
            refused: BTreeMap::new(),
            small: LossEstimate::default(),
            large: LossEstimate::default(),
            most_sizes: most_sizes.max(1),
        }
    }

    /// Packets that should have been answered, from elsewhere.
    pub fn on_loss(&mut self, known: LossEstimate) {
        self.small.sent += known.sent;
        self.small.lost += known.lost;
    }

    /// The sizes to send next, in this order, the largest first; none when the search is over. The last is expected to arrive.
    /// What is not answered, while something that was sent behind it is, is lost or too big: also where the destination limits
    /// its answers, because the largest packet that arrives takes the one that is left.
    pub fn next_round(&self) -> Vec<u32> {
        let posterior = self.posterior();
        let is_found = posterior.error() <= MOST_ERROR;
        let mut sizes = match (self.is_most_known(), is_found) {
            (true, _) => self.walk_round(is_found),
            (false, true) => self.most_round(),
            // The sizes that are searched for show it as well.
            (false, false) => Vec::new(),
        };
        if !is_found {
            sizes.extend(self.size_round(&posterior));
        }
        if sizes.is_empty() {
            return sizes;
        }
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        sizes.push(self.arrived);
        sizes
    }

    /// The next probe of a prober that sends one at a time and answers for itself; `None` when the search is over.
    pub fn next_probe(&self) -> Option<Probe> {
        let posterior = self.posterior();
        if posterior.error() <= MOST_ERROR {
            let open = self.walk().filter(|size| self.is_most_known() && !self.is_silent(*size));
            return open.map(|size| Probe { size, hop: None });
        }
        let (likely, weight) = posterior.likeliest();
        let size = if weight < LIKELY {
            posterior.quantile(0.5)
        } else if likely > self.arrived {
            likely
        } else {
            self.arrived + 1
        };
        Some(Probe { size: size.max(self.arrived + 1), hop: None })
    }

    /// What became of a round, in the order in which it was sent.
    pub fn on_round(&mut self, fates: &[(u32, ProbeFate)]) {
        let last_answer = fates.iter().rposition(|(_, fate)| *fate == ProbeFate::Arrived);
        for (at, (size, fate)) in fates.iter().enumerate() {
            let is_proven = last_answer.is_some_and(|last| at < last);
            self.on_one(*size, *fate, is_proven);
        }
    }

    /// What became of one probe whose silence shows something by itself.
    pub fn on_fate(&mut self, size: u32, fate: ProbeFate) {
        self.on_one(size, fate, true);
    }

    /// A router says that a packet of this size is too big whose fate is counted: it arrived all the same, or the message came late.
    pub fn on_refusal(&mut self, size: u32, refusal: Refusal) {
        self.refused.insert(size, refusal);
    }

    fn on_one(&mut self, size: u32, fate: ProbeFate, is_proven: bool) {
        match fate {
            ProbeFate::Arrived => self.on_arrival(size),
            ProbeFate::LocalTooBig { mtu } => {
                let below = size.saturating_sub(1);
                let most = mtu.map_or(below, |mtu| mtu.min(below)).max(self.arrived);
                if most < self.most {
                    (self.most, self.is_most_a_bound) = (most, mtu.is_none());
                }
            }
            ProbeFate::TooBig(refusal) => {
                self.refused.insert(size, refusal);
                self.on_silence(size, is_proven);
            }
            ProbeFate::NoAnswer => self.on_silence(size, is_proven),
        }
    }

    fn on_arrival(&mut self, size: u32) {
        self.estimate(size).count(true);
        self.arrived = self.arrived.max(size);
        // What is no larger was lost, and not too big.
        let larger = self.silent.split_off(&(self.arrived + 1));
        for (size, times) in std::mem::replace(&mut self.silent, larger) {
            for _ in 0..times {
                self.estimate(size).count(false);
            }
        }
    }

    fn on_silence(&mut self, size: u32, is_proven: bool) {
        match (is_proven, size <= self.arrived) {
            // Whoever answers may have answered enough for now (RFC 1812 §4.3.2.8, RFC 4443 §2.4 (f)).
            (false, _) => {}
            (true, true) => self.estimate(size).count(false),
            (true, false) => *self.silent.entry(size).or_default() += 1,
        }
    }

    fn estimate(&mut self, size: u32) -> &mut LossEstimate {
        let is_large = f64::from(size) >= f64::from(self.arrived) * NEARLY;
        if is_large { &mut self.large } else { &mut self.small }
    }

    /// The chance that a packet is lost that would fit.
    pub fn loss(&self) -> f64 {
        let large = if self.large.sent > 0 { self.large.chance() } else { 0.0 };
        let both = LossEstimate {
            sent: self.large.sent + self.small.sent,
            lost: self.large.lost + self.small.lost,
        };
        // Few large packets show little by themselves.
        if self.large.sent >= 8 { both.chance().max(large) } else { both.chance() }
    }

    /// What is known so far; `None` of an MTU that is not yet known, and where larger packets may have been lost that would arrive.
    pub fn settled(&self) -> Option<Settled> {
        let error = self.posterior().error();
        let vanishes = self.walk().filter(|_| self.is_most_known());
        let is_known = error <= MOST_ERROR && vanishes.is_none_or(|size| self.is_silent(size));
        is_known.then_some(Settled { mtu: self.arrived, error, vanishes })
    }

    /// The largest packet that arrived.
    pub const fn at_least(&self) -> u32 {
        self.arrived
    }

    /// The chance that a larger packet than the largest that arrived would arrive too.
    pub fn error(&self) -> f64 {
        self.posterior().error()
    }

    /// The sizes that routers have said something about, the least first, with what was said.
    pub fn refusals(&self) -> impl Iterator<Item = (u32, Refusal)> {
        self.refused.iter().map(|(size, refusal)| (*size, *refusal))
    }

    /// A message with the size that it is about, where a packet arrived that contradicts it.
    pub fn wrong_refusal(&self) -> Option<(u32, Refusal)> {
        self.refusals().find(|(size, refusal)| {
            self.arrived >= *size
                || self.stated(*size, *refusal).is_some_and(|stated| stated.most < self.arrived)
        })
    }

    fn posterior(&self) -> Posterior {
        let stated: Vec<Stated> = self
            .refusals()
            .filter(|(size, _)| *size > self.arrived)
            .filter_map(|(size, refusal)| self.stated(size, refusal))
            .filter(|stated| stated.most >= self.arrived)
            .collect();
        let possible = (self.arrived..=self.most, self.is_most_known());
        Posterior::new(self.ip, possible, &self.silent, &stated, self.loss())
    }

    /// Whether this host can send `most`: it has, or nothing larger was refused.
    fn is_most_known(&self) -> bool {
        !self.is_most_a_bound || self.largest_sent() >= self.most
    }

    /// The largest packet that this host did send.
    fn largest_sent(&self) -> u32 {
        let silent = self.silent.last_key_value().map(|(size, _)| *size);
        let refused = self.refused.last_key_value().map(|(size, _)| *size);
        self.arrived.max(silent.unwrap_or(0)).max(refused.unwrap_or(0))
    }

    /// Sizes that show what this host can send, where it does not tell: between the largest that it sent and the least that it refused.
    fn most_round(&self) -> Vec<u32> {
        let sent = self.largest_sent();
        let parts = u32::try_from(self.most_sizes).unwrap_or(u32::MAX);
        let span = self.most.saturating_sub(sent);
        let mut sizes: Vec<u32> =
            (1..=parts).map(|part| sent + (span * part).div_ceil(parts)).collect();
        sizes.dedup();
        sizes
    }

    /// A size that a router refuses without an MTU (before RFC 1191): a host has to guess what is smaller.
    pub fn unstated(&self) -> Option<(u32, Refusal)> {
        let refused = self.refusals().filter(|_| self.ip == IpVersion::V4);
        refused.filter(|(size, refusal)| *size > self.arrived && refusal.mtu == 0).last()
    }

    /// What a message says of the path MTU; `None` where it cannot be true.
    fn stated(&self, size: u32, refusal: Refusal) -> Option<Stated> {
        if self.ip == IpVersion::V4 && refusal.mtu == 0 {
            let plateau = u32::from(next_plateau(Bytes::new(size.into())).get());
            return Some(Stated { most: size - 1, likely: plateau, is_exact: false });
        }
        let least = u32::from(Mtu::IPV6_MIN);
        if self.ip == IpVersion::V6 && refusal.mtu < least && size > least {
            // RFC 8201 §4: a host goes down to 1280, and no further; the message is wrong.
            return Some(Stated { most: size - 1, likely: least, is_exact: false });
        }
        let mtu = refusal.stated_mtu(self.ip, size)?;
        Some(Stated { most: mtu, likely: mtu, is_exact: true })
    }

    /// Sizes that halve what is possible, or check what is likely.
    fn size_round(&self, posterior: &Posterior) -> Vec<u32> {
        let (likely, weight) = posterior.likeliest();
        if weight < LIKELY {
            let parts = self.most_sizes + 1;
            let mut sizes: Vec<u32> = (1..parts)
                .map(|part| posterior.quantile(part as f64 / parts as f64).max(self.arrived + 1))
                .collect();
            sizes.dedup();
            return sizes;
        }
        let mut sizes = Vec::new();
        if likely > self.arrived {
            sizes.push(likely);
        }
        if likely < self.most {
            let doubt = posterior.above(likely).max(MOST_ERROR);
            let times = libm::log(MOST_ERROR / 2.0 / doubt) / libm::log(self.loss());
            let times = libm::ceil(times).clamp(1.0, MOST_ALIKE as f64);
            sizes.extend((0..MOST_ALIKE).take_while(|n| (*n as f64) < times).map(|_| likely + 1));
        }
        sizes
    }

    /// The size above what arrives at which a host that follows routers' messages (RFC 1191, RFC 8201) stays, and the message about it
    /// that leads no further, where there is one; `None` where the messages lead to what arrives.
    fn walk_end(&self) -> Option<(u32, Option<Refusal>)> {
        let mut size = self.most;
        while size > self.arrived {
            let Some(refusal) = self.refused.get(&size) else { return Some((size, None)) };
            match self.stated(size, *refusal) {
                Some(stated) => size = stated.likely.min(size - 1),
                None => return Some((size, Some(*refusal))),
            }
        }
        None
    }

    /// The size at which such a host stops hearing of messages: packets vanish.
    fn walk(&self) -> Option<u32> {
        self.walk_end().filter(|(_, refusal)| refusal.is_none()).map(|(size, _)| size)
    }

    /// A size that a router refuses with an MTU that is no smaller: a host that follows messages sends it again and again.
    pub fn dead_end(&self) -> Option<(u32, Refusal)> {
        let (size, refusal) = self.walk_end()?;
        refusal.filter(|refusal| refusal.mtu >= size).map(|refusal| (size, refusal))
    }

    /// That size, so often that no share of losses explains its silence; at once where the path MTU is found.
    fn walk_round(&self, is_found: bool) -> Vec<u32> {
        let Some(size) = self.walk().filter(|size| !self.is_silent(*size)) else {
            return Vec::new();
        };
        let open = SURE_SILENCES.saturating_sub(self.silences(size));
        let times = if is_found { open.clamp(2, ALIKE_AT_LAST) } else { 2 };
        vec![size; times as usize]
    }

    /// How often packets of a size were silent, while smaller ones behind them arrived.
    fn silences(&self, size: u32) -> u32 {
        self.silent.get(&size).copied().unwrap_or(0)
    }

    /// Whether packets of a size vanish: neither the losses that were seen explain their silence, nor such of large packets alone.
    fn is_silent(&self, size: u32) -> bool {
        let times = self.silences(size);
        let is_explained = libm::pow(self.loss(), f64::from(times)) > MOST_ERROR;
        times >= SURE_SILENCES && !is_explained
    }
}
