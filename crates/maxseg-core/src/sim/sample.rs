//! What a watcher sees of a sender.

use crate::engine::Sample;
use crate::tcp::Sender;
use crate::units::{Bytes, Time};

/// A sender's state for those who watch.
pub(super) fn sample_of(
    sender: &Sender,
    at: Time,
    flow: usize,
    queue: Time,
    acknowledged: Bytes,
) -> Sample {
    Sample {
        at,
        flow,
        cwnd: sender.cwnd(),
        window: sender.peer_window(),
        in_flight: sender.unacknowledged(),
        srtt: sender.rto().srtt(),
        rto: sender.rto().current(),
        queue,
        acknowledged,
    }
}
