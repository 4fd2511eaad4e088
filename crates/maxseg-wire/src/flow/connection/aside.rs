//! What few connections need, and all where a page is made of them.

use maxseg_core::evidence::{
    ControlKind, ControlPoint, PathMtuEvent, Points, Trace, UnreachableEvent,
};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use crate::flow::Seen;
use crate::flow::alone::Alone;
use crate::flow::pair::{Endpoint, Pair};
use crate::tcp::Flags;

/// What few connections have.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::flow) struct Aside {
    pub(in crate::flow) path_mtu_events: Vec<PathMtuEvent>,
    pub(in crate::flow) unreachable: Vec<UnreachableEvent>,
    /// SYNs, FINs, RSTs, probes, and acknowledgements that no trace of payload has, of each end; `None` where no trace is asked for.
    controls: Option<Pair<Points<ControlPoint>>>,
    /// What one direction alone shows, while nothing of the other was captured.
    pub(in crate::flow) alone: Option<Box<Alone>>,
}

impl Aside {
    /// That of a connection whose packets are traced.
    pub(super) fn traced() -> Self {
        Self { controls: Some(Pair::default()), ..Self::default() }
    }

    pub(super) const fn is_traced(&self) -> bool {
        self.controls.is_some()
    }

    /// A packet of an end that is neither a segment nor an acknowledgement only.
    pub(super) fn note(
        aside: Option<&mut Self>,
        seen: &Seen<'_>,
        sender: Endpoint,
        kind: ControlKind,
    ) {
        if let Some(controls) = aside.and_then(|aside| aside.controls.as_mut()) {
            let at = Time::from_nanos(seen.at_nanos);
            let point = ControlPoint { at, frame: seen.frame, kind };
            // However many acknowledgements there are, all else is kept.
            controls.of_mut(sender).note(point, kind != ControlKind::Ack);
        }
    }

    /// A packet without payload, unless it is named already, as an acknowledgement in `trace` or as what it is else: one that was
    /// overtaken, or that acknowledges no data.
    pub(super) fn note_unnamed(
        &mut self,
        seen: &Seen<'_>,
        sender: Endpoint,
        trace: Option<&Trace>,
    ) {
        let Some(controls) = &self.controls else { return };
        let last = controls.of(sender).last().map(|control| control.frame);
        let last_ack = trace.and_then(|trace| trace.acks.last()).map(|ack| ack.frame);
        if ![last, last_ack].contains(&Some(seen.frame)) {
            Self::note(Some(self), seen, sender, ControlKind::Ack);
        }
    }

    /// Adds the packets of an end to the trace of its payload, which may be none.
    pub(super) fn add_to(&mut self, sender: Endpoint, trace: &mut Option<Box<Trace>>) {
        let Some(controls) = &mut self.controls else { return };
        let controls = std::mem::take(controls.of_mut(sender));
        if !controls.is_empty() {
            trace.get_or_insert_default().controls = controls;
        }
    }
}

/// What a SYN, a FIN or a RST is; `None` for other packets.
pub(super) fn control_kind(flags: Flags) -> Option<ControlKind> {
    if flags.contains(Flags::RST) {
        Some(ControlKind::Rst)
    } else if flags.contains(Flags::SYN) {
        let is_answer = flags.contains(Flags::ACK);
        Some(if is_answer { ControlKind::SynAck } else { ControlKind::Syn })
    } else {
        flags.contains(Flags::FIN).then_some(ControlKind::Fin)
    }
}
