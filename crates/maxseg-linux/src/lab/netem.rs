//! Links of the kernel: the `tc` commands that make netem and tbf emulate a [`LinkSpec`].
//!
//! The parts of a link come in this order: queue, wire, errors, delay. No tree of qdiscs on one interface has
//! this order: a packet enters at the root, and netem's time begins when the packet enters netem,
//! so its delay and its losses come before the shaping, whether netem is the parent or the child. As the
//! child it also takes the place of tbf's queue, and its `limit` (1000 packets unless given) then counts
//! queued and delayed packets together. So a link takes two interfaces ([`Devices::TwoInterfaces`]): the
//! first has queue and rate, the next one errors, delay, jitter, overtaking and copies. On one interface
//! ([`Devices::OneInterface`]) netem comes before the wire, and [`Shortfall::NetemBeforeWire`] reports it.
//!
//! The rate is netem's own (`rate`) where the queue is a plain one counted in packets: a packet leaves
//! when its last bit would, on a clock that lateness does not push back, and `limit` counts what waits
//! and what is on the wire, nothing else. tbf has a bucket: after a pause it lets a packet pass in no time,
//! which on a slow line is off by a packet's whole airtime, and with a bucket of one packet it loses tokens
//! whenever a timer is late. But it has what netem's rate has not: queues in bytes, a bucket where the link
//! is said to have one, and a child that sees the queue (`codel`, `red`). So it serves these.
//!
//! Neither may stand on the interface of the host that sends: TCP takes a drop there for congestion of its
//! own host, loses nothing, and small queues (`tcp_limit_output_bytes`) keep the queue empty. See
//! `docs/lab-netem.md`.
//!
//! Sources: `net/sched/sch_netem.c`, `sch_tbf.c`, `sch_api.c` (`__qdisc_calculate_pkt_len`) of Linux;
//! `tc/q_netem.c`, `q_tbf.c`, `q_red.c`, `tc_core.c` of iproute2; tc-netem(8), tc-tbf(8), tc-stab(8).

mod command;
mod detect;
mod fault;
mod qdisc;
mod red;
mod shortfall;
mod size_table;
mod stages;

pub use command::{TcCommand, TcReply};
pub use detect::{Netem, Unavailable, detect};
pub use fault::TcError;
pub use qdisc::{Chain, Kind, Loss, NetemParameters, Parent, Qdisc, RedParameters, clear};
pub use shortfall::Shortfall;
pub use size_table::SizeTable;

use maxseg_core::path::LinkSpec;
use maxseg_core::units::Time;

/// Where the qdiscs of one direction of a hop go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Devices {
    /// On two interfaces that a packet leaves by, one after the other: as the link is.
    TwoInterfaces {
        /// The first: queue and rate.
        wire: String,
        /// The next: errors, delay, jitter, overtaking, copies.
        pipe: String,
    },
    /// On one interface, netem first.
    OneInterface {
        /// Its name.
        device: String,
    },
}

/// Circumstances of a plan beside the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOptions {
    /// Seed of netem's random numbers, where [`Netem::seeds`] is true.
    pub seed: Option<u64>,
    /// Whether super-packets stay whole: losses then take them as one.
    pub as_netem: bool,
    /// How late a timer may be: tbf's bucket holds what the rate carries in that time.
    pub tick: Time,
    /// What the kernel counts of a packet before its IP header: 14 on Ethernet and veth, 0 on TUN.
    pub device_header: u32,
}

impl Default for PlanOptions {
    /// No seed, packets of the wire, veth; timers late by no more than 1 ms.
    fn default() -> Self {
        Self { seed: None, as_netem: false, tick: Time::from_millis(1), device_header: 14 }
    }
}

/// The qdiscs of one direction of a hop, and what they leave out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In the order in which they are added.
    pub qdiscs: Vec<Qdisc>,
    /// Differences from the link.
    pub shortfalls: Vec<Shortfall>,
}

impl Plan {
    /// The plan for `link` at `place`. Every link has one: what netem and tbf cannot do is left out and listed.
    pub fn of(link: &LinkSpec, place: &Devices, options: &PlanOptions) -> Self {
        stages::plan(link, place, options)
    }

    /// The commands that set it up, on interfaces without a qdisc of their own.
    pub fn add(&self) -> Vec<TcCommand> {
        self.qdiscs.iter().map(Qdisc::add).collect()
    }
}

/// What the interface of a host that sends needs first: segmentation offloads off, so that only packets of
/// the wire come to netem. With `as_netem`, nothing: super-packets are wanted.
///
/// For display: the lab uses the ioctl (`sys::offloads_off`), and needs no `ethtool`.
///
/// It must be the sending host's: netem sees what the host hands down, and `tso off` on the interface that
/// drops splits packets only behind its qdisc (`validate_xmit_skb` comes after dequeue).
pub fn source_offloads(device: &str, as_netem: bool) -> Option<TcCommand> {
    let off = ["-K", device, "tso", "off", "gso", "off", "gro", "off"];
    (!as_netem).then(|| TcCommand::new("ethtool", off))
}

#[cfg(test)]
mod tests;
