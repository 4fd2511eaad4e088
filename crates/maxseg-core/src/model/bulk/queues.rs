//! The queue of the slowest link: its saw-tooth, or what stands in it.

use super::super::bbr;
use super::super::flow_path::{Slowest, room};
use super::super::saw_tooth::{Climb, SawTooth};
use super::response::Response;
use super::{LEAST_SHARE, Transfer};
use crate::path::Discipline;
use crate::settings::CongestionName;

/// After so many rounds a queue and the window that it makes agree.
const MOST_ROUNDS: u32 = 100;

impl Transfer<'_> {
    /// Path and queue of the slowest link in packets of this flow.
    pub(super) fn saw_tooth(&self) -> SawTooth {
        // A link that others share is to each as a slower one, with a shorter queue.
        let Slowest { link, seconds, is_policed, share, .. } = self.bottleneck;
        let share = share.max(LEAST_SHARE);
        let wire = link.wire_bytes(self.packet).get() as f64;
        let queue = match link.policer {
            // Tokens that were saved are room as well, only that nobody waits in it.
            Some(policer) if is_policed => policer.burst.get() as f64 / wire,
            _ => room(link, self.packet),
        };
        let queue = share * queue;
        let path = share * self.rtt / seconds;
        match self.sender.congestion {
            CongestionName::Reno | CongestionName::Ns2Reno | CongestionName::Bbr => {
                SawTooth { path, queue, left: 0.5, climb: Climb::EachRound }
            }
            CongestionName::Cubic => SawTooth::of_cubic(path, queue, self.rtt),
        }
    }

    /// Seconds from one overflow of the queue to the next.
    pub(super) fn tooth_period(&self) -> f64 {
        let tooth = self.saw_tooth();
        match self.sender.congestion {
            // For each segment that is acknowledged the window grows by a half at most (`bictcp_update`).
            CongestionName::Cubic => {
                tooth.period_of_cubic(self.rtt).max(tooth.mean_top() / tooth.path * self.rtt)
            }
            CongestionName::Reno | CongestionName::Ns2Reno | CongestionName::Bbr => {
                tooth.rounds() * self.rtt * self.growth_per_ack()
            }
        }
    }

    pub(super) fn overflows_queue(&self) -> bool {
        let tooth = self.saw_tooth();
        // Behind a host that is slower than the link nothing piles up.
        self.slower_host.payload_bps > self.link_bps
            && self.flight.most / self.mss > tooth.path + tooth.queue
    }

    /// Whether the queue of the slowest link refuses some of what this sender may have in flight.
    pub(super) fn queue_refuses(&self) -> bool {
        let tooth = self.saw_tooth();
        let most = self.most_in_flight() / self.mss;
        // BBR keeps two windows of the path in flight at most (`bbr_cwnd_gain`).
        let most = if self.sender.congestion == CongestionName::Bbr {
            most.min((2.0 * tooth.path).max(bbr::LEAST_WINDOW))
        } else {
            most
        };
        let room = match self.bottleneck.link.discipline {
            Discipline::Codel(_) | Discipline::Red(_) => 0.0, // they refuse before the queue is full
            Discipline::TailDrop => tooth.queue,
        };
        self.slower_host.payload_bps > self.link_bps && most > tooth.path + room
    }

    /// What the window holds beyond a full path.
    pub(super) fn standing_queue(&self) -> f64 {
        let tooth = self.saw_tooth();
        let held = (self.flight.mean / self.mss - tooth.path).clamp(0.0, tooth.queue);
        held / tooth.path * self.rtt
    }

    /// What the window holds beyond a full path where the way back is the slower one: there it waits as
    /// acknowledgements.
    pub(super) fn standing_acks(&self) -> f64 {
        let most = room(self.bottleneck_back.link, self.ack) * self.bottleneck_back.seconds;
        (8.0 * self.flight.mean / self.ack_path_bps - self.rtt).clamp(0.0, most)
    }

    /// How long the queue is at most on average, in seconds: what all that is to be sent holds beyond a full path. And a window grows by
    /// what is acknowledged at most, so that the queue of a run is as long as the time that has passed.
    pub(super) fn queue_of_all(&self) -> f64 {
        let until = &self.scenario.until;
        let all = until.bytes.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
        let path = self.saw_tooth().path;
        let held = (all / self.mss - path).max(0.0) / path * self.rtt;
        held.min(0.5 * until.time.since(self.flow.start).as_secs_f64())
    }

    /// How long a queue of up to `most` seconds is where losses keep the window small: what that holds beyond a full path. `None`
    /// where they do not.
    pub(super) fn queue_under_loss(&self, most: f64) -> Option<f64> {
        if self.loss <= 0.0 || self.loss >= 1.0 || self.sender.congestion == CongestionName::Bbr {
            return None;
        }
        let response = self.response();
        let path = self.saw_tooth().path;
        let mut queue = 0.0;
        // A window that grows with the time grows with the queue that it makes.
        for _ in 0..MOST_ROUNDS {
            let rtt = match response {
                Response::Pftk(_) => self.rtt,
                Response::SquareRoot | Response::Cubic | Response::Bbr => self.rtt + queue,
            };
            let window = response.at(self.loss, rtt, self.largest_window()).rate * rtt;
            let held = ((window - path) / path * self.rtt).max(0.0);
            if held <= queue || held >= most {
                return Some(held.min(most));
            }
            queue = held;
        }
        Some(queue)
    }
}
