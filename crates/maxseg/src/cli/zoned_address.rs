//! An address as an option takes it, with the interface of a link-local one.

use std::net::IpAddr;
use std::str::FromStr;

use maxseg_workbench::host_port::{without_zone, zone_of};

/// An address, and its zone: link-local addresses are of one interface each (RFC 4007 §11), `fe80::1%eth0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ZonedAddress {
    /// The address.
    pub(in crate::cli) address: IpAddr,
    /// The name or number of the interface; `None` where none was named.
    pub(in crate::cli) zone: Option<String>,
}

impl FromStr for ZonedAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let zone = zone_of(text).map(str::to_owned);
        let plain = without_zone(text);
        let inner = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let address = inner.unwrap_or(&plain).parse().map_err(|_| "not an address".to_owned())?;
        if zone.as_deref() == Some("") {
            return Err("no interface stands behind the %".to_owned());
        }
        Ok(Self { address, zone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_behind_the_address() {
        let parsed = |text: &str| text.parse::<ZonedAddress>();
        let with_zone = |zone: Option<&str>| {
            Ok(ZonedAddress { address: "fe80::1".parse().unwrap(), zone: zone.map(str::to_owned) })
        };
        for text in ["fe80::1%br-lan", "[fe80::1%br-lan]", "[fe80::1]%br-lan"] {
            assert_eq!(parsed(text), with_zone(Some("br-lan")), "{text}");
        }
        assert_eq!(parsed("fe80::1"), with_zone(None));
        assert_eq!(parsed("[fe80::1]"), with_zone(None));
        for text in ["", "x", "192.0.2.1%eth0", "fe80::1%", "[fe80::1", "fe80::1/64"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
