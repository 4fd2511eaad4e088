//! Hosts on this host's links (`ip neigh`).
#![expect(clippy::wildcard_enum_match_arm, reason = "of many attributes and states, few matter")]

use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};

use super::{Netlink, of_one};

impl Netlink {
    /// The link-layer address with which a host on a link has answered address resolution, ARP or neighbour discovery, while packets to it
    /// are sent (`ip neigh get ADDRESS dev NAME`). `None` of one that does not answer, and of one that nobody asks: an entry that was
    /// set by hand, a link without addresses.
    ///
    /// # Errors
    /// rtnetlink does not answer.
    pub(crate) fn resolved(&mut self, of: IpAddr, interface: u32) -> io::Result<Option<String>> {
        let mut message = NeighbourMessage::default();
        (message.header.family, _) = of_one(of);
        message.header.ifindex = interface;
        message.attributes.push(NeighbourAttribute::Destination(match of {
            IpAddr::V4(of) => NeighbourAddress::Inet(of),
            IpAddr::V6(of) => NeighbourAddress::Inet6(of),
        }));
        let answers = match self.answers(RouteNetlinkMessage::GetNeighbour(message), 0) {
            // There is no such entry.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(None),
            answers => answers?,
        };
        Ok(answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewNeighbour(entry) => answered(entry),
            _ => None,
        }))
    }
}

/// The address of an entry that was resolved. What was, and is not used, is stale: packets that are sent have it asked once more.
fn answered(entry: &NeighbourMessage) -> Option<String> {
    let is_resolved = matches!(
        entry.header.state,
        NeighbourState::Reachable | NeighbourState::Delay | NeighbourState::Probe
    );
    entry.attributes.iter().filter(|_| is_resolved).find_map(|attribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(bytes) if !bytes.is_empty() => Some(in_hex(bytes)),
        _ => None,
    })
}

fn in_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let colon = if text.is_empty() { "" } else { ":" };
        // To a string it does not fail.
        let _ = write!(text, "{colon}{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(state: NeighbourState) -> NeighbourMessage {
        let mut entry = NeighbourMessage::default();
        entry.header.state = state;
        entry.attributes.push(NeighbourAttribute::LinkLayerAddress(vec![2, 0, 0, 0, 0, 0xab]));
        entry
    }

    #[test]
    fn only_what_was_resolved_has_answered() {
        let answers = |state| answered(&entry(state)).is_some();
        assert_eq!(answered(&entry(NeighbourState::Reachable)).unwrap(), "02:00:00:00:00:ab");
        assert!(answers(NeighbourState::Delay) && answers(NeighbourState::Probe));
        for state in [NeighbourState::Failed, NeighbourState::Permanent, NeighbourState::Noarp] {
            assert!(!answers(state), "{state:?}");
        }
    }
}
