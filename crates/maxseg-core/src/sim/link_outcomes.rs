//! What became of the packets on each link.

use super::net::Net;
use crate::link::Counters;
use crate::outcome::LinkOutcome;
use crate::path::{IcmpPolicy, LinkSpec};
use crate::scenario::{End, Scenario};

impl<E> Net<E> {
    /// Each link's counts, in the order of the path: of every hop the link towards the receiver, then the other.
    pub(super) fn link_outcomes(&self, scenario: &Scenario) -> Vec<LinkOutcome> {
        let [forward, mut reverse] = [End::Sender, End::Receiver].map(|from| self.counted(from));
        reverse.reverse();
        let hops = scenario.path.hops.iter().zip(forward.iter().zip(&reverse));
        let links = hops.flat_map(|(hop, (forward, reverse))| {
            let there = format!("hop.{}", hop.name);
            let back = format!("{there}.reverse");
            [(there, &hop.forward, forward), (back, &hop.reverse, reverse)]
        });
        let outcome = |(link, spec, counted): (String, &LinkSpec, &(Counters, u64))| {
            let (counters, too_big) = counted;
            LinkOutcome {
                link,
                sent_packets: counters.sent,
                damaged: counters.damaged,
                refused: counters.refused,
                policed: counters.policed,
                early: counters.early,
                marked: counters.marked,
                doubled: counters.doubled,
                too_big: *too_big,
                withheld: if spec.icmp == IcmpPolicy::Drop { *too_big } else { 0 },
                waited_s: counters.waited.as_secs_f64(),
            }
        };
        links.map(outcome).collect()
    }

    /// What the links for packets from this host counted, and how many were too large for them, as packets meet them.
    fn counted(&self, from: End) -> Vec<(Counters, u64)> {
        let counters = self.links.towards(from.other()).counters();
        counters.into_iter().zip(self.notices.refused(from)).collect()
    }
}
