//! Values of sysctls as the kernel writes them: what is read back is compared with what was written.

use super::plan::Value;

/// A value of this sysctl as the kernel writes it; `before` is what it has now, and `names` the order in which it lists congestion
/// controls. What is not known to be written otherwise stays as it is.
#[must_use]
pub fn as_written_by_kernel(name: &str, value: &Value, before: &Value, names: &[&str]) -> Value {
    let (Some(text), Some(before)) = (value.text(), before.text()) else { return value.clone() };
    let spelled = match name {
        // `proc_do_large_bitmap`
        "net.ipv4.ip_local_reserved_ports" => ports(text),
        // `tcp_get_allowed_congestion_control` goes through the list of all.
        "net.ipv4.tcp_allowed_congestion_control" => in_order(text, names),
        _ if before.split(' ').all(|word| word.parse::<i64>().is_ok()) => numbers(text),
        _ => None,
    };
    spelled.map_or_else(|| value.clone(), Value::Text)
}

/// As `strtoul` reads it with base 0: octal digits behind a zero, hexadecimal ones behind `0x`.
fn numbers(text: &str) -> Option<String> {
    let number = |word: &str| {
        let (sign, digits) = word.strip_prefix('-').map_or(("", word), |digits| ("-", digits));
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
            None => digits.parse(),
        };
        number.ok().map(|number| format!("{sign}{number}"))
    };
    let words: Option<Vec<String>> = text.split(' ').map(number).collect();
    Some(words?.join(" "))
}

/// Ports and ranges in their order, neighbours as one range.
fn ports(text: &str) -> Option<String> {
    let mut ranges = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u16, u16) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        ranges.push((from, to));
    }
    ranges.sort_unstable();
    let mut joined: Vec<(u16, u16)> = Vec::new();
    for (from, to) in ranges {
        match joined.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
            Some(_) | None => joined.push((from, to)),
        }
    }
    let word = |(from, to): &(u16, u16)| {
        if from == to { from.to_string() } else { format!("{from}-{to}") }
    };
    Some(joined.iter().map(word).collect::<Vec<_>>().join(","))
}

/// The words in the order of `names`, where all of them are there.
fn in_order(text: &str, names: &[&str]) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let are_known = words.iter().all(|word| names.contains(word));
    let listed = names.iter().copied().filter(|name| words.contains(name));
    are_known.then(|| listed.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelled_as_the_kernel_spells_them() {
        let order = ["reno", "cubic", "bbr"];
        for (name, before, given, written) in [
            ("net.ipv4.tcp_sack", "1", "01", "1"),
            ("net.ipv4.tcp_sack", "1", "010", "8"), // octal
            ("net.ipv4.tcp_sack", "1", "0x10", "16"),
            ("net.ipv4.tcp_rmem", "1 2 3", "04 -05 6", "4 -5 6"),
            ("net.ipv4.tcp_sack", "1", "many", "many"),
            ("net.ipv4.tcp_congestion_control", "cubic", "01", "01"),
            ("net.ipv4.ip_local_reserved_ports", "", "8080,8081", "8080-8081"),
            ("net.ipv4.ip_local_reserved_ports", "", "9000,8080", "8080,9000"),
            ("net.ipv4.ip_local_reserved_ports", "", "1-5,3-9,11,65535", "1-9,11,65535"),
            ("net.ipv4.ip_local_reserved_ports", "", "some", "some"),
            ("net.ipv4.tcp_allowed_congestion_control", "reno", "cubic reno", "reno cubic"),
            ("net.ipv4.tcp_allowed_congestion_control", "reno", "x reno", "x reno"),
        ] {
            let before = Value::Text(before.to_owned());
            let spelled = as_written_by_kernel(name, &Value::of(given), &before, &order);
            assert_eq!(spelled, Value::of(written), "{name} = {given}");
        }
    }
}
