//! Zones of link-local addresses (RFC 4007 §11): a target has the number of an interface, people have its name.

use std::fmt::Write as _;

use maxseg_core::tune::Target;
use maxseg_linux::observe::sockets::{Place, interface_index};
use maxseg_linux::tune::TuneError;

use crate::error::TuningError;

/// The ends of a connection with the numbers of interfaces for their names: `[fe80::1%eth0]:80`, and `[fe80::1]%eth0:80` as `ss` has
/// it, are `[fe80::1%2]:80`.
///
/// # Errors
/// There is no interface of that name here.
pub(super) fn numbered(ends: &str) -> Result<String, TuningError> {
    numbered_by(ends, |zone| {
        let found = interface_index(&Place::Here, zone).ok().flatten();
        found.ok_or_else(|| {
            let target = Target::InterfaceMtu(zone.to_owned());
            TuneError::NoSuch { target, near: None, retired: None }.into()
        })
    })
}

fn numbered_by(
    ends: &str,
    index: impl Fn(&str) -> Result<u32, TuningError>,
) -> Result<String, TuningError> {
    let (mut text, mut rest) = (String::new(), ends);
    while let Some((before, behind)) = rest.split_once('%') {
        let (address, end) = match before.strip_suffix(']') {
            Some(address) => (address, ':'),
            None => (before, ']'),
        };
        let (zone, after) = behind.split_at(behind.find(end).unwrap_or(behind.len()));
        let _ = write!(text, "{address}%{}", index(zone)?);
        if end == ':' {
            text.push(']');
        }
        rest = after;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_become_numbers() {
        let index = |zone: &str| match zone {
            "br-lan" => Ok(7),
            number => number.parse().map_err(|_| TuningError::NotAnAssignment(number.to_owned())),
        };
        for (given, numbers) in [
            ("10.0.0.1:80-10.0.0.2:443", "10.0.0.1:80-10.0.0.2:443"),
            ("[fe80::1%br-lan]:80-[fe80::2%2]:443", "[fe80::1%7]:80-[fe80::2%2]:443"),
            ("[fe80::1]%br-lan:80-[fe80::2]:443", "[fe80::1%7]:80-[fe80::2]:443"),
        ] {
            assert_eq!(numbered_by(given, index).unwrap(), numbers);
            assert!(numbers.parse::<maxseg_core::tune::SocketEnds>().is_ok());
        }
        assert!(numbered_by("[fe80::1%eth9]:80-[fe80::2]:443", index).is_err());
        assert!(numbered("[fe80::1%no.such]:80").unwrap_err().to_string().contains("no.such"));
    }
}
