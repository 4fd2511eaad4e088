//! What a network is.

use serde::{Deserialize, Serialize};

use super::Case;

/// What is right of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// Bytes of the largest packet that arrives.
    pub mtu: u64,
    /// The first router that withholds the message about a packet that it does not pass, by its distance in hops from the tester, for which the lab's sender is
    /// the first router; `None` where
    /// each router tells.
    pub hole: Option<usize>,
}

impl Truth {
    /// Of a case: a router withholds something where the link after it is smaller than all before.
    pub fn of(case: &Case) -> Self {
        let mut mtu = u64::MAX;
        let mut hole = None;
        for (routers, link) in case.links.iter().enumerate() {
            if link.mtu < mtu && link.is_silent {
                hole = hole.or(Some(routers + 1));
            }
            mtu = mtu.min(link.mtu);
        }
        Self { mtu, hole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(links: &[(u64, bool)]) -> Truth {
        let link =
            |&(mtu, is_silent): &(u64, bool)| super::super::Link { mtu, delay_s: 0.001, is_silent };
        Truth::of(&Case { links: links.iter().map(link).collect(), ..Case::draw(1, 1) })
    }

    #[test]
    fn a_router_before_a_smaller_link_is_a_black_hole_if_it_is_silent() {
        assert_eq!(truth(&[(1500, false), (1400, false)]), Truth { mtu: 1400, hole: None });
        assert_eq!(truth(&[(1500, false), (1400, true)]), Truth { mtu: 1400, hole: Some(2) });
        // The second is larger than what comes through the first.
        let larger = truth(&[(1500, false), (1300, false), (1400, true)]);
        assert_eq!(larger, Truth { mtu: 1300, hole: None });
        let both = truth(&[(1500, false), (1400, true), (1500, false), (1300, true)]);
        assert_eq!(both, Truth { mtu: 1300, hole: Some(2) });
    }
}
