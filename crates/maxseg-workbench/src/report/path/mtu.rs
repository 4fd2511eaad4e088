//! The path MTU in the document.

use maxseg_core::path_mtu::Confidence;
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{
    BlackHole, DroppedBy, DroppedHere, FlowMtu, HopReport, LargeLoss, LossBoundary, MtuMethod,
    MtuReport, TaughtKernel,
};

/// The path MTU and what shows it.
#[derive(Serialize, JsonSchema)]
pub(super) struct MtuEntry<'a> {
    /// Towards the destination.
    forward_bytes: Option<u32>,
    /// From it: a far end alone can tell.
    reverse_bytes: Option<u32>,
    /// How sure that is; null without a far end that tells.
    reverse_confidence: Option<Confidence>,
    /// The chance that a larger packet would arrive from it too, where losses are independent.
    reverse_error_chance: Option<f64>,
    /// Why it is no surer.
    reverse_reason: Option<&'a str>,
    /// Packets from it of this size vanish, and its kernel has learnt of no limit.
    reverse_vanishes_bytes: Option<u32>,
    /// The path MTU to this host that the far end's kernel has learnt of routers.
    learnt_there_bytes: Option<u32>,
    /// The MTU of this host's interface.
    interface_bytes: Option<u32>,
    /// How it was found.
    method: Option<MtuMethod>,
    /// How sure it is.
    confidence: Confidence,
    /// Why it is no surer.
    reason: Option<&'a str>,
    /// The chance that a larger packet would arrive too, where losses are independent.
    error_chance: Option<f64>,
    /// What has this MTU, the likeliest first.
    well_known: &'a [String],
    /// What the kernel remembers since the test: it shrinks every connection to the destination.
    taught_the_kernel: Option<TaughtKernel>,
    /// The hops, the first router's first.
    hops: Vec<HopEntry<'a>>,
    /// Where large packets vanish without a message.
    black_hole: Option<BlackHoleEntry>,
    /// Routers' messages that this host drops before its sockets receive them; null where none is known.
    dropped_here: Option<DroppedEntry>,
    /// The flows that were tried.
    flows: &'a [FlowMtu],
    /// Losses of packets of the path MTU, beside small ones that were sent between them; null where they were not counted.
    large_loss: Option<LargeLossEntry>,
}

/// Losses of large packets.
#[derive(Serialize, JsonSchema)]
struct LargeLossEntry {
    /// The large packets, bytes.
    size_bytes: u32,
    /// Large packets that were sent.
    sent: u32,
    /// Those of them that nothing answered.
    lost: u32,
    /// Small packets that were sent.
    small_sent: u32,
    /// Those of them that nothing answered.
    small_lost: u32,
    /// Whether they are echoes, whose replies are as large: they may be lost on the way back.
    is_both_ways: bool,
    /// The sizes between which the losses begin; null where that was not looked for, or not found.
    boundary: Option<LossBoundary>,
}

impl LargeLossEntry {
    const fn of(loss: &LargeLoss) -> Self {
        Self {
            size_bytes: loss.size_bytes,
            sent: loss.large.sent,
            lost: loss.large.lost,
            small_sent: loss.small.sent,
            small_lost: loss.small.lost,
            is_both_ways: loss.is_both_ways,
            boundary: loss.boundary,
        }
    }
}

/// A hop.
#[derive(Serialize, JsonSchema)]
struct HopEntry<'a> {
    /// Its number: 1 for the first router.
    hop: u8,
    /// Its address; null of one that does not answer.
    address: Option<String>,
    /// The least round trip to it.
    rtt_s: Option<f64>,
    /// The largest packet that comes to it; null where that is not known.
    mtu_bytes: Option<u32>,
    /// What else there is to know.
    note: Option<&'a str>,
}

/// A place where large packets vanish without a message.
#[derive(Serialize, JsonSchema)]
struct BlackHoleEntry {
    /// The last hop that they reach, 0 for this host: the one that should send the message. Null where it was not found.
    after_hop: Option<u8>,
    /// Its address.
    after_address: Option<String>,
    /// The first hop that they do not reach.
    before_hop: Option<u8>,
    /// Its address.
    before_address: Option<String>,
    /// The largest packet that passes.
    passes_bytes: u32,
    /// Packets that vanish.
    vanishes_bytes: u32,
    /// What somebody on the way says of them, without an MTU, as that a rule prohibits them; null where nothing is said.
    said: Option<String>,
}

/// Messages that came to this host, and to none of its sockets.
#[derive(Serialize, JsonSchema)]
struct DroppedEntry {
    /// Who sent them; null of an ordinary user, who may not hear them.
    router: Option<String>,
    /// Its number on the path; null where it is not known.
    hop: Option<u8>,
    /// The MTU that they state; null of a router that does not say.
    stated_mtu_bytes: Option<u32>,
    /// How many came.
    messages: usize,
    /// Whether they were heard; else counters of this host alone show that it drops something whenever large packets are sent.
    is_certain: bool,
    /// What drops them.
    by: DroppedBy,
}

impl DroppedEntry {
    fn of(dropped: &DroppedHere) -> Self {
        Self {
            router: dropped.router.map(|router| router.to_string()),
            hop: dropped.hop,
            stated_mtu_bytes: Some(dropped.stated_mtu_bytes).filter(|mtu| *mtu > 0),
            messages: dropped.messages,
            is_certain: dropped.is_certain,
            by: dropped.by,
        }
    }
}

impl<'a> MtuEntry<'a> {
    pub(super) fn of(report: &'a MtuReport) -> Self {
        let reverse = report.reverse.as_ref();
        Self {
            forward_bytes: report.forward_bytes,
            reverse_bytes: report.reverse_bytes(),
            reverse_confidence: reverse.map(|reverse| reverse.confidence),
            reverse_error_chance: reverse.and_then(|reverse| reverse.error_chance),
            reverse_reason: reverse.and_then(|reverse| reverse.reason.as_deref()),
            reverse_vanishes_bytes: reverse.and_then(|reverse| reverse.vanishes_bytes),
            learnt_there_bytes: reverse.and_then(|reverse| reverse.learnt_there_bytes),
            interface_bytes: report.interface_bytes,
            method: report.method,
            confidence: report.confidence,
            reason: report.reason.as_deref(),
            error_chance: report.error_chance,
            well_known: &report.well_known,
            taught_the_kernel: report.taught_the_kernel,
            hops: report.hops.iter().map(HopEntry::of).collect(),
            black_hole: report.black_hole.as_ref().map(BlackHoleEntry::of),
            dropped_here: report.dropped_here.as_ref().map(DroppedEntry::of),
            flows: &report.flows,
            large_loss: report.large_loss.as_ref().map(LargeLossEntry::of),
        }
    }
}

impl<'a> HopEntry<'a> {
    fn of(hop: &'a HopReport) -> Self {
        Self {
            hop: hop.hop,
            address: hop.address.map(|address| address.to_string()),
            rtt_s: hop.rtt_s,
            mtu_bytes: hop.mtu_bytes,
            note: hop.note.as_deref(),
        }
    }
}

impl BlackHoleEntry {
    fn of(hole: &BlackHole) -> Self {
        Self {
            after_hop: hole.after_hop,
            after_address: hole.after_address.map(|address| address.to_string()),
            before_hop: hole.before_hop,
            before_address: hole.before_address.map(|address| address.to_string()),
            passes_bytes: hole.passes_bytes,
            vanishes_bytes: hole.vanishes_bytes,
            said: hole.said.clone(),
        }
    }
}
