//! What the closed form of a bulk flow leaves out, and how far it can be trusted.

use super::super::cubic::{Cubic, Region};
use super::super::pftk::Pftk;
use super::super::shares::Shares;
use super::super::{Formula, mathis};
use super::bursts::{measured, range};
use super::opening::LateFill;
use super::response::{Accuracy, Response};
use super::{ThroughputBound, Transfer};
use crate::engine::Caveat;
use crate::errors::ErrorModel;
use crate::settings::{CongestionName, RecoveryName};
use crate::units::approx;

/// A window loses a segment in one of so many round trips: that costs it less than its bound is wrong by anyway.
const SELDOM: f64 = 0.02;
/// A mean window that exceeds a full path by less than this share of it is often less.
const HARDLY: f64 = 0.5;
/// A search for the path MTU of more than this share of a run leaves no estimate of it.
const MUCH_OF_A_RUN: f64 = 0.1;
/// Before so many losses a flow is still beginning.
const STEADY: f64 = 10.0;

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
        caveats.extend(self.flow_path.schedule_caveat());
        if self.slower_host.packet_cost > 0.0 && bound.formula != Formula::Host {
            let text = "the formulas ignore data and ACKs that wait for each other at a host, unless the host is busy \
                        all the time";
            caveats.push(Caveat::new("hosts", text));
        }
        if matches!(bound.formula, Formula::Window | Formula::Reader) {
            caveats.extend(self.window_caveat());
        }
        caveats.extend(self.small_window_caveat(bound));
        caveats.extend(self.burst_caveats(bound));
        if bound.formula == Formula::SawTooth && !self.ends_before_overflow(bound) {
            caveats.push(Caveat::new(
                "self-induced-loss",
                format!(
                    "the window exceeds path and queue, so the flow overflows the queue itself: {}'s sawtooth with \
                     a period of about {}, without the time for recovery and slow start",
                    if self.sender.congestion == CongestionName::Cubic { "CUBIC" } else { "Reno" },
                    approx::time(self.tooth_period())
                ),
            ));
        }
        caveats.extend(self.queue_caveat(bound));
        caveats.extend(self.bound_caveats(bound));
        let response = self.response();
        if bound.formula == Formula::PftkFull {
            caveats.extend(self.recovery_caveat());
        }
        let is_by_loss = matches!(
            bound.formula,
            Formula::PftkFull | Formula::SquareRoot | Formula::Cubic | Formula::Bbr
        );
        if !is_by_loss && response.accuracy(self.loss).valid_up_to < self.loss && self.loss < 1.0 {
            caveats.push(self.accuracy_caveat(&response, bound));
        }
        if is_by_loss && self.loss > 0.0 {
            let uneven = self.uneven_losses_caveat(&response);
            caveats.push(uneven.unwrap_or_else(|| self.accuracy_caveat(&response, bound)));
            caveats.extend(self.other_law_caveat(&response));
        }
        caveats
    }

    /// What of others on its links the estimate leaves out.
    pub(super) fn sharing_caveats(&self, shares: &Shares<'_>) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        let ways = [*self.flow, self.flow.reversed()];
        if ways.iter().any(|way| shares.is_overloaded(way)) {
            let text = "datagrams offer more than a link carries, and its queue is full: what TCP gets beside them the formulas do not know";
            caveats.push(Caveat::new("outside-range", text));
        }
        if shares.vary(self.flow, self.until) {
            let text = "other flows begin or end meanwhile: the formulas give a bulk flow the mean of its share, and queues as if it had that all the time";
            caveats.push(Caveat::new("shared", text));
        }
        caveats
    }

    /// What the estimate says of queues where losses bound the window.
    fn queue_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let is_of_queue = matches!(bound.formula, Formula::Link | Formula::SawTooth);
        let queue = self.queue_under_loss(f64::INFINITY).filter(|_| is_of_queue)?;
        let law = self.response().accuracy(self.loss).name;
        let loss = approx::percent(self.loss);
        if queue < HARDLY * self.rtt {
            let text = format!(
                "{loss} of the segments are lost: the mean window by {law} is hardly more than a full path, so that the link is idle now and then, \
                 which the formula ignores"
            );
            return Some(Caveat::new("outside-range", text));
        }
        (bound.queue > 0.0 && bound.queue >= queue).then(|| {
            let text = format!(
                "{loss} of the segments are lost: the window by {law} holds {} beyond a full path, and RTT and pings go by that",
                approx::time(queue)
            );
            Caveat::new("queue-under-loss", text)
        })
    }

    /// How far the loss formula can be trusted here.
    fn accuracy_caveat(&self, response: &Response, bound: &ThroughputBound) -> Caveat {
        let loss = approx::percent(self.loss);
        let Accuracy { name, valid_up_to, ratio, conditions, round_trips, holds_from } =
            response.accuracy(self.loss);
        let (least, largest) = round_trips;
        let measured = match ratio {
            Some((low, high)) => {
                format!("{low:.2} to {high:.2} times the goodput of the simulator at {conditions}")
            }
            None => "not compared with the simulator there".to_owned(),
        };
        if self.loss > valid_up_to {
            let limit = approx::percent(valid_up_to);
            let text =
                format!("{name} holds up to {limit} segment loss; here it is {loss}: {measured}");
            return Caveat::new("outside-range", text);
        }
        if self.rtt < holds_from {
            let text = format!(
                "{name} at {loss} segment loss and an RTT of {}: compared with the simulator from {} on; on shorter paths, where \
                 its timeouts are too many, it may be several times too low",
                approx::time(self.rtt),
                approx::time(holds_from)
            );
            return Caveat::new("outside-range", text);
        }
        let losses = self.loss * bound.goodput_bps * self.active(bound) / (8.0 * self.mss);
        if losses < STEADY && *response != Response::Bbr {
            let text = format!(
                "{name} is of a steady state: with {} losses in all the start counts, which it leaves out",
                approx::digits(losses)
            );
            return Caveat::new("outside-range", text);
        }
        let here = if (least..=largest).contains(&self.rtt) {
            String::new()
        } else {
            format!("; not compared at the RTT of {} here", approx::time(self.rtt))
        };
        Caveat::new("accuracy", format!("{name} at {loss} segment loss: {measured}{here}"))
    }

    /// What a window per round trip leaves out.
    fn window_caveat(&self) -> Option<Caveat> {
        let segments = self.window / self.mss;
        (self.loss * segments >= SELDOM).then(|| {
            let text = format!(
                "{} of the segments are lost, and the bound of a window of {} segments leaves that out: too high, most where \
                 timeouts repair them",
                approx::percent(self.loss),
                approx::digits(segments)
            );
            Caveat::new("outside-range", text)
        })
    }

    /// What a simpler law gives, or what the law leaves out of this sender.
    fn other_law_caveat(&self, response: &Response) -> Option<Caveat> {
        match response {
            Response::Pftk(pftk) => self.square_root_caveat(pftk),
            Response::Cubic => Some(self.region_caveat()),
            Response::Bbr if !self.has_sack => {
                let text = "without SACK BBR falls far below the link's rate under loss, which the formula ignores";
                Some(Caveat::new("recovery", text))
            }
            Response::SquareRoot | Response::Bbr => None,
        }
    }

    /// Whose window CUBIC's is (RFC 9438 §4.3), with one acknowledgement per segment as `calc cubic` has it.
    fn region_caveat(&self) -> Caveat {
        let cubic = Cubic::standard(self.loss, self.rtt);
        let is_reno = match cubic.region() {
            Region::RenoFriendly => "as large as Reno's (its Reno-friendly region)",
            Region::Cubic => "above Reno's",
        };
        let reno = 8.0 * self.mss * cubic.reno_window() / self.rtt;
        let text = format!(
            "CUBIC's window is {is_reno} here; Reno with one ACK per segment has {}",
            approx::rate(reno)
        );
        Caveat::new("cubic", text)
    }

    /// The laws of windows take losses for independent of each other and of the time: how far off they are elsewhere was not measured.
    fn uneven_losses_caveat(&self, response: &Response) -> Option<Caveat> {
        let comes_in_bursts =
            self.flow_path.models().any(|model| matches!(model, ErrorModel::GilbertElliott(_)));
        let law = response.accuracy(self.loss).name;
        let text = if *response == Response::Bbr {
            return None;
        } else if self.flow_path.changes_over_time() {
            format!(
                "the error rate changes over time; {law} takes losses for as likely at any time: many times too low where most are lost in \
                 a part of the run"
            )
        } else if comes_in_bursts {
            format!(
                "losses come in bursts; {law} assumes independent losses: many times too low, or too high where bursts take whole windows, \
                 which the timer repairs"
            )
        } else {
            return None;
        };
        Some(Caveat::new("outside-range", text))
    }

    /// What the square-root law gives beside PFTK.
    fn square_root_caveat(&self, pftk: &Pftk) -> Option<Caveat> {
        let rate = 8.0 * self.mss * mathis::rate(self.loss, self.rtt, pftk.per_ack);
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
        (self.rtt > 0.0).then(|| Caveat::new("mathis", text))
    }

    /// How much it may be that a short queue ends slow start before the window is as large as path or bound let it be.
    fn late_fill_caveat(&self, late: &LateFill, bound: &ThroughputBound) -> Option<Caveat> {
        let all = self.active(bound);
        let what = format!(
            "slow start may overflow the queue of {:.0} packets at a window of {:.0} segments, and the window takes {} from there to {}",
            self.saw_tooth().queue,
            late.window,
            approx::time(late.seconds),
            if late.fills_path { "fill the path" } else { "open" }
        );
        if late.seconds >= all {
            let text =
                format!("{what}, more than the {} of the run: far too high", approx::time(all));
            return Some(Caveat::new("outside-range", text));
        }
        let share = late.lost / all;
        if share <= 0.02 {
            return None;
        }
        if late.is_repeated || !self.has_room_for_a_burst() {
            let text = format!(
                "{what}, of {}, or far longer, where the queue overflows again before: {} times the simulator's goodput",
                approx::time(all),
                range(if self.has_sack { measured::REPEATED } else { measured::WITHOUT_SACK })
            );
            return Some(Caveat::new("outside-range", text));
        }
        if self.stalls(bound) || self.writes_overflow(bound) {
            return None; // the figure would be of a window that opens once
        }
        let text = format!(
            "{what}, of {}: about {:.0}% too high then; less that, {} times the simulator's goodput",
            approx::time(all),
            // A transfer of so many bytes takes as much longer.
            if self.scenario.until.bytes.is_some() {
                100.0 * share
            } else {
                100.0 * share / (1.0 - share)
            },
            range(measured::LATE)
        );
        Some(Caveat::new("start-up", text))
    }

    /// Handshake and slow start are left out: how much that may be.
    pub(super) fn start_up_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        // A window that may not open so far takes another time for it.
        if bound.goodput_bps <= 0.0 || self.opens_less(bound) {
            return None;
        }
        if self.probing() > 0.0 {
            return self.search_caveat(bound);
        }
        let late = self
            .late_fill_of(bound)
            .filter(|late| !self.ends_before_window(late.window, bound))
            .and_then(|late| self.late_fill_caveat(&late, bound));
        if late.is_some() {
            return late;
        }
        let until = &self.scenario.until;
        let longest = until.time.since(self.flow.start).as_secs_f64();
        if until.bytes.is_some_and(|bytes| self.transfer_seconds(bytes, bound) <= longest) {
            return self.last_ack_caveat(bound); // they are in its time
        }
        // While it opens up it carries little of what it carries later.
        let opening = self.opening(bound).rounds * self.rtt;
        let all = self.active(bound);
        let share = opening / all;
        let times = format!("{} of {}", approx::time(opening.min(all)), approx::time(all));
        if share >= 1.0 {
            let text = format!("the run ends before slow start does ({times})");
            Some(Caveat::new("outside-range", text))
        } else if share > 0.02 && self.sender.congestion == CongestionName::Bbr {
            let text = format!(
                "handshake and STARTUP ({times}) are ignored: about {:.0}% too high, and more where STARTUP overflows the queue, \
                 which takes time to repair and to drain",
                100.0 * share / (1.0 - share)
            );
            Some(Caveat::new("outside-range", text))
        } else if share > 0.02 {
            let text = format!(
                "handshake and slow start ({times}) are ignored: up to {:.0}% too high",
                100.0 * share / (1.0 - share)
            );
            Some(Caveat::new("start-up", text))
        } else {
            None
        }
    }

    /// An odd last segment waits for the receiver's timer, but for Linux's, which looks at what is read (`tcp_cleanup_rbuf`).
    fn last_ack_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let bytes = self.scenario.until.bytes?.get() as f64;
        let is_odd = libm::ceil(bytes / self.mss) % self.per_ack != 0.0;
        let is_long = bytes > self.opening(bound).initial && !self.scenario.runs_linux(self.flow);
        let share = self.ack_timeout / self.active(bound);
        (is_odd && is_long && share > 0.02).then(|| {
            let text = format!(
                "the last segment may wait {} for its delayed ACK, which is ignored: up to {:.0}% too high",
                approx::time(self.ack_timeout),
                100.0 * share
            );
            Caveat::new("start-up", text)
        })
    }

    /// The timeouts of a search for the path MTU leave a small slow-start threshold (RFC 5681 equation 4).
    fn search_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let (search, all) = (self.probing(), self.active(bound));
        let times = format!("about {} of {}", approx::time(search), approx::time(all));
        if search >= all {
            let text = format!("the run ends before the path MTU search does ({times})");
            return Some(Caveat::new("outside-range", text));
        }
        let is_timed = self.scenario.until.bytes.is_none();
        let ignored = if is_timed {
            let most = 100.0 * search / (all - search);
            format!("which the formula ignores, as it does the search: {most:.0}% too high or more")
        } else {
            "which the formula ignores: too high".to_owned()
        };
        let text = format!(
            "the path MTU search takes {times}, and after its timeouts the window grows without slow start, {ignored}"
        );
        let share = search / all;
        let code = if share > MUCH_OF_A_RUN { "outside-range" } else { "start-up" };
        (share > 0.02).then(|| Caveat::new(code, text))
    }
}
