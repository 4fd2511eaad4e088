//! The window and the buffer that bound a bulk flow.

use crate::outcome::LimitedBy;
use crate::scenario::{Flow, Scenario};
use crate::settings::{SocketMemory, WindowScale};
use crate::tcp::linux::Host;
use crate::units::Bytes;
use crate::window::FIELD;

/// What a sender has in flight where nothing but the window that is offered and its own buffer bounds it, in bytes; Linux's buffers as
/// far as they grow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    /// What it sends in a round trip of a path that holds more.
    pub(super) each_trip: f64,
    /// The mean where acknowledgements come all the time.
    pub(super) mean: f64,
    /// The most.
    pub(super) most: f64,
    /// The most that the receiver lets it have.
    pub(super) offered: f64,
    /// What a program writes at once where it waits for room.
    pub(super) written: f64,
    /// Which of the two bounds it.
    pub(super) limit: LimitedBy,
}

impl Flight {
    /// With segments of `mss`.
    pub(super) fn of(scenario: &Scenario, flow: &Flow, mss: Bytes) -> Self {
        let (sender, receiver) = scenario.agreed_settings(flow);
        if !scenario.runs_linux(flow) {
            let buffer = sender.send_buffer.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
            return Self::within(receiver.offered_window(mss).get() as f64, buffer, buffer);
        }
        let (sending, receiving) =
            (SocketMemory::of(&sender, mss), SocketMemory::of(&receiver, mss));
        let host =
            Host { tcp_wmem: sending.tcp_wmem, tcp_rmem: receiving.tcp_rmem, ..Host::default() };
        let clamp = receiving.clamp.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
        let field = match receiver.window_scale {
            WindowScale::Off => FIELD as f64,
            WindowScale::Auto | WindowScale::Shift(_) | WindowScale::Unlimited => f64::INFINITY,
        };
        let (refilled_at, full) = host.send_buffer_levels();
        Self::within(host.widest_window(mss.get()).min(clamp).min(field), refilled_at, full)
    }

    /// Where the program fills a buffer up to `full` whenever what it holds has sunk to `refilled_at`. Acknowledgements of what was
    /// written at once come at once: of a path that holds more than the buffer the program fills a third twice in each round trip.
    /// Where they come all the time, the mean is between the two.
    fn within(offered: f64, refilled_at: f64, full: f64) -> Self {
        let limit =
            if refilled_at < offered { LimitedBy::SendBuffer } else { LimitedBy::ReceiveWindow };
        Self {
            each_trip: offered.min(refilled_at),
            mean: offered.min(f64::midpoint(refilled_at, full)),
            most: offered.min(full),
            offered,
            written: if full.is_finite() { full - refilled_at } else { 0.0 },
            limit,
        }
    }

    /// In whole segments of so many bytes; less than one is filled all the same.
    pub(super) fn whole_segments(self, mss: f64) -> Self {
        let whole = |bytes: f64| if bytes < mss { bytes } else { libm::floor(bytes / mss) * mss };
        Self {
            each_trip: whole(self.each_trip),
            mean: whole(self.mean),
            most: whole(self.most),
            ..self
        }
    }
}
