//! Messages "unreachable": somebody on the way has the packet and does not pass it on. They are neither round trips to the destination nor
//! losses.

use std::net::IpAddr;

use maxseg_core::evidence::UnreachableCode;
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
        PathError::Unreachable { address, from, why: self.why() }
    }

    /// As what is said of packets of one size, in a clause.
    pub(super) fn clause(self) -> String {
        format!("{} says of them: {}", self.from, self.why())
    }

    fn why(self) -> String {
        let code = UnreachableCode { is_v4: self.from.is_ipv4(), number: self.code };
        format!("{} ({code})", code.meaning())
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
