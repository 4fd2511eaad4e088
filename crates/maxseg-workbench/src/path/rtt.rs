//! Round trips.

use maxseg_core::stats::median;

/// What a round trip is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttMethod {
    /// An ICMP echo and its reply.
    IcmpEcho,
    /// A SYN, and the SYN-ACK or RST that answers it.
    TcpSyn,
    /// A UDP datagram to a closed port, and the port unreachable that answers it.
    UdpUnreachable,
}

impl RttMethod {
    /// As documents have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::IcmpEcho => "icmp-echo",
            Self::TcpSyn => "tcp-syn",
            Self::UdpUnreachable => "udp-unreachable",
        }
    }
}

/// Round trips of small packets.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct RttReport {
    /// What was sent; null where nothing was answered.
    pub method: Option<RttMethod>,
    /// The first round trip, which addresses may have to be resolved for; it is not among the others.
    pub first_s: Option<f64>,
    /// The least.
    pub min_s: Option<f64>,
    /// The median.
    pub median_s: Option<f64>,
    /// The 99th percentile; of fewer than a hundred the largest.
    pub p99_s: Option<f64>,
    /// Packets sent, the first included.
    pub sent: u32,
    /// Those of them that nothing answered.
    pub lost: u32,
    /// Whether the destination limits its answers to echoes: those that it did not answer are not among the packets sent.
    pub answers_limited: bool,
}

/// One that is lost, or answered too late, is chance.
const LEAST_LOST: u32 = 2;

impl RttReport {
    /// Of these round trips, `None` of one that was not answered, in the order in which they were sent.
    pub fn of(method: RttMethod, trips: &[Option<f64>]) -> Self {
        let sent = u32::try_from(trips.len()).unwrap_or(u32::MAX);
        let answered: Vec<f64> = trips.iter().copied().flatten().collect();
        let lost = sent - u32::try_from(answered.len()).unwrap_or(sent);
        let first_s = trips.first().copied().flatten();
        let skipped = usize::from(first_s.is_some() && answered.len() > 1);
        let mut later: Vec<f64> = answered.into_iter().skip(skipped).collect();
        later.sort_by(f64::total_cmp);
        Self {
            method: (lost < sent).then_some(method),
            first_s,
            min_s: later.first().copied(),
            p99_s: percentile(&later, 99),
            median_s: median(later),
            sent,
            lost,
            answers_limited: false,
        }
    }

    /// Whether losses are more than chance.
    pub(super) const fn is_lossy(&self) -> bool {
        self.method.is_some() && self.lost >= LEAST_LOST
    }

    /// The share of packets that nothing answered; `None` where none was answered.
    pub(super) fn loss_share(&self) -> Option<f64> {
        self.method.map(|_| f64::from(self.lost) / f64::from(self.sent))
    }

    /// How much longer than the least 99 of 100 round trips are at most.
    pub(super) fn jitter_s(&self) -> Option<f64> {
        self.p99_s.zip(self.min_s).map(|(p99, min)| p99 - min)
    }
}

/// The least sample that so many percent of the samples do not exceed.
pub(super) fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let at = (sorted.len() * percent).div_ceil(100).checked_sub(1)?;
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_trip_is_apart() {
        let trips = [Some(0.5), Some(0.1), None, Some(0.3), Some(0.2)];
        let report = RttReport::of(RttMethod::IcmpEcho, &trips);
        assert_eq!(
            (report.first_s, report.min_s, report.median_s),
            (Some(0.5), Some(0.1), Some(0.2))
        );
        assert_eq!((report.p99_s, report.sent, report.lost), (Some(0.3), 5, 1));
        assert_eq!(
            (report.loss_share(), report.jitter_s().map(|s| (10.0 * s).round() / 10.0)),
            (Some(0.2), Some(0.2))
        );
        let none = RttReport::of(RttMethod::TcpSyn, &[None, None]);
        assert_eq!((none.method, none.min_s, none.lost), (None, None, 2));
        let one = RttReport::of(RttMethod::TcpSyn, &[Some(0.1)]);
        assert_eq!((one.min_s, one.median_s), (Some(0.1), Some(0.1)), "better than nothing");
    }
}
