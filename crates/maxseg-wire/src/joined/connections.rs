//! The numbers of a capture's connections: the same whenever the capture is read.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::flow::{Endpoint, FlowKey, Pair, Seen};
use crate::tcp::Flags;

/// The connections so far, by their ends. A SYN with another number begins a new one.
#[derive(Debug, Default)]
pub(super) struct Connections {
    current: HashMap<FlowKey, Current, RandomState>,
    count: u32,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    number: u32,
    initial_seq: Pair<Option<u32>>,
}

impl Connections {
    /// The number of a segment's connection, counted from 0, and its sender; `None` for a new one beyond `most`.
    #[inline]
    pub(super) fn find(&mut self, seen: &Seen<'_>, most: usize) -> Option<(u32, Endpoint)> {
        let (key, sender) = FlowKey::of(seen.source, seen.destination);
        let is_opening = seen.flags.contains(Flags::SYN);
        if let Some(current) = self.current.get_mut(&key) {
            if !is_opening || current.continues(seen, sender) {
                return Some((current.number, sender));
            }
            self.current.remove(&key);
        }
        self.begin(key, seen, sender, most).map(|number| (number, sender))
    }

    #[cold]
    fn begin(
        &mut self,
        key: FlowKey,
        seen: &Seen<'_>,
        sender: Endpoint,
        most: usize,
    ) -> Option<u32> {
        if self.count as usize >= most {
            return None;
        }
        let number = self.count;
        self.count += 1;
        let mut initial_seq = Pair::default();
        if seen.flags.contains(Flags::SYN) {
            *initial_seq.of_mut(sender) = Some(seen.seq);
        }
        self.current.insert(key, Current { number, initial_seq });
        Some(number)
    }
}

impl Current {
    /// Whether a SYN is of this connection; its number is noted then.
    fn continues(&mut self, seen: &Seen<'_>, sender: Endpoint) -> bool {
        let is_answer = seen.flags.contains(Flags::ACK);
        match self.initial_seq.of(sender) {
            Some(known) => *known == seen.seq || is_answer,
            // The SYN of an end whose packets were seen before is of another connection, unless it answers or crosses.
            None if !is_answer && self.initial_seq.of(sender.other()).is_none() => false,
            None => {
                *self.initial_seq.of_mut(sender) = Some(seen.seq);
                true
            }
        }
    }
}
