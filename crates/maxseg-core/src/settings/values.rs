//! Values of settings that are more than a number.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::DelayedAck;
use crate::units::{Bytes, Time};
use crate::window;

/// A window: a size, or a number of the sender's segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowSize {
    /// So many bytes.
    Bytes(Bytes),
    /// So many full-sized segments.
    Segments(u32),
    /// As wide as the kernel finds best, within the memory of `linux.tcp_rmem`.
    Auto {
        /// Where it ends at most: [`super::SettingsSpec::complete`] sets it.
        most: Bytes,
    },
}

impl WindowSize {
    /// In bytes, for segments of `mss`.
    pub fn bytes(self, mss: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) | Self::Auto { most: bytes } => bytes,
            Self::Segments(n) => Bytes::new(u64::from(n) * mss.get()),
        }
    }
}

impl<'de> Deserialize<'de> for WindowSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text == "auto" {
            return Ok(Self::Auto { most: Bytes::ZERO });
        }
        let window = match segments(&text) {
            Some(n) => Self::Segments(n),
            None => Self::Bytes(text.parse().map_err(serde::de::Error::custom)?),
        };
        match window {
            Self::Bytes(bytes) if bytes == Bytes::ZERO => {
                Err(serde::de::Error::custom("a window of 0 B lets nothing through"))
            }
            Self::Segments(0) => {
                Err(serde::de::Error::custom("a window of 0 segments lets nothing through"))
            }
            Self::Bytes(bytes) if bytes.get() > window::LARGEST => {
                Err(serde::de::Error::custom(format!(
                    "a window of {bytes} is above what TCP can offer: 65535 x 2^14 bytes, just below 1 GiB (RFC 7323)"
                )))
            }
            Self::Bytes(_) | Self::Segments(_) | Self::Auto { .. } => Ok(window),
        }
    }
}

impl JsonSchema for WindowSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WindowSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "a size, a number of the sender's segments, or \"auto\" where the stack is Linux's",
            "examples": ["64 KiB", "20 segments", "auto"],
        })
    }
}

/// `20 segments` as a number.
fn segments(text: &str) -> Option<u32> {
    let text = text.trim();
    let number = text.strip_suffix("segments").or_else(|| text.strip_suffix("segment"))?;
    number.trim().parse().ok()
}

/// How a window is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowScale {
    /// The smallest shift that carries the window (RFC 7323 §2.3).
    Auto,
    /// No scaling: at most 65 535 bytes.
    Off,
    /// This shift, 0 to 14.
    Shift(u8),
    /// As it is: a simulator's window, which no 16-bit field carries.
    Unlimited,
}

impl<'de> Deserialize<'de> for WindowScale {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WordOrShift;
        impl serde::de::Visitor<'_> for WordOrShift {
            type Value = WindowScale;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(
                    f,
                    "\"auto\", \"off\", \"unlimited\" or a shift from 0 to {}",
                    window::LARGEST_SHIFT
                )
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<WindowScale, E> {
                match word {
                    "auto" => Ok(WindowScale::Auto),
                    "off" => Ok(WindowScale::Off),
                    "unlimited" => Ok(WindowScale::Unlimited),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<WindowScale, E> {
                match u8::try_from(n) {
                    Ok(shift) if shift <= window::LARGEST_SHIFT => Ok(WindowScale::Shift(shift)),
                    Ok(_) | Err(_) => {
                        Err(E::invalid_value(serde::de::Unexpected::Signed(n), &self))
                    }
                }
            }
        }
        from.deserialize_any(WordOrShift)
    }
}

impl JsonSchema for WindowScale {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WindowScale".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "how the window is carried (RFC 7323)",
            "anyOf": [
                { "enum": ["auto", "off", "unlimited"] },
                { "type": "integer", "minimum": 0, "maximum": window::LARGEST_SHIFT },
            ],
        })
    }
}

/// Who decides how much may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionName {
    /// RFC 5681, in bytes.
    Reno,
    /// ns-2's arithmetic: packets, in floating point, cut from the window.
    Ns2Reno,
    /// RFC 9438, as Linux has it: between hosts of stack `linux`, and in the lab.
    Cubic,
    /// BBR v1, as Linux has it: likewise.
    Bbr,
}

impl CongestionName {
    /// Whether the simulator's TCP of older hosts knows it.
    pub const fn is_simulated(self) -> bool {
        match self {
            Self::Reno | Self::Ns2Reno => true,
            Self::Cubic | Self::Bbr => false,
        }
    }

    /// The word that files use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Ns2Reno => "ns2-reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// What is sent again after a loss, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryName {
    /// None: everything from the loss on is sent again in slow start (BSD's Tahoe of 1988).
    Tahoe,
    /// Fast recovery ends with the first new acknowledgement (RFC 5681 §3.2).
    Reno,
    /// It ends when all that was outstanding is acknowledged; each partial acknowledgement resends
    /// one segment (RFC 6582).
    Newreno,
}

/// The window with which a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// So many segments.
    Segments(u32),
    /// min(10·MSS, max(2·MSS, 14 600 bytes)) (RFC 6928 §2).
    Rfc6928,
}

impl InitialWindow {
    /// In bytes, for segments of `mss`.
    pub fn bytes(self, mss: Bytes) -> Bytes {
        let mss = mss.get();
        Bytes::new(match self {
            Self::Segments(n) => u64::from(n) * mss,
            Self::Rfc6928 => (10 * mss).min(14_600.max(2 * mss)),
        })
    }
}

impl<'de> Deserialize<'de> for InitialWindow {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match segments(&text) {
            Some(n) if n > 0 => Ok(Self::Segments(n)),
            None if text == "rfc6928" => Ok(Self::Rfc6928),
            Some(_) | None => Err(serde::de::Error::custom(format!(
                "`{text}` is not an initial window: write \"2 segments\" or \"rfc6928\""
            ))),
        }
    }
}

impl JsonSchema for InitialWindow {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InitialWindow".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "a number of segments, or \"rfc6928\"",
            "examples": ["2 segments", "rfc6928"],
        })
    }
}

/// Where slow start first ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// At the first loss (RFC 5681 §3.1: arbitrarily high).
    Unlimited,
    /// At the peer's window.
    Window,
}

/// `false`, or when to send a delayed acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayedAckSpec {
    /// `false`: none is delayed.
    Off,
    /// Delayed so.
    On(DelayedAck),
}

/// When a delayed acknowledgement is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelayedAckTable {
    /// The longest wait.
    #[schemars(extend("x-example" = "\"200 ms\"", "x-engines" = "model, sim"))]
    timeout: Time,
    /// Segments in order that end the wait; 2 unless given.
    #[serde(default = "two")]
    #[schemars(range(min = 1), extend("x-example" = "2", "x-engines" = "model, sim"))]
    every: u32,
    /// Whether the first segment is acknowledged at once, as by ns-3; `false` unless given.
    #[serde(default)]
    #[schemars(extend("x-example" = "true", "x-engines" = "model, sim"))]
    first_at_once: bool,
}

const fn two() -> u32 {
    2
}

impl JsonSchema for DelayedAckSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DelayedAck".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let table = generator.subschema_for::<DelayedAckTable>();
        schemars::json_schema!({
            "description": "false for an acknowledgement per packet, or when to send a delayed one",
            "anyOf": [{ "const": false }, table],
        })
    }
}

impl<'de> Deserialize<'de> for DelayedAckSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OffOrTable;
        impl<'de> serde::de::Visitor<'de> for OffOrTable {
            type Value = DelayedAckSpec;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("false, or a table such as { timeout = \"200 ms\", every = 2 }")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<DelayedAckSpec, E> {
                if on {
                    return Err(E::invalid_type(serde::de::Unexpected::Bool(on), &self));
                }
                Ok(DelayedAckSpec::Off)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<DelayedAckSpec, A::Error> {
                let DelayedAckTable { timeout, every, first_at_once } =
                    DelayedAckTable::deserialize(serde::de::value::MapAccessDeserializer::new(
                        map,
                    ))?;
                if timeout == Time::ZERO || every == 0 {
                    let what = "a delayed acknowledgement waits for more than 0 s and at least one segment";
                    return Err(serde::de::Error::custom(what));
                }
                Ok(DelayedAckSpec::On(DelayedAck { timeout, every, first_at_once }))
            }
        }
        from.deserialize_any(OffOrTable)
    }
}
