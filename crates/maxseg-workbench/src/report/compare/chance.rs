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

/// Goodput goes with the square root of how often segments are lost, and of so many losses the standard deviation is the square root: what
/// 95 of 100 pairs of transfers differ by at most, as the logarithm of a factor.
fn by_losses(losses: [f64; 2]) -> f64 {
    let [a, b] = losses.map(|count| 0.25 / count.max(1.0));
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
    ((b / a).ln().abs() <= most).then(|| {
        format!(
            "losses limit both, and goodputs of {first} and {second} recoveries differ by a factor of up to {} by chance: the change \
             of the goodput may be chance",
            words::digits(most.exp())
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
        assert!(by_losses([100.0, 100.0]) < 0.15);
    }

    /// e^(1.96 √(1/4 + 1/4)) = 4: of one loss each, chance alone makes as much as that.
    #[test]
    fn what_chance_makes_of_goodputs_is_a_factor() {
        let said = may_be_chance([1e6, 3.9e6], [1, 1]).unwrap();
        assert!(said.contains("differ by a factor of up to 4.00 by chance"), "{said}");
        assert_eq!(may_be_chance([1e6, 4.1e6], [1, 1]), None);
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
