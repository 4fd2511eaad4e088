//! The host that is tested.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::str::FromStr;

use maxseg_core::framing::IpVersion;

use super::PathError;
use crate::host_port::{NoHost, host_and_port, without_zone};

/// A host, and perhaps a port: `HOST`, `HOST:PORT`, `ADDRESS`, `[ADDRESS]:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTarget {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: Option<u16>,
}

/// The addresses of a target, at most one of each IP version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// As the resolver prefers them.
    pub addresses: Vec<IpAddr>,
}

impl FromStr for PathTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if without_zone(text) != text {
            return Err("addresses with a zone (%eth0) are not supported; another address of the host is needed".to_owned());
        }
        if text.contains("://") {
            return Err(
                "it is a URL; the host alone is needed, perhaps with a port: www.example.org:443"
                    .to_owned(),
            );
        }
        match host_and_port(text) {
            Ok((_, Some(0))) | Err(NoHost::Port) => {
                Err("a port is a number from 1 to 65535".to_owned())
            }
            Ok((host, port)) => Ok(Self { host, port }),
            Err(NoHost::Name) => Err("it is a host name or an address, perhaps with a port: www.example.org:443, [2001:db8::7]:443".to_owned()),
        }
    }
}

impl PathTarget {
    /// Its addresses: the first of each IP version that the resolver gives, or of the one version that is asked for.
    ///
    /// # Errors
    /// The resolver knows no such host, or no address of that version.
    pub fn resolve(&self, version: Option<u8>) -> Result<Resolved, PathError> {
        let found = (self.host.as_str(), 0)
            .to_socket_addrs()
            .map_err(|source| PathError::UnknownHost { name: self.host.clone(), source })?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found.map(|end| end.ip().to_canonical()) {
            let is_wanted = version.is_none_or(|version| version == number(address));
            if is_wanted && !addresses.iter().any(|known| number(*known) == number(address)) {
                addresses.push(address);
            }
        }
        match (addresses.is_empty(), version) {
            (true, Some(version)) => {
                Err(PathError::NoSuchAddress { name: self.host.clone(), version })
            }
            (true, None) => {
                let source = std::io::Error::other("it has no address");
                Err(PathError::UnknownHost { name: self.host.clone(), source })
            }
            (false, _) => {
                match addresses.iter().find_map(|it| Some((*it, kind_of_no_host(*it)?))) {
                    Some((address, kind)) => Err(PathError::NoHost { address, kind }),
                    None => Ok(Resolved { addresses }),
                }
            }
        }
    }
}

/// Which kind of address it is, if it is none that a host has on any link.
fn kind_of_no_host(address: IpAddr) -> Option<&'static str> {
    match address {
        _ if address.is_unspecified() => Some("the unspecified address"),
        _ if address.is_multicast() => Some("a multicast address"),
        IpAddr::V4(address) if address.is_broadcast() => Some("the broadcast address"),
        IpAddr::V6(address) if address.is_unicast_link_local() => {
            Some("a link-local address, of which each link has its own")
        }
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    }
}

fn number(address: IpAddr) -> u8 {
    IpVersion::from(address).number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_have_a_port() {
        for (text, host, port) in [
            ("192.0.2.7", "192.0.2.7", None),
            ("192.0.2.7:443", "192.0.2.7", Some(443)),
            ("2001:db8::7", "2001:db8::7", None),
            ("[2001:db8::7]", "2001:db8::7", None),
            ("[2001:db8::7]:443", "2001:db8::7", Some(443)),
            ("www.example.org:443", "www.example.org", Some(443)),
            ("db_1", "db_1", None),
        ] {
            assert_eq!(text.parse(), Ok(PathTarget { host: host.to_owned(), port }), "{text}");
        }
        for text in [
            "",
            "-4",
            "a b",
            "x:y",
            "x:0",
            "192.0.2.7:0",
            "x:70000",
            "\u{1b}[31m",
            "[x]:80",
            "a/b",
            "fe80::1%eth0",
        ] {
            assert!(text.parse::<PathTarget>().is_err(), "{text}");
        }
        let told = "https://www.example.org/".parse::<PathTarget>().unwrap_err();
        assert!(told.contains("a URL"), "{told}");
    }
}
