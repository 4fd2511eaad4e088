//! What a host's SYN says of its MSS, where that is not what the host would say.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Mss;

/// The MSS option that reaches the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MssOption {
    /// `false`: none, so that the peer sends 536 bytes, or 1220 over IPv6 (RFC 9293 §3.7.1).
    Absent,
    /// This one, as where a gateway writes it (MSS clamping).
    Bytes(Mss),
}

impl MssOption {
    /// The option's value; `None` where there is none.
    pub const fn value(self) -> Option<Mss> {
        match self {
            Self::Absent => None,
            Self::Bytes(mss) => Some(mss),
        }
    }
}

impl Serialize for MssOption {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => to.serialize_bool(false),
            Self::Bytes(mss) => mss.serialize(to),
        }
    }
}

impl JsonSchema for MssOption {
    fn schema_name() -> Cow<'static, str> {
        "MssOption".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut mss = generator.subschema_for::<Mss>();
        mss.insert("x-example".to_owned(), "536".into());
        json_schema!({
            "description": "false for none, or its value in bytes",
            "anyOf": [{ "const": false }, mss],
        })
    }
}

impl<'de> Deserialize<'de> for MssOption {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FalseOrBytes;
        impl Visitor<'_> for FalseOrBytes {
            type Value = MssOption;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "false, or a number of bytes from {} to {}", Mss::MIN, Mss::MAX)
            }
            fn visit_bool<E: Error>(self, is_sent: bool) -> Result<MssOption, E> {
                if is_sent {
                    return Err(E::invalid_type(Unexpected::Bool(is_sent), &self));
                }
                Ok(MssOption::Absent)
            }
            fn visit_i64<E: Error>(self, bytes: i64) -> Result<MssOption, E> {
                let mss = u64::try_from(bytes).ok().and_then(|bytes| Mss::new(bytes).ok());
                mss.map(MssOption::Bytes)
                    .ok_or_else(|| E::invalid_value(Unexpected::Signed(bytes), &self))
            }
            fn visit_u64<E: Error>(self, bytes: u64) -> Result<MssOption, E> {
                let mss = Mss::new(bytes).ok();
                mss.map(MssOption::Bytes)
                    .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(bytes), &self))
            }
        }
        from.deserialize_any(FalseOrBytes)
    }
}
