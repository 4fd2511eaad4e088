//! Addresses as an option takes them, one or by prefix.

use std::str::FromStr;

use maxseg_wire::inet_diag::Prefix;

use super::zoned_address::ZonedAddress;

/// An address, or a prefix of addresses, on the link of an interface where that is named.
#[derive(Debug, Clone)]
pub(in crate::cli) struct ZonedPrefix {
    /// The addresses.
    pub(in crate::cli) prefix: Prefix,
    /// The name or number of the interface; `None` where none was named.
    pub(in crate::cli) zone: Option<String>,
}

impl FromStr for ZonedPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
        let ZonedAddress { address, zone } = address.parse()?;
        let whole = Prefix::host(address);
        let Some(length) = length else { return Ok(Self { prefix: whole, zone }) };
        let length = length.parse().ok().filter(|length| *length <= whole.length);
        let length = length.ok_or_else(|| format!("a prefix has 0 to {} bits", whole.length))?;
        Ok(Self { prefix: Prefix { address, length }, zone })
    }
}
