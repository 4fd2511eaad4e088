//! What chance does to transfers of two captures: other transfers of the same service beside those that are compared, and how few losses
//! there were.

use maxseg_core::advise::Case;
use maxseg_core::evidence::{DirectionStats, Evidence};
use maxseg_core::outcome::LimitedBy;

use super::super::words;

/// A transfer of less than this share of the largest one is another kind of transfer.
const SAME_KIND: f64 = 0.5;

/// Whether both are transfers of the same direction from or to the same port of a server.
pub(super) fn is_same_service(a: &Evidence, b: &Evidence) -> bool {
    a.data_direction() == b.data_direction() && a.server.port() == b.server.port()
}

/// Of these transfers, which stand in the order of how much fixing them would matter, the first that is about as large as the largest: what
/// matters most in one capture is compared with what does in the other.
pub(super) fn first_of_the_largest<'b>(
    like: impl Iterator<Item = (usize, &'b Case<'b>)> + Clone,
) -> Option<usize> {
    let largest = like.clone().map(|(_, case)| case.data().acked_bytes).max()? as f64;
    let mut large = like.filter(|(_, case)| case.data().acked_bytes as f64 >= SAME_KIND * largest);
    large.next().map(|(place, _)| place)
}

fn data(of: &Evidence) -> &DirectionStats {
    of.stats(of.data_direction())
}

/// How many transfers of the service of this one, and about as large, a capture has, with the least and the highest goodput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alike {
    count: usize,
    least_bps: f64,
    most_bps: f64,
}

impl Alike {
    pub(super) fn of(transfer: &Evidence, all: &[Evidence]) -> Self {
        let bytes = data(transfer).acked_bytes as f64;
        let is_alike = |other: &&Evidence| {
            let ratio = data(other).acked_bytes as f64 / bytes.max(1.0);
            is_same_service(transfer, other) && (SAME_KIND..=1.0 / SAME_KIND).contains(&ratio)
        };
        let goodputs = || all.iter().filter(is_alike).filter_map(|other| data(other).goodput_bps);
        Self {
            count: goodputs().count(),
            least_bps: goodputs().fold(f64::INFINITY, f64::min),
            most_bps: goodputs().fold(0.0, f64::max),
        }
    }

    fn text(&self, name: &str) -> String {
        let least = words::rate(self.least_bps);
        match self.count {
            0 | 1 => format!("one in {name}"),
            count => {
                format!("{count} in {name}, {least} to {}", words::rate(self.most_bps))
            }
        }
    }
}

/// How much transfers differ in one capture already; `None` where each has one.
pub(super) fn beside(alike: [Alike; 2], names: [&str; 2]) -> Option<String> {
    if alike.iter().all(|alike| alike.count < 2) {
        return None;
    }
    let [a, b] = [0, 1].map(|side| alike[side].text(names[side]));
    Some(format!("other such transfers show what chance does: {a}; {b}"))
}

/// Of so many losses the standard deviation is the square root, and goodput follows them: the standard deviation of its logarithm is about
/// this by the square root of the recoveries.
const BY_COUNT: f64 = 1.1;
/// When the first losses come decides how far slow start opens the window, and the more so the fewer follow.
const BY_START: f64 = 4.0;
const LOSSES_OF_START: f64 = 2.0;
/// From this factor on a number of its own says no more.
const ANY_FACTOR: f64 = 10.0;

/// The variance of the logarithm of a goodput that so many recoveries limit. Calibrated on simulated transfers of Reno and
/// CUBIC over 14 paths (20 Mbit/s to 1 Gbit/s, 3 to 66 recoveries), 40 of each, which differ by nothing but the draws of their losses:
/// 98 of 100 pairs are within, on the worst path 83.
fn variance(recoveries: f64) -> f64 {
    let count = recoveries.max(1.0);
    BY_COUNT * BY_COUNT / count + (BY_START / (count + LOSSES_OF_START)).powi(2)
}

/// What most pairs of transfers with so many recoveries differ by at most, as the logarithm of a factor.
fn by_losses(recoveries: [f64; 2]) -> f64 {
    let [a, b] = recoveries.map(variance);
    1.96 * (a + b).sqrt()
}

/// What chance alone makes of goodputs that losses limit; `None` where they differ by more, or something else limits one.
pub(super) fn of_losses(cases: &[Case<'_>; 2]) -> Option<String> {
    let are_limited = cases.iter().all(|case| case.limit() == Some(LimitedBy::Congestion));
    let [a, b] = [0, 1].map(|side| cases[side].data().goodput_bps);
    let (a, b) = a.zip(b).filter(|(a, b)| are_limited && *a > 0.0 && *b > 0.0)?;
    may_be_chance([a, b], [0, 1].map(|side| cases[side].data().loss_episodes.count()))
}

fn may_be_chance([a, b]: [f64; 2], recoveries: [u64; 2]) -> Option<String> {
    let most = by_losses(recoveries.map(|count| count as f64));
    let [first, second] = recoveries;
    let factor = most.exp();
    let by = if factor < ANY_FACTOR {
        format!("by a factor of up to {}", words::digits(factor))
    } else {
        format!("more than {}-fold", words::digits_whole(ANY_FACTOR))
    };
    ((b / a).ln().abs() <= most).then(|| {
        format!(
            "losses limit both, and by when they come goodputs of {first} and {second} recoveries often differ {by}: the change of the \
             goodput may be chance"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_losses_leave_more_to_chance() {
        // Two transfers each of a path with errors of 0.5% and 1%: 6.6 and 4.9 Mbit/s, 3.3 and 3.7 Mbit/s.
        assert!(by_losses([13.0, 23.0]) > (6.6_f64 / 4.87).ln());
        assert!(by_losses([34.0, 82.0]) > (3.67_f64 / 3.29).ln());
        assert!(by_losses([1000.0, 1000.0]) < 0.1);
    }

    /// Two simulated captures of one path, 20 Mbit/s with errors of 0.5%, whose goodputs of 6 recoveries each differ by 4.91.
    #[test]
    fn what_chance_makes_of_goodputs_is_a_factor() {
        let said = may_be_chance([1e6, 4.91e6], [6, 6]).unwrap();
        assert!(
            said.contains("6 and 6 recoveries often differ by a factor of up to 6.44"),
            "{said}"
        );
        assert_eq!(may_be_chance([1e6, 7e6], [6, 6]), None);
        let said = may_be_chance([1e6, 12e6], [1, 1]).unwrap();
        assert!(said.contains("often differ more than 10-fold"), "{said}");
    }

    #[test]
    fn other_transfers_of_a_capture_show_what_chance_does() {
        let alike = |count, least_bps, most_bps| Alike { count, least_bps, most_bps };
        let names = ["a.pcap", "b.pcap"];
        assert_eq!(beside([alike(1, 1e6, 1e6); 2], names), None);
        assert_eq!(
            beside([alike(4, 4.08e6, 5.29e6), alike(1, 5e6, 5e6)], names).unwrap(),
            "other such transfers show what chance does: 4 in a.pcap, 4.08 Mbit/s to 5.29 Mbit/s; one in b.pcap"
        );
    }
}
