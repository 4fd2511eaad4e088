//! What to know of two captures before relying on a comparison of them.

use maxseg_core::advise::Case;
use maxseg_core::evidence::Direction;
use maxseg_core::units::Time;

use super::super::words;
use super::CapturePairing;
use super::captures::{Named, bytes, named};
use super::chance::{beside, of_losses};
use crate::file_error::for_shell;

/// A capture of fewer segments says little of a path.
const FEW_SEGMENTS: u64 = 50;
/// Transfers whose sizes differ by more are at different stages.
const OTHER_SIZE: f64 = 2.0;
/// A clock that was set tells a later time: a simulation begins at 0, and so does a host without a clock.
const FIRST_DATE: Time = Time::from_secs(365 * 86_400);
/// Captures are at other places where the shares of the round trip behind them differ by more.
const OTHER_PLACE: f64 = 0.5;
/// In a shorter round trip, in seconds, the time that the hosts take weighs more than the place of the capture.
const LEAST_ROUND_TRIP: f64 = 1e-3;

impl CapturePairing<'_> {
    /// What to know before relying on it.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        if self.is_one_transfer() {
            let [a, b] = self.names.map(for_shell);
            cautions.push(format!(
                "the same transfer, captured twice: what differs is of the captures; where they were taken at both ends, \
                 `maxseg explain {a} {b}` joins them"
            ));
        } else {
            cautions.push(
                "one transfer each: two captures do not show how much of a difference is chance"
                    .to_owned(),
            );
            cautions.extend(beside(self.alike, self.names));
            cautions.extend(of_losses(&self.cases));
        }
        cautions.extend(self.places());
        cautions.extend(self.cuts());
        for (case, name) in self.cases.iter().zip(self.names) {
            // Nothing limited what was never open.
            let was_open = was_open(case);
            if let Some(why) = case.diagnosis.unknown_because.as_ref().filter(|_| was_open) {
                cautions.push(format!("the limit of {name} is unknown: {why}"));
            }
            let reasons = case.diagnosis.quality.reasons.iter();
            cautions.extend(reasons.map(|reason| format!("{name}: {}", reason.text)));
            if was_open && case.data().segments() < FEW_SEGMENTS {
                cautions.push(format!(
                    "{name} holds {} of data: too few to judge a path by",
                    words::counted(case.data().segments(), "segment")
                ));
            }
        }
        cautions.extend(self.services());
        cautions.extend(self.sizes());
        cautions.extend(self.hosts());
        cautions
    }

    /// Whether both are of one connection: the same ends at the same time, or all that is known of them is equal. Times that tell no date,
    /// as a simulation's, are equal of many.
    fn is_one_transfer(&self) -> bool {
        let [a, b] = [0, 1].map(|side| self.cases[side].evidence);
        let have_ends = (a.client, a.server) == (b.client, b.server)
            || (a.client, a.server) == (b.server, b.client);
        let have_dates = a.begin.min(b.begin) >= FIRST_DATE;
        let is_at_once = have_dates && a.begin <= b.end && b.begin <= a.end;
        let are_equal =
            (a.begin, a.end, &a.forward, &a.reverse) == (b.begin, b.end, &b.forward, &b.reverse);
        have_ends && (is_at_once || are_equal)
    }

    /// That they were captured at other places of the path.
    fn places(&self) -> Option<String> {
        let shares = [0, 1].map(|side| share_behind(&self.cases[side]));
        let [Some(a), Some(b)] = shares else { return None };
        ((a - b).abs() > OTHER_PLACE).then(|| {
            let (near_sender, near_receiver) = match self.names {
                [first, second] if a > b => (first, second),
                [first, second] => (second, first),
            };
            format!(
                "{near_sender} was captured nearer to the sender and {near_receiver} nearer to the receiver: round trip, in flight and \
                 retransmitted share differ by that already"
            )
        })
    }

    /// Files that end within a packet.
    fn cuts(&self) -> impl Iterator<Item = String> {
        self.names.iter().zip(self.summaries).filter_map(|(name, summary)| {
            let packets = words::grouped(summary.file.packets);
            Some(format!("{name}: {}: its {packets} packets are compared", summary.cut()?.kind))
        })
    }

    /// That they are of other services.
    fn services(&self) -> Option<String> {
        let [a, b] = [0, 1].map(|side| self.cases[side].evidence.server.port());
        let [of_a, of_b] = self.names;
        let why = if self.has_no_counterpart {
            format!(
                ": no transfer that matters in {of_a} has one of its service in {of_b}, and those of the highest impact are compared"
            )
        } else {
            String::new()
        };
        (a != b).then(|| format!("the transfers are of different services, ports {a} and {b}{why}"))
    }

    /// That one transfer is much larger.
    fn sizes(&self) -> Option<String> {
        let [a, b] = [0, 1].map(|side| carried(&self.cases[side]) as f64);
        let are_known = a > 0.0 && b > 0.0 && self.cases.iter().all(was_open);
        (are_known && (a / b > OTHER_SIZE || b / a > OTHER_SIZE)).then(|| {
            format!(
                "the transfers are of different size, {} and {}: start-up weighs more in the smaller",
                bytes(a),
                bytes(b)
            )
        })
    }

    /// That they are between other hosts.
    fn hosts(&self) -> Option<String> {
        let [a, b] = [0, 1].map(|side| {
            let case = &self.cases[side];
            let direction = case.diagnosis.direction;
            (case.evidence.sender(direction).ip(), case.evidence.receiver(direction).ip())
        });
        (a != b).then(|| {
            "the transfers are not between the same hosts, or not in the same direction".to_owned()
        })
    }
}

/// The share of the round trip between the point of capture and the receiver of the data, from 0 at the receiver to 1 at the sender; `None`
/// where the capture does not show it.
fn share_behind(case: &Case<'_>) -> Option<f64> {
    let (stats, handshake) = (case.data(), &case.evidence.handshake);
    let of_handshake = handshake.server_rtt.zip(handshake.client_rtt).map(|(server, client)| {
        let behind = match case.diagnosis.direction {
            Direction::Forward => server,
            Direction::Reverse => client,
        };
        (behind.as_secs_f64(), (server + client).as_secs_f64())
    });
    let (behind, path) = of_handshake.or_else(|| stats.rtt_min_s.zip(stats.path_rtt_min_s))?;
    (path >= LEAST_ROUND_TRIP).then(|| behind / path)
}

fn was_open(case: &Case<'_>) -> bool {
    !matches!(named(case), Named::Finding(_))
}

/// Payload of a transfer, whichever of its directions was captured: acknowledgements count what they acknowledge.
fn carried(case: &Case<'_>) -> u64 {
    case.data().unique_bytes.max(case.data().acked_bytes)
}
