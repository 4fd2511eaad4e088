//! Flows of requests and replies.

use serde::Serialize;

use super::problem::{Problem, problem};
use super::spec::{ConnectionUse, FlowEntry};
use super::{Flow, FlowKind, Scenario};
use crate::units::{Bytes, Time};

/// A client that asks and a server that answers, over TCP, again and again: the next request is sent
/// some time after the whole reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RequestPlan {
    /// Payload of a request.
    pub request: Bytes,
    /// Payload of a reply.
    pub reply: Bytes,
    /// From a complete reply to the next request: the client's time.
    pub pause: Time,
    /// From a complete request to its reply: the server's time.
    pub think: Time,
    /// How many connections that takes.
    pub connection: ConnectionUse,
    /// After how many replies it is over; `None` for never.
    pub count: Option<u64>,
}

/// Whoever asks for more at a time means a bulk flow.
const LARGEST: Bytes = Bytes::new(1 << 40);

/// The request flow that `entry` describes.
pub(super) fn request_plan(index: usize, entry: &FlowEntry) -> Result<FlowKind, Problem> {
    let size = |key: &str, given: Option<Bytes>, example: &str| {
        let given = given.ok_or_else(|| {
            let what = format!("a request flow needs `{key}`");
            problem(format!("flow.{index}"), what, format!("add {key} = \"{example}\""))
        })?;
        let key = format!("flow.{index}.{key}");
        if given == Bytes::ZERO {
            let hint = format!("write \"1 B\" at least, or \"{example}\"");
            return Err(problem(key, "0 bytes are nothing that could arrive", hint));
        }
        if given > LARGEST {
            let what = format!("{given} at a time is above {LARGEST}");
            return Err(problem(key, what, "make it smaller, or let a bulk flow carry it"));
        }
        Ok(given)
    };
    if entry.count == Some(0) {
        let hint = "write count = 1 or more, or take it out";
        return Err(problem(format!("flow.{index}.count"), "0 requests are no flow", hint));
    }
    Ok(FlowKind::Request(RequestPlan {
        request: size("request", entry.request, "200 B")?,
        reply: size("reply", entry.reply, "20 KiB")?,
        pause: entry.pause.unwrap_or_default(),
        think: entry.think.unwrap_or_default(),
        connection: entry.connection.unwrap_or_default(),
        count: entry.count,
    }))
}

impl Scenario {
    /// How many flows must come to their end for the run to be over before its time: bulk flows where
    /// `until.bytes` is given, and request flows with a `count`. `None` where there are none, or where a
    /// bulk flow has no end.
    pub fn flows_that_end(&self) -> Option<usize> {
        let is_endless = |flow: &Flow| flow.kind == FlowKind::Bulk && self.until.bytes.is_none();
        let count = self.flows.iter().filter(|flow| flow.is_waited_for()).count();
        (count > 0 && !self.flows.iter().any(is_endless)).then_some(count)
    }

    /// The ways of data of all flows: [`Flow::ways_of_data`].
    pub fn ways_of_data(&self) -> Vec<Flow> {
        self.flows.iter().flat_map(Flow::ways_of_data).collect()
    }
}

impl Flow {
    /// Whether a run goes on until the flow is done: by bytes, or by a number of requests. A bulk flow without a limit is never done.
    pub fn is_waited_for(&self) -> bool {
        match self.kind {
            FlowKind::Bulk => true,
            FlowKind::Request(plan) => plan.count.is_some(),
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } => false,
        }
    }

    /// The ways that its payload goes over TCP, each as a flow from its sender: requests have two.
    pub fn ways_of_data(&self) -> Vec<Self> {
        match self.kind {
            FlowKind::Bulk => vec![*self],
            FlowKind::Request(_) => vec![*self, self.reversed()],
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } => Vec::new(),
        }
    }
}
