//! A bulk transfer in closed form: the least of what the window, the link and losses allow.

use super::pftk::{self, Pftk};
use super::way::Way;
use super::{Estimate, Formula, mathis, whole};
use crate::engine::Caveat;
use crate::outcome::{LimitedBy, Outcome};
use crate::path::{LinkSpec, QueueLimit};
use crate::scenario::{Flow, Scenario};
use crate::settings::{RtoRule, RtoSettings, Settings};
use crate::tcp::offered_window;
use crate::units::Bytes;

/// The closed form for one bulk flow that has `share` of the path's capacity.
pub(super) fn estimate(scenario: &Scenario, flow: &Flow, share: f64) -> Estimate {
    let transfer = Transfer::new(scenario, flow, share);
    let mut caveats = transfer.caveats();
    let verdict = transfer.verdict(&mut caveats);
    caveats.extend(transfer.start_up_caveat(&verdict));
    Estimate { outcome: transfer.outcome(&verdict), caveats }
}

/// What the formulas need to know, in SI units.
struct Transfer<'a> {
    scenario: &'a Scenario,
    sender: &'a Settings,
    mss: f64,
    packet: Bytes,
    /// Round trip with nothing queued.
    rtt: f64,
    loss: f64,
    ack_loss: f64,
    /// The largest window in bytes, whole segments.
    window: f64,
    window_limit: LimitedBy,
    /// Payload rate of the slowest link, in bits per second.
    link_bps: f64,
    bottleneck: &'a LinkSpec,
    per_ack: f64,
}

/// What holds the transfer back, and how fast it is.
struct Verdict {
    goodput_bps: f64,
    limited_by: LimitedBy,
    formula: Formula,
    /// Mean time in the queue of the slowest link.
    queue: f64,
}

impl<'a> Transfer<'a> {
    fn new(scenario: &'a Scenario, flow: &Flow, share: f64) -> Self {
        let (sender, receiver) = scenario.endpoints(flow);
        let way = Way::of(scenario, flow);
        let mss = scenario.mss(flow).effective.bytes();
        let header = scenario.tcp_ip_headers();
        let packet = mss + header;
        let bottleneck = way.bottleneck(packet);
        let offered = offered_window(receiver, mss).get() as f64;
        let buffer = sender.send_buffer.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
        let (window, window_limit) = if buffer < offered {
            (buffer, LimitedBy::SendBuffer)
        } else {
            (offered, LimitedBy::ReceiveWindow)
        };
        let mss = mss.get() as f64;
        // Whole segments; a window below one segment is filled all the same.
        let window = if window < mss { window } else { libm::floor(window / mss) * mss };
        Self {
            scenario,
            sender,
            mss,
            packet,
            rtt: way.round_trip(packet, header).as_secs_f64(),
            loss: way.loss(packet).get(),
            ack_loss: way.loss_back(header).get(),
            window,
            window_limit,
            link_bps: share * bottleneck.rate.get() as f64 * mss
                / bottleneck.wire_bytes(packet).get() as f64,
            bottleneck,
            per_ack: receiver.delayed_ack.map_or(1.0, |rule| f64::from(rule.every)),
        }
    }

    fn pftk(&self) -> Pftk {
        Pftk {
            loss: self.loss,
            rtt: self.rtt,
            first_timeout: first_timeout(&self.sender.rto, self.rtt),
            per_ack: self.per_ack,
            largest_window: (self.window / self.mss).max(1.0),
        }
    }

    fn window_bps(&self) -> f64 {
        8.0 * self.window / self.rtt
    }

    fn verdict(&self, caveats: &mut Vec<Caveat>) -> Verdict {
        let bound = self.link_bps.min(self.window_bps());
        if self.loss >= 1.0 {
            return Verdict {
                goodput_bps: 0.0,
                limited_by: LimitedBy::Congestion,
                formula: Formula::Link,
                queue: 0.0,
            };
        }
        if self.loss > 0.0 {
            let pftk = self.pftk();
            let by_loss = 8.0 * self.mss * pftk.goodput();
            if by_loss < self.link_bps {
                caveats.extend(self.loss_caveats(&pftk));
                let limited_by = if pftk.is_window_limited() && pftk.timeout_time_share() < 0.5 {
                    self.window_limit
                } else if pftk.timeout_time_share() > 0.5 {
                    LimitedBy::Rto
                } else {
                    LimitedBy::Congestion
                };
                let goodput_bps = by_loss.min(bound);
                return Verdict { goodput_bps, limited_by, formula: Formula::PftkFull, queue: 0.0 };
            }
        }
        if self.window_bps() < self.link_bps {
            return Verdict {
                goodput_bps: self.window_bps(),
                limited_by: self.window_limit,
                formula: Formula::Window,
                queue: 0.0,
            };
        }
        Verdict {
            goodput_bps: self.link_bps,
            limited_by: LimitedBy::Bandwidth,
            formula: Formula::Link,
            queue: self.standing_queue(caveats),
        }
    }

    /// Mean time in the queue while the link is full: what the window holds beyond the path; or, where
    /// the window is larger than path and queue together, the mean of Reno's saw-tooth.
    fn standing_queue(&self, caveats: &mut Vec<Caveat>) -> f64 {
        let rate = self.bottleneck.rate.get() as f64 / 8.0;
        let wire = self.bottleneck.wire_bytes(self.packet).get() as f64;
        let path = rate * self.rtt;
        let room = match self.bottleneck.queue {
            QueueLimit::Packets(n) => f64::from(n) * wire,
            QueueLimit::Bytes(bytes) => bytes.get() as f64,
        };
        let window = self.window / self.mss * wire;
        if window <= path + room {
            return ((window - path) / rate).max(0.0);
        }
        caveats.push(Caveat::new(
            "self-induced-loss",
            "the window is larger than path and queue together: the flow loses packets of its own making; \
             the queue is the mean of Reno's saw-tooth, and what recovery costs is left out",
        ));
        let (top, bottom) = (path + room, 0.5 * (path + room));
        let mean = if bottom >= path {
            0.5 * (top + bottom) - path
        } else {
            (top - path) * (top - path) / 2.0 / (top - bottom)
        };
        mean / rate
    }

    /// What every estimate of this transfer leaves out.
    fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.ack_loss > 0.0 {
            let percent = 100.0 * self.ack_loss;
            caveats.push(Caveat::new(
                "ack-loss",
                format!("{percent:.3}% of acknowledgements are lost; the formulas take none to be"),
            ));
        }
        let hops = &self.scenario.path.hops;
        if hops.iter().any(|hop| hop.forward.errors.entries().len() > 1) {
            let text = "the error rate changes over time; the formulas use its mean";
            caveats.push(Caveat::new("schedule", text));
        }
        caveats
    }

    /// How far the loss formula can be trusted here.
    fn loss_caveats(&self, pftk: &Pftk) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        let percent = 100.0 * self.loss;
        let measured = match pftk::ratio_to_simulation(self.loss) {
            Some((low, high)) => {
                format!("there it was {low:.2} to {high:.2} times a packet simulation")
            }
            None => "nothing was measured there".to_owned(),
        };
        caveats.push(if self.loss > pftk::VALID_UP_TO {
            let text =
                format!("PFTK holds up to 20% segment loss, here it is {percent:.3}%: {measured}");
            Caveat::new("outside-range", text)
        } else {
            Caveat::new("accuracy", format!("PFTK at {percent:.3}% segment loss: {measured}"))
        });
        let mathis = 8.0 * self.mss * mathis::rate(self.loss, self.rtt, self.per_ack);
        let window = pftk.window();
        let against = match mathis::range(self.loss, window, pftk.largest_window) {
            mathis::Range::Good => "within its range",
            mathis::Range::Doubtful => "up to a fifth too high above 1% loss or below 10 segments",
            mathis::Range::Outside => {
                "outside its range: it knows neither timeouts nor a largest window"
            }
        };
        caveats.push(Caveat::new(
            "mathis",
            format!("the square-root law gives {:.4} Mbit/s ({against})", mathis / 1e6),
        ));
        if self.is_bursty() {
            caveats.push(Caveat::new(
                "bursts",
                "losses come in bursts; PFTK takes losses of different windows to be independent, so it is too low here",
            ));
        }
        caveats
    }

    fn is_bursty(&self) -> bool {
        use crate::errors::ErrorModel;
        let hops = self.scenario.path.hops.iter();
        hops.flat_map(|hop| hop.forward.errors.entries())
            .any(|(_, model)| matches!(model, ErrorModel::GilbertElliott(_)))
    }

    /// Handshake and slow start are left out: how much that may be.
    fn start_up_caveat(&self, verdict: &Verdict) -> Option<Caveat> {
        let target = verdict.goodput_bps * self.rtt / 8.0 / self.mss;
        let initial = self.sender.initial_window.bytes(Bytes::new(whole(self.mss))).get() as f64;
        let initial = initial / self.mss;
        let growth = 1.0 + 1.0 / self.per_ack;
        let rounds = 1.0 + (libm::log(target / initial) / libm::log(growth)).max(0.0);
        // While it opens up it carries, on average, little of what it carries later.
        let lost = rounds * self.rtt;
        let whole = self.elapsed(verdict);
        let share = lost / whole;
        (share > 0.02).then(|| {
            Caveat::new(
                "start-up",
                format!(
                    "handshake and slow start ({lost:.2} s of {whole:.2} s) are left out: up to {:.0}% too high",
                    100.0 * share.min(1.0)
                ),
            )
        })
    }

    fn elapsed(&self, verdict: &Verdict) -> f64 {
        let time = self.scenario.until.time.as_secs_f64();
        match self.scenario.until.bytes {
            Some(bytes) => time.min(bytes.get() as f64 * 8.0 / verdict.goodput_bps),
            None => time,
        }
    }

    fn outcome(&self, verdict: &Verdict) -> Outcome {
        let elapsed = self.elapsed(verdict);
        let rtt = self.rtt + verdict.queue;
        Outcome {
            goodput_bps: Some(verdict.goodput_bps),
            elapsed_s: Some(elapsed),
            payload_bytes: Some(whole(verdict.goodput_bps * elapsed / 8.0)),
            segment_loss: Some(self.loss),
            rtt_min_s: Some(self.rtt),
            rtt_mean_s: Some(rtt),
            in_flight_mean_bytes: Some(verdict.goodput_bps * rtt / 8.0),
            queue_mean_s: Some(verdict.queue),
            mss_used_bytes: Some(whole(self.mss)),
            limited_by: Some(verdict.limited_by),
            formula: Some(verdict.formula.name().to_owned()),
            ..Outcome::default()
        }
    }
}

/// T₀: the timer on a path whose round trip does not vary.
fn first_timeout(rto: &RtoSettings, rtt: f64) -> f64 {
    let estimate = match rto.rule {
        RtoRule::Rfc6298 { granularity } => rtt + granularity.as_secs_f64(),
        // 4·RTTVAR stops decaying at three ticks, and a clock rounds up by half a tick on average.
        RtoRule::Ticks { tick, .. } => rtt + 3.5 * tick.as_secs_f64(),
    };
    estimate.clamp(rto.min.as_secs_f64(), rto.max.as_secs_f64())
}
