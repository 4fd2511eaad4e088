//! When a sender looks for the path MTU by the sizes of its segments.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Packetization-layer path MTU discovery (RFC 4821); `net.ipv4.tcp_mtu_probing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MtuProbing {
    /// `false`: never (0).
    Never,
    /// `true`: once full segments are lost again and again (1; RFC 4821 §7.7).
    InBlackHole,
    /// `"always"`: from the start, with small segments (2; RFC 4821 §7.2).
    Always,
}

impl MtuProbing {
    const ALWAYS: &str = "always";

    /// Whether segments that vanish become smaller.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Never)
    }

    /// The value of the sysctl.
    pub const fn sysctl(self) -> u8 {
        match self {
            Self::Never => 0,
            Self::InBlackHole => 1,
            Self::Always => 2,
        }
    }

    /// What a value of the sysctl means: the kernel compares with 0 and with 1 (`tcp_mtup_init`, `net/ipv4/tcp_output.c`).
    pub const fn of_sysctl(value: u64) -> Self {
        match value {
            0 => Self::Never,
            1 => Self::InBlackHole,
            _ => Self::Always,
        }
    }
}

/// As a file writes it.
impl fmt::Display for MtuProbing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "false",
            Self::InBlackHole => "true",
            Self::Always => "\"always\"",
        })
    }
}

impl Serialize for MtuProbing {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Never => to.serialize_bool(false),
            Self::InBlackHole => to.serialize_bool(true),
            Self::Always => to.serialize_str(Self::ALWAYS),
        }
    }
}

impl JsonSchema for MtuProbing {
    fn schema_name() -> Cow<'static, str> {
        "MtuProbing".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "false, true for once full segments are lost again and again, or \"always\" for from the start (stack `linux`)",
            "anyOf": [{ "type": "boolean" }, { "const": Self::ALWAYS }],
        })
    }
}

impl<'de> Deserialize<'de> for MtuProbing {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct BoolOrWord;
        impl Visitor<'_> for BoolOrWord {
            type Value = MtuProbing;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false (tcp_mtu_probing = 0), true (1) or \"always\" (2)")
            }
            fn visit_bool<E: Error>(self, is_on: bool) -> Result<MtuProbing, E> {
                Ok(if is_on { MtuProbing::InBlackHole } else { MtuProbing::Never })
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<MtuProbing, E> {
                if word == MtuProbing::ALWAYS {
                    return Ok(MtuProbing::Always);
                }
                Err(E::invalid_value(Unexpected::Str(word), &self))
            }
        }
        from.deserialize_any(BoolOrWord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_it_is_read() {
        for (text, value, sysctl) in [
            ("false", MtuProbing::Never, 0),
            ("true", MtuProbing::InBlackHole, 1),
            ("\"always\"", MtuProbing::Always, 2),
        ] {
            let read: MtuProbing = serde_json::from_str(text).unwrap();
            assert_eq!((read, read.to_string().as_str()), (value, text));
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
            assert_eq!((read.sysctl(), MtuProbing::of_sysctl(sysctl.into())), (sysctl, value));
        }
        assert_eq!(MtuProbing::of_sysctl(3), MtuProbing::Always);
        for wrong in ["2", "\"on\""] {
            let error = serde_json::from_str::<MtuProbing>(wrong).unwrap_err().to_string();
            assert!(error.contains("\"always\" (2)"), "{error}");
        }
    }
}
