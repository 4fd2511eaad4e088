//! What to know of two captures before relying on a comparison of them.

use maxseg_core::advise::Case;

use super::super::words;
use super::CapturePairing;
use super::captures::{Named, bytes, named};
use super::chance::{beside, of_losses};

/// A capture of fewer segments says little of a path.
const FEW_SEGMENTS: u64 = 50;
/// Transfers whose sizes differ by more are at different stages.
const OTHER_SIZE: f64 = 2.0;

impl CapturePairing<'_> {
    /// What to know before relying on it.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = vec![
            "one transfer each: two captures do not show how much of a difference is chance"
                .to_owned(),
        ];
        cautions.extend(beside(self.alike, self.names));
        cautions.extend(of_losses(&self.cases));
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
        cautions.extend(self.sizes());
        cautions.extend(self.hosts());
        cautions
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

fn was_open(case: &Case<'_>) -> bool {
    !matches!(named(case), Named::Finding(_))
}

/// Payload of a transfer, whichever of its directions was captured: acknowledgements count what they acknowledge.
fn carried(case: &Case<'_>) -> u64 {
    case.data().unique_bytes.max(case.data().acked_bytes)
}
