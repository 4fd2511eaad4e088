//! One direction of a path, with the packets on their way.

use super::pieces::{HopSpan, Markable};
use super::stages::Stages;
use super::streams::Streams;
use super::{ArrivalQueue, Counters, Fate, Hop, HopSighting, Route, Staged};
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::units::Time;

/// One direction of a path: packets are sent into it, and arrive or are lost.
///
/// A path is either computed whole when a packet is sent ([`Route`]), or staged hop by hop. Fates and times are
/// the same in both; the first is faster. Staged are
/// paths of which some link decides when a packet leaves ([`LinkSpec::is_foreseeable`]), of which another
/// link than the last lets packets overtake, or which packets enter or leave in the middle.
#[derive(Debug, Clone)]
pub struct LinkChain<P> {
    mode: Mode<P>,
    arriving: ArrivalQueue<P>,
}

#[derive(Debug, Clone)]
enum Mode<P> {
    Computed(Route),
    Staged(Box<Stages<P>>),
}

/// What is known of a packet when it has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum SendOutcome {
    /// It will arrive, once at least.
    InFlight,
    /// It will not.
    Lost(Fate),
    /// Its fate is decided later: see [`LinkChain::next_event`] and [`LinkChain::poll_loss`].
    Undecided,
}

impl<P: Markable> LinkChain<P> {
    /// A direction over links in the order in which packets meet them, each with the name of its random
    /// streams, for a run under `seed` that ends at `horizon` at the latest. `end_to_end`: all packets
    /// enter at the first link and leave behind the last.
    pub fn new(links: &[(&LinkSpec, String)], seed: u64, horizon: Time, end_to_end: bool) -> Self {
        if end_to_end && Route::is_foreseeable(links) {
            let mode = Mode::Computed(Route::new(links, seed, horizon));
            return Self { mode, arriving: ArrivalQueue::default() };
        }
        Self::staged(links, seed)
    }

    /// The same, staged in any case.
    pub fn staged(links: &[(&LinkSpec, String)], seed: u64) -> Self {
        let mode = Mode::Staged(Box::new(Stages::new(links, seed)));
        Self { mode, arriving: ArrivalQueue::default() }
    }

    /// The only link becomes one by `spec` at `now`; what is new about it draws from random streams of `name`
    /// under `seed`.
    ///
    /// What waits or is on its way keeps the times that it was promised. What comes later finds the new link,
    /// its wire as busy and its waiting room as full as they are: it leaves after what came before, and may
    /// overtake that only where the new delay is shorter. Counters go on. A link that holds its packets
    /// decides about them now, as if no other came; which of them are lost is told to `lost`.
    ///
    /// # Panics
    /// The line has more than one link: what is between them has been promised nothing.
    pub fn respec(
        &mut self,
        now: Time,
        spec: &LinkSpec,
        (seed, name): (u64, &str),
        mut lost: impl FnMut(P, Fate),
    ) {
        let streams = Streams { seed, name };
        let arriving = &mut self.arriving;
        let from = match &mut self.mode {
            Mode::Computed(route) => {
                let [hop] = route.hops() else { panic!("a line of one link is asked for") };
                if hop.spec() == spec {
                    return;
                }
                hop.hand_over(now)
            }
            Mode::Staged(stages) => {
                assert_eq!(stages.specs().len(), 1, "a line of one link is asked for");
                if stages.specs().all(|known| known == spec) {
                    return;
                }
                let from = stages.hand_over(now, arriving);
                while let Some((packet, fate)) = stages.poll_loss() {
                    lost(packet, fate);
                }
                from
            }
        };
        let is_watched = match &self.mode {
            Mode::Computed(_) => false,
            Mode::Staged(stages) => stages.is_watched(),
        };
        if spec.is_foreseeable() && !is_watched {
            let hop = Hop::taking_over(from, now, spec, streams);
            self.mode = Mode::Computed(Route::taking_over(hop, arriving.last_arrival()));
            return;
        }
        let link = Staged::taking_over(from, now, spec, streams);
        match &mut self.mode {
            Mode::Staged(stages) => stages.replace(link),
            mode @ Mode::Computed(_) => *mode = Mode::Staged(Box::new(Stages::of_one(link))),
        }
    }

    /// A packet is sent at `now`, for the links a packet of this `shape`.
    pub fn send(
        &mut self,
        now: Time,
        packet: P,
        shape: impl Into<IpPacket>,
        hop_span: HopSpan,
    ) -> SendOutcome {
        self.send_seen(now, packet, shape.into(), hop_span, |_| ())
    }

    /// The same; `seen` is told of each hop that the packet will come to, as far as that is known now. See also
    /// [`LinkChain::poll_sighting`].
    pub fn send_seen(
        &mut self,
        now: Time,
        packet: P,
        shape: IpPacket,
        hop_span: HopSpan,
        seen: impl FnMut(HopSighting),
    ) -> SendOutcome {
        if self.is_plain(shape) {
            return self
                .send_plain(now, shape, seen, || packet)
                .map_or_else(SendOutcome::Lost, |()| SendOutcome::InFlight);
        }
        let arriving = &mut self.arriving;
        match &mut self.mode {
            Mode::Computed(route) if route.keeps_whole(shape) => {
                match route.admit_seen(now, shape, seen) {
                    Fate::Arrives(at) => arriving.push(at, packet),
                    lost @ (Fate::Marked(_)
                    | Fate::Damaged(_)
                    | Fate::Refused(_)
                    | Fate::TooBig { .. }) => return SendOutcome::Lost(lost),
                }
                SendOutcome::InFlight
            }
            Mode::Computed(route) => {
                let deliver = |at, marked| {
                    let mut packet = packet.clone();
                    if marked {
                        packet.mark();
                    }
                    arriving.insert(at, packet);
                };
                let lost = route.admit_any(now, shape, hop_span, seen, deliver);
                lost.map_or(SendOutcome::InFlight, SendOutcome::Lost)
            }
            Mode::Staged(stages) => {
                stages.send(now, packet, shape, hop_span, arriving);
                SendOutcome::Undecided
            }
        }
    }

    /// Whether a packet stays one and whole, and meets nothing on its way but queues, wires and errors.
    #[inline(always)]
    pub fn is_plain(&self, shape: IpPacket) -> bool {
        matches!(&self.mode, Mode::Computed(route) if route.is_plain(shape))
    }

    /// The same as [`LinkChain::send_seen`] for a packet that [`LinkChain::is_plain`], which is made once it is known to
    /// arrive.
    ///
    /// # Errors
    /// How it is lost.
    #[inline(always)]
    pub fn send_plain(
        &mut self,
        now: Time,
        shape: IpPacket,
        seen: impl FnMut(HopSighting),
        packet: impl FnOnce() -> P,
    ) -> Result<(), Fate> {
        if let Mode::Computed(route) = &mut self.mode {
            let at = route.pass(now, shape, seen)?;
            self.arriving.push_new(at, packet);
        }
        Ok(())
    }

    /// The index of the last link.
    #[inline]
    pub fn last_hop(&self) -> usize {
        match &self.mode {
            Mode::Computed(route) => route.hops().len() - 1,
            Mode::Staged(stages) => stages.counters().count() - 1,
        }
    }

    /// When the next packet reaches its host, as far as it is known; [`Time::NEVER`] when none will.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.arriving.next_arrival()
    }

    /// How many packets are known to reach their host.
    pub fn arrivals(&self) -> usize {
        self.arriving.len()
    }

    /// The next packet to reach its host.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        self.arriving.pop()
    }

    /// The same, to be looked at where it lies until another is sent. What it owns is to be taken out of it:
    /// nothing drops it.
    #[inline(always)]
    pub fn take(&mut self) -> Option<&mut P> {
        self.arriving.take()
    }

    /// The same, without taking it off.
    pub fn first(&self) -> Option<&P> {
        self.arriving.first()
    }

    /// A packet that has reached its host at `now` is the next to do so, again.
    pub fn put_back(&mut self, now: Time, packet: P) {
        self.arriving.push_first(now, packet);
    }

    /// When something happens on the way next: call [`LinkChain::advance`] then, after everything that hosts
    /// send at that instant. [`Time::NEVER`] for a computed path.
    pub fn next_event(&self) -> Time {
        match &self.mode {
            Mode::Computed(_) => Time::NEVER,
            Mode::Staged(stages) => stages.next_event(),
        }
    }

    /// Carries out everything on the way up to `now`.
    pub fn advance(&mut self, now: Time) {
        if let Mode::Staged(stages) = &mut self.mode {
            stages.advance(now, &mut self.arriving);
        }
    }

    /// Sightings are recorded: those not known at [`LinkChain::send_seen`] come from [`LinkChain::poll_sighting`].
    pub fn watch(&mut self) {
        if let Mode::Staged(stages) = &mut self.mode {
            stages.watch();
        }
    }

    /// The next sighting of a packet after it was sent.
    pub fn poll_sighting(&mut self) -> Option<(P, HopSighting)> {
        match &mut self.mode {
            Mode::Computed(_) => None,
            Mode::Staged(stages) => stages.poll_sighting(),
        }
    }

    /// The run is over: [`LinkChain::poll_sighting`] gives packets on their way as far as they have come.
    pub fn close(&mut self) {
        if let Mode::Staged(stages) = &mut self.mode {
            stages.close_log();
        }
    }

    /// Sightings before this are complete: told already, or ready in [`LinkChain::poll_sighting`].
    pub fn seen_until(&self) -> Time {
        match &self.mode {
            Mode::Computed(_) => Time::NEVER,
            Mode::Staged(stages) => stages.seen_until(),
        }
    }

    /// The next packet lost after it was sent, and how.
    pub fn poll_loss(&mut self) -> Option<(P, Fate)> {
        match &mut self.mode {
            Mode::Computed(_) => None,
            Mode::Staged(stages) => stages.poll_loss(),
        }
    }

    /// What each link did, in order.
    pub fn counters(&self) -> Vec<Counters> {
        match &self.mode {
            Mode::Computed(route) => route.counters().copied().collect(),
            Mode::Staged(stages) => stages.counters().copied().collect(),
        }
    }

    /// What each link did up to `now`, in order: of what will go on the wire only what has, and the time that the rest has waited;
    /// and how many packets wait.
    pub fn counters_at(&self, now: Time) -> Vec<(Counters, u64)> {
        match &self.mode {
            Mode::Computed(route) => route.hops().iter().map(|hop| hop.counters_at(now)).collect(),
            Mode::Staged(stages) => stages.counters_at(now).collect(),
        }
    }

    /// Mean time that a packet spends in the queues of these links.
    pub fn mean_wait(&self, hops: std::ops::RangeInclusive<usize>) -> Time {
        let counters = self.counters();
        let sent = counters[hops].iter().filter(|link| link.sent > 0);
        Time::from_nanos(sent.map(|link| link.waited.as_nanos() / link.sent).sum())
    }

    /// Time on the wire up to `now`, of each of these links.
    pub fn busy_until(&self, now: Time) -> Vec<Time> {
        match &self.mode {
            Mode::Computed(route) => route.hops().iter().map(|hop| hop.busy_until(now)).collect(),
            Mode::Staged(stages) => stages.busy_until(now).collect(),
        }
    }

    /// How long a packet that entered at `now` would wait in the longest queue on its way.
    pub fn backlog(&self, now: Time) -> Time {
        match &self.mode {
            Mode::Computed(route) => route.backlog(now),
            Mode::Staged(stages) => stages.backlog(now),
        }
    }

    /// Pieces on their way, those known to arrive included.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match &self.mode {
            Mode::Computed(_) => self.arriving.len(),
            Mode::Staged(stages) => stages.held() + self.arriving.len(),
        }
    }

    #[cfg(test)]
    pub(super) fn is_computed(&self) -> bool {
        matches!(self.mode, Mode::Computed(_))
    }
}
