//! Numbers agree: each printed ratio, percentage and rate is that of the parts printed beside it, in every capture.

use std::path::{Path, PathBuf};
use std::process::Command;

use maxseg_testkit::captures::captures;
use maxseg_testkit::sampled;
use regex::Regex;
use serde_json::Value;

use super::explain;

/// Three digits are printed: half a unit in the last place, for the ratio and for each of two parts. The first digit may
/// be 1, and the rounding half a hundredth of that.
const ROUNDING: f64 = 3.0 * 0.5e-2;

/// Of the sample, one capture in so many: each is read twice, in a build for tests.
const SAMPLED: u64 = 4;

/// The captures of the tests, the situations among them, and those beside the repository where they are.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = captures().into_iter().map(|capture| capture.path).collect();
    for folder in [
        "testdata/captures/situations",
        "testdata/captures/stories",
        "../shared/captures/labelled",
        "../shared/captures/situations",
        "../shared/captures/wild",
        "../shared/captures/open",
        "../shared/captures/mlab",
    ] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            println!("SKIPPED: there is no {folder}");
            continue;
        };
        let found = entries.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.to_string_lossy();
            name.contains(".pcap") && !name.ends_with(".json")
        });
        files.extend(found);
    }
    files.sort();
    files
}

/// The text of a capture on one line, its first connection in full; `None` where it is refused.
fn text(file: &Path) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "-v", "--color", "never", "-q"])
        .env("COLUMNS", "1000")
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (!text.is_empty()).then_some(text)
}

/// A number with its unit, in bits per second, bytes or seconds: `19.3 Mbit/s`, `410 kB`, `1 448 bytes`, `2.01 s`.
fn value(number: &str) -> f64 {
    let number = number.trim();
    let digits_end = number
        .char_indices()
        .find(|(_, letter)| letter.is_ascii_alphabetic())
        .map_or(number.len(), |(place, _)| place);
    let (digits, unit) = number.split_at(digits_end);
    let digits: f64 = digits.replace(' ', "").parse().unwrap_or_else(|_| panic!("{number:?}"));
    digits
        * match unit {
            "Gbit/s" | "GB" => 1e9,
            "Mbit/s" | "MB" => 1e6,
            "kbit/s" | "kB" => 1e3,
            "bit/s" | "byte" | "bytes" | "s" | "" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            other => panic!("{other:?} is no unit: {number:?}"),
        }
}

/// Whether a printed number is that of its parts: within rounding, or within one in the last place of small ones.
fn agree(printed: f64, computed: f64, least: f64) -> bool {
    (printed - computed).abs() <= ROUNDING * computed.abs() + least
}

/// Whether the named parts of a match disagree.
type Fault = fn(&dyn Fn(&str) -> String) -> bool;

/// A rule: what is printed as a regular expression with named groups, and what is wrong with a match.
struct Rule {
    printed: Regex,
    fault: Fault,
}

const RATE: &str = r"[\d.]+ [kMG]?bit/s";
const SIZE: &str = r"\d[\d .]* (?:bytes|byte|kB|MB|GB)";
const TIME: &str = r"\d[\d.]* (?:ns|us|ms|s)\b";

fn rules() -> Vec<Rule> {
    let rule = |pattern: &str, fault: Fault| Rule { printed: Regex::new(pattern).unwrap(), fault };
    vec![
        // Goodput is bytes over the seconds beside it.
        rule(
            &format!(r"(?<rate>{RATE}): (?<size>{SIZE}) acknowledged in (?<time>{TIME})"),
            |part| {
                let computed = 8.0 * value(&part("size")) / value(&part("time"));
                !agree(value(&part("rate")), computed, 0.0)
            },
        ),
        // The bandwidth-delay product.
        rule(
            &format!(
                r"(?<rate>{RATE}) on the wire, RTT (?<time>{TIME}): bandwidth-delay product (?:at least )?(?<size>{SIZE})"
            ),
            |part| {
                let computed = value(&part("rate")) * value(&part("time")) / 8.0;
                !agree(value(&part("size")), computed, 0.5)
            },
        ),
        // A share of packets.
        rule(
            r"(?:^| )(?<count>\d[\d ]*) packets?(?:, (?<with>\d[\d ]*) of them with data)?, (?<percent>[\d.]+)% of (?:about )?(?<all>\d[\d ]*\d|\d)",
            |part| {
                let with_data = part("with");
                let count = if with_data.is_empty() { part("count") } else { with_data };
                let computed = 100.0 * value(&count) / value(&part("all"));
                !agree(value(&part("percent")), computed, 0.0) || computed > 100.0
            },
        ),
        // A share of segments, in two decimals.
        rule(
            r"(?<count>\d+) segments (?:were lost and retransmitted|arrived out of order): (?<percent>[\d.]+)% of (?:about )?(?<all>\d+)",
            |part| {
                let computed = 100.0 * value(&part("count")) / value(&part("all"));
                !agree(value(&part("percent")), computed, 0.005) || computed > 100.0
            },
        ),
        // A row of the list: data, time, goodput.
        rule(&format!(r" (?<size>{SIZE}) (?<time>{TIME}) (?<rate>{RATE}) "), |part| {
            let computed = 8.0 * value(&part("size")) / value(&part("time"));
            !agree(value(&part("rate")), computed, 0.0)
        }),
        // A share of the time, and the time that it is.
        rule(
            &format!(
                r"stalled [^%]*for (?<percent>\d+)% of [^%]*Stalled for (?<part>{TIME}) of (?<whole>{TIME})"
            ),
            |part| {
                let computed = 100.0 * value(&part("part")) / value(&part("whole"));
                !agree(value(&part("percent")), computed, 0.5)
            },
        ),
        // A prediction with its gain.
        rule(
            &format!(
                r"Predicted[^:]*: (?<after>{RATE}) instead of (?<before>{RATE}) \((?<gain>[^;)]*)[;)]"
            ),
            |part| {
                let factor = value(&part("after")) / value(&part("before"));
                let gain = part("gain");
                let printed = match gain.strip_prefix('x') {
                    Some(factor) => value(factor),
                    None => 1.0 + value(gain.trim_matches(['+', '%'])) / 100.0,
                };
                // A gain of no more than 3% is none.
                !agree(printed, factor, 0.005) || printed <= 1.03
            },
        ),
        // A prediction lies in its interval, which is a gain from end to end.
        rule(
            &format!(
                r"Predicted[^:]*: (?<after>{RATE}) instead of (?<before>{RATE}) \([^;)]*; (?<low>{RATE}) to (?<high>{RATE})\)"
            ),
            |part| {
                let [before, low, after, high] =
                    ["before", "low", "after", "high"].map(|name| value(&part(name)));
                !(before <= low && low <= after && after <= high)
            },
        ),
        // A part of a time is no longer than the whole.
        rule(&format!(r"(?<part>{TIME}) of (?<whole>{TIME})"), |part| {
            let (some, whole) = (value(&part("part")), value(&part("whole")));
            some > whole * (1.0 + ROUNDING) || whole <= 0.0
        }),
        // A share of a time.
        rule(&format!(r"for (?<percent><?\d+)% of (?<whole>{TIME})"), |part| {
            value(part("percent").trim_start_matches('<')) > 100.0 || value(&part("whole")) <= 0.0
        }),
        // Round trips: the least is no longer than the mean.
        rule(&format!(r"minimum (?<least>{TIME}), mean (?<mean>{TIME})"), |part| {
            value(&part("least")) > value(&part("mean")) * (1.0 + ROUNDING)
        }),
        // What no text may have.
        rule(r"(?<percent>[\d.]+)% of 0\b|\bNaN\b|\binf\b|-0 ", |_| true),
    ]
}

/// What is wrong with a text.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for rule in rules() {
        for found in rule.printed.captures_iter(&flat) {
            let part = |name: &str| {
                found.name(name).map_or_else(String::new, |part| part.as_str().to_owned())
            };
            if (rule.fault)(&part) {
                faults.push(found[0].to_owned());
            }
        }
    }
    faults.extend(too_large_shares(&flat));
    faults
}

/// Percentages above 100, and limits whose shares sum up to more.
fn too_large_shares(flat: &str) -> Vec<String> {
    let percent = Regex::new(r"(?<sign>[+x]?)(?<value>\d+(?:\.\d+)?)%").unwrap();
    let above = percent
        .captures_iter(flat)
        .filter(|found| found["sign"].is_empty() && found["value"].parse::<f64>().unwrap() > 100.0);
    let mut faults: Vec<String> = above.map(|found| found[0].to_owned()).collect();
    let limits = Regex::new(r"limits ((?:[a-z-]+ <?\d+%(?:, )?)+)").unwrap();
    for found in limits.captures_iter(flat) {
        let parts: Vec<f64> =
            percent.captures_iter(&found[1]).map(|part| part["value"].parse().unwrap()).collect();
        // Each is rounded by up to a half.
        let sum: f64 = parts.iter().sum();
        if sum > 100.0 + 0.5 * parts.len() as f64 {
            faults.push(found[0].to_owned());
        }
    }
    faults
}

/// What is wrong with the numbers of a document.
fn document_faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for connection in document["connections"].as_array().unwrap() {
        let id = &connection["id"];
        let limits = connection["limits"].as_array().unwrap();
        let shares = limits.iter().map(|limit| limit["share"].as_f64().unwrap());
        let sum: f64 = shares.sum();
        if !limits.is_empty() && (sum - 1.0).abs() > 1e-6 {
            faults.push(format!("{id}: shares sum up to {sum}"));
        }
        for confidence in [
            &connection["confidence"],
            &connection["loss"]["confidence"],
            &connection["host_system"]["client"]["confidence"],
            &connection["host_system"]["server"]["confidence"],
        ] {
            if !confidence.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)) {
                faults.push(format!("{id}: confidence {confidence}"));
            }
        }
        for way in ["forward", "reverse"] {
            let direction = &connection[way];
            let of = |key: &str| direction[key].as_f64();
            for (part, whole) in [
                ("data_packets", "packets"),
                ("unique_bytes", "payload_bytes"),
                ("payload_bytes", "ip_bytes"),
                ("rtt_min_s", "rtt_mean_s"),
                ("path_rtt_min_s", "path_rtt_mean_s"),
                ("window_min_bytes", "window_max_bytes"),
            ] {
                if let (Some(part_value), Some(whole_value)) = (of(part), of(whole))
                    && part_value > whole_value * (1.0 + 1e-9)
                {
                    faults
                        .push(format!("{id} {way}: {part} {part_value} of {whole} {whole_value}"));
                }
            }
        }
    }
    faults.extend(path_fault(document));
    let gain = &document["matters_most"]["gain"];
    if let (Some(observed), Some(expected), Some(relative)) =
        (gain["observed_bps"].as_f64(), gain["expected_bps"].as_f64(), gain["gain"].as_f64())
    {
        if (expected / observed - 1.0 - relative).abs() > 1e-9 || relative <= 0.03 {
            faults.push(format!("gain {relative}: {expected} of {observed}"));
        }
        let path = &document["matters_most"]["path"];
        let line = path["rate_bps"]["value"].as_f64().unwrap();
        if expected > line.max(observed) {
            faults.push(format!("{expected} bit/s on a line of {line}"));
        }
    }
    faults
}

/// A line that carries less than the connection reached.
fn path_fault(document: &Value) -> Option<String> {
    let most = &document["matters_most"];
    let line = most["path"]["rate_bps"]["value"].as_f64()?;
    let mut connections = document["connections"].as_array().unwrap().iter();
    let connection = connections.find(|connection| connection["id"] == most["connection"])?;
    let way = connection["way"].as_str().unwrap();
    let goodput = connection[way]["goodput_bps"].as_f64()?;
    (goodput > line).then(|| format!("goodput {goodput} on a line of {line}"))
}

#[test]
fn every_printed_ratio_is_that_of_its_parts() {
    let (mut texts, mut refused, mut wrong) = (0, 0, Vec::new());
    let files = files();
    assert!(files.len() >= 40, "captures are missing: {files:?}");
    for file in sampled("captures", files, SAMPLED) {
        let name = file.display().to_string();
        if let Some(text) = text(&file) {
            texts += 1;
            wrong.extend(faults(&text).into_iter().map(|fault| format!("{name}: {fault}")));
        } else {
            refused += 1;
        }
        if let Some(document) = explain(&file) {
            let faults = document_faults(&document);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    println!("checked the numbers of {texts} captures");
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(texts > refused, "{refused} captures were refused, {texts} were not");
}

#[test]
fn numbers_that_do_not_agree_are_found() {
    for wrong in [
        "1.96 Gbit/s: 410 kB acknowledged in 2.01 s",
        "5 packets, 500% of 0 (timeout 5)",
        "22 packets, 20 of them with data, 12.0% of 334",
        "240 segments were lost and retransmitted: 3.96% of about 10336",
        "stalled a → b for 88% of 19.3 s. Stalled for 3.54 s of 9.31 s",
        "0 10.0.0.1:1 10.0.0.2:2 410 kB 2.01 s 1.96 Gbit/s 1448",
        "took 0 s of 0 s",
        "took 3.20 s of 1.10 s",
        "Predicted: 17.6 Mbit/s instead of 3.55 Mbit/s (x2.00)",
        "Predicted: 18.2 Mbit/s instead of 18.2 Mbit/s (0%)",
        "20.0 Mbit/s on the wire, RTT 40.7 ms: bandwidth-delay product 98 168 bytes",
        "minimum 40.7 ms, mean 20.1 ms",
        "limits bandwidth 80%, congestion 41%",
        "NaN",
    ] {
        assert!(!faults(wrong).is_empty(), "{wrong}");
    }
    for right in [
        "1.96 Gbit/s: 410 kB acknowledged in 1.67 ms",
        "22 packets, 20 of them with data, 5.99% of 334",
        "4 799 packets, 100% of 4 800 (timeout 4700)",
        "Predicted: 17.6 Mbit/s instead of 3.55 Mbit/s (x4.96)",
        "20.0 Mbit/s on the wire, RTT 40.7 ms: bandwidth-delay product 101 693 bytes",
        "240 segments were lost and retransmitted: 2.32% of about 10336",
        "stalled a → b for 38% of 9.31 s. Stalled for 3.54 s of 9.31 s",
        "0 10.0.0.1:1 10.0.0.2:2 410 kB 1.67 ms 1.96 Gbit/s 1448",
        "limits bandwidth 58%, congestion 41%, start-up <1%",
    ] {
        assert_eq!(faults(right), Vec::<String>::new(), "{right}");
    }
}
