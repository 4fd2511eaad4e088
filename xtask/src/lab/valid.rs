//! Whether a run of the lab says something about its kernel's TCP, and not about the machine.

use maxseg_core::outcome::Outcome;

use super::path::Path;
use crate::draws::Application;

/// A writer that never stops has data to send or to be acknowledged for this share of the time.
const BUSY: f64 = 0.98;
/// In which handshake and first write take some round trips.
const OPENING: f64 = 3.0;
/// The links' mean lateness, as a share of the round trip: what the machine adds to every packet.
const MEAN_LATE: f64 = 0.01;
/// An ordinary machine's, in seconds, however short the round trip.
const LEAST_LATE_S: f64 = 100e-6;
/// The share of packets that may be later than a share [`STOP`] of the round trip, where no more are lost by chance.
const STOPPED: f64 = 0.002;
const STOP: f64 = 0.25;
const LEAST_STOP_S: f64 = 1e-3;

/// Those rules in words.
pub(super) const RULES: &str = "\
**Valid** is a run if the lab calls it so (no packet dropped outside the links; of 100 packets 99 leave each link no later than \
5% of the round trip, or 1 ms, after their time: a later packet changes what HyStart, BBR, RACK and the timers see); if packets \
left the links on average no later than 1% of the round trip, or 0.1 ms, after their time (the sender's round trips are longer by \
that); if no more than 2 packets in 1000, or as many as are lost by chance, were late by a quarter of the round trip, or 1 ms (a \
link that stops for so long lets go of a burst that is none of the scenario's, and its queue runs over once more); and if the \
sender of a transfer had something to send or to be acknowledged for 98% of the time by its own kernel (`tcpi_busy_time`): else its \
program was the limit. A run that is not is tried three times; then its path is named, not replaced.";

/// Why a run is invalid; empty where it is valid.
pub(super) fn doubts(path: &Path, outcome: &Outcome) -> Vec<String> {
    let mut doubts = outcome.invalid_because().to_vec();
    let Some(lab) = outcome.lab.as_deref() else { return vec!["no account of the lab".to_owned()] };
    let allowed = (MEAN_LATE * path.base_rtt_s()).max(LEAST_LATE_S);
    if let Some(late) = lab.lateness.as_ref().filter(|late| late.mean_s > allowed) {
        let (late, allowed) = (1e3 * late.mean_s, 1e3 * allowed);
        doubts.push(format!("mean lateness {late:.2} ms exceeds {allowed:.2} ms"));
    }
    if let Some(late) = &lab.lateness {
        let stop = (STOP * path.base_rtt_s()).max(LEAST_STOP_S);
        let buckets = late.histogram.iter().filter(|bucket| bucket.up_to_s > stop);
        let stopped = buckets.map(|bucket| bucket.packets).sum::<u64>() as f64;
        let share = path.loss.map_or(0.0, |loss| loss.rate).max(STOPPED);
        if stopped > share * late.packets as f64 {
            let (stop, all) = (1e3 * stop, late.packets);
            doubts.push(format!("{stopped} of {all} packets were {stop:.1} ms late"));
        }
    }
    if !matches!(path.load, Application::Requests { .. }) {
        let elapsed = outcome.elapsed_s.unwrap_or(0.0);
        for (flow, start) in lab.flows.iter().zip(&path.starts_s) {
            let due = BUSY * (elapsed - start - OPENING * path.base_rtt_s());
            let busy = flow.busy_s.unwrap_or(0.0);
            if busy < due {
                doubts.push(format!("flow {}: its program wrote for {busy:.1} s only", flow.flow));
            }
        }
    }
    doubts
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::{LabFlow, LabProof, Lateness, LatenessBucket};

    use super::*;

    fn outcome(mean_late_s: f64, busy_s: f64) -> Outcome {
        let late = Lateness { mean_s: mean_late_s, ..Lateness::default() };
        let flow = LabFlow { busy_s: Some(busy_s), ..LabFlow::default() };
        let proof = LabProof { lateness: Some(late), flows: vec![flow], ..LabProof::default() };
        Outcome { elapsed_s: Some(20.0), lab: Some(Box::new(proof)), ..Outcome::default() }
    }

    #[test]
    fn late_links_and_idle_programs_make_a_run_invalid() {
        let mut path = Path::draw(1, 0);
        (path.rtt_s, path.rate_bps, path.load) = (0.05, 100_000_000, Application::Bulk);
        assert_eq!(doubts(&path, &outcome(0.0001, 19.9)), [""; 0]);
        assert!(doubts(&path, &outcome(0.0006, 19.9))[0].contains("0.60 ms exceeds 0.50 ms"));
        assert!(doubts(&path, &outcome(0.0001, 15.0))[0].contains("15.0 s only"));
        path.loss = None;
        let mut stopped = outcome(0.0001, 19.9);
        let late = stopped.lab.as_mut().unwrap().lateness.as_mut().unwrap();
        late.packets = 1000;
        late.histogram = vec![LatenessBucket { up_to_s: 0.02, packets: 3 }];
        assert_eq!(doubts(&path, &stopped), ["3 of 1000 packets were 12.5 ms late"]);
        let mut refused = outcome(0.0001, 19.9);
        refused.lab.as_mut().unwrap().invalid_because.push("late".to_owned());
        assert_eq!(doubts(&path, &refused), ["late"]);
    }
}
