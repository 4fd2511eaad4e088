//! What a capture shows where packets overtake each other: neither round trips nor the rate of arrivals are those of a queue.

use super::pace::variation;
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use crate::units::approx;

/// From this share of packets on: below it most trains of segments arrive as they left the link.
const MANY: f64 = 0.1;
/// A link that is always full carries the same: the rate varies by less than this share of itself. That of a congestion window that
/// overtaking reduces again and again varies as it does.
const SAME_RATE: f64 = 0.05;
/// One that sends less than this share of its packets again grows to what the path carries.
const FEW_AGAIN: f64 = 0.002;

/// Whether a limit shows in the distances of packets, and in how long they wait.
pub(super) fn needs_order(limit: LimitedBy) -> bool {
    limit == LimitedBy::Bandwidth
}

/// Why the limit is unknown though a link seems to be full; `None` where that is not in doubt.
pub(super) fn in_doubt(data: &DirectionStats, limit: LimitedBy) -> Option<String> {
    let share = data.out_of_order_share();
    let again = data.retransmitted_packets as f64 / (data.data_packets as f64).max(1.0);
    let is_even = || variation(data).is_some_and(|varies| varies < SAME_RATE);
    (needs_order(limit) && share >= MANY && again >= FEW_AGAIN && !is_even()).then(|| {
        format!(
            "{} of the segments arrived out of order, and where packets overtake each other, neither the rate at which they arrive \
             nor round trips show a full link; a capture at the sender shows more",
            approx::whole_percent(share.min(1.0))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_link_is_in_doubt_where_packets_overtake_each_other() {
        let data = |out_of_order_packets| DirectionStats {
            data_packets: 1000,
            retransmitted_packets: 5,
            out_of_order_packets,
            ..DirectionStats::default()
        };
        let doubt = in_doubt(&data(240), LimitedBy::Bandwidth);
        assert!(doubt.is_some_and(|text| text.starts_with("24% of the segments")));
        assert_eq!(in_doubt(&data(240), LimitedBy::ReceiveWindow), None);
        assert_eq!(in_doubt(&data(50), LimitedBy::Bandwidth), None);
        let unhurt = DirectionStats { retransmitted_packets: 1, ..data(240) };
        assert_eq!(in_doubt(&unhurt, LimitedBy::Bandwidth), None);
    }
}
