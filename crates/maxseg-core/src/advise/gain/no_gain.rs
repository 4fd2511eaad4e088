//! Why no gain is given.

use super::{Miss, SMALL_GAIN};
use crate::advise::path::PathError;
use crate::diagnose::sent_meanwhile;
use crate::evidence::Beside;
use crate::units::approx;

/// Why a connection's path cannot be run again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RerunError {
    /// The capture shows too little of the path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The observed values are no valid scenario.
    #[error("the observed path is no valid scenario: {0}")]
    Scenario(String),
}

/// Why no gain is given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoGain {
    /// The path cannot be run again.
    #[error("no gain is given: {0}")]
    Rerun(#[from] RerunError),
    /// The capture shows too little of the path.
    #[error("no gain is given: the capture shows too little of the path: {0}")]
    TooLittle(String),
    /// The runs predict a gain that is not worth a change.
    #[error("no gain is given: the runs predict {} at most", approx::whole_percent(SMALL_GAIN))]
    TooSmall,
    /// The interval of the prediction includes a loss.
    #[error(
        "no gain is given: the runs predict between {} and {}",
        approx::gain(*.low), approx::gain(*.high)
    )]
    Uncertain {
        /// The lower end of the interval, relative to the observed goodput.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// The capture does not show what limits the connection.
    #[error("no gain is given: the capture does not show what limits the connection")]
    Unfit,
    /// No change of path or ends removes the limit.
    #[error("no gain is given: no change of the path or its ends removes this limit")]
    NoChange,
    /// The application had nothing to send for so much of the time: how much more it would write is not known.
    #[error(
        "no gain is given: the application had nothing to send for {} of the time",
        approx::whole_percent(*.share)
    )]
    ApplicationLimited {
        /// The share of the time.
        share: f64,
    },
    /// The rate of the path is unknown beyond the goodput.
    #[error(
        "no gain is given: the capture does not show the rate of the path beyond the goodput{}",
        if *.is_window { "; until the path is full, doubling the window doubles the goodput" } else { "" }
    )]
    RateUnknown {
        /// Whether the change is of a window or a buffer.
        is_window: bool,
    },
    /// Others share the path: what a run of one connection gains would be theirs.
    #[error(
        "no gain is given: {} on the same path, and the rerun is of this connection alone",
        sent_meanwhile(*.0, "between these hosts")
    )]
    Shared(Beside),
    /// Trains come out of the link more slowly than the first flight did: others' packets stand between theirs, or tokens of a shaper
    /// let the first flight pass.
    #[error(
        "no gain is given: the first flight came out at {}, trains since at {}: other traffic or a shaper takes the rest, or the sender \
         paces or writes little at a time, and the rerun has none of it",
        approx::rate(*.first_bps), approx::rate(*.since_bps)
    )]
    LinkSlowedDown {
        /// Payload of the first flight, in bits per second.
        first_bps: f64,
        /// Payload of trains since.
        since_bps: f64,
    },
    /// Connections of one of the hosts with others may fill the same queue.
    #[error(
        "no gain is given: {}, maybe through the same queue, and the rerun is of this connection alone",
        sent_meanwhile(*.0, "of one of these hosts with another")
    )]
    SharedInPart(Beside),
    /// Losses came in a part of the transfer, and the rerun has them all along.
    #[error(
        "no gain is given: losses came between {} and {} only, and the rerun has them all along",
        approx::time(*.from_s), approx::time(*.to_s)
    )]
    LossesOfAPart {
        /// When the first came, in seconds of the connection.
        from_s: f64,
        /// When the last came.
        to_s: f64,
    },
    /// Packets overtake each other, which sends more of a larger flight again.
    #[error(
        "no gain is given: packets overtake each other, which costs a larger flight more than the rerun shows"
    )]
    Overtaken,
    /// The capture does not show how long the queue is that seems to be short.
    #[error(
        "no gain is given: the link was full for much of the time, and the capture does not show how long its queue is"
    )]
    QueueUnseen,
    /// The link was full, and the runs predict far more than was observed.
    #[error("no gain is given: the link was full, and the runs predict far more than it carried")]
    BeyondFullLink,
    /// The capture does not show what drops packets, and one rate passed between losses each time: it may be a policer.
    #[error(
        "no gain is given: about {} passed between losses each time, as a policer lets pass: less loss brings no more through one",
        approx::rate(*.passed_bps)
    )]
    MayBePoliced {
        /// Payload that passed between losses, in bits per second.
        passed_bps: f64,
    },
    /// So much is lost that a policer may drop it, which the sender exceeds.
    #[error(
        "no gain is given: {} of the segments were lost, which may be a policer's: less loss brings no more through one",
        approx::whole_percent(*.share)
    )]
    LosesMuch {
        /// The share that was lost, from 0 to 1.
        share: f64,
    },
    /// Several segments were lost at once where no queue of the path's link was full.
    #[error(
        "no gain is given: {lost} segments were lost at once with {} of what the path holds in flight, which may be a policer's: less loss \
         brings no more through one",
        approx::whole_percent(*.share)
    )]
    BurstFarFromFull {
        /// How many.
        lost: u32,
        /// What was in flight, over what the path holds.
        share: f64,
    },
    /// Several segments were lost at once, and nothing ever waited in a queue.
    #[error(
        "no gain is given: {lost} segments were lost at once, and none ever waited in a queue: it may be a policer, through which less loss \
         brings no more"
    )]
    BurstWithoutWait {
        /// How many.
        lost: u32,
    },
    /// A full queue may have dropped all that was lost.
    #[error(
        "no gain is given: about as much as the path holds, or more, was in flight at every loss: a queue that is long enough may have \
         dropped them all"
    )]
    LostAtFullPath,
    /// The rerun has what was observed only in front of a queue that is shorter than was seen.
    #[error(
        "no gain is given: the rerun has what was observed with a queue of {} kB, and the capture shows one of {} kB",
        fitted.div_ceil(1000), told.div_ceil(1000)
    )]
    ShorterQueue {
        /// What the capture shows, in bytes.
        told: u64,
        /// That of the rerun.
        fitted: u64,
    },
    /// A window too small for a queue of its own takes longer to go round than the path is long.
    #[error(
        "no gain is given: the full window took {} to go round, on a path of {}: its packets wait on it, maybe for others', and the rerun has \
         none of that",
        approx::time(*.round_s), approx::time(*.least_s)
    )]
    WaitsForOthers {
        /// How long a window took, in seconds.
        round_s: f64,
        /// The least round trip, in seconds.
        least_s: f64,
    },
    /// The connection stalled: the gain is the stalled time, which no run shows.
    #[error("no gain is given: it is the stalled time, which no run shows")]
    Stalled,
    /// The runs predict less than the stalled time alone gains.
    #[error("no gain is given: the runs predict less than the stalled time alone costs")]
    BelowStalled,
    /// The rerun of the path as it is misses what was observed.
    #[error(
        "no gain is given: simulated as it is, the observed path has {}",
        listed(.misses).unwrap_or_else(|| "no goodput".to_owned())
    )]
    BaselineMisses {
        /// By which numbers; empty where the rerun fails.
        misses: Vec<Miss>,
    },
}

impl NoGain {
    /// Whether the observed path has, or may have, what no run of it has: then no run of another change says anything either.
    pub const fn is_of_another_path(&self) -> bool {
        matches!(
            self,
            Self::LinkSlowedDown { .. }
                | Self::LossesOfAPart { .. }
                | Self::Overtaken
                | Self::QueueUnseen
                | Self::SharedInPart(_)
                | Self::BeyondFullLink
                | Self::MayBePoliced { .. }
                | Self::LosesMuch { .. }
                | Self::BurstFarFromFull { .. }
                | Self::BurstWithoutWait { .. }
                | Self::LostAtFullPath
                | Self::ShorterQueue { .. }
                | Self::WaitsForOthers { .. }
        )
    }
}

/// What is missed, as a list; `None` where nothing is.
pub(in crate::advise) fn listed(misses: &[Miss]) -> Option<String> {
    let words: Vec<String> = misses.iter().map(Miss::to_string).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
