//! Several flows as one.

use super::Outcome;

impl Outcome {
    /// The outcome of several flows together: their sums, the least RTT and the longest queue of any, and the limits of the
    /// [leader](Self::leader). What only samples or the whole run tell is as in `of_run`: time, means and quantiles, the share of
    /// lost echo requests, the formula.
    #[must_use]
    pub fn total(flows: Vec<Self>, of_run: Self) -> Self {
        let count = |of: fn(&Self) -> Option<u64>| flows.iter().filter_map(of).reduce(|a, b| a + b);
        let extreme = |of: fn(&Self) -> Option<f64>, pick: fn(f64, f64) -> f64| {
            flows.iter().filter_map(of).reduce(pick)
        };
        let leader = Self::leader(&flows);
        let (data_packets, segment_loss) = match losses(&flows) {
            Losses::NoData => (None, of_run.segment_loss),
            Losses::Unknown => (None, leader.and_then(|leader| leader.segment_loss)),
            Losses::Weighed { packets, share } => (Some(packets), share),
        };
        Self {
            goodput_bps: extreme(|flow| flow.goodput_bps, |a, b| a + b),
            payload_bytes: count(|flow| flow.payload_bytes),
            data_packets,
            ack_packets: count(|flow| flow.ack_packets),
            packets: count(|flow| flow.packets),
            wire_bytes: count(|flow| flow.wire_bytes),
            retransmitted_packets: count(|flow| flow.retransmitted_packets),
            retransmitted_bytes: count(|flow| flow.retransmitted_bytes),
            duplicate_bytes: count(|flow| flow.duplicate_bytes),
            timeouts: count(|flow| flow.timeouts),
            fast_retransmits: count(|flow| flow.fast_retransmits),
            spurious_retransmissions: count(|flow| flow.spurious_retransmissions),
            segment_loss,
            rtt_min_s: extreme(|flow| flow.rtt_min_s, f64::min),
            in_flight_mean_bytes: in_flight(&flows),
            queue_mean_s: extreme(|flow| flow.queue_mean_s, f64::max),
            requests: count(|flow| flow.requests),
            mss_used_bytes: common_mss(&flows),
            limited_by: leader.and_then(|leader| leader.limited_by),
            limits: leader.map(|leader| leader.limits.clone()).unwrap_or_default(),
            flows,
            ..of_run
        }
    }

    /// The flow that carries most of those whose limit is known: what limits it is what the reader asks about.
    pub fn leader(flows: &[Self]) -> Option<&Self> {
        let limited = flows.iter().filter(|flow| flow.limited_by.is_some());
        limited.max_by_key(|flow| flow.payload_bytes)
    }
}

/// What is known of the losses of several flows.
enum Losses {
    /// None of them carries data.
    NoData,
    /// They cannot be weighed: of a flow the packets are not counted.
    Unknown,
    Weighed {
        packets: u64,
        share: Option<f64>,
    },
}

/// Losses of flows that carry data: a lost echo request is nobody's segment.
fn losses(flows: &[Outcome]) -> Losses {
    let has_data = |flow: &&Outcome| flow.payload_bytes.is_some() || flow.data_packets.is_some();
    let loaded: Vec<&Outcome> = flows.iter().filter(has_data).collect();
    if loaded.is_empty() {
        return Losses::NoData;
    }
    let counts: Option<Vec<u64>> = loaded.iter().map(|flow| flow.data_packets).collect();
    let Some(counts) = counts else { return Losses::Unknown };
    let packets = counts.iter().sum();
    let sending = loaded.iter().zip(&counts).filter(|(_, count)| **count > 0);
    // To the nearest: the share came from a whole number.
    let lost = sending.map(|(flow, count)| Some(libm::round(flow.segment_loss? * *count as f64)));
    let lost: Option<f64> = lost.sum();
    let share = lost.filter(|_| packets > 0).map(|lost| lost / packets as f64);
    Losses::Weighed { packets, share }
}

/// The bytes in flight of all TCP flows; `None` where one does not know its own.
fn in_flight(flows: &[Outcome]) -> Option<f64> {
    let of_tcp = || flows.iter().filter(|flow| flow.is_of_tcp());
    of_tcp().next()?;
    of_tcp().map(|flow| flow.in_flight_mean_bytes).sum()
}

/// The segment size of all TCP flows; `None` where they use different ones.
fn common_mss(flows: &[Outcome]) -> Option<u64> {
    let mut of_tcp = flows.iter().filter(|flow| flow.is_of_tcp()).map(|flow| flow.mss_used_bytes);
    let first = of_tcp.next()?;
    first.filter(|_| of_tcp.all(|other| other == first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::LimitedBy;

    fn bulk(mss: u64, payload: u64, lost: f64) -> Outcome {
        Outcome {
            goodput_bps: Some(payload as f64),
            payload_bytes: Some(payload),
            data_packets: Some(payload / mss),
            segment_loss: Some(lost * mss as f64 / payload as f64),
            retransmitted_packets: Some(1),
            rtt_min_s: Some(1.0 / mss as f64),
            in_flight_mean_bytes: Some(100.0),
            queue_mean_s: Some(payload as f64),
            mss_used_bytes: Some(mss),
            limited_by: Some(LimitedBy::Bandwidth),
            ..Outcome::default()
        }
    }

    #[test]
    fn several_flows_are_their_sum_and_limited_as_the_one_that_carries_most() {
        let small = Outcome { limited_by: Some(LimitedBy::Rto), ..bulk(536, 5360, 2.0) };
        let ping = Outcome {
            ping_mean_s: Some(0.1),
            segment_loss: Some(1.0),
            queue_mean_s: Some(1.0),
            ..Outcome::default()
        };
        let of_run =
            Outcome { elapsed_s: Some(8.0), segment_loss: Some(1.0), ..Outcome::default() };
        let total = Outcome::total(
            vec![small.clone(), bulk(1460, 14600, 3.0), ping.clone()],
            of_run.clone(),
        );
        assert_eq!((total.goodput_bps, total.data_packets), (Some(19960.0), Some(20)));
        assert_eq!((total.segment_loss, total.elapsed_s), (Some(0.25), Some(8.0)));
        assert_eq!((total.mss_used_bytes, total.limited_by), (None, Some(LimitedBy::Bandwidth)));
        assert_eq!((total.queue_mean_s, total.rtt_min_s), (Some(14600.0), Some(1.0 / 1460.0)));
        assert_eq!((total.in_flight_mean_bytes, total.flows.len()), (Some(200.0), 3));
        // One flow does not know what it has in flight, nor how many packets it sent.
        let vague =
            Outcome { data_packets: None, in_flight_mean_bytes: None, ..bulk(1460, 14600, 3.0) };
        let total = Outcome::total(vec![small, vague.clone()], of_run.clone());
        assert_eq!((total.in_flight_mean_bytes, total.data_packets), (None, None));
        assert_eq!(total.segment_loss, vague.segment_loss, "that of the leader");
        let echoes = Outcome::total(vec![ping.clone(), ping], of_run);
        assert_eq!((echoes.segment_loss, echoes.mss_used_bytes), (Some(1.0), None));
    }
}
