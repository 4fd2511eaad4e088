//! Values of a scenario: the IP version, and what a command line says, lists and ranges included.

use std::fmt::Display;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use crate::framing::IpVersion;
use crate::units::{BitsPerSec, Bytes, Time};

/// The version of the Internet Protocol, as a number.
#[derive(Debug, Clone, Copy, Default)]
pub struct IpNumber(pub IpVersion);

impl<'de> Deserialize<'de> for IpNumber {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match i64::deserialize(from)? {
            4 => Ok(Self(IpVersion::V4)),
            6 => Ok(Self(IpVersion::V6)),
            other => Err(serde::de::Error::custom(format!("there is no IPv{other}: ip is 4 or 6"))),
        }
    }
}

impl JsonSchema for IpNumber {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IpVersion".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": [4, 6], "default": 4 })
    }
}

/// More values than anyone waits for; a longer range is taken for a mistake.
pub(super) const MOST_VALUES: usize = 100_000;

pub(super) const LIST_HINT: &str = "write values with commas, or FROM..TO..STEP such as 88..1368..128, or FROM..TO..xFACTOR such as \
     64 KiB..4 MiB..x2";

/// A value: as in the file, but quotes are not needed.
pub(super) fn value(text: &str) -> Value {
    let text = text.trim();
    match format!("value = {text}").parse::<Table>() {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.to_owned()))
        }
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}

/// The values of an axis: a list with commas, `FROM..TO..STEP`, or `FROM..TO..xFACTOR`.
pub(super) fn list(text: &str) -> Result<Vec<Value>, String> {
    let text = text.trim();
    let unquoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = unquoted.filter(|inner| !inner.contains('"')).unwrap_or(text);
    let parts: Vec<&str> = text.split("..").map(str::trim).collect();
    match parts.as_slice() {
        [from, to, step] => match step.strip_prefix('x') {
            Some(factor) => by_factor(from, to, factor),
            None => by_step(from, to, step),
        },
        [_, _] => Err(format!("`{text}` has no step")),
        _ if text.is_empty() => Err("the axis is empty".to_owned()),
        _ => Ok(split_list(text).into_iter().map(value).collect()),
    }
}

/// Split at the commas that stand outside brackets and quotes.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Ends and step of a range as whole multiples of one thing, so that 0.1 + 0.2 is 0.3.
struct Scale {
    from: i128,
    to: i128,
    step: i128,
    /// A multiple as a value.
    write: Box<dyn Fn(i128) -> Value>,
}

fn by_step(from: &str, to: &str, step: &str) -> Result<Vec<Value>, String> {
    let Scale { from, to, step, write } = scale(from, to, step)?;
    if step <= 0 {
        return Err("the step of a range must be above zero".to_owned());
    }
    check_ends(from, to)?;
    if (to - from) / step >= MOST_VALUES as i128 {
        return Err(format!("the range has more than {MOST_VALUES} values"));
    }
    Ok((0..=(to - from) / step).map(|n| write(from + n * step)).collect())
}

fn by_factor(from: &str, to: &str, factor: &str) -> Result<Vec<Value>, String> {
    let Scale { from, to, write, .. } = scale(from, to, from)?;
    check_ends(from, to)?;
    let factor: i128 = factor
        .trim()
        .parse()
        .ok()
        .filter(|factor| *factor >= 2)
        .ok_or_else(|| format!("`x{factor}` is not a factor: a whole number from 2 on"))?;
    if from <= 0 {
        return Err("a range by a factor must begin above zero".to_owned());
    }
    let steps = std::iter::successors(Some(from), |value| value.checked_mul(factor));
    Ok(steps.take_while(|value| *value <= to).map(write).collect())
}

fn check_ends(from: i128, to: i128) -> Result<(), String> {
    if from > to {
        return Err("the axis is empty: its range ends before it begins".to_owned());
    }
    Ok(())
}

/// Quantities in their base unit; numbers, and counts with a word behind them, in decimals.
fn scale(from: &str, to: &str, step: &str) -> Result<Scale, String> {
    let range = [from, to, step];
    quantities(range, Time::as_nanos, |n| Some(Time::from_nanos(n)))
        .or_else(|| quantities(range, Bytes::get, |n| Some(Bytes::new(n))))
        .or_else(|| quantities(range, BitsPerSec::get, BitsPerSec::new))
        .map_or_else(|| decimals(range), Ok)
}

/// A range of one kind of quantity, in whatever units; `None` where it is not.
fn quantities<Q: FromStr + Display + 'static>(
    range: [&str; 3],
    base: fn(Q) -> u64,
    of_base: fn(u64) -> Option<Q>,
) -> Option<Scale> {
    let number = |text: &str| Some(i128::from(base(text.parse().ok()?)));
    let [from, to, step] = range.map(number);
    let write = move |n: i128| {
        let quantity = u64::try_from(n).ok().and_then(of_base);
        Value::String(quantity.map_or_else(|| n.to_string(), |quantity| quantity.to_string()))
    };
    Some(Scale { from: from?, to: to?, step: step?, write: Box::new(write) })
}

/// A range of numbers with one unit, or with none.
fn decimals(range: [&str; 3]) -> Result<Scale, String> {
    let [from, to, step] = range.map(decimal);
    let numbers = [from?, to?, step?];
    let unit = numbers[0].unit.clone();
    if numbers.iter().any(|number| number.unit != unit) {
        return Err(format!("`{}` mixes units", range.join("..")));
    }
    let places = numbers.iter().map(|number| number.places).max().unwrap_or(0);
    let [from, to, step] =
        numbers.map(|number| number.mantissa * 10_i128.pow(places - number.places));
    let write = move |n| {
        let text = in_decimals(n, places);
        match unit.as_str() {
            "" => value(&text),
            "%" => Value::String(format!("{text}%")),
            unit => Value::String(format!("{text} {unit}")),
        }
    };
    Ok(Scale { from, to, step, write: Box::new(write) })
}

/// `mantissa` ÷ 10^`places`, with what stands behind it.
struct Decimal {
    mantissa: i128,
    places: u32,
    unit: String,
}

fn decimal(text: &str) -> Result<Decimal, String> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = format!("{whole}{fraction}").parse().ok();
    match mantissa.filter(|_| fraction.len() <= 12 && whole.len() <= 18) {
        Some(mantissa) => {
            let places = u32::try_from(fraction.len()).unwrap_or(0);
            Ok(Decimal { mantissa, places, unit: unit.trim().to_owned() })
        }
        None => Err(format!("`{text}` is not a number")),
    }
}

/// A fraction loses the zeros at its end, but for the one that keeps it a fraction.
fn in_decimals(mantissa: i128, places: u32) -> String {
    let sign = if mantissa < 0 { "-" } else { "" };
    let scale = 10_u128.pow(places);
    let (whole, rest) = (mantissa.unsigned_abs() / scale, mantissa.unsigned_abs() % scale);
    match (places, rest) {
        (0, _) => format!("{sign}{whole}"),
        (_, 0) => format!("{sign}{whole}.0"),
        (_, rest) => {
            let fraction = format!("{rest:0width$}", width = places as usize);
            format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
        }
    }
}
