//! What a value means, however it is written: `"64 KiB"` is `"65536 B"`, and `"1%"` is `0.01`.

use toml::Value;

use crate::units::AnyQuantity;

/// Equal for values that mean the same, and for no others.
pub(super) fn meaning(value: &Value) -> String {
    match value {
        Value::Integer(number) => number_of(*number as f64),
        Value::Float(number) => number_of(*number),
        Value::String(text) => of_text(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(meaning).collect::<Vec<_>>().join(","))
        }
        Value::Table(table) => {
            let mut keys: Vec<String> =
                table.iter().map(|(key, value)| format!("{key:?}={}", meaning(value))).collect();
            keys.sort();
            format!("{{{}}}", keys.join(","))
        }
        Value::Boolean(_) | Value::Datetime(_) => value.to_string(),
    }
}

fn of_text(text: &str) -> String {
    match AnyQuantity::of(text) {
        Some(AnyQuantity::Bytes(bytes)) => format!("{} B", bytes.get()),
        Some(AnyQuantity::Time(time)) => format!("{} ns", time.as_nanos()),
        Some(AnyQuantity::Rate(rate)) => format!("{} bit/s", rate.get()),
        Some(AnyQuantity::Share(share)) => number_of(share.get()),
        Some(AnyQuantity::Packets(count)) => format!("{count} packets"),
        Some(AnyQuantity::Segments(count)) => format!("{count} segments"),
        None => format!("{text:?}"),
    }
}

fn number_of(number: f64) -> String {
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::super::values::value;
    use super::meaning;

    #[test]
    fn spellings_of_one_value_mean_the_same() {
        let cases = [
            ("64 KiB", "65536 B", true),
            ("1 Mbit/s", "1000kbit/s", true),
            ("1 s", "1000 ms", true),
            ("0.01", "1%", true),
            ("536", "536.0", true),
            ("5 packets", "5  packets", true),
            ("1 packet", "1 packets", true),
            ("64 KiB", "64 kB", false),
            ("5 packets", "5 segments", false),
            ("1 s", "1 B", false),
            ("reno", "newreno", false),
            (
                "{ model = \"uniform\", rate = 0.01 }",
                "{ rate = \"1%\", model = \"uniform\" }",
                true,
            ),
            ("false", "true", false),
        ];
        for (one, other, same) in cases {
            let equal = meaning(&value(one)) == meaning(&value(other));
            assert_eq!(equal, same, "{one} and {other}");
        }
    }
}
