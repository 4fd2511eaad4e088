//! What a change costs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advise::Change;
use crate::settings::CongestionName;
use crate::window::MEMORY_PER_PAYLOAD;

/// What a change costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Price {
    /// Memory that each connection may take with it, in bytes; null where it takes none.
    pub memory_bytes_per_connection: Option<u64>,
    /// Connections that were counted.
    pub connections: u64,
    /// Both multiplied: what all may take at once.
    pub memory_bytes: Option<u64>,
    /// What others on the path notice.
    pub fairness: Option<String>,
    /// What else changes.
    pub side_effects: Vec<String>,
}

/// The least segment of which CPU and headers are worth no word, in bytes.
const COMMON_SEGMENT: u16 = 1200;

/// A share of the packets that is worth a word where it is lost on top.
const MUCH_LOST: f64 = 0.01;

/// The price of a change for so many connections.
pub(super) fn price(change: Change, is_raise: bool, connections: u64) -> Price {
    let connections = connections.max(1);
    let memory = memory(change, is_raise);
    Price {
        memory_bytes_per_connection: memory,
        connections,
        memory_bytes: memory.map(|bytes| bytes.saturating_mul(connections)),
        fairness: fairness(change).map(str::to_owned),
        side_effects: side_effects(change, is_raise),
    }
}

impl Price {
    /// With what more is lost, where that is much: a congestion control that does not slow down pays a policer with packets.
    pub(super) fn with_losses(mut self, lost: Option<(f64, f64)>) -> Self {
        let much = |(before, after): &(f64, f64)| *after >= MUCH_LOST && *after >= 2.0 * before;
        if let Some((before, after)) = lost.filter(much) {
            self.side_effects.push(format!(
                "{:.1}% of the packets are lost on the path, {:.1}% without it",
                100.0 * after,
                100.0 * before
            ));
        }
        self
    }

    /// The price of both, for the same connections.
    pub(super) fn and(mut self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
        };
        self.memory_bytes_per_connection =
            sum(self.memory_bytes_per_connection, other.memory_bytes_per_connection);
        self.memory_bytes = sum(self.memory_bytes, other.memory_bytes);
        self.fairness = self.fairness.or(other.fairness);
        for effect in other.side_effects {
            if !self.side_effects.contains(&effect) {
                self.side_effects.push(effect);
            }
        }
        self
    }
}

fn memory(change: Change, is_raise: bool) -> Option<u64> {
    match change {
        Change::Window(window) => Some(MEMORY_PER_PAYLOAD * window.get()).filter(|_| is_raise),
        Change::ReceiveBuffer(bytes) | Change::FirstReceiveBuffer(bytes) => Some(bytes.get()),
        Change::SendBuffer(bytes) => Some(MEMORY_PER_PAYLOAD * bytes.get()),
        Change::SegmentSize(_)
        | Change::Mtu(_)
        | Change::Clamp(_)
        | Change::Congestion(_)
        | Change::InitialWindow(_)
        | Change::RtoMin(_)
        | Change::RtoInitial(_)
        | Change::Pacing(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => None,
    }
}

const fn fairness(change: Change) -> Option<&'static str> {
    match change {
        Change::Congestion(CongestionName::Bbr) => Some(
            "BBR does not slow down for losses below about 15%: flows of CUBIC and Reno on the same small queue get less",
        ),
        Change::Congestion(CongestionName::Reno) => {
            Some("Reno grows more slowly than CUBIC on long fast paths and gets less beside it")
        }
        Change::InitialWindow(_) => {
            Some("a larger burst at the start may push packets of others out of a short queue")
        }
        Change::Window(_)
        | Change::ReceiveBuffer(_)
        | Change::FirstReceiveBuffer(_)
        | Change::SendBuffer(_)
        | Change::SegmentSize(_)
        | Change::Mtu(_)
        | Change::Clamp(_)
        | Change::Congestion(CongestionName::Cubic | CongestionName::Ns2Reno)
        | Change::RtoMin(_)
        | Change::RtoInitial(_)
        | Change::Pacing(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => None,
    }
}

fn side_effects(change: Change, is_raise: bool) -> Vec<String> {
    let more_packets =
        "more packets for the same data: more headers on the line and more work for both hosts";
    let of_route = "every connection to that address changes, not one alone";
    let effects: &[&str] = match change {
        Change::Window(_) if !is_raise => &[
            "a fixed window: on a faster or longer path it becomes the limit",
            "only new connections get it from a route",
        ],
        Change::Window(_) | Change::ReceiveBuffer(_) | Change::FirstReceiveBuffer(_) => {
            &["only new connections get a larger buffer"]
        }
        Change::SendBuffer(_) => &["running connections grow to the new maximum as well"],
        Change::SegmentSize(_) if is_raise => &["only new connections have the new MSS option"],
        // By the MTU of a route.
        Change::SegmentSize(mss) if mss.get() < COMMON_SEGMENT => &[
            more_packets,
            "the congestion window is counted in segments: a running connection slows down at first",
        ],
        Change::SegmentSize(_) | Change::Mtu(_) => &["running connections are changed too"],
        Change::Clamp(mss) if mss.get() < COMMON_SEGMENT => {
            &[more_packets, "only new connections have it"]
        }
        Change::Clamp(_) => &["only new connections have it"],
        Change::Congestion(_) => {
            &["only new connections get it from a route; a socket option acts at once"]
        }
        Change::InitialWindow(_) => &["only new connections"],
        Change::RtoMin(_) => &["a lower value acts at once, a higher one on new connections"],
        Change::RtoInitial(_) => &["a lost SYN is repeated later"],
        Change::Pacing(_) => &["on a path that becomes faster it is the limit"],
        Change::MtuProbing => &[
            "a few probes; a connection that meets a black hole stalls for seconds before it probes",
        ],
        Change::NoSlowStartAfterIdle => &[
            "a burst of a whole congestion window after a pause, when the path may have changed",
            "it is set for each network namespace",
        ],
        Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => &[],
    };
    let mut effects: Vec<String> = effects.iter().map(|effect| (*effect).to_owned()).collect();
    let is_by_route = matches!(
        change,
        Change::Mtu(_) | Change::Congestion(_) | Change::InitialWindow(_) | Change::RtoMin(_)
    );
    if is_by_route {
        effects.push(of_route.to_owned());
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::advice::caution::{note, risk};
    use crate::units::{Mss, Mtu};

    #[test]
    fn a_segment_size_has_the_price_and_risk_of_what_sets_it() {
        let mss = |size| Mss::new(size).unwrap();
        let larger = Change::SegmentSize(mss(1460));
        assert_eq!(side_effects(larger, true), ["only new connections have the new MSS option"]);
        // A route's MTU acts on connections that run; a clamp sees their SYNs alone.
        for size in [512, 1400] {
            let lower = side_effects(Change::SegmentSize(mss(size)), false).join("; ");
            assert!(lower.contains("running connection"), "{lower}");
            let clamp = side_effects(Change::Clamp(mss(size)), false).join("; ");
            assert!(clamp.contains("only new connections"), "{clamp}");
        }
        let is_about_lock = |change| risk(change, false).contains("`lock`");
        let mtu = Change::Mtu(Mtu::new(1400).unwrap());
        let changes = [mtu, Change::SegmentSize(mss(512)), Change::Clamp(mss(512))];
        assert_eq!(changes.map(is_about_lock), [true, false, false]);
    }

    #[test]
    fn losses_that_a_change_brings_are_in_its_price() {
        let price = |lost| Price::default().with_losses(lost).side_effects.join("; ");
        assert_eq!(
            price(Some((0.005, 0.053))),
            "5.3% of the packets are lost on the path, 0.5% without it"
        );
        assert_eq!(price(Some((0.04, 0.05))), "");
        assert_eq!(price(Some((0.0001, 0.005))), "");
    }

    #[test]
    fn an_effect_of_two_changes_is_told_once() {
        let of = |effects: &[&str]| Price {
            side_effects: effects.iter().map(|&effect| effect.to_owned()).collect(),
            ..Price::default()
        };
        let both = of(&["a", "b"]).and(of(&["c"])).and(of(&["a"]));
        assert_eq!(both.side_effects, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_to_be_considered_is_no_price() {
        let mtu = |size| Change::Mtu(Mtu::new(size).unwrap());
        assert!(!side_effects(mtu(1000), false).join("; ").contains("IPv6"));
        assert!(note(mtu(1000), false).is_some_and(|note| note.contains("IPv6")));
        assert_eq!(note(mtu(1280), false), None, "IPv6 stays");
    }
}
