//! Our own documents: TOML, with a table `[settings]`.

use std::fmt::Write as _;
use std::ops::Range;

use maxseg_core::similar::closest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Document;
use super::reader::Reader;
use crate::error::DocumentError;

const EXAMPLE: &str = "write for example \"route.10.0.0.0/8.mtu\" = 1280 below [settings]";

type Entry<'a, 't> = (&'a Spanned<std::borrow::Cow<'t, str>>, &'a Spanned<DeValue<'t>>);

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), DocumentError> {
    let table = DeTable::parse(reader.text()).map_err(|error| {
        let what = error.message().lines().next().unwrap_or("this is not TOML").to_owned();
        reader.fault(error.span().unwrap_or(0..0), "", what, EXAMPLE)
    })?;
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("why", DeValue::String(why)) => reader.document.why = Some(why.to_string()),
            ("why", _) => return Err(not_a_reason(reader, value.span())),
            ("settings", DeValue::Table(settings)) => read_settings(reader, "", settings)?,
            ("settings", _) => {
                return Err(reader.fault(
                    value.span(),
                    "settings",
                    "`settings` is a table",
                    EXAMPLE,
                ));
            }
            (other, _) => return Err(unknown(reader, key.span(), other, ["why", "settings"])),
        }
    }
    if reader.document.settings.is_empty() {
        return Err(reader.fault(0..0, "settings", "the document sets nothing", EXAMPLE));
    }
    Ok(())
}

/// Settings below `above`, a name's beginning: dotted keys and tables are the same.
fn read_settings(
    reader: &mut Reader<'_>,
    above: &str,
    table: &DeTable<'_>,
) -> Result<(), DocumentError> {
    for entry in table {
        let (key, value) = entry;
        let name = if above.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{above}.{}", key.get_ref())
        };
        let inner = value.get_ref().as_table();
        match inner.filter(|inner| !inner.iter().any(|(key, _)| key.get_ref() == "value")) {
            Some(inner) => read_settings(reader, &name, inner)?,
            None => read_setting(reader, &name, entry)?,
        }
    }
    Ok(())
}

fn read_setting(
    reader: &mut Reader<'_>,
    name: &str,
    (key, value): Entry<'_, '_>,
) -> Result<(), DocumentError> {
    let target = reader.target(key.span(), name)?;
    let (mut given, mut why) = (value, None);
    if let DeValue::Table(parts) = value.get_ref() {
        for (part, value) in parts {
            match (part.get_ref().as_ref(), value.get_ref()) {
                ("value", _) => given = value,
                ("why", DeValue::String(text)) => why = Some(text.to_string()),
                ("why", _) => return Err(not_a_reason(reader, value.span())),
                (other, _) => return Err(unknown(reader, part.span(), other, ["value", "why"])),
            }
        }
    }
    let text = text_of(given.get_ref()).ok_or_else(|| {
        let what = format!("{name} takes a number, a text or a list of numbers");
        reader.fault(given.span(), name, what, EXAMPLE)
    })?;
    reader.set(given.span(), name, (target, &text), why)
}

fn not_a_reason(reader: &Reader<'_>, span: Range<usize>) -> DocumentError {
    reader.fault(span, "why", "`why` is a text", "write for example why = \"a slow modem link\"")
}

fn unknown(reader: &Reader<'_>, span: Range<usize>, key: &str, known: [&str; 2]) -> DocumentError {
    let hint = match closest(key, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known[1] == "settings" => EXAMPLE.to_owned(),
        None => "a setting has `value` and `why`".to_owned(),
    };
    reader.fault(span, key, format!("unknown key `{key}`"), hint)
}

/// A value as the kernel takes it.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|number| number.to_string()),
        DeValue::Boolean(is_on) => Some(u8::from(*is_on).to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(|item| text_of(item.get_ref())).collect();
            items.map(|items| items.join(" "))
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

pub(super) fn write(document: &Document) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut text =
        "# `maxseg tune apply FILE` sets these, `maxseg tune show NAME` tells of one.\n".to_owned();
    if let Some(why) = &document.why {
        let _ = writeln!(text, "why = {}", quoted(why));
    }
    text += "\n[settings]\n";
    for setting in &document.settings {
        let value = setting.value.to_string();
        let is_number = value.parse::<i64>().is_ok_and(|number| number.to_string() == value);
        let value = if is_number { value } else { quoted(&value) };
        let _ = match &setting.why {
            None => writeln!(text, "{} = {value}", quoted(&setting.target.to_string())),
            Some(why) => writeln!(
                text,
                "{} = {{ value = {value}, why = {} }}",
                quoted(&setting.target.to_string()),
                quoted(why)
            ),
        };
    }
    text
}
