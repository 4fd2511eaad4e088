//! The holding form of a whole direction: links in a row, each with events of its own.

use std::collections::{BTreeMap, VecDeque};

use super::handover::Handover;
use super::pieces::{HopSpan, Markable, PacketPieces, Piece};
use super::sighting::{HopSighting, SightingLog};
use super::staged::{DecidedPacket, Offer, Staged};
use super::{ArrivalQueue, Counters, Fate};
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::units::{Mtu, Time};

/// One direction of a path whose packets may enter and leave anywhere, overtake anywhere, and be dropped
/// when they leave a queue.
#[derive(Debug, Clone)]
pub(super) struct Stages<P> {
    links: Vec<Stage<P>>,
    /// Fragments on their last way, in the order in which they arrive.
    landing: ArrivalQueue<(P, Piece)>,
    /// Packets in several pieces.
    parcels: BTreeMap<u64, PacketPieces>,
    sent: u64,
    /// What was lost, or marked `TooBig`, and not yet told.
    lost: VecDeque<(P, Fate)>,
    /// Where somebody looks.
    log: Option<Box<SightingLog<P>>>,
}

/// A link, and the packets on their way to it.
#[derive(Debug, Clone)]
struct Stage<P> {
    coming: ArrivalQueue<(P, Piece)>,
    link: Staged<(P, Piece)>,
    mtu: Mtu,
}

impl<P: Markable> Stages<P> {
    pub(super) fn new(links: &[(&LinkSpec, String)], seed: u64) -> Self {
        let link = |(spec, name): &(&LinkSpec, String)| Staged::new(spec, seed, name);
        Self::over(links.iter().map(link))
    }

    /// A single link.
    pub(super) fn of_one(link: Staged<(P, Piece)>) -> Self {
        Self::over(std::iter::once(link))
    }

    fn over(links: impl Iterator<Item = Staged<(P, Piece)>>) -> Self {
        let stage = |link: Staged<(P, Piece)>| {
            let mtu = link.spec().mtu;
            Stage { coming: ArrivalQueue::default(), link, mtu }
        };
        Self {
            links: links.map(stage).collect(),
            landing: ArrivalQueue::default(),
            parcels: BTreeMap::new(),
            sent: 0,
            lost: VecDeque::new(),
            log: None,
        }
    }

    /// The single link has become another one.
    pub(super) fn replace(&mut self, link: Staged<(P, Piece)>) {
        self.links[0].mtu = link.spec().mtu;
        self.links[0].link = link;
    }

    /// What a single link leaves behind; what becomes of every packet in it is known then.
    pub(super) fn hand_over(&mut self, now: Time, arriving: &mut ArrivalQueue<P>) -> Handover {
        let from = self.links[0].link.hand_over(now);
        self.leave(0, Time::NEVER, arriving);
        while let Some((at, (packet, piece))) = self.landing.pop() {
            self.land(at, packet, piece, arriving);
        }
        from
    }

    /// The links in order.
    pub(super) fn specs(&self) -> impl ExactSizeIterator<Item = &LinkSpec> {
        self.links.iter().map(|stage| stage.link.spec())
    }

    /// Whether somebody looks.
    pub(super) fn is_watched(&self) -> bool {
        self.log.is_some()
    }

    /// Somebody looks: see [`Stages::poll_sighting`].
    pub(super) fn watch(&mut self) {
        self.log = Some(Box::new(SightingLog::new(self.links.len())));
    }

    /// What was seen next, of those that are watched.
    pub(super) fn poll_sighting(&mut self) -> Option<(P, HopSighting)> {
        self.log.as_mut()?.poll()
    }

    /// The run ends: what is on its way is told of as far as it has come.
    pub(super) fn close_log(&mut self) {
        if let Some(log) = &mut self.log {
            log.close();
        }
    }

    /// What passed before this has been seen.
    pub(super) fn seen_until(&self) -> Time {
        self.log.as_ref().map_or(Time::NEVER, |log| log.waits_since())
    }

    /// A packet enters at `now`; what is known to arrive at a host goes to `arriving`.
    pub(super) fn send(
        &mut self,
        now: Time,
        packet: P,
        shape: IpPacket,
        hop_span: HopSpan,
        arriving: &mut ArrivalQueue<P>,
    ) {
        let piece = Piece::whole(self.sent, shape, hop_span);
        self.sent += 1;
        self.enter(usize::from(hop_span.first), now, packet, piece, arriving);
    }

    /// Everything that happens at or before `now`, hop after hop: at one instant a packet comes to a hop
    /// before another leaves it.
    pub(super) fn advance(&mut self, now: Time, arriving: &mut ArrivalQueue<P>) {
        for index in 0..self.links.len() {
            while let Some((at, (packet, piece))) = self.links[index].coming.pop_due(now) {
                self.enter(index, at, packet, piece, arriving);
            }
            self.leave(index, now, arriving);
        }
        while let Some((at, (packet, piece))) = self.landing.pop_due(now) {
            self.land(at, packet, piece, arriving);
        }
    }

    /// When something happens next; the beginning of time if something waits to be told.
    pub(super) fn next_event(&self) -> Time {
        if !self.lost.is_empty() {
            return Time::ZERO;
        }
        let of_stage = |stage: &Stage<P>| stage.coming.next_arrival().min(stage.link.next_event());
        let links = self.links.iter().map(of_stage).min().unwrap_or(Time::NEVER);
        links.min(self.landing.next_arrival())
    }

    /// The next packet that was lost, and how.
    pub(super) fn poll_loss(&mut self) -> Option<(P, Fate)> {
        self.lost.pop_front()
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.links.iter().map(|stage| stage.link.counters())
    }

    pub(super) fn counters_at(&self, now: Time) -> impl Iterator<Item = (Counters, u64)> {
        self.links.iter().map(move |stage| stage.link.counters_at(now))
    }

    pub(super) fn busy_until(&self, now: Time) -> impl Iterator<Item = Time> {
        self.links.iter().map(move |stage| stage.link.busy_until(now))
    }

    /// How long a packet that entered at `now` would wait in the longest queue on its way, as these stand
    /// now.
    pub(super) fn backlog(&self, now: Time) -> Time {
        self.links.iter().map(|stage| stage.link.backlog(now)).max().unwrap_or_default()
    }

    /// Pieces between the two ends.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let of_stage = |stage: &Stage<P>| stage.coming.len() + stage.link.held();
        self.links.iter().map(of_stage).sum::<usize>() + self.landing.len()
    }

    /// A piece comes to a hop: it is refused, cut, doubled, or taken as it is.
    fn enter(
        &mut self,
        index: usize,
        now: Time,
        packet: P,
        piece: Piece,
        arriving: &mut ArrivalQueue<P>,
    ) {
        let mtu = self.links[index].mtu;
        if piece.hop_span.df && !piece.fits(mtu) {
            let hop = u16::try_from(index).unwrap_or(u16::MAX);
            return self.die(packet, &piece, Fate::TooBig { at: now, hop, mtu });
        }
        let fragments: Vec<Piece> = piece.fragments(mtu).collect();
        if let [_, more @ ..] = fragments.as_slice()
            && !more.is_empty()
        {
            let count = u32::try_from(more.len()).unwrap_or(u32::MAX);
            self.parcel(piece.serial).add(count);
        }
        for fragment in fragments {
            let copy = self.links[index]
                .link
                .is_duplicated()
                .then(|| self.parcel(fragment.serial).double(fragment));
            self.offer(index, now, packet.clone(), fragment);
            if let Some(copy) = copy {
                self.offer(index, now, packet.clone(), copy);
            }
        }
        // What left, or was dropped, before `now`.
        let before = Time::from_nanos(now.as_nanos().saturating_sub(1));
        self.leave(index, before, arriving);
    }

    fn offer(&mut self, index: usize, now: Time, packet: P, piece: Piece) {
        let link = &mut self.links[index].link;
        let seen = self.log.is_some().then(|| packet.clone());
        match link.offer(now, (packet, piece), piece.shape, piece.hop_span.ect) {
            Offer::Taken => {
                if let Some((log, packet)) = self.log.as_mut().zip(seen) {
                    log.enter(index, now, packet, piece);
                }
            }
            Offer::Refused((packet, piece)) => self.die(packet, &piece, Fate::Refused(now)),
        }
    }

    /// What has left a hop goes to the next, or to the host where it leaves the path.
    fn leave(&mut self, index: usize, now: Time, arriving: &mut ArrivalQueue<P>) {
        while let Some(DecidedPacket { packet: (packet, mut piece), fate }) =
            self.links[index].link.poll(now)
        {
            if let Some(log) = &mut self.log {
                log.leave(index, fate);
            }
            match fate {
                Fate::Arrives(_) => {}
                Fate::Marked(_) => piece.marked = true,
                lost @ (Fate::Damaged(_) | Fate::Refused(_) | Fate::TooBig { .. }) => {
                    self.die(packet, &piece, lost);
                    continue;
                }
            }
            let at = fate.at();
            if let Some(log) =
                self.log.as_mut().filter(|_| index == usize::from(piece.hop_span.last))
            {
                log.land(at, packet.clone(), &piece);
            }
            if index < usize::from(piece.hop_span.last) {
                self.links[index + 1].coming.insert(at, (packet, piece));
            } else if piece.is_fragment() {
                self.landing.insert(at, (packet, piece));
            } else {
                self.land(at, packet, piece, arriving);
            }
        }
    }

    /// A piece reaches, or will reach, its host.
    fn land(&mut self, at: Time, mut packet: P, piece: Piece, arriving: &mut ArrivalQueue<P>) {
        let marked = match self.parcels.get_mut(&piece.serial) {
            None => Some(piece.marked),
            Some(parcel) => parcel.arrives(at, &piece),
        };
        if let Some(marked) = marked {
            if marked {
                packet.mark();
            }
            self.end(packet.clone(), piece.serial);
            arriving.insert(at, packet);
        } else {
            self.end(packet, piece.serial);
        }
    }

    fn die(&mut self, packet: P, piece: &Piece, fate: Fate) {
        match self.parcels.get_mut(&piece.serial) {
            None => self.lost.push_back((packet, fate)),
            Some(parcel) => {
                if parcel.dies(fate) {
                    self.lost.push_back((packet.clone(), fate));
                }
                self.end(packet, piece.serial);
            }
        }
    }

    /// A parcel that is over need not be kept.
    fn end(&mut self, packet: P, serial: u64) {
        if let Some(parcel) = self.parcels.get(&serial)
            && parcel.is_over()
        {
            if let Some(fate) = parcel.loss().filter(|fate| !matches!(fate, Fate::TooBig { .. })) {
                self.lost.push_back((packet, fate));
            }
            self.parcels.remove(&serial);
        }
    }

    fn parcel(&mut self, serial: u64) -> &mut PacketPieces {
        self.parcels.entry(serial).or_insert_with(PacketPieces::of_one)
    }
}
