//! A host and perhaps a port, as commands take them: `HOST`, `HOST:PORT`, `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]`,
//! `[ADDRESS]:PORT`.

use std::net::{IpAddr, SocketAddr};

/// Why a text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoHost {
    /// What stands behind the colon is no number of a port.
    Port,
    /// What stands before it is neither an address nor a name of letters, digits, `-`, `_` and `.` (RFC 1123 §2.1).
    Name,
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
