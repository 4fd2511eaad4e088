//! What the closed form of a request flow leaves out, and how far it can be trusted.

use super::super::flow_path::room;
use super::transfer::Transfer;
use super::{MEASURED, RequestModel, Total};
use crate::engine::Caveat;
use crate::errors::ErrorModel;
use crate::scenario::FlowKind;
use crate::settings::CongestionName;
use crate::units::approx;

/// The segment loss up to which [`MEASURED`] holds.
const MEASURED_UP_TO: f64 = 0.05;
/// By how much requests took longer with BBR: 120 scenarios of up to 200 Mbit/s and 280 ms, replies up to 500 kB, no losses.
const BBR_LONGER: f64 = 1.8;
/// A cut reply that is more than this share of the whole ones is said.
const MUCH_OF_A_CUT_REPLY: f64 = 0.05;
/// Acknowledgements that hold a request back by more than this share of its time are said.
const MUCH_HELD_BACK: f64 = 0.02;
/// Less than one request: of none, a cut reply is all.
const SOME: f64 = 0.5;

impl RequestModel<'_> {
    /// Whether a kept connection's window is BBR's, which grows by what it measures.
    fn is_of_bbr(&self) -> bool {
        let segments = |way: &Transfer<'_>| {
            way.sender.congestion == CongestionName::Bbr && way.segments > way.first_window
        };
        !self.is_new()
            && self.scenario.runs_linux(self.flow)
            && (segments(&self.upload) || segments(&self.download))
    }

    /// What the estimate leaves out.
    pub(super) fn caveats(&self, total: &Total) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        let mut say = |holds: bool, code: &str, text: String| {
            if holds {
                caveats.push(Caveat::new(code, text));
            }
        };
        let (up, down) = (&self.upload, &self.download);
        let loss = up.loss.max(down.loss);
        let percent = approx::percent(loss);
        say(
            loss > MEASURED_UP_TO,
            "outside-range",
            format!(
                "at {percent} segment loss the mean request time is Cardwell's, compared with the simulator up to {} \
                 only; above that it may be several times too high",
                approx::percent(MEASURED_UP_TO)
            ),
        );
        let (low, high) = MEASURED[usize::from(self.is_new())];
        let windows = if self.is_new() {
            ""
        } else {
            "; it starts each reply with the window that earlier replies would leave without losses"
        };
        // A loss cuts a window that later replies would use: alone, a segment has no need of one.
        let is_far_off = !self.is_new() && down.segments.max(up.segments) > 1.0;
        say(
            loss > 0.0 && loss <= MEASURED_UP_TO,
            if is_far_off { "outside-range" } else { "accuracy" },
            format!(
                "at {percent} segment loss the mean request time is Cardwell's, which assumes independent losses and \
                 ignores limited transmit and timeouts after a loss among the last three segments{windows}: \
                 {low:.2} to {high:.2} times the time in the simulator at an RTT of 80 ms with replies up to 500 kB"
            ),
        );
        say(
            total.pauses_near_timeout,
            "outside-range",
            "pauses are about as long as the timeout, which decides whether a window begins small again (RFC 5681 §4.1; \
             Linux: tcp_slow_start_after_idle): requests may take some round trips more, or fewer"
                .to_owned(),
        );
        say(
            self.is_of_bbr(),
            "outside-range",
            format!(
                "BBR paces each transfer by the rate that it measured before, which the formula ignores: in the simulator \
                 requests of some windows took up to {BBR_LONGER} times as long"
            ),
        );
        say(
            up.flow_path.host_pace() > 0.0,
            "hosts",
            "each packet takes its time at both hosts; the formula ignores data and ACKs that wait for each other \
             at a host, unless the receiving host paces the data"
                .to_owned(),
        );
        let models = || up.flow_path.models().chain(down.flow_path.models());
        say(
            models().any(|model| matches!(model, ErrorModel::GilbertElliott(_))),
            "outside-range",
            "losses come in bursts; Cardwell's formula assumes independent losses".to_owned(),
        );
        say(
            up.flow_path.changes_over_time() || down.flow_path.changes_over_time(),
            "schedule",
            "the error rate changes over time; the formulas use its mean".to_owned(),
        );
        for (transfer, queued) in [(up, total.queued.0), (down, total.queued.1)] {
            let holds = room(transfer.flow_path.bottleneck(transfer.full).link, transfer.full);
            // Each segment that is acknowledged releases two at most.
            let outpaces = transfer.ack_each < 2.0 * transfer.each;
            say(
                queued > holds && outpaces,
                "self-induced-loss",
                format!(
                    "slow start queues up to {} packets before the slowest link, which holds {}: the formula ignores \
                     the losses of that overflow",
                    approx::digits(queued),
                    approx::digits(holds)
                ),
            );
        }
        say(
            self.scenario.flows.iter().any(|flow| flow.kind == FlowKind::Bulk),
            "shared",
            "requests wait in the queues of the bulk flows; the formula ignores losses there"
                .to_owned(),
        );
        caveats.extend(self.ack_path_caveat(total));
        caveats.extend(self.cut_reply_caveat(total));
        caveats
    }

    /// What acknowledgements cost that come back more slowly than the data goes (RFC 3449 §3.1).
    fn ack_path_caveat(&self, total: &Total) -> Option<Caveat> {
        let ways = [(&self.upload, "requests"), (&self.download, "replies")];
        let (way, data) =
            ways.into_iter().max_by(|a, b| a.0.held_back().total_cmp(&b.0.held_back()))?;
        let share = way.held_back() / total.last.sum();
        (share > MUCH_HELD_BACK).then(|| {
            let text = format!(
                "acknowledgements come back more slowly than {data} go: they release {} at most, which the formula ignores: requests may \
                 take {:.1} times as long, or longer",
                approx::rate(8.0 * way.mss.get() as f64 / way.ack_each),
                1.0 + share
            );
            Caveat::new("outside-range", text)
        })
    }

    /// What the simulator counts of the reply that the end of the run cuts.
    fn cut_reply_caveat(&self, total: &Total) -> Option<Caveat> {
        let (start, plan) = (self.flow.start.as_secs_f64(), self.plan);
        let next = if total.requests > 0.0 {
            start + total.active + plan.pause.as_secs_f64()
        } else {
            start
        };
        let left = self.scenario.until.time.as_secs_f64() - next;
        let asks_again = plan.count.is_none_or(|count| total.requests < count as f64)
            && next < self.flow.stop.as_secs_f64();
        // One segment comes whole or not at all.
        if total.never_ends() || !asks_again || left <= 0.0 || self.download.segments <= 1.0 {
            return None;
        }
        let share = (left / total.last.sum()).min(1.0) / total.requests.max(SOME);
        (share > MUCH_OF_A_CUT_REPLY).then(|| {
            let text = if total.requests < 1.0 {
                "the run ends before a reply is whole, and the formula counts whole replies only: goodput is too low".to_owned()
            } else {
                format!(
                    "the end of the run cuts a reply, and the formula counts whole ones only: goodput is up to {:.0}% too low",
                    100.0 * share / (1.0 + share)
                )
            };
            Caveat::new("whole-replies", text)
        })
    }
}
