//! How much a socket's delivery rate, congestion window and round trip vary.

use crate::units::Time;

/// What one look at a socket shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// Whether losses are being repaired (`TCP_CA_Recovery`, `TCP_CA_Loss`): the round trip is an old one then, and the window a lesser
    /// one.
    pub is_recovering: bool,
    /// The smoothed round-trip time.
    pub rtt: Time,
    /// The congestion window in segments and the sample of the delivery rate in bits a second (`tcpi_delivery_rate`); `None` while the
    /// application or a buffer leaves nothing to send, since the window is not what limits then.
    pub rate: Option<(u32, f64)>,
    /// The sample of the delivery rate whoever left nothing to send, bits a second: the path delivers no less.
    pub delivery_bps: Option<f64>,
    /// Whether the send buffer was full of what is not acknowledged, and the congestion window was not.
    pub fills_send_buffer: bool,
    /// Whether less than a segment waited for an acknowledgement.
    pub holds_small_segment: bool,
    /// The peer's receive window in bytes; `None` from kernels before 5.4.
    pub window_bytes: Option<u32>,
}

/// The quartiles of several looks at a socket that repairs no losses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateSpread {
    /// The median of the smoothed round-trip time.
    pub rtt_median: Time,
    /// Its lower and its upper quartile.
    pub rtt_quartiles: [Time; 2],
    /// Rate and window; `None` where too few looks show them.
    pub rates: Option<RateQuartiles>,
    /// The upper quartile of the delivery rate, of all looks, bits a second; `None` where too few looks show it.
    pub path_bps: Option<f64>,
    /// The share of the looks at which the send buffer was full of what is not acknowledged, and the congestion window was not.
    pub send_buffer_share: f64,
    /// The share of the looks at which less than a segment waited for an acknowledgement.
    pub small_segment_share: f64,
    /// Whether every look shows the same receive window: that of a reader who is behind is what its buffer has free, and changes.
    pub window_stays: bool,
    /// Whether a look shows a smaller receive window than the one before it. What autotuning widens does not.
    pub window_shrinks: bool,
}

/// The lower and the upper quartile of rate and window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateQuartiles {
    /// Of the delivery rate, bits a second.
    pub delivery_bps: [f64; 2],
    /// Of the congestion window, in segments.
    pub cwnd_segments: [f64; 2],
}

impl RateSpread {
    /// Quartiles of fewer are chance.
    const LEAST: usize = 6;

    /// The share of the looks at which losses are being repaired; `None` where there are too few looks.
    pub fn recovering_share(points: &[RatePoint]) -> Option<f64> {
        let recovering = points.iter().filter(|point| point.is_recovering).count();
        (points.len() >= Self::LEAST).then(|| recovering as f64 / points.len() as f64)
    }

    /// Of several looks in the order of time; `None` where too few of them repair no losses.
    pub fn of(points: &[RatePoint]) -> Option<Self> {
        let points: Vec<&RatePoint> = points.iter().filter(|point| !point.is_recovering).collect();
        if points.len() < Self::LEAST {
            return None;
        }
        let mut round_trips: Vec<Time> = points.iter().map(|point| point.rtt).collect();
        round_trips.sort_unstable();
        let last = round_trips.len() - 1;
        let rates: Vec<(u32, f64)> = points.iter().filter_map(|point| point.rate).collect();
        let quartiles =
            |of: fn(&(u32, f64)) -> f64| quartiles_of(rates.iter().map(of).collect::<Vec<_>>());
        let delivered: Vec<f64> = points.iter().filter_map(|point| point.delivery_bps).collect();
        let share = |of: fn(&RatePoint) -> bool| {
            points.iter().filter(|point| of(point)).count() as f64 / points.len() as f64
        };
        let window = points[0].window_bytes;
        Some(Self {
            window_stays: window.is_some() && points.iter().all(|it| it.window_bytes == window),
            window_shrinks: points.windows(2).any(|two| two[1].window_bytes < two[0].window_bytes),
            rtt_median: round_trips[round_trips.len() / 2],
            rtt_quartiles: [round_trips[last / 4], round_trips[last - last / 4]],
            rates: (rates.len() >= Self::LEAST).then(|| RateQuartiles {
                delivery_bps: quartiles(|(_, delivery_bps)| *delivery_bps),
                cwnd_segments: quartiles(|(cwnd, _)| f64::from(*cwnd)),
            }),
            path_bps: (delivered.len() >= Self::LEAST).then(|| quartiles_of(delivered)[1]),
            send_buffer_share: share(|point| point.fills_send_buffer),
            small_segment_share: share(|point| point.holds_small_segment),
        })
    }
}

/// The lower and the upper quartile of some values: one at least.
fn quartiles_of(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [values[last / 4], values[last - last / 4]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_of_enough_looks() {
        let point = |n: u32| RatePoint {
            is_recovering: false,
            rtt: Time::from_millis(u64::from(n)),
            rate: Some((10 * n, f64::from(n) * 1e6)),
            delivery_bps: Some(f64::from(n) * 2e6),
            fills_send_buffer: n <= 3,
            holds_small_segment: false,
            window_bytes: Some(if n == 1 { 65_160 } else { 65_536 }),
        };
        let mut points: Vec<RatePoint> = (1..=9).rev().map(point).collect();
        let spread = RateSpread::of(&points).unwrap();
        assert_eq!(spread.rtt_median, Time::from_millis(5));
        assert_eq!(spread.rtt_quartiles, [3, 7].map(Time::from_millis));
        let rates = spread.rates.unwrap();
        assert_eq!((rates.delivery_bps, rates.cwnd_segments), ([3e6, 7e6], [30.0, 70.0]));
        assert_eq!((spread.path_bps, spread.send_buffer_share), (Some(14e6), 3.0 / 9.0));
        points.iter_mut().take(4).for_each(|point| point.rate = None);
        let without = RateSpread::of(&points).unwrap();
        assert_eq!((without.rtt_median, without.rates), (spread.rtt_median, None));
        assert!(!spread.window_stays && RateSpread::of(&points[..8]).unwrap().window_stays);
        assert!(spread.window_shrinks && !RateSpread::of(&points[..8]).unwrap().window_shrinks);
        assert_eq!(RateSpread::of(&points[..RateSpread::LEAST - 1]), None);
        assert_eq!(RateSpread::recovering_share(&points), Some(0.0));
        points.iter_mut().take(4).for_each(|point| point.is_recovering = true);
        assert_eq!(RateSpread::of(&points), None);
        assert_eq!(RateSpread::recovering_share(&points), Some(4.0 / 9.0));
        assert_eq!(RateSpread::recovering_share(&points[..RateSpread::LEAST - 1]), None);
    }
}
