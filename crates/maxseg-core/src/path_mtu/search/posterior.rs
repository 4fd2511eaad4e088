//! How likely each path MTU is.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::super::well_known;
use crate::framing::IpVersion;
use crate::units::Mtu;

/// The weights of the path MTUs that are possible.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// The least that is possible: what arrived.
    least: u32,
    weights: Vec<f64>,
    total: f64,
}

/// What a router's message says of the path MTU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stated {
    /// It is no more than this.
    pub(super) most: u32,
    /// It is likely this: the stated MTU, or a plateau where none is stated (RFC 1191 §5, §7).
    pub(super) likely: u32,
    /// Whether the router stated it.
    pub(super) is_exact: bool,
}

/// Before anything is known: the largest packet that this host can send arrives.
const ALL_FITS: f64 = 0.75;
/// It is an MTU with a name.
const HAS_NAME: f64 = 0.15;
/// It is any.
const IS_ANY: f64 = 0.1;
/// Linux goes by no smaller path MTU of IPv4 (`net.ipv4.route.min_pmtu`), IPv6 allows none below 1280: such paths are rare.
const LEAST_USUAL_V4: u32 = 552;
const IS_UNUSUAL: f64 = 0.02;
/// A router that states it, against all else together.
const IS_STATED: f64 = 4.0;
/// A plateau, where it states none.
const IS_PLATEAU: f64 = 0.2;
/// A router's message is wrong: it is a forgery, or about another path.
const IS_WRONG: f64 = 1e-2;

impl Posterior {
    /// Where the first packet of `possible` arrived, those of `silent` did not so many times, routers have `stated` MTUs, and a packet
    /// that fits is lost with a chance of `loss`. `is_most_sent` where this host can send the last one of `possible`.
    pub(super) fn new(
        ip: IpVersion,
        (possible, is_most_sent): (RangeInclusive<u32>, bool),
        silent: &BTreeMap<u32, u32>,
        stated: &[Stated],
        loss: f64,
    ) -> Self {
        let (least, most) = possible.into_inner();
        let count = (most - least + 1) as usize;
        let usual = match ip {
            IpVersion::V4 => LEAST_USUAL_V4,
            IpVersion::V6 => u32::from(Mtu::IPV6_MIN),
        };
        let any = IS_ANY / count as f64;
        let mut weights: Vec<f64> =
            (least..=most).map(|mtu| if mtu < usual { any * IS_UNUSUAL } else { any }).collect();
        let mut add = |mtu: u32, weight: f64| {
            let at = mtu.checked_sub(least).map(|at| at as usize);
            if let Some(place) = at.and_then(|at| weights.get_mut(at)) {
                *place += weight;
            }
        };
        if is_most_sent {
            add(most, ALL_FITS);
        }
        let names: Vec<u32> = well_known::all().collect();
        for mtu in &names {
            add(*mtu, HAS_NAME / names.len() as f64);
        }
        let strictest = stated.iter().min_by_key(|stated| stated.most);
        if let Some(stated) = strictest {
            add(stated.likely, if stated.is_exact { IS_STATED } else { IS_PLATEAU });
        }
        let mut chance = 1.0;
        for (mtu, weight) in (least..).zip(&mut weights) {
            if let Some(times) = silent.get(&mtu) {
                chance *= libm::pow(loss, f64::from(*times));
            }
            let is_contradicted = strictest.is_some_and(|stated| mtu > stated.most);
            *weight *= if is_contradicted { chance * IS_WRONG } else { chance };
        }
        let total = weights.iter().sum();
        Self { least, weights, total }
    }

    /// The chance that more arrives than did.
    pub(super) fn error(&self) -> f64 {
        self.above(self.least)
    }

    /// The chance that more than `mtu` arrives.
    pub(super) fn above(&self, mtu: u32) -> f64 {
        let from = (mtu - self.least) as usize + 1;
        // A sum of nothing is -0.
        (0.0 + self.weights.iter().skip(from).sum::<f64>()) / self.total
    }

    /// The likeliest path MTU, and its chance.
    pub(super) fn likeliest(&self) -> (u32, f64) {
        let best = (self.least..).zip(&self.weights).max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or((self.least, 1.0), |(mtu, weight)| (mtu, weight / self.total))
    }

    /// The least path MTU below which there is at least this share of the chances: a packet of the next size halves, for ½, what
    /// is possible.
    pub(super) fn quantile(&self, share: f64) -> u32 {
        let mut sum = 0.0;
        for (mtu, weight) in (self.least..).zip(&self.weights) {
            sum += weight / self.total;
            if sum >= share {
                return mtu;
            }
        }
        self.least
    }
}
