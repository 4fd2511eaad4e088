//! The computing form of a whole direction: hops in a chain.

use super::pieces::{HopSpan, PacketPieces, Piece};
use super::{Counters, Fate, Hop, HopSighting};
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::units::{Bytes, Mtu, Probability, Time};

/// One direction of a path: hops in the order in which a packet meets them.
///
/// The whole way is computed when a packet is sent. That is exact because every hop is a FIFO and all
/// traffic of the direction enters at its first hop. Only the last hop may let packets overtake.
#[derive(Debug, Clone)]
pub struct Route {
    hops: Vec<Hop>,
    mtus: Vec<Mtu>,
    /// Packets up to so many bytes stay one and whole; 0 where any may be doubled, marked, or overtaken.
    whole_up_to: Bytes,
    /// The same where every hop is plain besides; 0 where one is not.
    plain_up_to: Bytes,
    /// Until when packets are on their way that later ones may overtake, because the link has become
    /// another; and what the two lengths above are then.
    unsettled: Option<(Time, [Bytes; 2])>,
    sent: u64,
}

impl Route {
    /// A route over links, each with the name of its random streams, for a run under `seed` that ends at
    /// `horizon` at the latest.
    pub fn new(links: &[(&LinkSpec, String)], seed: u64, horizon: Time) -> Self {
        let hop = |(spec, name): &(&LinkSpec, String)| Hop::new(spec, seed, name).until(horizon);
        Self::over(links.iter().map(hop).collect())
    }

    fn over(hops: Vec<Hop>) -> Self {
        let mtus: Vec<Mtu> = hops.iter().map(|hop| hop.spec().mtu).collect();
        let is_simple = |hop: &Hop| {
            let spec = hop.spec();
            !spec.ecn && !spec.overtakes() && spec.duplicate == Probability::NEVER
        };
        let smallest = mtus.iter().min().map_or(Bytes::ZERO, |mtu| mtu.bytes());
        let whole_up_to = if hops.iter().all(is_simple) { smallest } else { Bytes::ZERO };
        let plain_up_to = if hops.iter().all(Hop::is_plain) { whole_up_to } else { Bytes::ZERO };
        Self { hops, mtus, whole_up_to, plain_up_to, unsettled: None, sent: 0 }
    }

    /// A route of one link that has taken over from another, of whose packets the last arrives at `until`.
    pub(super) fn taking_over(hop: Hop, until: Time) -> Self {
        let mut route = Self::over(vec![hop]);
        route.unsettled = Some((until, [route.whole_up_to, route.plain_up_to]));
        [route.whole_up_to, route.plain_up_to] = [Bytes::ZERO; 2];
        route
    }

    /// Whether a route over these links can be computed: each decides when a packet comes, and none but
    /// the last lets packets overtake.
    pub fn is_foreseeable(links: &[(&LinkSpec, String)]) -> bool {
        let inner = &links[..links.len().saturating_sub(1)];
        links.iter().all(|(spec, _)| spec.is_foreseeable())
            && inner.iter().all(|(spec, _)| !spec.overtakes())
    }

    /// Whether a packet stays one and whole, so that [`Route::admit`] tells all.
    pub fn keeps_whole(&self, packet: IpPacket) -> bool {
        packet.length() <= self.whole_up_to
    }

    /// The same, and no hop does more than wait, send and damage.
    #[inline(always)]
    pub(super) fn is_plain(&self, packet: IpPacket) -> bool {
        packet.length() <= self.plain_up_to
    }

    /// A packet that stays one and whole enters the first hop at `now`.
    pub fn admit(&mut self, now: Time, packet: impl Into<IpPacket>) -> Fate {
        self.admit_seen(now, packet.into(), |_| ())
    }

    /// The same, telling of the packet wherever it comes.
    pub(super) fn admit_seen(
        &mut self,
        now: Time,
        packet: IpPacket,
        mut seen: impl FnMut(HopSighting),
    ) -> Fate {
        let mut at = now;
        for (link, hop) in self.hops.iter_mut().enumerate() {
            let fate = hop.admit(at, packet);
            seen(HopSighting::of_whole(link, at, fate));
            let Fate::Arrives(then) = fate else { return fate };
            at = then;
        }
        seen(HopSighting::of_arrival(at));
        Fate::Arrives(at)
    }

    /// The same for a packet that [`Route::is_plain`]: when it arrives, or how it is lost.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        now: Time,
        packet: IpPacket,
        mut seen: impl FnMut(HopSighting),
    ) -> Result<Time, Fate> {
        let mut at = now;
        for (link, hop) in self.hops.iter_mut().enumerate() {
            let passed = hop.pass(at, packet);
            seen(HopSighting::of_whole(link, at, passed.map_or_else(|lost| lost, Fate::Arrives)));
            at = passed?;
        }
        seen(HopSighting::of_arrival(at));
        Ok(at)
    }

    /// Any packet enters the first hop at `now`. Tells of each piece wherever it comes, and gives each copy
    /// that will arrive to `deliver`: when, and whether marked. Returns what became of a packet of which none will.
    pub(super) fn admit_any(
        &mut self,
        now: Time,
        shape: IpPacket,
        hop_span: HopSpan,
        mut seen: impl FnMut(HopSighting),
        mut deliver: impl FnMut(Time, bool),
    ) -> Option<Fate> {
        if let Some((_, lengths)) = self.unsettled.take_if(|(until, _)| *until <= now) {
            [self.whole_up_to, self.plain_up_to] = lengths;
        }
        let mut parcel = PacketPieces::of_one();
        let mut pieces = vec![(now, Piece::whole(self.sent, shape, hop_span))];
        self.sent += 1;
        for ((index, hop), mtu) in (0..).zip(&mut self.hops).zip(&self.mtus) {
            let mut through = Vec::with_capacity(pieces.len());
            let mut seen = |at, piece: &Piece, fate| {
                seen(HopSighting::of_piece(usize::from(index), at, piece, fate));
            };
            for (at, piece) in pieces {
                if hop_span.df && !piece.fits(*mtu) {
                    parcel.dies(Fate::TooBig { at, hop: index, mtu: *mtu });
                    continue;
                }
                let mut count = 0;
                for fragment in piece.fragments(*mtu) {
                    count += 1;
                    parcel.add(u32::from(count > 1));
                    seen(at, &fragment, enter(hop, at, fragment, &mut parcel, &mut through));
                    if hop.is_duplicated() {
                        let copy = parcel.double(fragment);
                        seen(at, &copy, enter(hop, at, copy, &mut parcel, &mut through));
                    }
                }
            }
            pieces = through;
        }
        pieces.sort_by_key(|(at, _)| *at);
        for (at, piece) in pieces {
            seen(HopSighting::of_landing(at, &piece));
            if let Some(marked) = parcel.arrives(at, &piece) {
                deliver(at, marked);
            }
        }
        parcel.loss()
    }

    /// The hops in order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// What each link did, in order.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.hops.iter().map(Hop::counters)
    }

    /// How long a packet that entered at `now` would wait in the longest queue on its way.
    pub fn backlog(&self, now: Time) -> Time {
        let (mut at, mut longest) = (now, Time::ZERO);
        for hop in &self.hops {
            let wait = hop.backlog(at);
            longest = longest.max(wait);
            at = at.saturating_add(wait).saturating_add(hop.delay());
        }
        longest
    }
}

/// One piece enters a hop at `at`; what gets through is put behind the others. Gives what becomes of it.
fn enter(
    hop: &mut Hop,
    at: Time,
    mut piece: Piece,
    parcel: &mut PacketPieces,
    through: &mut Vec<(Time, Piece)>,
) -> Fate {
    let fate = hop.admit_any(at, piece.shape, piece.hop_span.ect);
    match fate {
        lost @ (Fate::Damaged(_) | Fate::Refused(_) | Fate::TooBig { .. }) => {
            parcel.dies(lost);
        }
        through_hop @ (Fate::Arrives(then) | Fate::Marked(then)) => {
            piece.marked |= matches!(through_hop, Fate::Marked(_));
            through.push((then, piece));
        }
    }
    fate
}
