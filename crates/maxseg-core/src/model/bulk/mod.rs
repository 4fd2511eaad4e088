//! A bulk transfer in closed form: the least of what the window, the links and losses allow.

mod bounds;
mod buffers;
pub(in crate::model) mod bursts;
mod caveats;
mod opening;
mod queues;
mod response;

use buffers::Flight;
use response::Response;

use super::ack_path::payload_limit;
use super::flow_path::{FlowPath, Slowest};
use super::host::SlowerHost;
use super::pftk::Pftk;
use super::shares::{Crossing, Shares};
use super::{Estimate, Formula, bbr, whole};
use crate::engine::Caveat;
use crate::framing::{Headers, IpPacket};
use crate::outcome::{LimitedBy, NEARLY_FULL, Outcome};
use crate::scenario::{Flow, Scenario};
use crate::settings::{CongestionName, RtoRule, RtoSettings, Settings};
use crate::units::{Bytes, Time};
use crate::window::rate_per_round_trip;

/// A queue of fewer packets than an initial window overflows with every burst.
const SMALL_QUEUE: f64 = 10.0;

/// After so many steps a transfer's time and what it meets meanwhile agree, or never do.
const MOST_STEPS: usize = 20;
/// Ends that differ by this share of them are the same.
const SAME_END: f64 = 0.01;

/// A link that datagrams fill has a path all the same.
const LEAST_SHARE: f64 = 1e-6;

/// The closed form for one bulk flow that shares its links.
pub(super) fn estimate(scenario: &Scenario, flow: &Flow, shares: &Shares<'_>) -> Estimate {
    let (transfer, agrees) = Transfer::up_to_its_end(scenario, flow, shares);
    let bound = transfer.bound();
    let mut caveats = transfer.caveats(&bound);
    caveats.extend(transfer.start_up_caveat(&bound));
    caveats.extend(transfer.sharing_caveats(shares));
    if !agrees {
        let text = "how long the transfer takes depends on what changes meanwhile: no time agrees with the mean over it";
        caveats.push(Caveat::new("outside-range", text));
    }
    Estimate { outcome: transfer.outcome(&bound), caveats }
}

/// What the formulas need to know, in SI units.
struct Transfer<'a> {
    scenario: &'a Scenario,
    flow: &'a Flow,
    sender: &'a Settings,
    flow_path: FlowPath<'a>,
    mss: f64,
    packet: IpPacket,
    /// Round trip with nothing queued, the wait for a delayed acknowledgement included where the window
    /// is too small to end it.
    rtt: f64,
    loss: f64,
    ack_loss: f64,
    /// What windows and buffers let it have in flight, in bytes, whole segments; the least of these for each round trip.
    flight: Flight,
    window: f64,
    /// Payload rate of the slowest link, and that which acknowledgements' slowest link allows, in bits
    /// per second.
    link_bps: f64,
    ack_path_bps: f64,
    /// As fast as the receiving application reads; infinite for at once.
    read_bps: f64,
    slower_host: SlowerHost,
    bottleneck: Slowest<'a>,
    /// The slowest link of acknowledgements.
    bottleneck_back: Slowest<'a>,
    ack: IpPacket,
    /// Segments per acknowledgement, and how long the receiver waits for the last of them, in seconds.
    per_ack: f64,
    ack_timeout: f64,
    /// Whether both ends repair losses by SACK.
    has_sack: bool,
    /// Up to which what changes over time has its mean here.
    until: Time,
}

/// The bound on the throughput of a transfer, and the limit behind it.
struct ThroughputBound {
    goodput_bps: f64,
    limited_by: LimitedBy,
    formula: Formula,
    /// Mean time in the queue of the slowest link.
    queue: f64,
    /// Mean time of acknowledgements in the queue of theirs, or of packets at a host that has no time for
    /// them yet.
    queue_elsewhere: f64,
}

impl ThroughputBound {
    /// Nothing waits in a queue.
    const fn new(goodput_bps: f64, limited_by: LimitedBy, formula: Formula) -> Self {
        Self { goodput_bps, limited_by, formula, queue: 0.0, queue_elsewhere: 0.0 }
    }
}

impl<'a> Transfer<'a> {
    /// With the mean of what changes from its start to its own end, and whether such an end was found.
    fn up_to_its_end(scenario: &'a Scenario, flow: &'a Flow, shares: &Shares<'_>) -> (Self, bool) {
        let mut until = scenario.until.time;
        let mut transfer = Self::new(scenario, flow, shares, until);
        if scenario.until.bytes.is_none() {
            return (transfer, true);
        }
        for _ in 0..MOST_STEPS {
            let active = Time::from_secs_f64(transfer.active(&transfer.bound()));
            let end = flow.start.saturating_add(active).min(scenario.until.time);
            if (end.as_secs_f64() - until.as_secs_f64()).abs() <= SAME_END * end.as_secs_f64() {
                return (transfer, true);
            }
            until = end;
            transfer = Self::new(scenario, flow, shares, until);
        }
        (transfer, false)
    }

    /// With the mean of what changes up to `until`.
    fn new(scenario: &'a Scenario, flow: &'a Flow, shares: &Shares<'_>, until: Time) -> Self {
        let (sender, receiver) = scenario.endpoints(flow);
        let flow_path = FlowPath::of(scenario, flow).up_to(until);
        let decision = scenario.mss(flow);
        // All that is sent may be less than a segment holds.
        let largest = decision.effective.bytes();
        let mss = scenario.until.bytes.map_or(largest, |all| largest.min(all));
        let headers = Headers { ip: scenario.ip, tcp_options: decision.options };
        let (packet, ack) = (headers.packet(mss), headers.packet(Bytes::ZERO));
        let (links, back) = (Crossing::all(flow), Crossing::all(&flow.reversed()));
        let bottleneck =
            flow_path.bottleneck_of(packet, |index| shares.of_bulk(flow, links[index], until));
        let flight = Flight::of(scenario, flow, decision.unbound.bytes());
        let mss = mss.get() as f64;
        let flight = flight.whole_segments(mss);
        let window = flight.each_trip;
        let segments = (window / mss).max(1.0);
        let mut rtt = flow_path.round_trip(packet, ack).as_secs_f64();
        let (mut per_ack, mut ack_timeout) = (1.0, 0.0);
        if let Some(rule) = receiver.delayed_ack {
            per_ack = f64::from(rule.every).min(segments);
            ack_timeout = rule.timeout.as_secs_f64();
            if segments < f64::from(rule.every) {
                rtt += ack_timeout;
            }
        }
        let bottleneck_back =
            flow_path.bottleneck_back_of(ack, |index| shares.of_bulk(flow, back[index], until));
        Self {
            scenario,
            flow,
            sender,
            mss,
            packet,
            rtt,
            loss: flow_path.loss(packet).get(),
            ack_loss: flow_path.loss_back(ack).get(),
            flight,
            window,
            link_bps: bottleneck.share * 8.0 * mss / bottleneck.seconds,
            ack_path_bps: bottleneck_back.share
                * payload_limit(bottleneck_back.seconds, per_ack, 8.0 * mss),
            until,
            read_bps: receiver.read_rate.map_or(f64::INFINITY, |rate| rate.get() as f64),
            slower_host: SlowerHost::of(scenario, flow, 8.0 * mss, per_ack),
            bottleneck,
            bottleneck_back,
            ack,
            per_ack,
            ack_timeout,
            has_sack: sender.sack && receiver.sack,
            flow_path,
        }
    }

    fn pftk(&self) -> Pftk {
        Pftk {
            loss: self.loss,
            rtt: self.rtt,
            first_timeout: first_timeout(&self.sender.rto, self.rtt),
            per_ack: self.growth_per_ack(),
            largest_window: self.largest_window(),
        }
    }

    /// The largest window in segments.
    fn largest_window(&self) -> f64 {
        (self.window / self.mss).max(1.0)
    }

    /// Segments for which the window grows as for one: those of an acknowledgement (RFC 5681 §3.1), but for Linux, which counts
    /// what is acknowledged (`tcp_slow_start`, `tcp_cong_avoid_ai` and `bictcp_update` take `acked`).
    fn growth_per_ack(&self) -> f64 {
        match self.sender.congestion {
            CongestionName::Cubic | CongestionName::Bbr => 1.0,
            CongestionName::Reno if self.sender.linux.is_some() => 1.0,
            CongestionName::Reno | CongestionName::Ns2Reno => self.per_ack,
        }
    }

    fn response(&self) -> Response {
        Response::of(self.sender, self.has_sack, self.pftk())
    }

    /// The least of all bounds. The window's comes first: it holds where several are equal.
    fn bound(&self) -> ThroughputBound {
        if self.loss >= 1.0 {
            return ThroughputBound::new(0.0, LimitedBy::Rto, Formula::NothingArrives);
        }
        let bounds = [
            (rate_per_round_trip(self.window, self.cycle()), self.flight.limit, Formula::Window),
            (self.read_bps, LimitedBy::ReceiveWindow, Formula::Reader),
            (self.ack_path_bps, LimitedBy::Bandwidth, Formula::AckPath),
            (self.slower_host.payload_bps, LimitedBy::Host, Formula::Host),
            self.link_bound(),
        ];
        let by = |(goodput_bps, limited_by, formula)| {
            ThroughputBound::new(goodput_bps, limited_by, formula)
        };
        let least = bounds.into_iter().fold(by(bounds[0]), |least, bound| {
            if bound.0 < least.goodput_bps { by(bound) } else { least }
        });
        if self.loss > 0.0 {
            let by_loss = self.loss_bound();
            if by_loss.goodput_bps < least.goodput_bps {
                return by_loss;
            }
        }
        let queue = match least.formula {
            _ if self.bottleneck.is_policed => 0.0,
            Formula::Link => self.standing_queue(),
            Formula::SawTooth => self.saw_tooth().queue_delay() * self.rtt,
            Formula::Bbr => {
                let tooth = self.saw_tooth();
                bbr::queue_delay(tooth.path, tooth.queue) * self.rtt
            }
            Formula::Window
            | Formula::Reader
            | Formula::AckPath
            | Formula::Host
            | Formula::PftkFull
            | Formula::SquareRoot
            | Formula::Cubic
            | Formula::NothingArrives
            | Formula::Cardwell
            | Formula::Datagrams => 0.0,
        };
        let queue_elsewhere = match least.formula {
            // BBR keeps two windows of the path in flight at most (`bbr_cwnd_gain`).
            Formula::AckPath if self.sender.congestion == CongestionName::Bbr => {
                self.standing_acks().min(self.rtt)
            }
            Formula::AckPath => self.standing_acks(),
            // Nothing is dropped there: all of the window that the path does not hold waits.
            Formula::Host => (8.0 * self.flight.mean / least.goodput_bps - self.rtt).max(0.0),
            Formula::Window
            | Formula::Reader
            | Formula::Link
            | Formula::SawTooth
            | Formula::PftkFull
            | Formula::SquareRoot
            | Formula::Cubic
            | Formula::Bbr
            | Formula::NothingArrives
            | Formula::Cardwell
            | Formula::Datagrams => 0.0,
        };
        let queue = self.queue_under_loss(queue).unwrap_or(queue);
        let queue = queue.min(self.queue_of_all());
        ThroughputBound { queue, queue_elsewhere, ..least }
    }

    /// From one window to the next: an acknowledgement of several segments waits until the last of them is
    /// through the slowest link, or the slower host, but no longer than for its timer.
    fn cycle(&self) -> f64 {
        let apart = self.bottleneck.seconds.max(self.slower_host.packet_cost);
        self.rtt + ((self.per_ack - 1.0) * apart).min(self.ack_timeout)
    }

    /// The slowest link's bound, less losses: all of it, or what a saw-tooth uses where the queue overflows: where
    /// losses are rare, the window still grows until the queue is full.
    fn link_bound(&self) -> (f64, LimitedBy, Formula) {
        if self.sender.congestion == CongestionName::Bbr {
            return (bbr::goodput(self.link_bps, self.loss), LimitedBy::Bandwidth, Formula::Bbr);
        }
        let arriving = (1.0 - self.loss) * self.link_bps;
        if self.overflows_queue() {
            let used = self.saw_tooth().utilisation();
            let is_full = used >= NEARLY_FULL;
            let limit = if is_full { LimitedBy::Bandwidth } else { LimitedBy::Congestion };
            return (used * arriving, limit, Formula::SawTooth);
        }
        (arriving, LimitedBy::Bandwidth, Formula::Link)
    }

    fn loss_bound(&self) -> ThroughputBound {
        let responded = self.response().at(self.loss, self.rtt, self.largest_window());
        let limited_by = if responded.in_timeouts > 0.5 {
            LimitedBy::Rto
        } else if responded.is_window_limited {
            self.flight.limit
        } else {
            LimitedBy::Congestion
        };
        ThroughputBound::new(8.0 * self.mss * responded.rate, limited_by, responded.formula)
    }

    /// Seconds from the flow's start to its end.
    fn active(&self, bound: &ThroughputBound) -> f64 {
        let until = &self.scenario.until;
        let longest = until.time.since(self.flow.start).as_secs_f64();
        match until.bytes {
            Some(bytes) => longest.min(self.transfer_seconds(bytes, bound)),
            None => longest,
        }
    }

    /// The share of segments that is lost, where a queue loses none: what it refuses no formula counts.
    fn known_loss(&self, bound: &ThroughputBound) -> Option<f64> {
        let is_by_loss = match bound.formula {
            Formula::PftkFull | Formula::SquareRoot | Formula::Cubic | Formula::NothingArrives => {
                true
            }
            Formula::Window
            | Formula::Reader
            | Formula::Link
            | Formula::SawTooth
            | Formula::AckPath
            | Formula::Host
            | Formula::Bbr
            | Formula::Cardwell
            | Formula::Datagrams => false,
        };
        let is_refused = self.queue_refuses()
            || self.bursts_overflow(bound)
            || self.late_fill_of(bound).is_some();
        (is_by_loss || !is_refused).then_some(self.loss)
    }

    /// What a segment holds, where there is as much to send.
    fn mss_used(&self) -> Bytes {
        self.scenario.mss(self.flow).effective.bytes()
    }

    /// Whether anything that is sent both ways arrives, a SYN and its answer to begin with.
    fn is_answered(&self) -> bool {
        self.flow_path.loss(self.ack).get() < 1.0 && self.ack_loss < 1.0
    }

    fn outcome(&self, bound: &ThroughputBound) -> Outcome {
        let active = self.active(bound);
        let elapsed = match self.scenario.until.bytes {
            Some(_) => self.flow.start.as_secs_f64() + active,
            None => self.scenario.until.time.as_secs_f64(),
        };
        let is_timed = bound.formula != Formula::NothingArrives;
        let rtt = self.rtt + bound.queue + bound.queue_elsewhere;
        let at_bound = bound.goodput_bps * active / 8.0;
        let payload =
            self.scenario.until.bytes.map_or(at_bound, |all| at_bound.min(all.get() as f64));
        let goodput_bps = 8.0 * payload / elapsed;
        let is_opening = self.scenario.until.bytes.is_some() && 2.0 * payload < at_bound;
        let limited_by = if is_opening { LimitedBy::StartUp } else { bound.limited_by };
        Outcome {
            goodput_bps: Some(goodput_bps),
            elapsed_s: Some(elapsed),
            payload_bytes: Some(whole(payload)),
            segment_loss: self.known_loss(bound),
            rtt_min_s: is_timed.then_some(self.rtt),
            rtt_mean_s: is_timed.then_some(rtt),
            in_flight_mean_bytes: is_timed.then_some(goodput_bps * rtt / 8.0),
            queue_mean_s: Some(bound.queue),
            mss_used_bytes: self.is_answered().then(|| self.mss_used().get()),
            limited_by: Some(limited_by),
            formula: Some(bound.formula.name().to_owned()),
            ..Outcome::default()
        }
    }
}

/// T₀: the timer on a path whose round trip does not vary.
pub(super) fn first_timeout(rto: &RtoSettings, rtt: f64) -> f64 {
    let estimate = match rto.rule {
        RtoRule::Rfc6298 { granularity } => rtt + granularity.as_secs_f64(),
        // 4·RTTVAR stops decaying at three ticks, and a clock rounds up by half a tick on average.
        RtoRule::Ticks { tick, .. } => rtt + 3.5 * tick.as_secs_f64(),
        // The variation is at its least, and a timeout rounds up by half a jiffy on average.
        RtoRule::Linux { tick } => rtt + rto.min.as_secs_f64() + 0.5 * tick.as_secs_f64(),
    };
    estimate.clamp(rto.min.as_secs_f64(), rto.max.as_secs_f64())
}
