//! Networks by chance.

use std::fmt::Write as _;

use maxseg_core::rng::{Rng, Stream};
use serde::{Deserialize, Serialize};

use crate::draws::{below, log_uniform, pick, uniform, whole};

/// A path to test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Where the randomness of its links begins.
    pub seed: u64,
    /// Whether it is IPv6; IPv4 otherwise.
    pub is_v6: bool,
    /// Its links, the sender's first.
    pub links: Vec<Link>,
    /// The share of packets that are lost, each way.
    pub loss: f64,
    /// Whether the receiver accepts connections on [`Case::PORT`].
    pub has_server: bool,
    /// Where a router lowers the MSS of SYNs to what the routes allow: its number.
    pub clamp_at: Option<usize>,
    /// Whether routers send no more than an ICMP error a second (`icmp_ratelimit` as Linux has it).
    pub has_icmp_limit: bool,
}

/// A link of the path and the router before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bytes of the largest packet.
    pub mtu: u64,
    /// One way, seconds.
    pub delay_s: f64,
    /// Whether the router before it withholds the message about packets that are too large.
    pub is_silent: bool,
}

/// A third each: with a router that withholds, with losses of 1% and more, with IPv6.
const THIRD: f64 = 1.0 / 3.0;
const MOST_LINKS: u64 = 6;
const RTT_S: std::ops::Range<f64> = 0.001..0.300;
const LOSS: std::ops::Range<f64> = 0.01..0.05;
const SMALL_LOSS: std::ops::Range<f64> = 0.0001..0.01;
const WITH_SMALL_LOSS: f64 = 0.25;
const WITH_SERVER: f64 = 0.8;
const WITH_CLAMP: f64 = 0.15;
const WITH_ICMP_LIMIT: f64 = 0.5;
/// Below 552 Linux clears DF (`net.ipv4.route.min_pmtu`).
const LEAST_V4: u64 = 552;
/// RFC 8200 §5.
const LEAST_V6: u64 = 1280;
const MOST: u64 = 9216;
/// What links have: Ethernet, jumbo, tunnels over them.
const KNOWN: [u64; 14] =
    [9216, 9000, 8950, 4470, 1500, 1492, 1480, 1476, 1460, 1450, 1420, 1400, 1320, 1280];
const WITH_KNOWN: f64 = 0.6;

impl Case {
    /// Where the receiver's server listens.
    pub const PORT: u16 = 80;

    /// The `number`-th case under `seed`.
    pub fn draw(seed: u64, number: u64) -> Self {
        let mut rng = Stream::named(seed, &format!("path.{number}")).reader();
        let is_v6 = rng.uniform() < THIRD;
        let count = 2 + below(&mut rng, MOST_LINKS - 1);
        let mut links = links(&mut rng, is_v6, count);
        let has_hole = rng.uniform() < THIRD;
        if has_hole {
            silence(&mut rng, &mut links);
        }
        let is_lossy = rng.uniform() < THIRD;
        let has_some = rng.uniform() < WITH_SMALL_LOSS;
        let (much, little) = (uniform(&mut rng, LOSS), log_uniform(&mut rng, SMALL_LOSS));
        let router = 1 + below(&mut rng, count as u64 - 1);
        Self {
            seed: whole(uniform(&mut rng, 1.0..1e6)),
            is_v6,
            links,
            loss: match (is_lossy, has_some) {
                (true, _) => much,
                (false, true) => little,
                (false, false) => 0.0,
            },
            has_server: rng.uniform() < WITH_SERVER,
            clamp_at: (rng.uniform() < WITH_CLAMP).then_some(router),
            has_icmp_limit: rng.uniform() < WITH_ICMP_LIMIT,
        }
    }

    /// As a scenario for `maxseg lab up`.
    pub fn scenario(&self) -> String {
        let ip = if self.is_v6 { 6 } else { 4 };
        let mut text = format!("name = \"path\"\nseed = {}\nip = {ip}\n", self.seed);
        let last = self.links.len() - 1;
        for (number, link) in self.links.iter().enumerate() {
            let _ = write!(
                text,
                "\n[[hop]]\nname = \"l{number}\"\nrate = \"1 Gbit/s\"\nqueue = \"1000 packets\"\ndelay = \"{:.3} ms\"\nmtu = {}\n",
                1e3 * link.delay_s,
                link.mtu
            );
            if link.is_silent {
                text.push_str("icmp = \"drop\"\n");
            }
            let errors = format!(
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {} }}\n",
                self.loss
            );
            if number == last && self.loss > 0.0 {
                let _ = write!(text, "{errors}[hop.reverse]\n{errors}");
            }
        }
        text
    }

    /// The least round trip, seconds.
    pub fn rtt_s(&self) -> f64 {
        2.0 * self.links.iter().map(|link| link.delay_s).sum::<f64>()
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let links: Vec<String> = self.links.iter().map(Link::words).collect();
        let clamp = self.clamp_at.map(|router| format!(", clamp at {router}")).unwrap_or_default();
        format!(
            "IPv{} {}, {:.0} ms, loss {:.1}%{}{}{clamp}",
            if self.is_v6 { 6 } else { 4 },
            links.join(" "),
            1e3 * self.rtt_s(),
            100.0 * self.loss,
            if self.has_server { "" } else { ", port closed" },
            if self.has_icmp_limit { ", ICMP limited" } else { "" },
        )
    }
}

impl Link {
    fn words(&self) -> String {
        format!("{}{}", self.mtu, if self.is_silent { "!" } else { "" })
    }
}

fn links(rng: &mut Rng, is_v6: bool, count: usize) -> Vec<Link> {
    let shares: Vec<f64> = (0..count).map(|_| uniform(rng, 0.1..1.0)).collect();
    let (rtt, sum) = (log_uniform(rng, RTT_S), shares.iter().sum::<f64>());
    let first = pick(rng, &[(1500, 7), (9000, 2), (MOST, 1)]);
    let mut links: Vec<Link> = shares
        .into_iter()
        .map(|share| Link { mtu: first, delay_s: rtt / 2.0 * share / sum, is_silent: false })
        .collect();
    // Two links at most are smaller than the sender's; as often as not none is.
    for _ in 0..below(rng, 3) {
        let smaller = mtu(rng, is_v6).min(first);
        links[1 + below(rng, count as u64 - 1)].mtu = smaller;
    }
    links
}

fn mtu(rng: &mut Rng, is_v6: bool) -> u64 {
    if rng.uniform() < WITH_KNOWN {
        return KNOWN[below(rng, KNOWN.len() as u64)];
    }
    let least = if is_v6 { LEAST_V6 } else { LEAST_V4 };
    whole(log_uniform(rng, least as f64..MOST as f64))
}

/// Silences the routers before smaller links, and makes a link smaller where none is.
fn silence(rng: &mut Rng, links: &mut [Link]) {
    let first = links[0].mtu;
    if links.iter().all(|link| link.mtu == first) {
        let at = 1 + below(rng, links.len() as u64 - 1);
        links[at].mtu = if rng.uniform() < 0.5 { 1420.min(first) } else { 1280 };
    }
    for link in links.iter_mut().skip(1).filter(|link| link.mtu < first) {
        link.is_silent = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_drawn() {
        let cases: Vec<Case> = (0..600).map(|number| Case::draw(7, number)).collect();
        let share = |of: &dyn Fn(&Case) -> bool| {
            cases.iter().filter(|case| of(case)).count() as f64 / 600.0
        };
        // Within three standard errors of a third (0.019 each).
        let is_third = |share: f64| (share - THIRD).abs() < 0.06;
        assert!(is_third(share(&|case| case.is_v6)));
        assert!(is_third(share(&|case| case.loss >= 0.01)));
        assert!(is_third(share(&|case| case.links.iter().any(|link| link.is_silent))));
        assert!(share(&|case| case.links.len() == 6) > 0.1);
        for case in &cases {
            let least = if case.is_v6 { LEAST_V6 } else { LEAST_V4 };
            assert!(case.links.iter().all(|link| (least..=MOST).contains(&link.mtu)), "{case:?}");
            assert!((0.001..0.300).contains(&case.rtt_s()), "{case:?}");
        }
    }
}
