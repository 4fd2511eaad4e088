//! Messages "unreachable": somebody on the way has the packet and does not pass it on. They are neither round trips to the destination nor
//! losses.

use std::net::IpAddr;

use maxseg_linux::probe::{AnswerKind, Shot};

use crate::error::{PathError, Sayer};

/// A message "unreachable" about a packet to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unreachable {
    from: IpAddr,
    code: u8,
}

/// The codes of "port unreachable".
const PORT_V4: u8 = 3;
const PORT_V6: u8 = 4;

impl Unreachable {
    /// What was said of a packet that was to go all the way. "Port unreachable" of another than the destination is a firewall's, and of
    /// that port alone.
    pub(super) fn of(shot: &Shot) -> Option<Self> {
        let answer = shot.answer.filter(|_| shot.probe.hop.is_none())?;
        let port = if answer.from.is_ipv4() { PORT_V4 } else { PORT_V6 };
        match answer.kind {
            AnswerKind::Unreachable(code) if code != port => Some(Self { from: answer.from, code }),
            AnswerKind::Unreachable(_) | AnswerKind::Destination | AnswerKind::Expired => None,
        }
    }

    /// As the end of a test of which nothing else came; `own` is this host's address.
    pub(super) fn error(self, address: IpAddr, own: IpAddr) -> PathError {
        let from = if self.from == own { Sayer::ThisHost } else { Sayer::Router(self.from) };
        let why = if address.is_ipv4() {
            format!("{} (ICMP type 3, code {})", meaning_v4(self.code), self.code)
        } else {
            format!("{} (ICMPv6 type 1, code {})", meaning_v6(self.code), self.code)
        };
        PathError::Unreachable { address, from, why }
    }
}

/// Codes of "destination unreachable" (RFC 792, RFC 1122 §3.2.2.1, RFC 1812 §5.2.7.1).
const fn meaning_v4(code: u8) -> &'static str {
    match code {
        0 | 6 | 11 => "no route to its network",
        1 | 7 | 12 => "no route to the host, or the host does not answer there",
        9 | 10 | 13 => "administratively prohibited",
        _ => "the packets are not passed on",
    }
}

/// The same of `ICMPv6` (RFC 4443 §3.1).
const fn meaning_v6(code: u8) -> &'static str {
    match code {
        0 => "no route to it",
        1 | 5 => "administratively prohibited",
        2 => "beyond the scope of the source address",
        3 => "the host does not answer there",
        6 => "a route rejects it",
        _ => "the packets are not passed on",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_router_is_named_with_what_it_says_and_this_host_as_itself() {
        let (own, to): (IpAddr, IpAddr) =
            ("10.9.1.1".parse().unwrap(), "10.200.0.1".parse().unwrap());
        let router = Unreachable { from: "10.9.1.254".parse().unwrap(), code: 0 };
        assert_eq!(
            router.error(to, own).to_string(),
            "10.9.1.254 says that 10.200.0.1 is unreachable: no route to its network (ICMP type 3, code 0)"
        );
        let here = Unreachable { from: own, code: 1 };
        assert!(here.error(to, own).to_string().starts_with("this host says that 10.200.0.1 is"));
        let six = Unreachable { from: "fd09:1::fe".parse().unwrap(), code: 1 };
        let said = six.error("fd0a::1".parse().unwrap(), "fd09:1::1".parse().unwrap()).to_string();
        assert!(said.ends_with("administratively prohibited (ICMPv6 type 1, code 1)"), "{said}");
    }
}
