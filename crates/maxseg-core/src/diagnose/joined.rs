//! What two captures show of the losses of a direction: facts, where one capture leaves likelihoods.

use super::loss_cause::{Loss, LossCause};
use crate::evidence::{Direction, DirectionStats, Evidence, Passage};
use crate::units::approx;

/// The fate of a larger share of the packets must be known.
const MOST_FOLLOWED: f64 = 0.9;
/// A queue that never delays by more is none, in seconds.
const LEAST_QUEUE_S: f64 = 0.001;
/// A queue of acknowledgements that limits the data stands at twice the 5 ms from which on one capture tells it.
const ACK_QUEUE_S: f64 = 0.01;
/// So large a share of the losses at a high delay are of a full queue; with so small a share, most are not.
const MOST: f64 = 2.0 / 3.0;
const FEW: f64 = 1.0 / 3.0;
/// Packets that waited less before a loss, in seconds, were in no managed queue either: `CoDel` drops from 5 ms on
/// (RFC 8289 §4.4).
const NO_QUEUE_S: f64 = 0.0025;
/// Packets wait as long before losses as others where they wait less than so many times the median.
const LITTLE_MORE: f64 = 1.25;
/// A queue that overflows loses so many in a row, on the average, at most.
const MOST_IN_A_ROW: u64 = 20;
/// Losses at fewer times show no cause; at so many it is sure.
const LEAST_TIMES: u64 = 2;
const SURE_TIMES: u64 = 4;

/// What became of the packets of a direction, where a second capture shows it of most of them.
pub(super) fn known(evidence: &Evidence, direction: Direction) -> Option<&Passage> {
    let passage = evidence.joined.as_deref()?.passage(direction);
    let followed = passage.followed_packets() as f64;
    let is_known = followed >= MOST_FOLLOWED * passage.sent_packets as f64;
    (is_known && followed > 0.0 && passage.delay.is_some()).then_some(passage)
}

/// Whether the acknowledgements of a direction may wait in a queue: unless the delays of nearly all of them are known, and short.
pub(super) fn acks_may_wait(evidence: &Evidence, direction: Direction) -> bool {
    known(evidence, direction.other()).is_none_or(may_wait)
}

fn may_wait(passage: &Passage) -> bool {
    passage.delay.is_none_or(|delay| delay.queue_p99_s >= ACK_QUEUE_S)
}

/// The cause of losses by both captures; `alone` is what the one shows.
pub(super) fn loss(evidence: &Evidence, direction: Direction, alone: Loss) -> Loss {
    match known(evidence, direction) {
        Some(passage) if passage.lost_data_packets == 0 => {
            without_loss(passage, evidence.stats(direction), &alone)
        }
        Some(passage) => with_loss(passage, alone),
        None => alone,
    }
}

/// Whether a receiver that reports duplicates (RFC 2883) reported few of what was sent again, so that most of it had not arrived: it was
/// lost behind the capture at the receiver.
fn was_lost_behind(data: &DirectionStats) -> bool {
    data.sack_permitted && 2 * data.needed_retransmissions() > data.resent_data()
}

fn without_loss(passage: &Passage, data: &DirectionStats, alone: &Loss) -> Loss {
    let again = passage.retransmitted_packets;
    let followed = passage.followed_packets();
    let none = format!("none of {followed} packets was lost between the captures");
    if again == 0 {
        return Loss { cause: LossCause::None, confidence: 0.99, evidence: none };
    }
    if was_lost_behind(data) {
        let needed = data.needed_retransmissions();
        let evidence = format!(
            "{none}, and {needed} of {again} retransmissions were needed: what was lost passed the capture at the receiver, and was lost \
             behind it (firewall, driver or socket of that host, or a last hop); {}",
            alone.evidence
        );
        return Loss { evidence, ..alone.clone() };
    }
    let needless = passage.needless_retransmissions;
    let evidence = format!("{none}; {needless} of {again} retransmissions brought nothing new");
    let is_overtaken = passage.reordered_packets >= again;
    let cause = if is_overtaken { LossCause::Reordering } else { LossCause::Needless };
    Loss { cause, confidence: 0.97, evidence }
}

fn with_loss(passage: &Passage, alone: Loss) -> Loss {
    let at = passage.at_losses;
    let lost = passage.lost_data_packets;
    let longest = passage.delay.map_or(0.0, |delay| delay.queue_max_s);
    let share = at.high as f64 / at.count.max(1) as f64;
    let text = format!(
        "{lost} packets were lost between the captures; {} of {} times the packet before had waited for at least half of \
         the longest wait, {}",
        at.high,
        at.count,
        approx::time(longest)
    );
    // The path may have failed once, whatever its queue; and the wait before a few of many losses tells little of the others.
    if at.count < LEAST_TIMES || at.count * MOST_IN_A_ROW < lost {
        return alone;
    }
    let is_sure = at.count >= SURE_TIMES;
    if longest >= LEAST_QUEUE_S && share >= MOST {
        let confidence = if is_sure { 0.97 } else { 0.85 };
        return Loss { cause: LossCause::Queue, confidence, evidence: text };
    }
    let usual = passage.delay.map_or(0.0, |delay| delay.queue_median_s);
    let is_independent = at.median_s < NO_QUEUE_S || at.median_s < LITTLE_MORE * usual;
    if share > FEW || !is_independent && alone.cause != LossCause::Queue {
        return Loss { evidence: text, ..alone };
    }
    match alone.cause {
        _ if !is_independent => Loss {
            cause: LossCause::Unknown,
            confidence: 0.0,
            evidence: format!("{text}: a managed queue or errors"),
        },
        LossCause::Errors | LossCause::Policer => {
            let confidence = if is_sure { alone.confidence.max(0.9) } else { alone.confidence };
            Loss { cause: alone.cause, confidence, evidence: text }
        }
        LossCause::Queue
        | LossCause::Reordering
        | LossCause::Needless
        | LossCause::None
        | LossCause::Unknown => Loss {
            cause: LossCause::Unknown,
            confidence: 0.0,
            evidence: format!("{text}: errors or a policer, and no full queue"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{DelayAtLosses, OneWayDelay};

    fn passage(lost: u64, high: u64, median_s: f64) -> Passage {
        Passage {
            sent_packets: 1000,
            lost_packets: lost,
            lost_data_packets: lost,
            retransmitted_packets: lost,
            delay: Some(OneWayDelay {
                min_s: Some(0.02),
                queue_median_s: 0.001,
                queue_p99_s: 0.05,
                queue_max_s: 0.06,
            }),
            at_losses: DelayAtLosses { count: lost, high, median_s },
            ..Passage::default()
        }
    }

    fn alone(cause: LossCause) -> Loss {
        Loss { cause, confidence: 0.7, evidence: String::new() }
    }

    #[test]
    fn delays_before_losses_override_likelihoods() {
        let cases = [
            (20, 20, 0.058, LossCause::Errors, LossCause::Queue),
            (20, 1, 0.001, LossCause::Errors, LossCause::Errors),
            (20, 1, 0.001, LossCause::Queue, LossCause::Unknown), // the queue was elsewhere
            (20, 1, 0.006, LossCause::Unknown, LossCause::Unknown), // may be CoDel
            (20, 1, 0.006, LossCause::Queue, LossCause::Unknown),
            (20, 10, 0.02, LossCause::Policer, LossCause::Policer), // undecided
        ];
        for (lost, high, median_s, before, wanted) in cases {
            let loss = with_loss(&passage(lost, high, median_s), alone(before));
            assert_eq!(loss.cause, wanted, "{lost} {high} {median_s} {before:?}: {loss:?}");
        }
    }

    #[test]
    fn acknowledgements_that_came_at_once_did_not_wait() {
        let of = |queue_p99_s| {
            let delay = passage(0, 0, 0.0).delay.map(|delay| OneWayDelay { queue_p99_s, ..delay });
            may_wait(&Passage { delay, ..Passage::default() })
        };
        assert!(!of(0.004));
        assert!(of(0.05));
        assert!(may_wait(&Passage::default()), "not known");
    }

    #[test]
    fn without_loss_there_is_none() {
        let overtaken =
            Passage { reordered_packets: 90, retransmitted_packets: 7, ..passage(0, 0, 0.0) };
        let needless = Passage { retransmitted_packets: 7, ..passage(0, 0, 0.0) };
        let sent_again = |spurious| DirectionStats {
            sack_permitted: true,
            retransmitted_packets: 7,
            spurious_retransmissions: spurious,
            ..DirectionStats::default()
        };
        let cases = [
            (passage(0, 0, 0.0), 7, LossCause::None),
            (overtaken, 7, LossCause::Reordering),
            (needless.clone(), 7, LossCause::Needless),
            // Nothing that was sent again had arrived, though all of it passed both captures.
            (needless, 0, LossCause::Errors),
        ];
        for (passage, spurious, wanted) in cases {
            let loss = without_loss(&passage, &sent_again(spurious), &alone(LossCause::Errors));
            assert_eq!(loss.cause, wanted);
        }
    }
}
