//! Any settings come back, and any text has an answer.

use proptest::prelude::*;

use super::*;

/// Settings that are inside of their ranges, each target once.
fn some_settings() -> impl Strategy<Value = Document> {
    let names: Vec<(String, i64, i64, usize)> = tunables()
        .iter()
        .filter(|tunable| tunable.acts != Acts::Never)
        .filter_map(|tunable| {
            let name = tunable
                .name
                .replace("route.", "route.10.0.0.0/8.")
                .replace("interface.", "interface.eth0.");
            name.parse::<Target>().ok()?;
            let (min, max) = (tunable.range.min?, tunable.range.max?);
            Some((name, min, max, tunable.items.len().max(1)))
        })
        .collect();
    let number = |(name, min, max, items): (String, i64, i64, usize)| {
        (
            Just(name),
            proptest::collection::vec(min..=max, items),
            proptest::option::of("[ -~äß\"\\\\]{1,40}"),
        )
    };
    let one = proptest::sample::select(names).prop_flat_map(number);
    (proptest::collection::vec(one, 1..12), proptest::option::of("\\PC{1,40}")).prop_map(
        |(many, why)| {
            let mut document = Document { why, ..Document::default() };
            for (name, mut numbers, why) in many {
                numbers.sort_unstable();
                let value = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
                let target: Target = name.parse().unwrap();
                if document.settings.iter().all(|known| known.target != target) {
                    document.settings.push(Setting {
                        target,
                        value: Value::of(&value),
                        why,
                        line: 0,
                    });
                }
            }
            document
        },
    )
}

/// The same without lines.
fn without_lines(document: &Document) -> Vec<(String, Value, Option<String>)> {
    let mut all: Vec<_> = document
        .settings
        .iter()
        .map(|one| (one.target.to_string(), one.value.clone(), one.why.clone()))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

proptest! {
    #[test]
    fn our_own_documents_come_back_whole(document in some_settings()) {
        let text = Format::Toml.write(&document).text;
        let again = read(Format::Toml, &text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(without_lines(&again), without_lines(&document));
        prop_assert_eq!(again.why, document.why);
    }

    #[test]
    fn what_another_format_has_comes_back(document in some_settings()) {
        for format in [Format::SysctlD, Format::OpenTransport, Format::Stcp] {
            let written = format.write(&document);
            let left_out: Vec<_> = written.left_out.iter().map(|note| note.key.clone()).collect();
            let kept = document.settings.iter().filter(|one| !left_out.contains(&one.target.to_string()));
            if kept.count() == 0 {
                continue;
            }
            let route = "10.0.0.0/8".parse().unwrap();
            // What is read is written again as it was: what a format rounds, it rounds once.
            let Ok(first) = format.read("file", &written.text, route) else { continue };
            let second = format.read("file", &format.write(&first).text, route).unwrap();
            prop_assert_eq!(settings(&second), settings(&first), "{}", written.text);
        }
    }

    #[test]
    fn any_text_has_an_answer(text in "(?s).{0,200}") {
        for format in Format::ALL {
            let _ = read(format, &text);
        }
        let _ = Format::guess("x", &text);
    }

    #[test]
    fn any_lines_have_an_answer(lines in proptest::collection::vec(
        proptest::sample::select(vec![
            "#auto", "#end", "tcp_mss_max=536", "tcp_mss_max=", "=", "[settings]", "why = 1", "-", "- = 3",
            "net.ipv4.tcp_sack = 1", "set_stcp_param min_mss 1480", "set_longword x -to", "\u{feff}", "‘", "\r",
            "\"sysctl.net.ipv4.tcp_sack\" = {}", "net//a = 1", "tcp_ip_abort_interval=18446744073709551615",
        ]), 0..12)
    ) {
        let text = lines.join("\n");
        for format in Format::ALL {
            let _ = read(format, &text);
        }
    }
}
