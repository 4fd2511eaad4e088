//! Requests and replies in closed form: the handshake where each opens a connection, the request on its
//! way, the server's time, and the reply in slow start from the window that its connection has.
//!
//! Without losses rounds are whole and packets take their time (`SlowStart`); what losses add is what
//! they add to a short transfer by Cardwell, Savage and Anderson ([`Cardwell`]).

mod caveats;
mod transfer;

use super::cardwell::Cardwell;
use super::shares::{Crossing, MUCH_OF_REQUESTS, Shares};
use super::slow_start::Course;
use super::{Estimate, Formula, whole};
use crate::engine::Caveat;
use crate::framing::Headers;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{ConnectionUse, Flow, FlowKind, RequestPlan, Scenario};
use crate::tcp::Config;
use crate::units::approx;
use transfer::{Parts, Transfer};

/// The closed form for one request flow whose packets wait `queues` seconds in a round trip for what
/// others leave standing in queues.
pub(super) fn estimate(
    scenario: &Scenario,
    flow: &Flow,
    plan: &RequestPlan,
    queues: f64,
) -> Estimate {
    let requests = RequestModel {
        scenario,
        flow,
        plan,
        queues,
        upload: Transfer::new(scenario, flow, plan.request),
        download: Transfer::new(scenario, &flow.reversed(), plan.reply),
    };
    let total = requests.total();
    Estimate { outcome: requests.outcome(&total), caveats: requests.caveats(&total) }
}

/// Request flows with each other and with datagrams: what they take of the links where they fit, and less of each where they do not.
pub(super) fn side_by_side(
    scenario: &Scenario,
    estimates: Vec<(usize, Estimate)>,
) -> (Shares<'_>, Vec<Estimate>) {
    let outcomes = |estimates: &[(usize, Estimate)]| -> Vec<(usize, Outcome)> {
        estimates.iter().map(|(index, it)| (*index, it.outcome.clone())).collect()
    };
    let asked = Shares::new(scenario).beside_requests(&outcomes(&estimates));
    let squeezed: Vec<(usize, Estimate)> = estimates
        .into_iter()
        .map(|(index, estimate)| (index, squeeze(&scenario.flows[index], estimate, &asked)))
        .collect();
    let shares = Shares::new(scenario).beside_requests(&outcomes(&squeezed));
    (shares, squeezed.into_iter().map(|(_, estimate)| estimate).collect())
}

/// One of several flows that together ask for more than their links carry gets as much less, and its requests take as much longer.
fn squeeze(flow: &Flow, estimate: Estimate, asked: &Shares<'_>) -> Estimate {
    let Estimate { mut outcome, mut caveats } = estimate;
    let own = asked.own_requests(flow, &outcome);
    let at_start = |link| asked.datagrams(link, flow.start);
    let links = [*flow, flow.reversed()].into_iter().flat_map(|way| Crossing::all(&way));
    let (mut fits, mut others) = (1.0_f64, 0.0_f64);
    for link in links {
        let all = asked.of_requests(link);
        let own: f64 = own.iter().filter(|(at, _)| *at == link).map(|(_, load)| load).sum();
        others = others.max(all - own + at_start(link));
        if all > 0.0 {
            fits = fits.min((1.0 - at_start(link)).max(0.0) / all);
        }
    }
    if others >= MUCH_OF_REQUESTS {
        let text = format!(
            "other requests and datagrams take up to {} of a link: the formula ignores how long requests wait for them",
            approx::percent(others.min(1.0))
        );
        caveats.push(Caveat::new("outside-range", text));
    }
    // A flow alone has waited for itself.
    if fits < 1.0 && others > 0.0 {
        let FlowKind::Request(plan) = flow.kind else { return Estimate { outcome, caveats } };
        let less = |number: Option<u64>| number.map(|number| whole(fits * number as f64));
        outcome.requests = less(outcome.requests);
        outcome.payload_bytes = less(outcome.payload_bytes);
        outcome.goodput_bps = outcome.goodput_bps.map(|goodput| fits * goodput);
        let pause = plan.pause.as_secs_f64();
        outcome.request_mean_s =
            outcome.request_mean_s.filter(|_| fits > 0.0).map(|mean| (mean + pause) / fits - pause);
        outcome.limited_by = Some(LimitedBy::Bandwidth);
    }
    Estimate { outcome, caveats }
}

/// The closed form of one request flow: a transfer each way.
struct RequestModel<'a> {
    scenario: &'a Scenario,
    flow: &'a Flow,
    plan: &'a RequestPlan,
    queues: f64,
    upload: Transfer<'a>,
    download: Transfer<'a>,
}

/// What the formula's mean was of the simulator's, at least and at most: on a kept connection, and where
/// each request opens a new one. 100 Mbit/s, 80 ms, stack `rfc`, losses of 0.1% to 5% each way, replies up to
/// 500 kB.
pub const MEASURED: [(f64, f64); 2] = [(0.27, 1.07), (0.84, 1.65)];

/// After so many requests a window that still grows hardly does.
const MOST_WINDOWS: f64 = 10_000.0;

/// All requests of a run.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    requests: f64,
    /// Their time, in all and where it goes in the last of them.
    time: f64,
    last: Parts,
    /// From the flow's start to the last reply.
    active: f64,
    /// The most packets that wait before the slowest link, there and back.
    queued: (f64, f64),
    /// A pause is about as long as the timeout that would make a window small again.
    pauses_near_timeout: bool,
}

impl Total {
    /// Whether repeats take for ever, on average: where half of the handshakes' packets are lost, or all segments.
    fn never_ends(&self) -> bool {
        !(self.active + self.last.sum()).is_finite()
    }
}

impl RequestModel<'_> {
    fn is_new(&self) -> bool {
        self.plan.connection == ConnectionUse::New
    }

    /// SYN and SYN-ACK, each repeated after its timeout until both have come.
    fn handshake(&self) -> Parts {
        let (config, _) = Config::both_ways(self.scenario, self.flow);
        let header = Headers::plain(self.scenario.ip);
        let [syn, syn_ack] =
            [&config.sender, &config.receiver].map(|host| header.packet(config.syn_options(host)));
        let (there, back) = (&self.upload.flow_path, &self.download.flow_path);
        let repeated = |loss: f64| {
            let timeout = self.upload.sender.rto.initial.as_secs_f64();
            let half = Cardwell { loss, ..self.alone(timeout) };
            0.5 * (half.latency().handshake - half.rtt)
        };
        Parts {
            on_the_way: there.train(syn, 1.0, syn)
                + back.train(syn_ack, 1.0, syn_ack)
                + self.queues,
            losses: repeated(there.loss(syn).get()) + repeated(back.loss(syn_ack).get()),
            ..Parts::default()
        }
    }

    /// A packet alone, for the handshake's share of the formula.
    fn alone(&self, syn_timeout: f64) -> Cardwell {
        Cardwell {
            segments: 1.0,
            loss: 0.0,
            rtt: self.upload.round_trip() + self.queues,
            first_timeout: syn_timeout,
            initial_window: 1.0,
            per_ack: 1.0,
            largest_window: 1.0,
            syn_timeout,
            delayed_ack: 0.0,
        }
    }

    /// One request with these windows, and how its two ways went.
    fn one(&self, windows: (f64, f64), is_first: bool) -> (Parts, (Course, Course)) {
        let (upload, download) = (&self.upload, &self.download);
        let (ack_there, ack_back) = (
            upload.flow_path.train(upload.ack, 1.0, upload.ack),
            download.flow_path.train(download.ack, 1.0, download.ack),
        );
        let (asked, up) = upload.clean(windows.0, ack_back + self.queues);
        let (answered, down) = download.clean(windows.1, ack_there + self.queues);
        let is_new = self.is_new();
        let rtt_of = |transfer: &Transfer<'_>| transfer.round_trip() + self.queues;
        let lost = upload.added_by_losses(windows.0, rtt_of(upload), is_new)
            + download.added_by_losses(windows.1, rtt_of(download), is_new);
        let opening = if is_new { self.handshake() } else { Parts::default() };
        // The last packet of the handshake goes before the first request.
        let handshake_ack = if (is_new || is_first) && upload.sender.handshake_ack {
            let first = upload.full;
            upload.flow_path.train(upload.ack, 2.0, first)
                - upload.flow_path.train(first, 1.0, first)
        } else {
            0.0
        };
        let parts = Parts {
            on_the_way: opening.on_the_way
                + handshake_ack
                + up.on_the_way
                + down.on_the_way
                + self.queues,
            think: self.plan.think.as_secs_f64(),
            rounds: up.rounds + down.rounds,
            in_line: up.in_line + down.in_line,
            losses: opening.losses + lost,
        };
        (parts, (asked, answered))
    }

    /// One after the other, until a window grows no more; then all that are left alike.
    fn total(&self) -> Total {
        let mut windows = (self.upload.first_window, self.download.first_window);
        let start = self.flow.start.as_secs_f64();
        let opening = if self.is_new() { 0.0 } else { self.handshake().sum() };
        let limit = self.plan.count.map_or(f64::INFINITY, |count| count as f64);
        let until = self.scenario.until.time.as_secs_f64() - start;
        let stop = self.flow.stop.as_secs_f64() - start;
        let pause = self.plan.pause.as_secs_f64();
        let (mut requests, mut time, mut at) = (0.0, 0.0, opening);
        let mut rounds = (0.0, 0.0);
        let mut total = Total { active: opening, ..Total::default() };
        loop {
            let (parts, (asked, answered)) = self.one(windows, requests < 1.0);
            let each = parts.sum();
            let grown = if self.is_new() {
                windows
            } else {
                let (up, down) = (&self.upload, &self.download);
                rounds.0 += up.rounds_of(&asked);
                rounds.1 += down.rounds_of(&answered);
                let up = up.pause_after(&asked, each + pause, rounds.0);
                let down = down.pause_after(&answered, each + pause, rounds.1);
                total.pauses_near_timeout |= up.is_near_timeout || down.is_near_timeout;
                (up.window, down.window)
            };
            total.last = parts;
            total.queued.0 = asked.queued.max(total.queued.0);
            total.queued.1 = answered.queued.max(total.queued.1);
            let is_same = grown == windows && (requests > 0.0 || self.is_new());
            let is_steady = is_same || requests >= MOST_WINDOWS;
            let more = if !(at + each).is_finite() {
                0.0
            } else if is_steady {
                // The last begins before the stop and is over before the end.
                let fit = libm::floor((until - at - each) / (each + pause)) + 1.0;
                let begin = libm::ceil((stop - at) / (each + pause));
                fit.min(begin).min(limit - requests).max(0.0)
            } else if at + each <= until && (requests < 1.0 || at < stop) && requests < limit {
                1.0
            } else {
                0.0
            };
            requests += more;
            time += more * each;
            if more > 0.0 {
                at += more * (each + pause);
                total.active = at - pause;
            }
            if is_steady || more < 1.0 {
                return Total { requests, time, ..total };
            }
            windows = grown;
        }
    }

    fn outcome(&self, total: &Total) -> Outcome {
        let ends = self.plan.count.is_some_and(|count| total.requests >= count as f64)
            && self.scenario.flows_that_end().is_some();
        let elapsed = if ends {
            self.flow.start.as_secs_f64() + total.active
        } else {
            self.scenario.until.time.as_secs_f64()
        };
        let payload = total.requests * self.plan.reply.get() as f64;
        let (up, down) = (&self.upload, &self.download);
        let segments = up.segments + down.segments;
        // The server knows its segment size when a SYN has come.
        let is_heard = up.flow_path.loss(up.ack).get() < 1.0;
        let formula =
            if up.loss.max(down.loss) >= 1.0 { Formula::NothingArrives } else { Formula::Cardwell };
        Outcome {
            goodput_bps: Some(8.0 * payload / elapsed),
            elapsed_s: Some(elapsed),
            payload_bytes: Some(whole(payload)),
            segment_loss: Some((up.segments * up.loss + down.segments * down.loss) / segments),
            rtt_min_s: Some(down.round_trip()),
            requests: Some(whole(total.requests)),
            request_mean_s: (total.requests > 0.0).then(|| total.time / total.requests),
            mss_used_bytes: is_heard.then(|| down.mss.get()),
            limited_by: Some(if total.never_ends() {
                LimitedBy::Rto
            } else {
                self.limited_by(&total.last)
            }),
            formula: Some(formula.name().to_owned()),
            ..Outcome::default()
        }
    }

    /// The part that takes most of the time from one request to the next.
    fn limited_by(&self, parts: &Parts) -> LimitedBy {
        let idle = parts.think + self.plan.pause.as_secs_f64() + parts.on_the_way;
        let shares = [
            (idle, LimitedBy::Application),
            (parts.rounds, LimitedBy::StartUp),
            (parts.in_line, self.limit_in_line()),
            (parts.losses, LimitedBy::Rto),
        ];
        let most = shares.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or(LimitedBy::Unknown, |(_, limit)| limit)
    }

    /// Whether packets of the larger transfer follow each other at the pace of a host or of a link.
    fn limit_in_line(&self) -> LimitedBy {
        let (up, down) = (&self.upload, &self.download);
        let larger = if up.segments > down.segments { up } else { down };
        if larger.flow_path.host_pace() > larger.flow_path.bottleneck(larger.full).seconds {
            LimitedBy::Host
        } else {
            LimitedBy::Bandwidth
        }
    }
}
