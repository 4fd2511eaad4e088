//! How many full segments are lost, by connections of an ordinary user.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use maxseg_linux::probe::tcp::losses::{SegmentLosses, count_losses};
use maxseg_linux::probe::tcp::payload::Payload;

use super::by_ports::{CONNECTIONS, flow, is_silent, is_unlike};
use crate::path::probing::{BETWEEN, FIRST_ROUNDS, Probing};
use crate::path::{LargeLoss, MtuReport, PathError};

/// More connections are not begun: forty full segments. Where one loses them all, others that were opened at once may be more.
const MOST_CONNECTIONS: usize = 10;

impl Probing<'_> {
    /// Counts the losses of segments of a size that arrives on connections to this port, and tells flows on which none of them arrives; a test of
    /// a long path has no time for it.
    pub(in crate::path) fn losses_by_connections(
        &mut self,
        port: u16,
        report: &mut MtuReport,
    ) -> Result<(), PathError> {
        let passes = report.size_that_passes().filter(|_| self.budget.has_half_left());
        let Some(size) = passes else { return Ok(()) };
        let (far, payload) = (SocketAddr::new(self.to, port), Payload::of_port(port));
        self.observer.on_step(&format!("losses of segments in packets of {size} bytes"));
        self.observer.on_warning(&format!(
            "TCP port {port} gets up to {} connections that show whether large segments alone are lost, each with {}; --no-payload \
             leaves them out",
            MOST_CONNECTIONS + CONNECTIONS,
            payload.words()
        ));
        let (stop, budget) = (self.stop, self.budget);
        let is_over = move || stop.load(Ordering::Relaxed) || !budget.has_left_to_search(0);
        let mut connections = Vec::new();
        while connections.len() < MOST_CONNECTIONS {
            let found = losses_of(&connections, size);
            let is_known =
                found.is_by_chance() || (found.is_certain() && !may_be_unlike(&connections));
            let is_enough = connections.len() >= FIRST_ROUNDS as usize && is_known;
            if is_enough || !self.affords(&[SegmentLosses::payload_bytes(size)]) {
                break;
            }
            let counted = count_losses(far, size, payload, &is_over)
                .map_err(|source| PathError::socket("open a connection", source))?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(PathError::Stopped);
            }
            let Some(counted) = counted.filter(|counted| counted.large.sent > 0) else { break };
            self.other_bytes += u64::from(size) * u64::from(counted.large.sent);
            connections.push(counted);
            if is_silent(&counted) && may_be_unlike(&connections) {
                // Each silent one takes more than a second: several at once.
                connections.extend(self.losses_at_once(size, port)?);
            }
            self.wait(BETWEEN)?;
        }
        let found = losses_of(&connections, size);
        if is_unlike(&connections) {
            let flows = connections.iter().map(|one| flow(one, (port, size), Some(size)));
            report.flows = flows.collect();
        } else if found.large.lost < found.large.sent {
            report.large_loss = Some(found);
        }
        Ok(())
    }
}

/// Whether more connections may show that paths differ: so far each lost all large segments or none.
fn may_be_unlike(connections: &[SegmentLosses]) -> bool {
    let is_pure = |one: &SegmentLosses| [0, one.large.sent].contains(&one.large.lost);
    connections.iter().all(is_pure) && !is_unlike(connections)
}

/// What all of them lost.
fn losses_of(connections: &[SegmentLosses], size: u32) -> LargeLoss {
    connections.iter().fold(LargeLoss::begun(size), |all, one| LargeLoss {
        large: all.large + one.large,
        small: all.small + one.small,
        ..all
    })
}
