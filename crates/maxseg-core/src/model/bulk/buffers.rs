//! The window and the buffer that bound a bulk flow.

use super::super::whole;
use super::{ThroughputBound, Transfer};
use crate::engine::Caveat;
use crate::outcome::LimitedBy;
use crate::scenario::{Flow, Scenario};
use crate::settings::{SocketMemory, WindowScale};
use crate::tcp::linux::Host;
use crate::units::{Bytes, approx};
use crate::window::{FIELD, rate_per_round_trip};

/// A bound that is lower by no more than this share is none.
const AS_GOOD: f64 = 0.02;

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
    /// The most that a receiver without GRO lets it have of segments this small; infinite where that is no less.
    pub(super) of_small: f64,
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
        let offered = host.widest_window(mss.get()).min(clamp).min(field);
        let of_small = host.window_of_small_segments(mss.get());
        Self { of_small, ..Self::within(offered, refilled_at, full) }
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
            of_small: f64::INFINITY,
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

impl Transfer<'_> {
    /// The bound of a receive window that small segments open less far, where it is lower.
    fn small_window_bps(&self, bound: &ThroughputBound) -> Option<f64> {
        let of_small = rate_per_round_trip(self.flight.of_small, self.cycle());
        (of_small < (1.0 - AS_GOOD) * bound.goodput_bps).then_some(of_small)
    }

    /// Whether small segments may open the receive window less far than the bound has it.
    pub(super) fn opens_less(&self, bound: &ThroughputBound) -> bool {
        self.small_window_bps(bound).is_some()
    }

    /// What small segments may make of the receive window.
    pub(super) fn small_window_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        self.small_window_bps(bound).map(|bps| {
            let text = format!(
                "segments of {} bytes open Linux's receive window to {} only where they come one by one, without GRO, as in the simulator: \
                 {} then",
                whole(self.mss),
                Bytes::new(whole(self.flight.of_small)),
                approx::rate(bps)
            );
            Caveat::new("outside-range", text)
        })
    }
}
