//! A connection of which nothing of one end was captured.

use super::Connection;
use crate::flow::Seen;
use crate::flow::alone::{Ack, Alone, Data};
use crate::flow::pair::Endpoint;
use crate::flow::seen_options::SeenOptions;
use crate::tcp::Flags;

impl Connection {
    /// An acknowledgement by an end, of data that was not captured: up to where, and how much is new.
    pub(super) fn on_ack_alone(
        &mut self,
        seen: &Seen<'_>,
        options: &SeenOptions,
        s: Endpoint,
        (una, acked): (i64, i64),
    ) {
        if seen.flags.bits() & (Flags::SYN | Flags::FIN | Flags::RST).bits() != 0 {
            return;
        }
        let segment = self.halves.of(s).offered.mss.map_or_else(|| seen.usual_mss(), i64::from);
        let ack = Ack {
            at: seen.at_nanos,
            una,
            acked,
            window: seen.window,
            has_blocks: options.sack.is_some(),
            segment: segment - options.timestamps.map_or(0, |_| STAMPS),
        };
        if let Some(alone) = self.alone(seen, s)
            && seen.payload_len == 0
        {
            alone.on_ack(&ack);
        }
    }

    /// Since when a segment that is sent again is missing, and the new payload that passed since.
    pub(super) fn missing(&mut self, s: Endpoint, (start, end): (i64, i64)) -> Option<(u64, i64)> {
        self.halves.of_mut(s).stream.as_mut()?.missing(start, end)
    }

    /// A segment whose acknowledgement nobody captures.
    pub(super) fn on_data_alone(
        &mut self,
        seen: &Seen<'_>,
        s: Endpoint,
        (start, end): (i64, i64),
        missing: Option<(u64, i64)>,
    ) {
        let nxt = self.halves.of(s).nxt.max(end);
        let data = Data { at: seen.at_nanos, payload: end - start, start, nxt, missing };
        if let Some(alone) = self.alone(seen, s) {
            alone.on_data(&data);
        }
    }

    /// `None` where its SYN was not captured, or is one of several: nothing tells a round trip then.
    fn alone(&mut self, seen: &Seen<'_>, s: Endpoint) -> Option<&mut Alone> {
        let syn_at = if self.client == Some(s) { self.syn_at } else { self.answer_at }?;
        let trip = seen.at_nanos.saturating_sub(syn_at);
        let aside = self.aside.get_or_insert_default();
        Some(aside.alone.get_or_insert_with(|| Box::new(Alone::new(trip))))
    }
}

/// What timestamps take of a segment (RFC 7323 appendix A).
const STAMPS: i64 = 12;
