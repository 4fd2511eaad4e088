//! Losses of so large a share of all segments that nothing else of the path can hold a connection.

use super::Judge;

/// Every congestion control is held by so large a lost share: BBR, which minds losses least, gains nothing by probing for a quarter more where
/// more than a fifth of it is lost (its gain of 1.25 in `net/ipv4/tcp_bbr.c`), and the windows of Reno and CUBIC are a segment or two. Of
/// 53 simulated transfers with more, losses or the timer limited 49.
const LOST_SHARE: f64 = 0.3;
/// So few segments sent again are no share of anything.
const LEAST_RESENT: u32 = 3;

impl Judge<'_> {
    /// Whether so many of the segments were sent again that losses hold the congestion window, whatever the round trips seem to show: a few
    /// segments in flight wait for delayed acknowledgements (RFC 9293 §3.8.6.3), which looks like a queue.
    pub(super) fn losses_hold(&self) -> bool {
        let bin = &self.evidence.bin;
        // Of kernels before 4.6 the count of segments is not known, and repeated SYNs are among the losses.
        bin.losses >= LEAST_RESENT
            && bin.losses <= bin.segments
            && f64::from(bin.losses) >= LOST_SHARE * f64::from(bin.segments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::limit;
    use crate::evidence::{RateQuartiles, RateSpread, SocketEvidence};
    use crate::outcome::LimitedBy;
    use crate::units::Time;

    /// 20 Mbit/s over 40 ms of which half is lost (Linux 6.18): a segment in flight, whose acknowledgement the receiver delays.
    fn lossy(e: &mut SocketEvidence) {
        (e.bin.segments, e.bin.losses) = (16, 8);
        (e.bin.sent_bytes, e.bin.acked_bytes) = (11_584, 10_136);
        (e.state.cwnd_segments, e.state.ssthresh_segments) = (1, Some(2));
        (e.state.in_flight_segments, e.state.unacked_segments) = (1, 1);
        (e.state.rtt, e.state.min_rtt) = (Time::from_millis(81), Some(Time::from_millis(40)));
        e.state.is_recovering = true;
        e.spread = Some(RateSpread { rtt_median: e.state.rtt, ..RateSpread::default() });
    }

    #[test]
    fn a_path_that_loses_half_of_all_segments_is_no_full_link() {
        assert_eq!(limit(lossy), LimitedBy::Congestion);
        let bbr = |e: &mut SocketEvidence| {
            lossy(e);
            e.state.bbr_pacing_gain = Some(1.25);
        };
        assert_eq!(limit(bbr), LimitedBy::Congestion);
        let steady = |e: &mut SocketEvidence| {
            lossy(e);
            let rates = RateQuartiles { delivery_bps: [75e3, 80e3], cwnd_segments: [10.0, 14.0] };
            e.spread = Some(RateSpread { rates: Some(rates), ..RateSpread::default() });
        };
        assert_eq!(limit(steady), LimitedBy::Congestion);
        let waits_for_timer = |e: &mut SocketEvidence| {
            lossy(e);
            e.state.timeouts_in_a_row = 2;
        };
        assert_eq!(limit(waits_for_timer), LimitedBy::Rto);
    }

    #[test]
    fn fewer_losses_leave_the_link_to_be_full() {
        let of = |losses, segments| {
            move |e: &mut SocketEvidence| {
                lossy(e);
                (e.bin.losses, e.bin.segments) = (losses, segments);
            }
        };
        assert_eq!(limit(of(4, 16)), LimitedBy::Bandwidth);
        assert_eq!(limit(of(2, 4)), LimitedBy::Bandwidth, "too few to be a share");
    }
}
