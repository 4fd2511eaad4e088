//! Whether packets of a size vanish on every connection, or on some: routers with several paths of equal cost choose by the ports.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use maxseg_core::path_mtu::{Confidence, LARGE_AMONG_SMALL, LossEstimate, MOST_ERROR, pure_chance};
use maxseg_linux::probe::tcp::losses::{SegmentLosses, count_losses};
use maxseg_linux::probe::tcp::payload::Payload;

use crate::path::probing::{Flow, Probing, Which, at_once};
use crate::path::{FlowMtu, MtuReport, PathError};

/// Connections that are opened at once: with that of the search, all take the same one of two paths by a chance of 1 in 64.
pub(super) const CONNECTIONS: usize = 6;
/// As many are opened, at most, where they differ.
pub(super) const MOST_OTHERS: usize = 2 * CONNECTIONS;
/// Fewer that show something are too few to say that no path takes such packets.
const LEAST_CONNECTIONS: usize = 4;

/// What further connections show of a size of which nothing arrived on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnOthers {
    /// Nothing of it arrives on any of so many.
    Vanishes(usize),
    /// It arrives on all of so many.
    Arrives(usize),
    /// It vanishes on some, and arrives on others.
    Differs { vanishes: usize, arrives: usize },
    /// So many showed something: too few.
    TooFew(usize),
}

impl OnOthers {
    fn of(found: &[SegmentLosses]) -> Self {
        let vanishes = found.iter().filter(|one| is_silent(one)).count();
        let arrives = found.len() - vanishes;
        match (vanishes, arrives) {
            (1.., 1..) => Self::Differs { vanishes, arrives },
            _ if found.len() < LEAST_CONNECTIONS => Self::TooFew(found.len()),
            (_, 0) => Self::Vanishes(vanishes),
            (0, _) => Self::Arrives(arrives),
        }
    }
}

impl MtuReport {
    /// Completes a report of a search whose connections found that packets of `vanishes` bytes do not arrive, or that packets of
    /// `contradicted` bytes arrived on one and not on another: the sizes that arrived may be those of different paths. No black hole is
    /// stated that is not there on all connections, and no path MTU that some do not have.
    pub(super) fn take_other_connections(
        &mut self,
        (at_least, vanishes, contradicted): (u32, Option<u32>, Option<u32>),
        port: u16,
        probing: &mut Probing<'_>,
    ) -> Result<(), PathError> {
        let Some(size) = vanishes.or(contradicted) else { return Ok(()) };
        probing.observer.on_step(&format!(
            "whether packets of {size} bytes vanish on {CONNECTIONS} other connections"
        ));
        let mut found = probing.losses_at_once(size, port)?;
        if matches!(OnOthers::of(&found), OnOthers::Differs { .. }) && !is_unlike(&found) {
            found.extend(probing.losses_at_once(size, port)?);
        }
        match (OnOthers::of(&found), vanishes) {
            (OnOthers::Vanishes(_), Some(vanishes)) => {
                // Datagrams: what routers say of segments, this host's kernel hears.
                let found = (at_least, vanishes);
                return self.take_vanishing(Which::Udp, Flow::Other, found, probing);
            }
            // The losses of that one connection were an accident.
            (OnOthers::Arrives(_), None) => return Ok(()),
            (OnOthers::Vanishes(all), None) => self.take_unlike(format!(
                "packets of {size} bytes arrived on one connection and vanished on {all} others: paths of equal cost that differ, or losses; \
                 CAP_NET_RAW (root) tells which"
            )),
            (OnOthers::Arrives(all), Some(_)) => self.take_unlike(format!(
                "packets of {size} bytes vanished on connections of the search, and arrived on {all} others: losses, or paths of equal cost that \
                 differ; CAP_NET_RAW (root) tells which"
            )),
            (OnOthers::TooFew(all), _) => {
                (self.confidence, self.error_chance) = (Confidence::AtLeast, None);
                self.reason = Some(format!(
                    "packets of {size} bytes vanished on a connection of the search, and only {all} of {CONNECTIONS} others showed anything: \
                     whether all paths lose them is not known"
                ));
            }
            (OnOthers::Differs { vanishes, arrives }, _) => {
                let is_certain = is_unlike(&found);
                if is_certain {
                    // Where they arrive, larger ones may as well, unless this host sends none.
                    let mtu = (size == probing.route.interface_mtu).then_some(size);
                    self.flows = found.iter().map(|one| flow(one, (port, size), mtu)).collect();
                }
                let or_losses = if is_certain { "" } else { ", or losses" };
                self.take_unlike(format!(
                    "packets of {size} bytes vanish on {vanishes} connections and arrive on {arrives}: paths of equal cost that differ{or_losses}; \
                     which size all of them take is found with CAP_NET_RAW (root)"
                ));
            }
        }
        Ok(())
    }

    /// Sizes that arrived on some connections are no path MTU.
    fn take_unlike(&mut self, reason: String) {
        (self.confidence, self.forward_bytes, self.error_chance) =
            (Confidence::Unknown, None, None);
        self.reason = Some(reason);
    }
}

impl Probing<'_> {
    /// What is lost of segments of a size on several connections that are opened at once; those that show nothing are left out.
    pub(super) fn losses_at_once(
        &mut self,
        size: u32,
        port: u16,
    ) -> Result<Vec<SegmentLosses>, PathError> {
        let (far, payload) = (SocketAddr::new(self.to, port), Payload::of_port(port));
        let (stop, budget) = (self.stop, self.budget);
        let is_over = || stop.load(Ordering::Relaxed) || !budget.has_left(0);
        let count = || count_losses(far, size, payload, &is_over);
        let counted = at_once((0..CONNECTIONS).map(|_| count));
        if self.stop.load(Ordering::Relaxed) {
            return Err(PathError::Stopped);
        }
        let mut found = Vec::new();
        for one in counted {
            let one = one.map_err(|source| PathError::socket("open a connection", source))?;
            self.other_bytes += one.map_or(0, |one| u64::from(size) * u64::from(one.large.sent));
            found.extend(one.filter(shows_something));
        }
        Ok(found)
    }
}

/// Whether some of the connections lose all large segments and the others none, as no share of losses explains.
pub(super) fn is_unlike(connections: &[SegmentLosses]) -> bool {
    let large: Vec<LossEstimate> = connections.iter().map(|one| one.large).collect();
    pure_chance(&large) <= MOST_ERROR
}

/// Whether none of the large segments arrived.
pub(super) const fn is_silent(connection: &SegmentLosses) -> bool {
    connection.large.lost == connection.large.sent
}

/// Whether large segments arrived, or a small one behind the first of them did: of a slow link that still sends that one nothing is known.
fn shows_something(connection: &SegmentLosses) -> bool {
    let small = connection.small;
    let before = LARGE_AMONG_SMALL.iter().take_while(|is_large| !**is_large).count();
    let is_behind = small.sent.saturating_sub(small.lost) as usize > before;
    connection.large.sent > 0 && (!is_silent(connection) || is_behind)
}

/// What a connection shows of packets of a size; `mtu` is the path MTU where they arrive, if that is known then.
pub(super) fn flow(
    connection: &SegmentLosses,
    (port, size): (u16, u32),
    mtu: Option<u32>,
) -> FlowMtu {
    let is_silent = is_silent(connection);
    FlowMtu {
        source_port: connection.source_port,
        destination_port: port,
        mtu_bytes: mtu.filter(|_| !is_silent),
        vanishes_bytes: is_silent.then_some(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(
        [large_sent, large_lost]: [u32; 2],
        [small_sent, small_lost]: [u32; 2],
    ) -> SegmentLosses {
        SegmentLosses {
            source_port: 1,
            large: LossEstimate { sent: large_sent, lost: large_lost },
            small: LossEstimate { sent: small_sent, lost: small_lost },
        }
    }

    #[test]
    fn what_one_connection_loses_is_a_black_hole_where_the_others_lose_it_too() {
        let (silent, arrives) = (counted([5, 5], [9, 0]), counted([4, 0], [9, 0]));
        assert_eq!(OnOthers::of(&[silent; 6]), OnOthers::Vanishes(6));
        assert_eq!(OnOthers::of(&[arrives; 6]), OnOthers::Arrives(6));
        assert_eq!(OnOthers::of(&[silent; 3]), OnOthers::TooFew(3));
        assert_eq!(OnOthers::of(&[]), OnOthers::TooFew(0));
        let both = OnOthers::Differs { vanishes: 1, arrives: 1 };
        assert_eq!(OnOthers::of(&[silent, arrives]), both);
    }

    #[test]
    fn a_link_that_still_sends_the_large_ones_shows_nothing() {
        assert!(!shows_something(&counted([1, 1], [1, 0])), "sent again too early");
        assert!(!shows_something(&counted([0, 0], [9, 0])));
        assert!(shows_something(&counted([3, 3], [2, 0])));
        assert!(shows_something(&counted([4, 1], [2, 0])));
    }
}
