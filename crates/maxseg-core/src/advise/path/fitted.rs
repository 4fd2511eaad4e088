//! Other values of a path, by which a rerun explains more.

use super::{Confidence, Known, ObservedPath, whole};
use crate::units::Bytes;

/// Two full packets.
const LEAST_FITTED: u64 = 3000;

impl ObservedPath {
    /// The path with the queue that ended slow start, and errors since; `None` where no queue did, or nothing was lost since.
    pub(in crate::advise) fn with_errors_since_overflow(&self) -> Option<Self> {
        let overflow = self.overflow.clone()?;
        Some(Self {
            queue_bytes: overflow.queue_bytes,
            loss: overflow.later_loss?,
            loss_burst: None,
            lost_packets: overflow.later_packets,
            loss_with_queue: false,
            ..self.clone()
        })
    }

    /// A queue of so many times the room: one by which a rerun explains more.
    pub(in crate::advise) fn scale_queue(&mut self, times: f64) {
        let how = "so large that the rerun has the observed goodput and round trip";
        let bytes = whole(self.queue_bytes.value as f64 * times).max(LEAST_FITTED);
        self.queue_bytes = Known::new(bytes, Confidence::Low, how);
    }

    /// A policer with a bucket of so many times the size: one by which a rerun explains more.
    pub(in crate::advise) fn scale_bucket(&mut self, times: f64) {
        if let Some(Known { value, how, .. }) = &mut self.policer {
            value.burst = Bytes::new(whole(value.burst.get() as f64 * times).max(LEAST_FITTED));
            "the rate that passed between losses, and so much at once that the rerun has the observed goodput"
                .clone_into(how);
        }
    }

    /// Whether a small send buffer is run as a receive window: how much memory its payload takes depends on how it was written,
    /// which no capture shows; how much it lets be in flight is seen.
    pub(in crate::advise) const fn runs_buffer_as_window(&self) -> bool {
        self.send_buffer.is_some() && self.send_buffer_size.is_none()
    }

    /// A send buffer of this size: one by which a rerun explains more than by its flight.
    pub(in crate::advise) fn set_send_buffer_size(&mut self, bytes: f64) {
        let how = "so large that the rerun has what was observed";
        self.send_buffer_size = Some(Known::new(whole(bytes), Confidence::Low, how));
    }
}
