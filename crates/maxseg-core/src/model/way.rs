//! What a path means to one flow: its links in the order in which the flow's packets meet them.

use crate::errors::ErrorModel;
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::scenario::{End, Flow, Scenario};
use crate::units::{Probability, Time};

/// The links from a flow's sender to its receiver, and back.
pub(super) struct Way<'a> {
    there: Vec<&'a LinkSpec>,
    back: Vec<&'a LinkSpec>,
    until: Time,
}

impl<'a> Way<'a> {
    pub(super) fn of(scenario: &'a Scenario, flow: &Flow) -> Self {
        let hops = &scenario.path.hops;
        let forward: Vec<_> = hops.iter().map(|hop| &hop.forward).collect();
        let reverse: Vec<_> = hops.iter().rev().map(|hop| &hop.reverse).collect();
        let (there, back) = match flow.from {
            End::Sender => (forward, reverse),
            End::Receiver => (reverse, forward),
        };
        Self { there, back, until: scenario.until.time }
    }

    /// From sending a packet to having its answer, nothing queued.
    pub(super) fn round_trip(&self, there: IpPacket, back: IpPacket) -> Time {
        one_way(&self.there, there) + one_way(&self.back, back)
    }

    /// The chance that a packet is damaged on the way there.
    pub(super) fn loss(&self, packet: IpPacket) -> Probability {
        self.chance(&self.there, packet)
    }

    /// The chance that a packet is damaged on the way back.
    pub(super) fn loss_back(&self, packet: IpPacket) -> Probability {
        self.chance(&self.back, packet)
    }

    fn chance(&self, links: &[&LinkSpec], packet: IpPacket) -> Probability {
        links.iter().fold(Probability::NEVER, |chance, link| {
            chance.or(link.errors.mean_chance(&link.exposure(packet), self.until))
        })
    }

    /// The link on which such packets go slowest.
    pub(super) fn bottleneck(&self, packet: IpPacket) -> &'a LinkSpec {
        slowest(&self.there, packet)
    }

    /// The link on which such packets go slowest on the way back.
    pub(super) fn bottleneck_back(&self, packet: IpPacket) -> &'a LinkSpec {
        slowest(&self.back, packet)
    }

    /// The error models on the way there.
    pub(super) fn models(&self) -> impl Iterator<Item = &'a ErrorModel> {
        self.there.iter().flat_map(|link| link.errors.entries()).map(|(_, model)| model)
    }

    /// Whether any link there changes its errors during the run.
    pub(super) fn changes_over_time(&self) -> bool {
        self.there.iter().any(|link| link.errors.entries().len() > 1)
    }
}

fn slowest<'a>(links: &[&'a LinkSpec], packet: IpPacket) -> &'a LinkSpec {
    let packet_time = |link: &&&LinkSpec| {
        u128::from(link.wire_bits(packet)) * 1_000_000_000_000 / u128::from(link.rate.get())
    };
    links.iter().max_by_key(packet_time).expect("a checked path has a hop")
}

fn one_way(links: &[&LinkSpec], packet: IpPacket) -> Time {
    links.iter().fold(Time::ZERO, |sum, link| sum + link.delay + link.airtime(packet))
}
