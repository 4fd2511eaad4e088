//! A run's packets as a capture, from every interface of the lab.
//!
//! ```text
//! relay: packets on the wire → RecordQueue, one for each thread → one writer: in order of time → pcapng
//! ```
//! A relay never waits for the writer: records that find the queue full are dropped and counted.

mod record_queue;
mod writer;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use maxseg_core::path::{Discipline, HopSpec, LinkSpec};
use maxseg_core::scenario::{End, Scenario};

use super::topology::{Side, host_names};
use crate::sys::Clock;
use writer::{Merger, Source};

pub(crate) use record_queue::{LinkEnd, Loss, PacketRecord, RecordQueue, SNAP_LEN};

/// A capture that is being written.
#[derive(Debug)]
pub(super) struct Recording<'scope> {
    /// One queue for each hop and direction: towards the receiver, towards the sender.
    queues: Vec<[Arc<RecordQueue>; 2]>,
    stop: Arc<AtomicBool>,
    writer: Option<ScopedJoinHandle<'scope, io::Result<u64>>>,
}

impl<'scope> Recording<'scope> {
    /// Begins a section in `out`, with an interface for each end of every hop.
    ///
    /// # Errors
    /// `out` fails, or no thread can be started.
    pub(super) fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        scenario: &Scenario,
        clock: Clock,
        out: &'env mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let hops = &scenario.path.hops;
        let queues: Vec<[Arc<RecordQueue>; 2]> = hops.iter().map(|_| Default::default()).collect();
        let sources = queues.iter().zip(hops).enumerate().flat_map(|(hop, (directions, spec))| {
            let ends = [Side::Near, Side::Far].map(|side| number(hop, side));
            [(0, ends, &spec.forward), (1, [ends[1], ends[0]], &spec.reverse)].map(
                |(side, [entering, leaving], link)| Source {
                    queue: Arc::clone(&directions[side]),
                    interfaces: [entering, leaving],
                    refused: refusal_comment(link),
                },
            )
        });
        let interfaces = interfaces(hops);
        let merger = Merger::begin(out, scenario, clock, &interfaces, sources.collect())?;
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let writer = std::thread::Builder::new()
            .name("maxseg-capture".to_owned())
            .spawn_scoped(scope, move || merger.run(&is_over))?;
        Ok(Self { queues, stop, writer: Some(writer) })
    }

    /// The queue of the relay that carries packets over `hop` towards `to`.
    pub(super) fn record_queue(&self, hop: usize, to: End) -> Arc<RecordQueue> {
        Arc::clone(&self.queues[hop][usize::from(to == End::Sender)])
    }

    /// Whether the capture can still be written: the disk may fill up before the run ends.
    ///
    /// # Errors
    /// A write has failed. The error is returned once.
    pub(super) fn check(&mut self) -> io::Result<()> {
        if self.writer.as_ref().is_some_and(ScopedJoinHandle::is_finished) {
            return self.end().unwrap_or(Ok(0)).map(drop);
        }
        Ok(())
    }

    /// Writes the remaining records, after the relay has ended. Gives how many packets were dropped.
    ///
    /// # Errors
    /// A write has failed.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.end().unwrap_or(Ok(0))
    }

    fn end(&mut self) -> Option<io::Result<u64>> {
        let writer = self.writer.take()?;
        self.stop.store(true, Ordering::Release);
        writer.thread().unpark();
        Some(writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// Ends the writer when a run is aborted: its thread is joined by the scope.
impl Drop for Recording<'_> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The number of an interface.
fn number(hop: usize, side: Side) -> usize {
    2 * hop + usize::from(side == Side::Far)
}

/// Names and descriptions of the interfaces, in the order of their numbers: `sender`, `r1.lan`, `r1.radio`,
/// `receiver`.
fn interfaces(hops: &[HopSpec]) -> Vec<(String, String)> {
    let hosts = host_names(hops.len());
    let ends = hops.iter().enumerate().flat_map(|(hop, spec)| {
        [(hop, &spec.forward), (hop + 1, &spec.reverse)].map(|(host, link)| (host, spec, link))
    });
    ends.map(|(host, spec, link)| {
        let (name, label) = (&hosts[host], spec.label());
        let is_router = host > 0 && host < hops.len();
        let description =
            format!("the {label} interface of {name}; out: {}, {}", link.rate, link.delay);
        (if is_router { format!("{name}.{label}") } else { name.clone() }, description)
    })
    .collect()
}

/// The comment on packets that did not reach the wire of this link.
fn refusal_comment(link: &LinkSpec) -> &'static str {
    let has_discipline = match link.discipline {
        Discipline::TailDrop => false,
        Discipline::Codel(_) | Discipline::Red(_) => true,
    };
    match (link.policer.is_some(), has_discipline) {
        (false, false) => "refused by the full queue of this link",
        (false, true) => {
            "dropped by the queue discipline of this link, or refused by its full queue"
        }
        (true, false) => "dropped by the policer of this link, or refused by its full queue",
        (true, true) => {
            "dropped by the policer or the queue discipline of this link, or refused by its full queue"
        }
    }
}
