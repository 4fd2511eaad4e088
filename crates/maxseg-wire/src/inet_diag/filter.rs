//! Conditions on sockets, compiled to the kernel's bytecode, so that only those that match are copied out.

use std::net::{IpAddr, SocketAddr};

/// Operations (`INET_DIAG_BC_*`).
const JUMP: u8 = 1;
const LOCAL_HOST: u8 = 7;
const REMOTE_HOST: u8 = 8;
const LOCAL_PORT: u8 = 11;
const REMOTE_PORT: u8 = 12;
/// Bytes of `struct inet_diag_bc_op`, the unit of jumps.
const OP: usize = 4;
/// A host condition for any port.
const ANY_PORT: i32 = -1;
/// The longest program: the length of its attribute, and its farthest jump, one operation beyond the end, have 16 bits.
const LONGEST: usize = u16::MAX as usize - OP;
const IPV4: u8 = 2;
const IPV6: u8 = 10;

/// An end of a connection, seen from this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// This host's.
    Local,
    /// The peer's.
    Remote,
}

/// The addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The bits; those behind the prefix do not count.
    pub address: IpAddr,
    /// How many count: up to 32 or 128.
    pub length: u8,
}

impl Prefix {
    /// One address.
    pub const fn host(address: IpAddr) -> Self {
        Self { address, length: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// Whether the address begins with these bits; one that is mapped into IPv6 counts as IPv4, as the kernel has it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, true),
            IpAddr::V6(v6) => (v6.to_bits(), false),
        };
        let address = if self.address.is_ipv4() { address.to_canonical() } else { address };
        let ((own, is_v4), (other, other_is_v4)) = (bits(self.address), bits(address));
        let shift = 128_u32.saturating_sub(self.length.into());
        is_v4 == other_is_v4 && (own ^ other).checked_shr(shift).unwrap_or(0) == 0
    }
}

/// A condition on the two ends of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// An end has this port.
    Port(Endpoint, u16),
    /// An end has such an address.
    Address(Endpoint, Prefix),
    /// All of these; an empty list is always true.
    All(Vec<Self>),
    /// At least one of these; an empty list is never true.
    Any(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
}

impl Filter {
    /// Either end has this port.
    pub fn port(port: u16) -> Self {
        Self::Any(vec![Self::Port(Endpoint::Local, port), Self::Port(Endpoint::Remote, port)])
    }

    /// Whether a socket with these ends matches, as the kernel sees it.
    pub fn matches(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let end = |which: Endpoint| match which {
            Endpoint::Local => local,
            Endpoint::Remote => remote,
        };
        match self {
            Self::Port(which, port) => end(*which).port() == *port,
            Self::Address(which, prefix) => prefix.contains(end(*which).ip()),
            Self::All(parts) => parts.iter().all(|part| part.matches(local, remote)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(local, remote)),
            Self::Not(part) => !part.matches(local, remote),
        }
    }

    /// Whether the kernel takes it: else it lists all sockets, and the caller keeps those that [match](Self::matches).
    pub fn fits_request(&self) -> bool {
        self.program_bytes() <= LONGEST
    }

    /// Bytes of [`Self::bytecode`], which takes long where it has too many.
    fn program_bytes(&self) -> usize {
        let of = |parts: &[Self], behind_each: usize| -> usize {
            parts.iter().map(|part| part.program_bytes() + behind_each).sum()
        };
        match self {
            Self::Port(..) => 2 * OP,
            Self::Address(_, prefix) if prefix.address.is_ipv4() => 4 * OP,
            Self::Address(..) => 7 * OP,
            Self::All(parts) => 2 * OP + of(parts, 2 * OP),
            Self::Any(parts) => OP + of(parts, OP),
            Self::Not(part) => part.program_bytes() + OP,
        }
    }

    /// The program of `inet_diag_bc_run`. Each part runs on at its own end where it holds, and jumps one operation
    /// beyond that end where not: at the end of all, that is where the kernel passes the socket over.
    pub(super) fn bytecode(&self) -> Vec<u8> {
        match self {
            Self::Port(which, port) => port_condition(*which, *port),
            Self::Address(which, prefix) => host_condition(*which, *prefix),
            Self::All(parts) => all(parts.iter().map(Self::bytecode)),
            Self::Any(parts) => any(parts.iter().map(Self::bytecode)),
            Self::Not(part) => negated(part.bytecode()),
        }
    }
}

/// An operation: it goes on `yes` bytes further where it holds, else `no` bytes.
fn operation(code: u8, yes: usize, no: usize) -> [u8; OP] {
    let yes = u8::try_from(yes).unwrap_or(u8::MAX);
    let [low, high] = u16::try_from(no).unwrap_or(u16::MAX).to_ne_bytes();
    [code, yes, low, high]
}

/// A jump over so many bytes that follow it.
fn jump(over: usize) -> [u8; OP] {
    operation(JUMP, OP, OP + over)
}

fn port_condition(which: Endpoint, port: u16) -> Vec<u8> {
    let code = match which {
        Endpoint::Local => LOCAL_PORT,
        Endpoint::Remote => REMOTE_PORT,
    };
    // The port stands in the operation that follows.
    let [low, high] = port.to_ne_bytes();
    [operation(code, 2 * OP, 3 * OP), [0, 0, low, high]].concat()
}

/// `struct inet_diag_hostcond` behind its operation.
fn host_condition(which: Endpoint, prefix: Prefix) -> Vec<u8> {
    let code = match which {
        Endpoint::Local => LOCAL_HOST,
        Endpoint::Remote => REMOTE_HOST,
    };
    let (family, address) = match prefix.address {
        IpAddr::V4(v4) => (IPV4, v4.octets().to_vec()),
        IpAddr::V6(v6) => (IPV6, v6.octets().to_vec()),
    };
    let length = 3 * OP + address.len();
    let mut code = operation(code, length, length + OP).to_vec();
    code.extend_from_slice(&[family, prefix.length, 0, 0]);
    code.extend_from_slice(&ANY_PORT.to_ne_bytes());
    code.extend_from_slice(&address);
    code
}

/// One part after the other; the first that does not hold ends it.
fn all(parts: impl DoubleEndedIterator<Item = Vec<u8>>) -> Vec<u8> {
    // What does not hold leaves its part where the negated rest would begin: not (not a or not b …).
    negated(any(parts.map(negated)))
}

/// One part after the other; the first that holds ends it.
fn any(parts: impl DoubleEndedIterator<Item = Vec<u8>>) -> Vec<u8> {
    // Never true: a jump beyond the end.
    let never = jump(OP).to_vec();
    parts.rev().fold(never, |rest, part| {
        let over = jump(rest.len());
        [&part[..], &over, &rest].concat()
    })
}

/// Where the part holds, a jump beyond the end; where not, it is at the end.
fn negated(mut part: Vec<u8>) -> Vec<u8> {
    part.extend_from_slice(&jump(OP));
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_program_is_known_before_it_is_made() {
        let host = |address: &str| {
            Filter::Address(Endpoint::Remote, Prefix::host(address.parse().unwrap()))
        };
        let (v4, v6) = (host("10.0.0.1"), host("2001:db8::1"));
        let any = Filter::Any(vec![v4.clone(), Filter::port(80), v6.clone()]);
        let all = Filter::All(vec![any.clone(), Filter::Not(Box::new(v4.clone()))]);
        let empty = [Filter::All(Vec::new()), Filter::Any(Vec::new())];
        for filter in [Filter::port(1), v4, v6, any, all].into_iter().chain(empty) {
            assert_eq!(filter.program_bytes(), filter.bytecode().len(), "{filter:?}");
        }
    }

    #[test]
    fn a_request_has_no_longer_program_than_its_lengths_have_bits() {
        let ports = |count: u16| Filter::Any((1..=count).map(Filter::port).collect());
        let (longest, too_long) = (ports(2047), ports(2048));
        assert_eq!((longest.program_bytes(), too_long.program_bytes()), (65_508, 65_540));
        assert_eq!((longest.fits_request(), too_long.fits_request()), (true, false));
    }
}
