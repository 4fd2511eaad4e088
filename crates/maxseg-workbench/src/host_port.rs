//! A host and perhaps a port, as commands take them: `HOST`, `HOST:PORT`, `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]`,
//! `[ADDRESS]:PORT`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Why a text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoHost {
    /// What stands behind the colon is no number of a port.
    Port,
    /// What stands before it is neither an address nor a name of letters, digits, `-`, `_` and `.` (RFC 1123 §2.1).
    Name,
}

/// A text without the zone of its IPv6 address (RFC 4007 §11): `[fe80::1%eth0]:80` and `[fe80::1]%eth0:80`, as `ss` has it, are
/// `[fe80::1]:80`.
pub fn without_zone(text: &str) -> Cow<'_, str> {
    match at_zone(text) {
        Some((address, _, rest)) => format!("{address}{rest}").into(),
        None => text.into(),
    }
}

/// The zone of such a text: the name or the number of an interface.
pub fn zone_of(text: &str) -> Option<&str> {
    at_zone(text).map(|(_, zone, _)| zone)
}

/// What stands before a zone and its `%`, the zone, and what stands behind it.
fn at_zone(text: &str) -> Option<(&str, &str, &str)> {
    let (address, zone) = text.split_once('%')?;
    let (inner, end) = match address.strip_prefix('[') {
        None => (address, None),
        Some(inner) => match inner.strip_suffix(']') {
            None => (inner, zone.find(']')),
            Some(inner) => (inner, zone.rfind(':')),
        },
    };
    inner.parse::<Ipv6Addr>().ok()?;
    let (zone, rest) = zone.split_at(end.unwrap_or(zone.len()));
    Some((address, zone, rest))
}

/// The name or address, an IPv6 one without its brackets, and the port.
///
/// # Errors
/// It names no host.
pub fn host_and_port(text: &str) -> Result<(String, Option<u16>), NoHost> {
    /// Characters of the longest name (RFC 1035 §2.3.4).
    const LONGEST: usize = 253;
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((address.to_string(), None));
    }
    if let Ok(end) = text.parse::<SocketAddr>() {
        return Ok((end.ip().to_string(), Some(end.port())));
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: IpAddr = inner.parse().map_err(|_| NoHost::Name)?;
        return Ok((address.to_string(), None));
    }
    let (name, port) = match text.rsplit_once(':') {
        None => (text, None),
        Some((name, port)) => (name, Some(port.parse().map_err(|_| NoHost::Port)?)),
    };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = !name.is_empty()
        && name.len() <= LONGEST
        && !name.starts_with('-')
        && name.chars().all(is_letter);
    if is_name { Ok((name.to_owned(), port)) } else { Err(NoHost::Name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_an_address_is_left_out() {
        for (text, expected) in [
            ("fe80::1%eth0", "fe80::1"),
            ("[fe80::1%eth0]", "[fe80::1]"),
            ("[fe80::1%br-lan]:80", "[fe80::1]:80"),
            ("[fe80::1]%eth0.7:80", "[fe80::1]:80"),
            ("[fe80::1]%eth0", "[fe80::1]"),
            ("[fe80::1]:80", "[fe80::1]:80"),
            ("[fe80::1%eth0", "[fe80::1"),
            ("100%eth0", "100%eth0"),
            ("%", "%"),
            ("[%]", "[%]"),
        ] {
            assert_eq!(without_zone(text), expected, "{text}");
            let zone = ["eth0.7", "eth0", "br-lan"].into_iter().find(|zone| text.contains(zone));
            assert_eq!(zone_of(text), zone.filter(|_| text != expected), "{text}");
        }
    }
}
