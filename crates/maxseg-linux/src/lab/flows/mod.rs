//! Traffic: each flow of a scenario, sent and received by this program over the kernel's sockets.
//!
//! A flow's sockets are made inside its two hosts and used by threads of this process. The kernel gives TCP's counters
//! (`tcp_info`), the relay those of packets.

mod bulk;
mod cbr;
mod holding;
mod iperf3;
mod open;
mod ping;
mod request;
mod status;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use maxseg_core::scenario::{Flow, FlowKind, LabTraffic, Scenario};
use maxseg_core::units::Time;

pub(crate) use cbr::RECEIVE_BUFFER;
pub(crate) use holding::{acknowledged, in_flight};
pub(crate) use iperf3::version as iperf3_version;
pub(crate) use open::congestion_of;
pub(crate) use status::{FlowCounts, Status, TcpTotals};

use super::host::Host;
use crate::sys::Clock;

/// Scenario, hosts and clock of the flows.
#[derive(Debug)]
pub(crate) struct FlowContext<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) hosts: &'a [Host],
    pub(crate) clock: Clock,
    /// Set when the run ends.
    pub(crate) stop: &'a AtomicBool,
    /// Set when this program's flows end: with the run, or at its time limit, behind which it waits for another program's report.
    pub(crate) stop_own: &'a AtomicBool,
}

impl FlowContext<'_> {
    fn is_over(&self) -> bool {
        self.stop_own.load(Ordering::Relaxed)
    }

    /// Sleeps until `then`, or until the run ends. Gives whether the run goes on.
    fn wait_until(&self, then: Time) -> bool {
        /// Longest time until a thread notices the end of the run.
        const STOP_LATENCY: Time = Time::from_millis(50);
        while !self.is_over() {
            // Not by comparing times: the clock shows zero before the beginning too.
            if self.clock.until(then).is_zero() {
                return true;
            }
            self.clock.sleep_until(then.min(self.clock.now() + STOP_LATENCY));
        }
        false
    }
}

/// A flow whose sockets are open and which has not begun.
pub(crate) enum PreparedFlow<'a> {
    Bulk(bulk::Bulk<'a>),
    Iperf3(iperf3::Iperf3<'a>),
    Request(request::RequestFlow<'a>),
    Cbr(cbr::CbrFlow<'a>),
    Ping(ping::PingFlow<'a>),
}

impl<'a> PreparedFlow<'a> {
    /// Opens the sockets of flow `index`.
    ///
    /// # Errors
    /// The kernel refuses a socket, or one of its options.
    pub(crate) fn new(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
    ) -> io::Result<Self> {
        Ok(match flow.kind {
            FlowKind::Bulk if context.scenario.lab.traffic == LabTraffic::Iperf3 => {
                Self::Iperf3(iperf3::Iperf3::prepare(context, index, flow)?)
            }
            FlowKind::Bulk => Self::Bulk(bulk::Bulk::prepare(context, index, flow)?),
            FlowKind::Request(plan) => {
                Self::Request(request::RequestFlow::prepare(context, index, flow, plan)?)
            }
            FlowKind::Cbr { .. } => Self::Cbr(cbr::CbrFlow::prepare(context, index, flow)?),
            FlowKind::Ping { .. } => Self::Ping(ping::PingFlow::prepare(context, index, flow)?),
        })
    }

    /// Runs the flow until the run ends, on threads of `scope`.
    pub(crate) fn start<'scope>(
        self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        status: &'scope Status,
    ) where
        'a: 'scope,
    {
        match self {
            Self::Bulk(flow) => flow.start(scope, status),
            Self::Iperf3(flow) => flow.start(scope, status),
            Self::Request(flow) => flow.start(scope, status),
            Self::Cbr(flow) => flow.start(scope, status),
            Self::Ping(flow) => flow.start(scope, status),
        }
    }
}

/// Whether another program runs the flow; the run then waits for its report.
pub(crate) fn is_foreign(scenario: &Scenario, flow: &Flow) -> bool {
    flow.kind == FlowKind::Bulk && scenario.lab.traffic == LabTraffic::Iperf3
}
