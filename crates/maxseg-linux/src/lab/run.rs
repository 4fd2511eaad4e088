//! One run: hosts, links, traffic and counters.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_core::engine::{Continue, Sample, Watch};
use maxseg_core::path::QueueLimit;
use maxseg_core::scenario::Scenario;
use maxseg_core::units::{Bytes, Time};
use maxseg_wire::tcp_info::TcpInfo;

use super::capture::Recording;
use super::error::LabError;
use super::flows::{
    FlowContext, FlowCounts, PreparedFlow, Status, acknowledged, in_flight, is_foreign,
};
use super::header_limits;
use super::kernel_links::{self, KernelReport};
use super::netem_bridge::NetemBridge;
use super::network::{Hops, Network};
use super::relay::Report;
use super::relays::Relays;
use crate::sys::{Clock, cpu_of_process};

/// The counters of a finished run.
#[derive(Debug)]
pub(super) struct RunRecord {
    /// When it ended, on its own clock.
    pub(super) elapsed: Time,
    /// The counters of each flow.
    pub(super) flows: Vec<FlowCounts>,
    /// The counters of the links.
    pub(super) links: LinkReports,
    /// How long links were busy when flows started behind others, by the time of that.
    pub(super) busy_before: Vec<(Time, LinksBusy)>,
    /// How long links were busy when this program's flows ended, where that was before the run did.
    pub(super) busy_at_limit: Option<(Time, LinksBusy)>,
    /// Packets that the kernel dropped at the hosts' interfaces and sockets.
    pub(super) kernel_drops: u64,
    /// Packets that the capture could not take, where there is one.
    pub(super) capture_drops: Option<u64>,
    /// CPU time of this process.
    pub(super) cpu: Time,
}

/// How long each hop's links were busy, towards the receiver and towards the sender.
pub(super) type LinksBusy = Vec<[Time; 2]>;

/// Towards the receiver and towards the sender, of each hop in the path's order.
#[derive(Debug)]
pub(super) enum LinkReports {
    /// The relay's: of every packet.
    Relay(Vec<[Report; 2]>),
    /// The kernel's: of qdiscs and interfaces.
    Kernel(Vec<[KernelReport; 2]>),
}

impl LinkReports {
    /// How long each link was busy.
    pub(super) fn busy(&self) -> LinksBusy {
        match self {
            Self::Relay(links) => {
                links.iter().map(|hop| hop.each_ref().map(|report| report.link.busy)).collect()
            }
            Self::Kernel(links) => {
                links.iter().map(|hop| hop.each_ref().map(|report| report.busy)).collect()
            }
        }
    }
}

impl RunRecord {
    /// The relay's reports; empty for kernel links.
    pub(super) fn relayed(&self) -> &[[Report; 2]] {
        match &self.links {
            LinkReports::Relay(links) => links,
            LinkReports::Kernel(_) => &[],
        }
    }
}

/// Everything is ready before a run's clock shows zero.
const BEFORE_START: Duration = Duration::from_millis(20);
/// How often a run is checked and its connections are sampled.
const CHECK_INTERVAL: Time = Time::from_millis(20);
const LEAST_CHECK_INTERVAL: Time = Time::from_millis(1);

/// How long another program may take to report its results.
const GRACE: Time = Time::from_secs(10);

/// Runs `scenario` between the hosts of `network`, and writes every packet to `capture`.
///
/// # Errors
/// The kernel refuses something, or `watch` put an end to it.
pub(super) fn run(
    scenario: &Scenario,
    network: &Network,
    watch: &mut dyn Watch,
    capture: Option<&mut (dyn Write + Send)>,
) -> Result<RunRecord, LabError> {
    let [stop, stop_own] = [const { AtomicBool::new(false) }; 2];
    let clock = Clock::start_in(BEFORE_START);
    let context =
        FlowContext { scenario, hosts: &network.hosts, clock, stop: &stop, stop_own: &stop_own };
    let flows = scenario.flows.iter().enumerate();
    let prepared = flows
        .map(|(flow, spec)| {
            PreparedFlow::new(&context, flow, spec).map_err(|error| LabError::Flow { flow, error })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let statuses: Vec<Status> =
        scenario.flows.iter().map(|flow| Status::of(scenario, flow)).collect();
    let drops_before = network.drops()?;
    let cpu_before = cpu_of_process();
    std::thread::scope(|scope| {
        let over = StopWhenDropped([&stop, &stop_own]);
        let mut recording = capture
            .map(|out| Recording::start(scope, scenario, clock, out))
            .transpose()
            .map_err(LabError::Capture)?;
        let record_queue =
            |hop, to| recording.as_ref().map(|recording| recording.record_queue(hop, to));
        let carrier = match &network.hops {
            Hops::Relay(pairs) => Carrier::Relay(Relays::start(
                scenario,
                pairs,
                clock,
                header_limits::of_run,
                record_queue,
            )?),
            Hops::Kernel(boxes) => Carrier::Kernel(boxes),
        };
        for (prepared, status) in prepared.into_iter().zip(&statuses) {
            prepared.start(scope, status);
        }
        let watched = watch_over(&context, &statuses, (&carrier, recording.as_mut()), watch);
        let elapsed = watched.as_ref().map_or_else(|_| clock.now(), |watched| watched.ended);
        let counted = statuses.iter().map(Status::counted).collect();
        drop(over);
        let links = carrier.stop(scenario, elapsed)?;
        let Watched { busy_before, at_limit, .. } = watched?;
        let (flows, busy_at_limit) = AtLimit::merge(at_limit, scenario, counted);
        let capture_drops =
            recording.map(Recording::finish).transpose().map_err(LabError::Capture)?;
        Ok(RunRecord {
            capture_drops,
            elapsed,
            flows,
            links,
            busy_before,
            busy_at_limit,
            kernel_drops: network.drops()?.saturating_sub(drops_before),
            cpu: cpu_of_process() - cpu_before,
        })
    })
}

/// Ends the flows' threads, however the run ends: the scope joins them.
struct StopWhenDropped<'a>([&'a AtomicBool; 2]);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }
}

/// What was seen while a run lasted.
struct Watched {
    /// Its end: where flows end by themselves, that of the last.
    ended: Time,
    busy_before: Vec<(Time, LinksBusy)>,
    at_limit: Option<AtLimit>,
}

/// What was counted at the time limit, behind which a run waits for another program's report.
struct AtLimit {
    at: Time,
    flows: Vec<FlowCounts>,
    busy: LinksBusy,
}

impl AtLimit {
    /// The counters of the flows, of this program's those at the limit; and how busy the links were then.
    fn merge(
        at_limit: Option<Self>,
        scenario: &Scenario,
        counted: Vec<FlowCounts>,
    ) -> (Vec<FlowCounts>, Option<(Time, LinksBusy)>) {
        let Some(Self { at, flows, busy }) = at_limit else { return (counted, None) };
        let pairs = scenario.flows.iter().zip(flows.into_iter().zip(counted));
        let counts = pairs.map(|(flow, (then, now))| {
            if is_foreign(scenario, flow) {
                return now;
            }
            FlowCounts { elapsed: Some(at), ..then }
        });
        (counts.collect(), Some((at, busy)))
    }
}

/// Checks relay, flows and capture until the run ends.
fn watch_over(
    context: &FlowContext<'_>,
    statuses: &[Status],
    (carrier, mut recording): (&Carrier<'_>, Option<&mut Recording<'_>>),
    watch: &mut dyn Watch,
) -> Result<Watched, LabError> {
    let scenario = context.scenario;
    let until = scenario.until.time;
    let waits = scenario.flows.iter().any(|flow| is_foreign(scenario, flow));
    let latest = if waits { until + GRACE + full_queues(scenario) } else { until };
    let every = watch.sample_every();
    let mut sample_at = every.map_or(Time::NEVER, |_| Time::ZERO);
    let mut starts = scenario.starts_behind_others();
    let (mut busy_before, mut at_limit) = (Vec::new(), None);
    loop {
        let now = context.clock.now();
        if now >= latest {
            return Ok(Watched { ended: now, busy_before, at_limit });
        }
        if waits && now >= until && at_limit.is_none() {
            let flows = statuses.iter().map(Status::counted).collect();
            at_limit = Some(AtLimit { at: now, flows, busy: carrier.busy(scenario, now)? });
            context.stop_own.store(true, Ordering::Relaxed);
        }
        if let Some(start) = starts.pop_if(|start| *start <= now) {
            busy_before.push((start, carrier.busy(scenario, now)?));
        }
        let mut ends: Vec<Option<Time>> = Vec::new();
        for (flow, status) in statuses.iter().enumerate() {
            let done = status.end().map_err(|error| LabError::Flow { flow, error })?;
            ends.extend(scenario.flows[flow].is_waited_for().then_some(done));
            let info = status.sample();
            if let Some(info) = info.filter(|_| now >= sample_at) {
                watch.on_sample(&sample(now, flow, &info));
            }
        }
        let ended: Option<Vec<Time>> = ends.into_iter().collect();
        if let Some(ended) = ended.and_then(|ends| ends.into_iter().max()) {
            return Ok(Watched { ended, busy_before, at_limit });
        }
        carrier.check()?;
        recording.as_deref_mut().map_or(Ok(()), Recording::check).map_err(LabError::Capture)?;
        if watch.on_progress(now, until) == Continue::Stop {
            return Err(LabError::Cancelled);
        }
        if let Some(every) = every.filter(|_| now >= sample_at) {
            sample_at = now + every;
        }
        let next = (now + CHECK_INTERVAL)
            .min(starts.last().copied().unwrap_or(Time::NEVER).max(now + LEAST_CHECK_INTERVAL))
            .min(until.max(now + LEAST_CHECK_INTERVAL))
            .min(sample_at.max(now + LEAST_CHECK_INTERVAL));
        context.clock.sleep_until(next);
    }
}

/// How long full queues take to drain: what another program sent last may stand behind them.
fn full_queues(scenario: &Scenario) -> Time {
    /// Longer than anybody waits.
    const MOST: Time = Time::from_secs(60);
    let links = scenario.path.hops.iter().map(|hop| &hop.forward);
    let drain = links.map(|link| match link.queue {
        QueueLimit::Bytes(bytes) => link.rate.time_for(bytes),
        QueueLimit::Packets(count) => link.airtime(link.mtu.bytes()).times(count.into()),
    });
    drain.fold(Time::ZERO, Time::saturating_add).min(MOST)
}

fn sample(at: Time, flow: usize, info: &TcpInfo) -> Sample {
    Sample {
        at,
        flow,
        cwnd: Bytes::new(u64::from(info.snd_cwnd) * u64::from(info.snd_mss)),
        window: Bytes::new(info.snd_wnd.unwrap_or(0).into()),
        in_flight: Bytes::new(in_flight(info)),
        srtt: (!info.rtt.is_zero()).then(|| info.rtt.into()),
        rto: info.rto.into(),
        queue: Time::ZERO,
        acknowledged: Bytes::new(acknowledged(info)),
    }
}

/// Who carries packets while a run lasts.
enum Carrier<'network> {
    Relay(Relays),
    /// Its links stand since their boxes were built.
    Kernel(&'network [NetemBridge]),
}

impl Carrier<'_> {
    /// Whether it still does.
    fn check(&self) -> Result<(), LabError> {
        match self {
            Self::Relay(relays) => relays.check(),
            Self::Kernel(_) => Ok(()),
        }
    }

    /// How long links were busy up to `now`.
    fn busy(&self, scenario: &Scenario, now: Time) -> Result<LinksBusy, LabError> {
        let reports = match self {
            Self::Relay(relays) => LinkReports::Relay(relays.reports()?),
            Self::Kernel(boxes) => {
                LinkReports::Kernel(kernel_links::reports(scenario, boxes, now)?)
            }
        };
        Ok(reports.busy())
    }

    /// Ends it after `elapsed`. Gives what each link did.
    fn stop(self, scenario: &Scenario, elapsed: Time) -> Result<LinkReports, LabError> {
        Ok(match self {
            Self::Relay(relays) => LinkReports::Relay(relays.stop()?),
            Self::Kernel(boxes) => {
                LinkReports::Kernel(kernel_links::reports(scenario, boxes, elapsed)?)
            }
        })
    }
}
