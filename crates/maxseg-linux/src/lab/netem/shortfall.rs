//! What tc cannot do of a link, or does otherwise.

use maxseg_core::errors::Per;
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};
use thiserror::Error;

/// A part of a link that netem and tbf leave out, or do otherwise.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Shortfall {
    /// netem draws once for a packet, whatever its size.
    #[error("netem knows no errors per {}: it draws once for each packet; errors are left out", unit(*.0))]
    ErrorsPer(Per),
    /// netem's chain moves with packets.
    #[error("netem's bursts are counted in packets, not in time; errors are left out")]
    ErrorsInTime,
    /// netem has no list.
    #[error("netem cannot lose packets by number; errors are left out")]
    ErrorsListed,
    /// A command holds for the whole run.
    #[error(
        "netem's errors do not change in a run: those of the schedule's beginning hold throughout"
    )]
    ErrorSchedule,
    /// netem's chances have 32 bits.
    #[error("an error rate of {0} is below what netem can tell from none")]
    ErrorsTooRare(Probability),
    /// netem repeats nothing.
    #[error("netem does not repeat what is lost (`arq`)")]
    Arq,
    /// Not built.
    #[error("the netem backend has no policer")]
    Policer,
    /// Packets count whole.
    #[error("tc cannot compress headers: packets count with all of theirs")]
    HeaderCompression,
    /// tbf counts no cells but ATM's.
    #[error("tbf does not fill a last frame (`pad`): packets count unpadded")]
    Padding,
    /// tc has no say in the kernel's ICMP.
    #[error("tc cannot withhold news of packets that are too large (`icmp = \"drop\"`)")]
    BlackHole,
    /// `sch_netem.c` caps it (`netem_change`).
    #[error("netem's jitter ends at {most}; {asked} is cut to that")]
    Jitter {
        /// Of the link.
        asked: Time,
        /// What netem takes.
        most: Time,
    },
    /// RED's numbers do not fit.
    #[error(
        "the kernel's RED has no room for these thresholds and this weight: the queue drops at its end only"
    )]
    Red,
    /// RED counts bytes only.
    #[error(
        "the kernel's RED counts bytes: thresholds in packets hold for packets of {packet} bytes, smaller ones are dropped less often"
    )]
    RedInBytes {
        /// A full packet.
        packet: u32,
    },
    /// RED's weight is a power of two.
    #[error("the kernel's RED has a weight of {given}, not {asked}: it takes powers of two")]
    RedWeight {
        /// Of the link.
        asked: Probability,
        /// What `tc` makes of it.
        given: Probability,
    },
    /// Rates are whole bytes per second.
    #[error("tc's rates are whole bytes per second: {given} instead of {asked}")]
    Rate {
        /// Of the link.
        asked: BitsPerSec,
        /// What is set, on the link.
        given: BitsPerSec,
    },
    /// tbf's bucket.
    #[error(
        "after a pause, {given} pass at once, not {asked}: tbf's bucket must hold the largest packet, and what the rate carries while a timer is late"
    )]
    Bucket {
        /// Of the link; no bytes for a link without a bucket.
        asked: Bytes,
        /// What is set.
        given: Bytes,
    },
    /// `CoDel`'s room is counted in packets.
    #[error("the kernel's CoDel counts packets: {given} full ones instead of {asked}")]
    CodelLimit {
        /// Of the link.
        asked: Bytes,
        /// What is set.
        given: u32,
    },
    /// What packets take on the wire cannot be told to tc exactly.
    #[error(
        "tc counts some packets by up to {off_by} bytes differently from what they take on this link"
    )]
    Framing {
        /// Bytes.
        off_by: u32,
    },
    /// netem and wire on one interface.
    #[error(
        "on one interface netem stands before the wire: what is lost takes no room and no time there, and packets that overtake queue again"
    )]
    NetemBeforeWire,
    /// netem behind the wire.
    #[error("netem doubles packets behind the wire: copies take no room and no time there")]
    CopiesBehindWire,
    /// netem doubles before it loses.
    #[error("of a packet and its copy, netem never loses both")]
    CopiesSurvive,
    /// Chance is the kernel's.
    #[error("this netem cannot be seeded: other packets are lost in every run")]
    Unseeded,
}

impl Shortfall {
    /// A word for programs: the code of the caveat that says so.
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

    /// Whether a part of the link is missing, rather than a little different: what an engine should
    /// refuse unless told otherwise.
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
