//! What a path means to one flow: its links in the order in which the flow's packets meet them.

use crate::engine::Caveat;
use crate::errors::ErrorModel;
use crate::framing::{IpPacket, IpVersion, fragments, ip_header};
use crate::path::{LinkSpec, QueueLimit};
use crate::scenario::{End, Flow, Scenario};
use crate::units::{Probability, Time};

/// The links from a flow's sender to its receiver, and back.
pub(super) struct FlowPath<'a> {
    there: Vec<&'a LinkSpec>,
    back: Vec<&'a LinkSpec>,
    until: Time,
    /// Whether hops must not fragment what is sent there; answers are as large at most.
    df: bool,
    /// What the hosts take for a packet and its answer: each sends one and receives the other.
    hosts: Time,
    /// Seconds for each packet at the end that sends, and at the one that receives.
    costs: [f64; 2],
    /// Segments per acknowledgement, b.
    per_ack: f64,
}

/// The link on which packets of some size go slowest.
#[derive(Clone, Copy)]
pub(super) struct Slowest<'a> {
    pub(super) link: &'a LinkSpec,
    /// Where it stands in the order of the packets, from 0.
    pub(super) index: usize,
    /// Seconds from one packet to the next, repeats and fragments included.
    pub(super) seconds: f64,
    /// Whether it is the policer that makes it slow.
    pub(super) is_policed: bool,
    /// The part of it that is a flow's.
    pub(super) share: f64,
}

impl<'a> FlowPath<'a> {
    pub(super) fn of(scenario: &'a Scenario, flow: &Flow) -> Self {
        let hops = scenario.hops(flow);
        let forward: Vec<_> = hops.iter().map(|hop| &hop.forward).collect();
        let reverse: Vec<_> = hops.iter().rev().map(|hop| &hop.reverse).collect();
        let (there, back) = match flow.from {
            End::Sender => (forward, reverse),
            End::Receiver => (reverse, forward),
        };
        let df = scenario.keeps_df(flow);
        let cost = |end| scenario.packet_cost(end).unwrap_or_default().times(2);
        let hosts = cost(End::Sender).saturating_add(cost(End::Receiver));
        let seconds = |end| scenario.packet_cost(end).unwrap_or_default().as_secs_f64();
        let costs = match flow.from {
            End::Sender => [seconds(End::Sender), seconds(End::Receiver)],
            End::Receiver => [seconds(End::Receiver), seconds(End::Sender)],
        };
        let (_, receiver) = scenario.endpoints(flow);
        let per_ack = receiver.delayed_ack.map_or(1.0, |rule| f64::from(rule.every));
        Self { there, back, until: scenario.until.time, df, hosts, costs, per_ack }
    }

    /// That of the replies to the echo requests of `flow`.
    pub(super) fn of_replies(scenario: &'a Scenario, flow: &Flow) -> Self {
        let df = scenario.forbids_fragments_of(flow, flow.from.other());
        Self { df, ..Self::of(scenario, &flow.reversed()) }
    }

    /// The same for a flow that ends then: what changes over time has its mean up to there.
    pub(super) const fn up_to(mut self, until: Time) -> Self {
        self.until = until;
        self
    }

    /// From sending a packet to having its answer, nothing queued.
    pub(super) fn round_trip(&self, there: IpPacket, back: IpPacket) -> Time {
        let links = self.one_way(&self.there, there).saturating_add(self.one_way(&self.back, back));
        links.saturating_add(self.hosts)
    }

    /// From sending a packet to having its reply of the same length by the path `back`, nothing queued.
    pub(super) fn echo_time(&self, back: &Self, packet: IpPacket) -> Time {
        let there = self.one_way(&self.there, packet);
        there.saturating_add(back.one_way(&back.there, packet)).saturating_add(self.hosts)
    }

    /// The chance that a packet is lost on the way there: damaged, with it any of its
    /// fragments, or too large.
    pub(super) fn loss(&self, packet: IpPacket) -> Probability {
        self.chance(&self.there, packet)
    }

    /// The chance that a packet is lost on the way back.
    pub(super) fn loss_back(&self, packet: IpPacket) -> Probability {
        self.chance(&self.back, packet)
    }

    /// How many links on the way there such packets cross: what is too large and must not be fragmented ends before the first that it
    /// does not fit.
    pub(super) fn reach(&self, packet: IpPacket) -> usize {
        let is_narrow = |link: &&LinkSpec| packet.length() > link.mtu.bytes();
        let narrow = self.there.iter().position(is_narrow).filter(|_| self.df);
        narrow.unwrap_or(self.there.len())
    }

    /// The chance that a link on the way there damages a packet that it carries, for each of them.
    pub(super) fn losses(&self, packet: IpPacket) -> Vec<Probability> {
        let whole = || self.there.iter().map(|_| vec![packet]).collect();
        let pieces = self.pieces(&self.there, packet).unwrap_or_else(whole);
        let of_link = |(link, pieces): (&&LinkSpec, Vec<IpPacket>)| {
            let damages = pieces.iter().map(|piece| link.loss(*piece, self.until));
            damages.fold(Probability::NEVER, Probability::or)
        };
        self.there.iter().zip(pieces).map(of_link).collect()
    }

    fn chance(&self, links: &[&LinkSpec], packet: IpPacket) -> Probability {
        let Some(pieces) = self.pieces(links, packet) else {
            return Probability::ALWAYS;
        };
        links.iter().zip(pieces).fold(Probability::NEVER, |chance, (link, pieces)| {
            pieces.iter().fold(chance, |chance, piece| chance.or(link.loss(*piece, self.until)))
        })
    }

    /// As what a packet crosses each link; `None` where it is too large and must not be
    /// fragmented.
    fn pieces(&self, links: &[&LinkSpec], packet: IpPacket) -> Option<Vec<Vec<IpPacket>>> {
        let mut pieces = vec![packet];
        let mut on_each = Vec::with_capacity(links.len());
        for link in links {
            let fits = |piece: &IpPacket| piece.length() <= link.mtu.bytes();
            if self.df && !pieces.iter().all(fits) {
                return None;
            }
            let cut = |piece: IpPacket| {
                if fits(&piece) {
                    return vec![piece];
                }
                let parts = fragments(piece.length(), link.mtu, ip_header(IpVersion::V4));
                parts.map(|fragment| IpPacket::from(fragment.length)).collect()
            };
            pieces = pieces.into_iter().flat_map(cut).collect();
            on_each.push(pieces.clone());
        }
        Some(on_each)
    }

    /// The link on which such packets go slowest.
    pub(super) fn bottleneck(&self, packet: IpPacket) -> Slowest<'a> {
        self.bottleneck_of(packet, |_| 1.0)
    }

    /// The link on which such packets go slowest where of each link, counted from 0 in their order, a share is theirs.
    pub(super) fn bottleneck_of(
        &self,
        packet: IpPacket,
        share: impl Fn(usize) -> f64,
    ) -> Slowest<'a> {
        self.slowest(&self.there, packet, share)
    }

    /// The same on the way back.
    pub(super) fn bottleneck_back_of(
        &self,
        packet: IpPacket,
        share: impl Fn(usize) -> f64,
    ) -> Slowest<'a> {
        self.slowest(&self.back, packet, share)
    }

    fn slowest(
        &self,
        links: &[&'a LinkSpec],
        packet: IpPacket,
        share: impl Fn(usize) -> f64,
    ) -> Slowest<'a> {
        // A link without a share is no link without end.
        let pace = |slowest: &Slowest<'_>| slowest.seconds / slowest.share.max(1e-9);
        self.each_link(links, packet)
            .into_iter()
            .map(|link| Slowest { share: share(link.index), ..link })
            .max_by(|a, b| pace(a).total_cmp(&pace(b)))
            .expect("a checked path has a hop")
    }

    /// Seconds from one such packet to the next on each link on the way there.
    pub(super) fn paces(&self, packet: IpPacket) -> Vec<f64> {
        self.each_link(&self.there, packet).iter().map(|link| link.seconds).collect()
    }

    /// What a queue that is full of such packets takes before a link on the way there, in seconds; a policer has none.
    pub(super) fn full_queue(&self, packet: IpPacket, index: usize) -> f64 {
        let links = self.each_link(&self.there, packet);
        let queued = links.get(index).filter(|link| !link.is_policed);
        queued.map_or(0.0, |slow| room(slow.link, packet) * slow.seconds)
    }

    fn each_link(&self, links: &[&'a LinkSpec], packet: IpPacket) -> Vec<Slowest<'a>> {
        // What is too large is refused where it is: up to there it goes whole.
        let whole = || links.iter().map(|_| vec![packet]).collect();
        let pieces = self.pieces(links, packet).unwrap_or_else(whole);
        let slow = |(index, (link, pieces)): (usize, (&&'a LinkSpec, Vec<IpPacket>))| {
            let air: f64 = pieces.iter().map(|piece| link.mean_airtime(*piece, self.until).0).sum();
            let bits: u64 = pieces.iter().map(|piece| link.wire_bytes(*piece).bits()).sum();
            let policed =
                link.policer.map_or(0.0, |policer| bits as f64 / policer.rate.get() as f64);
            let is_policed = policed > air;
            Slowest { link, index, seconds: air.max(policed), is_policed, share: 1.0 }
        };
        links.iter().zip(pieces).enumerate().map(slow).collect()
    }

    fn one_way(&self, links: &[&LinkSpec], packet: IpPacket) -> Time {
        let whole = || links.iter().map(|_| vec![packet]).collect();
        let pieces = self.pieces(links, packet).unwrap_or_else(whole);
        links.iter().zip(pieces).fold(Time::ZERO, |sum, (link, pieces)| {
            pieces.iter().fold(sum.saturating_add(link.delay), |sum, piece| {
                let (air, late) = link.mean_airtime(*piece, self.until);
                sum.saturating_add(match link.arq {
                    None => link.airtime(*piece),
                    Some(_) => Time::from_secs_f64(air + late),
                })
            })
        })
    }

    /// Seconds of the slower host's time for a segment and its part of an acknowledgement.
    pub(super) fn host_pace(&self) -> f64 {
        let [from, to] = self.costs;
        from.max(to) * (1.0 + 1.0 / self.per_ack)
    }

    /// From sending the first of `count` packets in one piece to having heard the last one there, nothing
    /// else queued, in seconds: all are like `full` but the last. A host takes its time like a link; the one
    /// that receives sends acknowledgements between them as well.
    pub(super) fn train(&self, full: IpPacket, count: f64, last: IpPacket) -> f64 {
        let whole = |packet| {
            self.pieces(&self.there, packet)
                .unwrap_or_else(|| self.there.iter().map(|_| vec![packet]).collect())
        };
        let on_each = |packet| -> Vec<f64> {
            let air = |(link, pieces): (&&LinkSpec, Vec<IpPacket>)| {
                let of = |piece: &IpPacket| {
                    if link.arq.is_none() {
                        return link.airtime(*piece).as_secs_f64();
                    }
                    let (air, late) = link.mean_airtime(*piece, self.until);
                    air + late
                };
                pieces.iter().map(of).sum()
            };
            let [from, to] = self.costs;
            let links = self.there.iter().zip(whole(packet)).map(air);
            std::iter::once(from).chain(links).chain([to]).collect()
        };
        let delay: f64 = self.there.iter().map(|link| link.delay.as_secs_f64()).sum();
        let lasts = on_each(last);
        if count < 2.0 {
            return delay + lasts.iter().sum::<f64>();
        }
        // The last packet goes when it has come and the one before it has left, on each link in turn: the
        // longest of the ways to wait. It catches up with the others on some link, and follows its own
        // pace from there; the others went at the pace of the slowest link up to there.
        let mut rest: f64 = lasts.iter().sum();
        let (mut before, mut slowest, mut longest) = (0.0, 0.0_f64, 0.0_f64);
        let stations = lasts.len();
        for (index, (full, last)) in on_each(full).into_iter().zip(lasts).enumerate() {
            before += full;
            let is_receiver = index + 1 == stations;
            slowest =
                slowest.max(if is_receiver { full * (1.0 + 1.0 / self.per_ack) } else { full });
            longest = longest.max(before + (count - 2.0) * slowest + rest);
            rest -= last;
        }
        delay + longest
    }

    /// Whether such packets are fragmented on the way there.
    pub(super) fn is_cut(&self, packet: IpPacket) -> bool {
        !self.df && self.there.iter().any(|link| packet.length() > link.mtu.bytes())
    }

    /// Fragments of such a packet, and how many of the link's queue it holds, where a link on the way there cuts it into more than that
    /// has room for: they come at once, and one of them is on the wire.
    pub(super) fn fragments_beyond_queue(&self, packet: IpPacket) -> Option<(usize, f64)> {
        let mut before = 1;
        for (link, pieces) in self.there.iter().zip(self.pieces(&self.there, packet)?) {
            let room = room(link, pieces[0]);
            if pieces.len() > before && pieces.len() as f64 > room + 1.0 {
                return Some((pieces.len(), room));
            }
            before = pieces.len();
        }
        None
    }

    /// The error models on the way there.
    pub(super) fn models(&self) -> impl Iterator<Item = &'a ErrorModel> {
        self.there.iter().flat_map(|link| link.errors.entries()).map(|(_, model)| model)
    }

    /// What to know where any link there changes its errors during the run.
    pub(super) fn schedule_caveat(&self) -> Option<Caveat> {
        let text = "the error rate changes over time; the formulas use its mean";
        self.changes_over_time().then(|| Caveat::new("schedule", text))
    }

    /// Whether any link there changes its errors during the run.
    pub(super) fn changes_over_time(&self) -> bool {
        self.there.iter().any(|link| link.errors.entries().len() > 1)
    }
}

/// How many packets of this size may wait before `link`.
pub(super) fn room(link: &LinkSpec, packet: IpPacket) -> f64 {
    match link.queue {
        QueueLimit::Packets(n) => f64::from(n),
        QueueLimit::Bytes(bytes) => bytes.get() as f64 / link.wire_bytes(packet).get() as f64,
    }
}
