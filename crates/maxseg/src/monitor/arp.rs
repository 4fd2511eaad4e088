//! ARP of Ethernet and IPv4 (RFC 826).

use std::fmt;
use std::net::Ipv4Addr;

use serde::Serialize;

/// Who is asked for, or who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Arp {
    /// `request` or `reply`; the number of anything else.
    pub(super) operation: String,
    pub(super) sender: Ipv4Addr,
    pub(super) sender_hardware: String,
    pub(super) target: Ipv4Addr,
}

impl Arp {
    /// `None` of other addresses, and of what is cut.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let [0, 1, 8, 0, 6, 4, o1, o2, rest @ ..] = bytes else { return None };
        let (hardware, rest) = rest.split_first_chunk::<6>()?;
        let (sender, rest) = rest.split_first_chunk::<4>()?;
        let (target, _) = rest.get(6..)?.split_first_chunk::<4>()?;
        let operation = match u16::from_be_bytes([*o1, *o2]) {
            1 => "request".to_owned(),
            2 => "reply".to_owned(),
            other => other.to_string(),
        };
        let octets = hardware.map(|octet| format!("{octet:02x}"));
        Some(Self {
            operation,
            sender: (*sender).into(),
            sender_hardware: octets.join(":"),
            target: (*target).into(),
        })
    }
}

impl fmt::Display for Arp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, sender, sender_hardware, target } = self;
        match &**operation {
            "request" => write!(f, "who-has {target} tell {sender}"),
            "reply" => write!(f, "{sender} is-at {sender_hardware}"),
            other => write!(f, "operation {other} from {sender} to {target}"),
        }
    }
}
