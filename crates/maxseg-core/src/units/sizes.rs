use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Bytes;

/// A maximum segment size as the option carries it: payload bytes, TCP options not subtracted
/// (RFC 6691). From 1 to 65 495: a 65 535-byte IPv4 packet less two 20-byte headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Mss(u16);

/// A maximum transmission unit: the largest IP packet of an interface, headers included, link
/// headers not. From [`Mtu::MIN`] to [`Mtu::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Mtu(u16);

/// A size outside what the field allows.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} {asked} is outside {min} to {max}")]
pub struct SizeError {
    what: &'static str,
    asked: String,
    min: u16,
    max: u16,
}

impl Mss {
    /// The smallest segment: one byte.
    pub const MIN: u16 = 1;
    /// The largest segment that fits an IPv4 packet.
    pub const MAX: u16 = 65_495;

    /// `n` bytes.
    ///
    /// # Errors
    /// Outside 1 to 65 495.
    pub fn new(n: u64) -> Result<Self, SizeError> {
        in_range("MSS", n, Self::MIN, Self::MAX).map(Self)
    }

    /// In bytes, as a plain number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// In bytes.
    pub const fn bytes(self) -> Bytes {
        Bytes::new(self.0 as u64)
    }
}

impl Mtu {
    /// What every IPv4 link must carry (RFC 791 §3.2).
    pub const MIN: u16 = 68;
    /// What every IPv6 link must carry (RFC 8200 §5).
    pub const IPV6_MIN: u16 = 1280;
    /// The largest IPv4 packet.
    pub const MAX: u16 = 65_535;
    /// Ethernet's.
    pub const ETHERNET: Self = Self(1500);
    /// The largest there is.
    pub const LARGEST: Self = Self(Self::MAX);

    /// `n` bytes.
    ///
    /// # Errors
    /// Outside 68 to 65 535.
    pub fn new(n: u64) -> Result<Self, SizeError> {
        in_range("MTU", n, Self::MIN, Self::MAX).map(Self)
    }

    /// In bytes, as a plain number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// In bytes.
    pub const fn bytes(self) -> Bytes {
        Bytes::new(self.0 as u64)
    }

    /// The same as the number that sizes of segments are counted in.
    pub const fn octets(self) -> u32 {
        self.0 as u32
    }
}

fn in_range(what: &'static str, n: u64, min: u16, max: u16) -> Result<u16, SizeError> {
    match u16::try_from(n) {
        Ok(size) if (min..=max).contains(&size) => Ok(size),
        Ok(_) | Err(_) => Err(SizeError { what, asked: n.to_string(), min, max }),
    }
}

impl fmt::Display for Mss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Serde and JSON Schema for a bare number of bytes within the type's range.
macro_rules! size_as_number {
    ($type:ident, $name:literal, $doc:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Number;
                impl serde::de::Visitor<'_> for Number {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "an {} in bytes: a bare number from {} to {}", $name,
                            $type::MIN, $type::MAX)
                    }
                    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<$type, E> {
                        $type::new(n).map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<$type, E> {
                        match u64::try_from(n) {
                            Ok(n) => self.visit_u64(n),
                            Err(_) => Err(E::custom(SizeError {
                                what: $name,
                                asked: n.to_string(),
                                min: $type::MIN,
                                max: $type::MAX,
                            })),
                        }
                    }
                }
                from.deserialize_any(Number)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "integer",
                    "description": $doc,
                    "minimum": $type::MIN,
                    "maximum": $type::MAX,
                })
            }
        }
    };
}
size_as_number!(Mss, "MSS", "a maximum segment size in bytes, TCP options not subtracted");
size_as_number!(Mtu, "MTU", "a maximum transmission unit in bytes: the largest IP packet");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_where_ip_ends() {
        let cases = [(0, false), (1, true), (65_495, true), (65_496, false), (1 << 20, false)];
        for (n, ok) in cases {
            assert_eq!(Mss::new(n).is_ok(), ok, "{n}");
        }
        let cases = [(67, false), (68, true), (65_535, true), (65_536, false)];
        for (n, ok) in cases {
            assert_eq!(Mtu::new(n).is_ok(), ok, "{n}");
        }
    }
}
