//! Hops made of the kernel's qdiscs.
//!
//! ```text
//! host ──veth── near box ──veth── far box ──veth── host
//! ```
//! A packet to the receiver leaves the near box through the qdiscs of queue and rate, and the far box through those of
//! errors and delay; a packet to the sender, the other way round. Each box is a namespace that only forwards, with the
//! largest MTU, so that packet sizes depend on the hosts alone. It has no address, and takes one from each packet's hop
//! limit.

use std::io;

use maxseg_core::scenario::{End, Scenario};

use super::error::LabError;
use super::host::{Host, InterfaceCounters, QUEUE, interface_counters, only_forwards};
use super::netem::{Devices, Plan, TcCommand, TcError};
use super::topology::{every_address, interface_of};
use crate::netlink::Netlink;
use crate::sys::NetNs;

/// The two boxes of a hop.
#[derive(Debug)]
pub(crate) struct NetemBridge {
    /// The sender's side.
    near: NetNs,
    /// The receiver's side.
    far: NetNs,
}

/// A box's interface towards its host.
const TO_HOST: &str = "host";
/// A box's interface towards the other box.
const TO_BOX: &str = "box";
/// The largest MTU of a veth (`ETH_MAX_MTU`).
const MTU: u32 = 65_535;

impl NetemBridge {
    /// Creates the boxes of hop `hop`, and the interfaces of its two hosts, which stay down.
    ///
    /// # Errors
    /// The kernel refuses a part of it.
    pub(super) fn build(
        scenario: &Scenario,
        hop: usize,
        hosts: [&Host; 2],
    ) -> Result<Self, LabError> {
        let new = || NetNs::new().map_err(LabError::Namespace);
        let boxes = Self { near: new()?, far: new()? };
        boxes.connect(scenario, hop, hosts).map_err(|error| {
            let link = scenario.path.hops[hop].name.clone();
            LabError::Link { link, error }
        })?;
        Ok(boxes)
    }

    fn connect(&self, scenario: &Scenario, hop: usize, hosts: [&Host; 2]) -> io::Result<()> {
        let interface = interface_of(scenario, hop);
        for own in [&self.near, &self.far] {
            own.run(|| only_forwards(scenario.ip))?;
        }
        self.near.run(|| Netlink::new()?.add_pair(TO_BOX, TO_BOX, &self.far))?;
        for (own, host, is_ours) in [
            (&self.near, hosts[0], (0..=hop)),
            (&self.far, hosts[1], (hop + 1..=scenario.path.hops.len())),
        ] {
            own.run(|| {
                let mut netlink = Netlink::new()?;
                netlink.add_pair(TO_HOST, &interface, &host.namespace)?;
                for device in [TO_HOST, TO_BOX] {
                    netlink.bring_up(Netlink::interface(device)?, MTU, QUEUE)?;
                }
                for (at, to) in every_address(scenario) {
                    let through = if is_ours.contains(&at) { TO_HOST } else { TO_BOX };
                    netlink.set_route(to, Netlink::interface(through)?, None, &[])?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The interfaces of a direction's qdiscs.
    pub(super) fn place() -> Devices {
        Devices::TwoInterfaces { wire: TO_BOX.to_owned(), pipe: TO_HOST.to_owned() }
    }

    /// The boxes that packets towards `to` pass, in that order.
    fn towards(&self, to: End) -> [&NetNs; 2] {
        match to {
            End::Receiver => [&self.near, &self.far],
            End::Sender => [&self.far, &self.near],
        }
    }

    /// Sets the qdiscs of a direction up.
    ///
    /// # Errors
    /// `tc` is missing or fails.
    pub(super) fn add(&self, to: End, plan: &Plan) -> Result<(), LabError> {
        let [first, second] = self.towards(to);
        for qdisc in &plan.qdiscs {
            let own = if qdisc.device == TO_BOX { first } else { second };
            tc(own, &qdisc.add(), qdisc.kind.word())?;
        }
        Ok(())
    }

    /// The statistics of `tc` for a direction: of queue and rate, and of errors and delay.
    ///
    /// # Errors
    /// `tc` fails.
    pub(super) fn statistics(&self, to: End) -> Result<[String; 2], LabError> {
        let [first, second] = self.towards(to);
        let of = |own, device| {
            let show = ["-s", "-j", "qdisc", "show", "dev", device];
            tc(own, &TcCommand::new("tc", show), "")
        };
        Ok([of(first, TO_BOX)?, of(second, TO_HOST)?])
    }

    /// The counters of what the host sent towards `to`.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub(super) fn arrived(&self, to: End) -> io::Result<InterfaceCounters> {
        let [first, _] = self.towards(to);
        let interfaces = first.run(interface_counters)?;
        let from_host = interfaces.into_iter().find(|counters| counters.name == TO_HOST);
        from_host.ok_or_else(|| io::Error::other("its interface is gone"))
    }
}

/// Runs `tc` in a namespace. Gives its standard output.
fn tc(own: &NetNs, command: &TcCommand, kind: &str) -> Result<String, LabError> {
    let reply = own.run(|| command.run()).map_err(LabError::NoTc)?;
    if reply.success {
        return Ok(reply.stdout);
    }
    let error = TcError::of(&reply);
    Err(LabError::Tc { command: command.clone(), kind: kind.to_owned(), error })
}
