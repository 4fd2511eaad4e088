//! Differences between a link and what tc makes of it.

use maxseg_core::errors::Per;
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};
use thiserror::Error;

/// A part of a link that netem and tbf leave out, or do differently.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Shortfall {
    /// netem draws once for each packet, whatever its size.
    #[error("netem has no errors per {}: it draws once for each packet; errors are left out", unit(*.0))]
    ErrorsPer(Per),
    /// netem's Gilbert-Elliott chain advances with packets.
    #[error("netem's bursts are counted in packets, not in time; errors are left out")]
    ErrorsInTime,
    /// netem has no list of lost packets.
    #[error("netem cannot lose packets by number; errors are left out")]
    ErrorsListed,
    /// A `tc` command is in effect for the whole run.
    #[error(
        "netem's errors do not change during a run: the first of the schedule is used throughout"
    )]
    ErrorSchedule,
    /// netem's probabilities have 32 bits.
    #[error("an error rate of {0} is below netem's resolution of 2^-32: errors are left out")]
    ErrorsTooRare(Probability),
    /// netem does not retransmit.
    #[error("netem does not retransmit lost packets: `arq` is left out")]
    Arq,
    /// No policer is set up.
    #[error("the netem backend has no policer")]
    Policer,
    /// Packets count with all their headers.
    #[error("tc does not compress headers: packets count with full headers")]
    HeaderCompression,
    /// tbf counts cells of ATM only.
    #[error("tbf does not pad the last frame (`pad`): packets count unpadded")]
    Padding,
    /// tc does not affect the kernel's ICMP.
    #[error(
        "tc cannot withhold the ICMP messages about packets that are too large (`icmp = \"drop\"`)"
    )]
    BlackHole,
    /// `sch_netem.c` caps it (`netem_change`).
    #[error("netem's jitter is at most {most}: {asked} is reduced to that")]
    Jitter {
        /// The link's jitter.
        asked: Time,
        /// netem's maximum.
        most: Time,
    },
    /// RED's parameters are out of the kernel's range.
    #[error(
        "the kernel's RED cannot have these thresholds and this weight: tail drop is used instead"
    )]
    Red,
    /// RED counts bytes only.
    #[error(
        "the kernel's RED counts bytes: thresholds in packets hold for packets of {packet} bytes, smaller ones are dropped less often"
    )]
    RedInBytes {
        /// Bytes of a full packet.
        packet: u32,
    },
    /// RED's weight is a power of two.
    #[error("the kernel's RED has a weight of {given}, not {asked}: its weights are powers of two")]
    RedWeight {
        /// The link's weight.
        asked: Probability,
        /// The weight that `tc` sets.
        given: Probability,
    },
    /// Rates are whole bytes per second.
    #[error("tc's rates are whole bytes per second: {given} instead of {asked}")]
    Rate {
        /// The link's rate.
        asked: BitsPerSec,
        /// The rate set.
        given: BitsPerSec,
    },
    /// tbf's bucket is larger than the link's burst.
    #[error(
        "tbf's bucket is {given}, not {asked}: it must hold the largest packet, and the bytes that the rate carries while a timer is late"
    )]
    Bucket {
        /// The link's burst; zero for a link without one.
        asked: Bytes,
        /// The bucket set.
        given: Bytes,
    },
    /// `CoDel`'s limit is in packets.
    #[error("the kernel's CoDel counts packets: {given} full ones instead of {asked}")]
    CodelLimit {
        /// The link's queue.
        asked: Bytes,
        /// The limit set, in packets.
        given: u32,
    },
    /// tc's size table cannot express the link's framing exactly.
    #[error(
        "tc counts some packets with up to {off_by} bytes more or less than they have on this link"
    )]
    Framing {
        /// The largest difference, in bytes.
        off_by: u32,
    },
    /// netem and the rate are on one interface.
    #[error(
        "on one interface netem comes before the rate: lost packets take no room and no airtime, and reordered packets queue again"
    )]
    NetemBeforeWire,
    /// netem comes after the rate.
    #[error("netem duplicates packets after the rate: copies take no room and no airtime")]
    CopiesBehindWire,
    /// netem loses a packet or its copy, never both.
    #[error("netem never loses both a packet and its copy")]
    CopiesSurvive,
    /// netem's random numbers are the kernel's.
    #[error("this netem has no seed: every run loses different packets")]
    Unseeded,
}

impl Shortfall {
    /// The code of the caveat, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ErrorsPer(_)
            | Self::ErrorsInTime
            | Self::ErrorsListed
            | Self::ErrorSchedule
            | Self::ErrorsTooRare(_) => "netem-errors",
            Self::Arq => "netem-arq",
            Self::Policer => "netem-policer",
            Self::HeaderCompression | Self::Padding | Self::Framing { .. } => "netem-framing",
            Self::BlackHole => "netem-icmp",
            Self::Jitter { .. } => "netem-jitter",
            Self::Red | Self::RedInBytes { .. } | Self::RedWeight { .. } => "netem-red",
            Self::Rate { .. } => "netem-rate",
            Self::Bucket { .. } => "netem-burst",
            Self::CodelLimit { .. } => "netem-queue",
            Self::NetemBeforeWire => "netem-order",
            Self::CopiesBehindWire | Self::CopiesSurvive => "netem-duplicate",
            Self::Unseeded => "netem-seed",
        }
    }

    /// Whether a part of the link is missing, rather than slightly different: an engine then gives no numbers.
    pub fn leaves_out(&self) -> bool {
        match self {
            Self::ErrorsPer(_)
            | Self::ErrorsInTime
            | Self::ErrorsListed
            | Self::ErrorSchedule
            | Self::ErrorsTooRare(_)
            | Self::Arq
            | Self::Policer
            | Self::HeaderCompression
            | Self::Padding
            | Self::BlackHole
            | Self::Jitter { .. }
            | Self::Red => true,
            Self::RedInBytes { .. }
            | Self::RedWeight { .. }
            | Self::Rate { .. }
            | Self::Bucket { .. }
            | Self::CodelLimit { .. }
            | Self::Framing { .. }
            | Self::NetemBeforeWire
            | Self::CopiesBehindWire
            | Self::CopiesSurvive
            | Self::Unseeded => false,
        }
    }
}

fn unit(per: Per) -> &'static str {
    match per {
        Per::Frame => "frame",
        Per::Packet => "packet",
        Per::Byte => "byte",
    }
}
