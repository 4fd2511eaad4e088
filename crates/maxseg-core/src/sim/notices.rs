//! News of packets that were too large for a hop, on its way back (RFC 1191 §4, RFC 8201).

use crate::framing::{ICMP_ECHO_HEADER, IpVersion, ip_header, largest_quote};
use crate::link::{ArrivalQueue, Fate};
use crate::path::{IcmpPolicy, LinkSpec};
use crate::scenario::{End, Scenario};
use crate::units::{Bytes, Mtu, Time};

/// "Fragmentation needed", for the host that sent the packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notice {
    pub(super) flow: u32,
    /// The end of the flow that it goes to.
    pub(super) to: End,
    /// What the hop takes.
    pub(super) mtu: Mtu,
}

/// Notices on their way. They take each link's delay and the time for their bytes, wait in no queue and
/// are never lost.
#[derive(Debug)]
pub(super) struct Notices {
    queue: ArrivalQueue<Notice>,
    from_sender: Vec<MtuHop>,
    from_receiver: Vec<MtuHop>,
}

/// Where a notice is seen on its way.
#[derive(Debug)]
pub(super) struct ReturnRoute {
    /// The hops at whose links it is seen, in the order of the packet that was refused, and when: first
    /// where that was.
    pub(super) links: Vec<(u16, Time)>,
    /// When it reaches the host.
    pub(super) arrives: Time,
}

/// A hop of a direction, as what is too large for it meets it.
#[derive(Debug)]
struct MtuHop {
    /// Whether it tells.
    policy: IcmpPolicy,
    /// The time from its near end back to the host.
    back: Time,
    /// Packets that it has refused.
    refused: u64,
}

/// The hops of a direction, each with its link there and the one back.
fn mtu_hops<'a>(
    links: impl Iterator<Item = (&'a LinkSpec, &'a LinkSpec)>,
    ip: IpVersion,
) -> Vec<MtuHop> {
    let bytes = notice_bytes(ip);
    let mut back = Time::ZERO;
    let hops = links.map(|(there, here)| {
        let from_here = MtuHop { policy: there.icmp, back, refused: 0 };
        back = back + here.delay + here.rate.time_for(here.wire_bytes(bytes));
        from_here
    });
    hops.collect()
}

/// With as much of the packet as is ever quoted.
fn notice_bytes(ip: IpVersion) -> Bytes {
    ip_header(ip) + ICMP_ECHO_HEADER + largest_quote(ip)
}

impl Notices {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let hops = &scenario.path.hops;
        let forward = hops.iter().map(|hop| (&hop.forward, &hop.reverse));
        let reverse = hops.iter().rev().map(|hop| (&hop.reverse, &hop.forward));
        Self {
            queue: ArrivalQueue::default(),
            from_sender: mtu_hops(forward, scenario.ip),
            from_receiver: mtu_hops(reverse, scenario.ip),
        }
    }

    /// The way of the notice that a packet from `from`, which entered the path at its hop `first`, is too
    /// large; `None` where none is sent.
    pub(super) fn return_route(&self, from: End, first: u16, fate: Fate) -> Option<ReturnRoute> {
        let Fate::TooBig { at, hop, .. } = fate else {
            return None;
        };
        let hops = self.hops(from);
        let back = |index: u16| hops[usize::from(index)].back;
        if hops[usize::from(hop)].policy != IcmpPolicy::Send {
            return None;
        }
        // On the link of a hop it is when it has come as far as that hop's far end.
        let further = (first..hop).rev().map(|index| (index, at + (back(hop) - back(index + 1))));
        let links = std::iter::once((hop, at)).chain(further).collect();
        Some(ReturnRoute { links, arrives: at + (back(hop) - back(first)) })
    }

    /// The hops as packets from this host meet them.
    fn hops(&self, from: End) -> &[MtuHop] {
        match from {
            End::Sender => &self.from_sender,
            End::Receiver => &self.from_receiver,
        }
    }

    /// For each hop, as packets from this host meet them, how many it has refused.
    pub(super) fn refused(&self, from: End) -> impl Iterator<Item = u64> {
        self.hops(from).iter().map(|hop| hop.refused)
    }

    /// A packet of `flow` that `from` sent, entering the path at its hop `first`, met this fate.
    pub(super) fn on_loss(&mut self, from: End, first: u16, flow: u32, fate: Fate) {
        let Fate::TooBig { at, hop, mtu } = fate else {
            return;
        };
        let hops = match from {
            End::Sender => &mut self.from_sender,
            End::Receiver => &mut self.from_receiver,
        };
        let entered = hops[usize::from(first)].back;
        let hop = &mut hops[usize::from(hop)];
        hop.refused += 1;
        if hop.policy == IcmpPolicy::Send {
            let back = hop.back - entered;
            self.queue.insert(at + back, Notice { flow, to: from, mtu });
        }
    }

    /// When the next one reaches its host.
    pub(super) fn next_arrival(&self) -> Time {
        self.queue.next_arrival()
    }

    /// The next one to have reached its host by `now`.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<Notice> {
        self.queue.pop_due(now).map(|(_, notice)| notice)
    }
}
