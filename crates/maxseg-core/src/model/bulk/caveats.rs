//! What the closed form of a bulk flow leaves out, and how far it can be trusted.

use super::super::pftk::{self, Pftk};
use super::super::{Formula, mathis, whole};
use super::{ThroughputBound, Transfer, first_timeout};
use crate::engine::Caveat;
use crate::errors::ErrorModel;
use crate::settings::RecoveryName;
use crate::units::{Bytes, approx};

/// A queue of fewer packets than an initial window overflows with every burst.
const SMALL_QUEUE: f64 = 10.0;

impl Transfer<'_> {
    /// PFTK is a model of Reno's fast recovery, and of no other.
    fn recovery_caveat(&self) -> Option<Caveat> {
        let (_, receiver) = self.scenario.endpoints(self.flow);
        let text = if self.sender.sack && receiver.sack {
            "SACK repairs losses, which PFTK ignores: TCP is faster where several segments of a window are lost"
        } else if self.sender.recovery == RecoveryName::Tahoe {
            "Tahoe has no fast recovery, which PFTK assumes: TCP is slower"
        } else {
            return None;
        };
        Some(Caveat::new("recovery", text))
    }

    /// What the estimate leaves out.
    pub(super) fn caveats(&self, bound: &ThroughputBound) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.ack_loss > 0.0 {
            let text = format!(
                "{} of the ACKs are lost; the formulas assume none",
                approx::percent(self.ack_loss)
            );
            caveats.push(Caveat::new("ack-loss", text));
        }
        if self.flow_path.changes_over_time() {
            let text = "the error rate changes over time; the formulas use its mean";
            caveats.push(Caveat::new("schedule", text));
        }
        if self.slower_host.packet_cost > 0.0 && bound.formula != Formula::Host {
            let text = "the formulas ignore data and ACKs that wait for each other at a host, unless the host is busy \
                        all the time";
            caveats.push(Caveat::new("hosts", text));
        }
        let tooth = self.saw_tooth();
        if self.window / self.mss >= SMALL_QUEUE && tooth.queue < SMALL_QUEUE {
            let text = format!(
                "a queue of {} packets overflows with each burst; the formulas ignore bursts",
                approx::digits(tooth.queue)
            );
            caveats.push(Caveat::new("outside-range", text));
        }
        if bound.formula == Formula::SawTooth {
            caveats.push(Caveat::new(
                "self-induced-loss",
                format!(
                    "the window exceeds path and queue, so the flow overflows the queue itself: Reno's sawtooth with \
                     a period of about {}, without the time for recovery and slow start",
                    approx::time(0.5 * (tooth.path + tooth.queue) * self.per_ack * self.rtt)
                ),
            ));
        }
        if bound.formula == Formula::PftkFull {
            caveats.extend(self.recovery_caveat());
            caveats.extend(self.loss_caveats(&self.pftk()));
        }
        caveats
    }

    /// How far the loss formula can be trusted here.
    fn loss_caveats(&self, pftk: &Pftk) -> Vec<Caveat> {
        let loss = approx::percent(self.loss);
        let measured = match pftk::ratio_to_simulation(self.loss) {
            Some((low, high)) => format!(
                "{low:.2} to {high:.2} times the goodput of the simulator at an RTT of 0.1 s with large queues and one ACK per segment"
            ),
            None => "not compared with the simulator there".to_owned(),
        };
        let mut caveats = vec![if self.loss > pftk::VALID_UP_TO {
            let text = format!("PFTK holds up to 20% segment loss; here it is {loss}: {measured}");
            Caveat::new("outside-range", text)
        } else {
            Caveat::new("accuracy", format!("PFTK at {loss} segment loss: {measured}"))
        }];
        if self.rtt > 0.0 {
            let rate = 8.0 * self.mss * mathis::rate(self.loss, self.rtt, self.per_ack);
            let against = match mathis::range(self.loss, pftk.window(), pftk.largest_window) {
                mathis::Range::Good => "within its range",
                mathis::Range::Doubtful => {
                    "too high above 1% loss or below 10 segments, where timeouts matter"
                }
                mathis::Range::Outside => {
                    "outside its range: it ignores timeouts and the largest window"
                }
            };
            let text = format!("the square-root law gives {} ({against})", approx::rate(rate));
            caveats.push(Caveat::new("mathis", text));
        }
        if self.flow_path.models().any(|model| matches!(model, ErrorModel::GilbertElliott(_))) {
            let text = "losses come in bursts; PFTK assumes independent losses and may be many times too low";
            caveats.push(Caveat::new("outside-range", text));
        }
        caveats
    }

    /// Handshake and slow start are left out: how much that may be.
    pub(super) fn start_up_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        if bound.goodput_bps <= 0.0 {
            return None;
        }
        let target = bound.goodput_bps * self.rtt / 8.0;
        let mss = Bytes::new(whole(self.mss));
        let initial = self.sender.initial_window.bytes(mss).get() as f64;
        let growth = 1.0 + 1.0 / self.per_ack;
        let rounds = 1.0 + (libm::log(target / initial) / libm::log(growth)).max(0.0);
        // While it opens up it carries little of what it carries later, and while it probes nothing: the
        // timer doubles with each timeout.
        let timeouts = self.scenario.mss(self.flow).timeouts;
        let probing =
            first_timeout(&self.sender.rto, self.rtt) * (libm::exp2(f64::from(timeouts)) - 1.0);
        let opening = probing + rounds * self.rtt;
        let all =
            self.active(bound) + if self.scenario.until.bytes.is_some() { opening } else { 0.0 };
        let share = opening / all;
        let times = format!("{} of {}", approx::time(opening.min(all)), approx::time(all));
        if share >= 1.0 {
            let text = format!("the run ends before slow start does ({times})");
            Some(Caveat::new("outside-range", text))
        } else if share > 0.02 {
            let what = if timeouts > 0 {
                "handshake, path MTU search and slow start"
            } else {
                "handshake and slow start"
            };
            let text =
                format!("{what} ({times}) are ignored: up to {:.0}% too high", 100.0 * share);
            Some(Caveat::new("start-up", text))
        } else {
            None
        }
    }
}
