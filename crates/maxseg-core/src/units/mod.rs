//! Quantities with their units in the type: parsed from what people write, printed so that they
//! parse back to the same value, and never mixed up.
//!
//! A quantity without a unit is an error that names the units which fit; only sizes that the field
//! always states in bytes (`mss`, `mtu`, `frame`) and shares (`0.01`, `1%`) are bare numbers.

mod any_quantity;
pub mod approx;
mod bytes;
mod probability;
mod quantity;
mod rate;
mod sizes;
mod time;

pub use any_quantity::AnyQuantity;
pub use bytes::Bytes;
pub use probability::{Probability, ProbabilityError};
pub use quantity::UnitError;
pub use rate::BitsPerSec;
pub use sizes::{Mss, Mtu, SizeError};
pub use time::Time;

/// Serde and JSON Schema for a quantity that a file holds as text with a unit; where only programs read it, as a
/// number of the unit that the type counts in.
macro_rules! quantity_as_text {
    ($type:ty, $name:literal, $example:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if to.is_human_readable() { to.collect_str(self) } else { serde::Serialize::serialize(&self.0, to) }
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!($name, ", such as \"", $example, "\""))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    // A bare number is met with the error that names the units which fit.
                    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<$type, E> {
                        n.to_string().parse().map_err(E::custom)
                    }
                    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<$type, E> {
                        n.to_string().parse().map_err(E::custom)
                    }
                    fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<$type, E> {
                        n.to_string().parse().map_err(E::custom)
                    }
                }
                if from.is_human_readable() {
                    from.deserialize_any(Text)
                } else {
                    serde::Deserialize::deserialize(from).map(Self)
                }
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!($name, " with its unit"),
                    "examples": [$example],
                })
            }
        }
    };
}
use quantity_as_text;
