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
    from_sender: ReturnDelays,
    from_receiver: ReturnDelays,
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

/// For each hop of a direction: whether it tells, and the time from its near end back to the host.
#[derive(Debug)]
struct ReturnDelays(Vec<(IcmpPolicy, Time)>);

impl ReturnDelays {
    fn new<'a>(links: impl Iterator<Item = (&'a LinkSpec, &'a LinkSpec)>, ip: IpVersion) -> Self {
        let bytes = notice_bytes(ip);
        let mut back = Time::ZERO;
        let hops = links.map(|(there, here)| {
            let from_here = (there.icmp, back);
            back = back + here.delay + here.rate.time_for(here.wire_bytes(bytes));
            from_here
        });
        Self(hops.collect())
    }
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
            from_sender: ReturnDelays::new(forward, scenario.ip),
            from_receiver: ReturnDelays::new(reverse, scenario.ip),
        }
    }

    /// The way of the notice that a packet from `from`, which entered the path at its hop `first`, is too
    /// large; `None` where none is sent.
    pub(super) fn return_route(&self, from: End, first: u16, fate: Fate) -> Option<ReturnRoute> {
        let Fate::TooBig { at, hop, .. } = fate else {
            return None;
        };
        let delays = self.delays(from);
        let back = |index: u16| delays[usize::from(index)].1;
        if delays[usize::from(hop)].0 != IcmpPolicy::Send {
            return None;
        }
        // On the link of a hop it is when it has come as far as that hop's far end.
        let further = (first..hop).rev().map(|index| (index, at + (back(hop) - back(index + 1))));
        let links = std::iter::once((hop, at)).chain(further).collect();
        Some(ReturnRoute { links, arrives: at + (back(hop) - back(first)) })
    }

    fn delays(&self, from: End) -> &[(IcmpPolicy, Time)] {
        match from {
            End::Sender => &self.from_sender.0,
            End::Receiver => &self.from_receiver.0,
        }
    }

    /// A packet of `flow` that `from` sent, entering the path at its hop `first`, met this fate.
    pub(super) fn on_loss(&mut self, from: End, first: u16, flow: u32, fate: Fate) {
        let Fate::TooBig { at, hop, mtu } = fate else {
            return;
        };
        let delays = self.delays(from);
        let (policy, back) = delays[usize::from(hop)];
        if policy == IcmpPolicy::Send {
            let back = back - delays[usize::from(first)].1;
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
