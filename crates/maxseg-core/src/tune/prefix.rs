//! Destinations of a route.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses that have their first bits in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

/// Why a text is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// It has no address.
    #[error("`{0}` is not an address or prefix")]
    NotAnAddress(String),
    /// More bits than an address has.
    #[error("a prefix of {family} has 0 to {most} bits, not `{length}`")]
    Length {
        /// What was given.
        length: String,
        /// Bits of an address.
        most: u8,
        /// The IP version.
        family: &'static str,
    },
    /// Bits are set beyond those that count.
    #[error("`{given}` has bits set beyond its length: the prefix is {masked}")]
    Bits {
        /// What was given.
        given: String,
        /// The same without them.
        masked: Prefix,
    },
}

impl Prefix {
    /// All of IPv4 (`default`).
    pub const ALL_V4: Self = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), length: 0 };
    /// All of IPv6 (`::/0`).
    pub const ALL_V6: Self = Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), length: 0 };

    /// The addresses that have the first `length` bits of `address`; the other bits do not count.
    pub fn new(address: IpAddr, length: u8) -> Self {
        let length = length.min(bits_of(address));
        let address = match address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                IpAddr::V4((v4.to_bits() & mask).into())
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                IpAddr::V6((v6.to_bits() & mask).into())
            }
        };
        Self { address, length }
    }

    /// One address.
    pub fn host(address: IpAddr) -> Self {
        Self::new(address, u8::MAX)
    }

    /// The first address.
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// How many bits count.
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// Whether these are addresses of IPv6.
    pub const fn is_v6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether it is one address.
    pub fn is_host(&self) -> bool {
        self.length == bits_of(self.address)
    }

    /// Whether this address is among them.
    pub fn includes(&self, address: IpAddr) -> bool {
        address.is_ipv6() == self.is_v6() && Self::new(address, self.length) == *self
    }

    /// Whether all of those are among them.
    pub fn covers(&self, other: &Self) -> bool {
        self.length <= other.length && self.includes(other.address)
    }
}

const fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv6() { 128 } else { 32 }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL_V4 {
            f.write_str("default")
        } else if self.is_host() {
            write!(f, "{}", self.address)
        } else {
            write!(f, "{}/{}", self.address, self.length)
        }
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        if text == "default" {
            return Ok(Self::ALL_V4);
        }
        let (address, length) =
            text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr =
            address.parse().map_err(|_| PrefixError::NotAnAddress(text.to_owned()))?;
        let most = bits_of(address);
        let Some(length) = length else { return Ok(Self::host(address)) };
        let family = if address.is_ipv6() { "IPv6" } else { "IPv4" };
        let wrong = || PrefixError::Length { length: length.to_owned(), most, family };
        let length: u8 = length.parse().map_err(|_| wrong())?;
        if length > most {
            return Err(wrong());
        }
        let masked = Self::new(address, length);
        if masked.address == address {
            Ok(masked)
        } else {
            Err(PrefixError::Bits { given: text.to_owned(), masked })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_read_and_written_as_ip_route_does() {
        for text in ["default", "10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::/0", "2001:db8::1"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.7/32".parse::<Prefix>().unwrap().to_string(), "192.0.2.7");
        assert_eq!("0.0.0.0/0".parse::<Prefix>().unwrap(), Prefix::ALL_V4);
        for (text, why) in [
            ("10.0.0/8", "not an address"),
            ("10.0.0.0/33", "0 to 32 bits"),
            ("::/129", "0 to 128 bits"),
            ("10.0.0.1/8", "the prefix is 10.0.0.0/8"),
            ("", "not an address"),
        ] {
            let error = text.parse::<Prefix>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_prefix_includes_and_covers() {
        let prefix: Prefix = "10.0.0.0/8".parse().unwrap();
        assert!(prefix.includes("10.255.0.1".parse().unwrap()));
        assert!(!prefix.includes("11.0.0.1".parse().unwrap()));
        assert!(!Prefix::ALL_V4.includes("::1".parse().unwrap()));
        assert!(Prefix::ALL_V4.covers(&prefix) && !prefix.covers(&Prefix::ALL_V4));
        assert!(prefix.covers(&"10.1.0.0/16".parse().unwrap()));
    }
}
