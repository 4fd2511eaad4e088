//! The host that is tested.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

use super::PathError;

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
        let of = |host: &str, port| Ok(Self { host: host.to_owned(), port });
        if let Ok(address) = text.parse::<IpAddr>() {
            return of(&address.to_string(), None);
        }
        if let Ok(end) = text.parse::<SocketAddr>() {
            return of(&end.ip().to_string(), Some(end.port())).and_then(Self::with_port);
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && inner.parse::<IpAddr>().is_ok()
        {
            return of(inner, None);
        }
        let (host, port) = match text.rsplit_once(':') {
            None => (text, None),
            Some((host, port)) => {
                let port =
                    port.parse().map_err(|_| "a port is a number from 1 to 65535".to_owned())?;
                (host, Some(port))
            }
        };
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if host.is_empty()
            || host.len() > 253
            || host.starts_with('-')
            || !host.chars().all(is_letter)
        {
            return Err("it is a host name or an address, perhaps with a port: www.example.org:443, [2001:db8::7]:443".to_owned());
        }
        Self::with_port(Self { host: host.to_owned(), port })
    }
}

impl PathTarget {
    fn with_port(self) -> Result<Self, String> {
        if self.port == Some(0) {
            Err("a port is a number from 1 to 65535".to_owned())
        } else {
            Ok(self)
        }
    }

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
            (false, _) => Ok(Resolved { addresses }),
        }
    }
}

const fn number(address: IpAddr) -> u8 {
    if address.is_ipv4() { 4 } else { 6 }
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
        for text in
            ["", "-4", "a b", "x:y", "x:0", "192.0.2.7:0", "x:70000", "\u{1b}[31m", "[x]:80", "a/b"]
        {
            assert!(text.parse::<PathTarget>().is_err(), "{text}");
        }
    }
}
