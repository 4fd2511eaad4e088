//! What can be typed as a value: quantities with their units, bare sizes and counts, words.

use maxseg_core::framing::{Framing, IpVersion};
use maxseg_core::units::{BitsPerSec, Bytes, Mss, Mtu, Probability, Time};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde_json::{Value, json};

/// A kind of value.
pub(super) trait Quantity: Sized {
    /// With its article: "a rate".
    const KIND: &'static str;
    /// As it may be typed.
    const EXAMPLE: &'static str;

    /// What `text` says, or what is wrong with it.
    fn read(text: &str) -> Result<Self, String>;
    /// In SI units, for bounds; `None` for words.
    fn number(&self) -> Option<f64> {
        None
    }
    /// As a result holds it: text with a unit, or a number where there is none.
    fn json(&self) -> Value;
}

/// Quantities that have a type in the core, which writes them as it does in documents: how each is read,
/// and its number.
macro_rules! quantities {
    ($($name:ty: $kind:literal, $example:literal, $read:expr, $number:expr;)*) => {$(
        impl Quantity for $name {
            const KIND: &'static str = $kind;
            const EXAMPLE: &'static str = $example;
            fn read(text: &str) -> Result<Self, String> {
                $read(text)
            }
            fn number(&self) -> Option<f64> {
                Some($number(*self))
            }
            fn json(&self) -> Value {
                json!(self)
            }
        }
    )*};
}

quantities! {
    BitsPerSec: "a rate", "10Mbit/s", parsed, |rate: Self| rate.get() as f64;
    Time: "a time", "80ms", parsed, Self::as_secs_f64;
    Bytes: "a size", "64KiB", parsed, |size: Self| size.get() as f64;
    Probability: "a share", "1%", parsed, Self::get;
    Mss: "bytes", "1460", |text| in_octets(text, Self::new), |mss: Self| f64::from(mss.get());
    Mtu: "bytes", "1500", |text| in_octets(text, Self::new), |mtu: Self| f64::from(mtu.get());
}

/// Bytes that the field states as a bare number: of a header, of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Octets(pub(super) Bytes);

impl Quantity for Octets {
    const KIND: &'static str = "bytes";
    const EXAMPLE: &'static str = "128";
    fn read(text: &str) -> Result<Self, String> {
        octets(text).map(|n| Self(Bytes::new(n)))
    }
    fn number(&self) -> Option<f64> {
        Some(self.0.get() as f64)
    }
    fn json(&self) -> Value {
        json!(self.0.get())
    }
}

/// How many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count(pub(super) u32);

impl Quantity for Count {
    const KIND: &'static str = "a count";
    const EXAMPLE: &'static str = "3";
    fn read(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("`{text}` is not a count: write a whole number such as 3");
        text.trim().parse().map(Self).map_err(wrong)
    }
    fn number(&self) -> Option<f64> {
        Some(f64::from(self.0))
    }
    fn json(&self) -> Value {
        json!(self.0)
    }
}

/// A number without a unit that need not be whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) f64);

impl Quantity for Number {
    const KIND: &'static str = "a number";
    const EXAMPLE: &'static str = "2";
    fn read(text: &str) -> Result<Self, String> {
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Self(number)),
            Ok(_) | Err(_) => Err(format!("`{text}` is not a number")),
        }
    }
    fn number(&self) -> Option<f64> {
        Some(self.0)
    }
    fn json(&self) -> Value {
        json!(self.0)
    }
}

impl Quantity for IpVersion {
    const KIND: &'static str = "4 or 6";
    const EXAMPLE: &'static str = "4";
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "4" => Ok(Self::V4),
            "6" => Ok(Self::V6),
            _ => Err(format!("`{text}` is not an IP version: write 4 or 6")),
        }
    }
    fn json(&self) -> Value {
        match self {
            Self::V4 => json!(4),
            Self::V6 => json!(6),
        }
    }
}

/// Whether something is so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl Quantity for Flag {
    const KIND: &'static str = "yes or no";
    const EXAMPLE: &'static str = "yes";
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "yes" | "true" => Ok(Self(true)),
            "no" | "false" => Ok(Self(false)),
            _ => Err(format!("`{text}` is neither yes nor no")),
        }
    }
    fn json(&self) -> Value {
        json!(self.0)
    }
}

impl Quantity for Framing {
    const KIND: &'static str = "a framing";
    const EXAMPLE: &'static str = "ethernet";
    fn read(text: &str) -> Result<Self, String> {
        let word: StrDeserializer<'_, WordError> = text.trim().into_deserializer();
        Self::deserialize(word).map_err(|error| no_such("framing", &error))
    }
    fn json(&self) -> Value {
        json!(self)
    }
}

/// Round trips in the order in which they were measured.
#[derive(Debug, Clone)]
pub(super) struct Samples(pub(super) Vec<Time>);

/// Longer than any segment may live, times thirty: a sample above is a mistyped unit.
const LONGEST_SAMPLE: Time = Time::from_secs(3600);

impl Quantity for Samples {
    const KIND: &'static str = "times, with commas";
    const EXAMPLE: &'static str = "80ms,95ms";
    fn read(text: &str) -> Result<Self, String> {
        let samples: Vec<Time> = text.split(',').map(parsed).collect::<Result<_, _>>()?;
        match samples.iter().find(|sample| **sample > LONGEST_SAMPLE) {
            Some(sample) => Err(format!("no round trip takes {sample}: at most {LONGEST_SAMPLE}")),
            None => Ok(Self(samples)),
        }
    }
    fn json(&self) -> Value {
        json!(self.0)
    }
}

/// The name of a shipped stack, or whatever else is taken as it stands.
impl Quantity for String {
    const KIND: &'static str = "a name";
    const EXAMPLE: &'static str = "rfc";
    fn read(text: &str) -> Result<Self, String> {
        Ok(text.trim().to_owned())
    }
    fn json(&self) -> Value {
        json!(self)
    }
}

/// serde's "unknown variant `x`, expected one of `a`, `b`" for a reader of the command line.
pub(in crate::calc) fn no_such(what: &str, error: &WordError) -> String {
    let error = error.to_string();
    let known = error.rsplit_once("`, expected ").map_or("", |(_, known)| known);
    let words: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    format!("no such {what}: there are {}", words.join(", "))
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A size that is stated as a bare number of bytes.
fn in_octets<T, E: std::fmt::Display>(
    text: &str,
    size: impl FnOnce(u64) -> Result<T, E>,
) -> Result<T, String> {
    size(octets(text)?).map_err(|error| error.to_string())
}

/// A bare number of bytes; a `B` behind it does no harm.
fn octets(text: &str) -> Result<u64, String> {
    let bare = text.trim().trim_end_matches("bytes").trim_end_matches('B').trim_end();
    bare.parse()
        .map_err(|_| format!("`{text}` is not a number of bytes: write it bare, as in 1460"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_reads_its_own_example() {
        fn reads<T: Quantity>() {
            assert!(T::read(T::EXAMPLE).is_ok(), "{}", T::EXAMPLE);
            assert!(!T::read(T::EXAMPLE).unwrap().json().is_null());
        }
        reads::<BitsPerSec>();
        reads::<Time>();
        reads::<Bytes>();
        reads::<Probability>();
        reads::<Mss>();
        reads::<Mtu>();
        reads::<Octets>();
        reads::<Count>();
        reads::<Number>();
        reads::<IpVersion>();
        reads::<Flag>();
        reads::<Framing>();
        reads::<Samples>();
        reads::<String>();
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            (Time::read("80").err(), "has no unit"),
            (Octets::read("64KiB").err(), "write it bare"),
            (Count::read("2.5").err(), "not a count"),
            (Number::read("inf").err(), "not a number"),
            (Framing::read("token-ring").err(), "there are ip, ethernet"),
            (Samples::read("80ms,90").err(), "has no unit"),
            (Samples::read("80h").err(), "no round trip takes"),
            (IpVersion::read("5").err(), "4 or 6"),
            (Flag::read("1").err(), "neither yes nor no"),
        ];
        for (error, words) in cases {
            assert!(error.as_ref().is_some_and(|text| text.contains(words)), "{error:?}");
        }
    }
}
