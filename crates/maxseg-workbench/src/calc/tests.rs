use serde_json::Value;

use super::*;

fn arguments(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn computed(name: &str, values: &str) -> Value {
    let entry = entry(name).unwrap_or_else(|failure| panic!("{}", failure.told()));
    let inputs = Inputs::parse(entry, &arguments(values));
    let inputs = inputs.unwrap_or_else(|failure| panic!("{name}: {}", failure.told()));
    let answer = entry.answer(&inputs);
    let answer = answer.unwrap_or_else(|failure| panic!("{name}: {}", failure.told()));
    serde_json::from_str(&answered_json(entry, &inputs, &answer)).unwrap()
}

fn figure(document: &Value, name: &str) -> f64 {
    let results = document["results"].as_array().unwrap();
    let found = results.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {results:?}"))["value"].as_f64().unwrap()
}

/// A figure that is a whole number.
fn whole(document: &Value, name: &str) -> u64 {
    let results = document["results"].as_array().unwrap();
    let found = results.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {results:?}"))["value"].as_u64().unwrap()
}

fn failure(name: &str, values: &str) -> String {
    let entry = entry(name).unwrap_or_else(|failure| panic!("{}", failure.told()));
    let answer = Inputs::parse(entry, &arguments(values)).and_then(|inputs| entry.answer(&inputs));
    answer.err().map_or_else(|| panic!("{name} {values} is no error"), |failure| failure.told())
}

#[test]
fn every_example_runs_and_fills_the_document() {
    for entry in ENTRIES {
        let document = computed(entry.name, entry.example);
        assert_eq!(document["schema_version"], 1);
        assert_eq!(document["name"], entry.name);
        for key in ["formula", "source", "range"] {
            assert!(document[key].as_str().is_some_and(|text| text.len() > 10), "{key}");
        }
        let inputs = document["inputs"].as_object().unwrap();
        assert_eq!(inputs.len(), entry.parameters.len(), "{}", entry.name);
        let results = document["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for figure in results {
            assert!(!figure["value"].is_null(), "{}: {figure}", entry.name);
        }
    }
}

#[test]
fn entries_are_well_formed() {
    let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len(), "each name once");
    for entry in ENTRIES {
        assert!(entry.about.len() < 80 && !entry.about.ends_with('.'), "{}", entry.name);
        let mut parameters: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
        parameters.sort_unstable();
        parameters.dedup();
        assert_eq!(parameters.len(), entry.parameters.len(), "{}", entry.name);
    }
}

/// Formula, values, figure, published value, half of its last digit.
type Published = (&'static str, &'static str, &'static str, f64, f64);

#[test]
fn published_numbers_come_out() {
    let cases: [Published; 47] = [
        ("overhead", "payload=1460", "efficiency", 0.949_28, 5e-6),
        ("overhead", "payload=1448 options=12", "efficiency", 0.941_48, 5e-6),
        ("overhead", "payload=1440 ip=6", "efficiency", 0.936_28, 5e-6),
        ("overhead", "payload=8948 options=12", "efficiency", 0.990_04, 5e-6),
        ("overhead", "payload=1460 framing=ethernet-vlan", "wire", 1542.0, 0.0),
        ("overhead", "payload=1460 framing=ppp", "wire", 1508.0, 0.0),
        ("overhead", "payload=1452 framing=pppoe", "wire", 1538.0, 0.0),
        ("overhead", "payload=1460 framing=atm-aal5", "wire", 1696.0, 0.0), // 32 cells
        // A modem of 28.8 kbit/s: 2.39 and 2.69 KiB/s without and with compressed headers.
        ("overhead", "payload=268 framing=serial rate=28.8kbit/s", "goodput", 19_579.0, 41.0),
        ("overhead", "payload=268 framing=serial-vj rate=28.8kbit/s", "goodput", 22_036.0, 82.0),
        ("mss", "mtu=1492", "mss", 1452.0, 0.0),
        ("mss", "stack=linux mtu=1492 timestamps=yes", "mss", 1440.0, 0.0),
        ("mss", "stack=rfc mtu=1500 ip=6", "mss", 1440.0, 0.0),
        ("mss", "stack=rfc mtu=1500 peer=none", "mss", 536.0, 0.0),
        ("mss", "stack=rfc mtu=1500 ip=6 peer=none", "mss", 1220.0, 0.0),
        ("mss", "stack=linux peer=1460 timestamps=yes", "mss", 1448.0, 0.0),
        ("mss", "stack=linux peer=1460 window=1460B", "mss", 730.0, 0.0),
        ("mss", "stack=linux mtu=200 peer=1460", "advertised", 256.0, 0.0),
        ("mss", "stack=freebsd-2.2.5 mtu=4352 peer=4312 timestamps=yes", "mss", 4096.0, 0.0),
        ("mss", "stack=stcp peer=1460", "mss", 536.0, 0.0),
        ("tunnel", "kind=wireguard outer=6", "inner_mtu", 1420.0, 0.0),
        ("tunnel", "kind=gre", "mss", 1436.0, 0.0),
        ("tunnel", "kind=vxlan outer=6", "mss", 1390.0, 0.0),
        ("fragments", "packet=4000", "fragments", 3.0, 0.0),
        ("plateau", "packet=1500", "mtu", 1492.0, 0.0),
        ("bdp", "rate=10Mbit/s rtt=4ms mss=536", "segments", 10.0, 0.0),
        ("bdp", "rate=10Mbit/s rtt=80ms", "segments", 69.0, 0.0),
        ("window", "rate=100Mbit/s rtt=70ms window=16KiB", "rate_limit", 1.87e6, 5e3),
        ("window", "rate=100Mbit/s rtt=70ms window=896KiB", "rate_limit", 100e6, 1.0),
        ("frames", "payload=1460 frame=128 error=1%", "segment_loss", 0.113_615, 5e-7),
        ("frames", "payload=1368 frame=128 error=20%", "delivery", 0.0859, 5e-5),
        ("frames", "payload=601 frame=128 error=0", "frames", 6.0, 0.0),
        ("cubic", "loss=0.01% rtt=1s", "crossover_rtt", 0.057, 5e-4),
        ("cubic", "loss=0.1% rtt=1s", "crossover_rtt", 0.122, 5e-4),
        ("cubic", "loss=1% rtt=1s", "crossover_rtt", 0.263, 5e-4),
        ("mathis", "loss=1% rtt=100ms", "constant", 1.2247, 5e-5),
        ("mathis", "loss=1% rtt=100ms per_ack=2", "constant", 0.866, 5e-4),
        ("mathis", "loss=1% rtt=50us mss=1448", "throughput", 2.84e9, 5e6),
        ("arq", "error=5% retries=3 frames=12", "segment_loss", 7.5e-5, 5e-7),
        ("optimum-datagram", "frame=128 error=1% header=40", "payload", 728.0, 0.0),
        // By `frames`: 94.9%, and 90.6% of the 272 bytes that fill one frame.
        ("optimum-datagram", "frame=300 error=0.1% mtu=576", "payload", 548.0, 0.0),
        ("optimum-datagram", "frame=300 error=0.1% mtu=576", "goodput_factor", 0.949, 5e-4),
        ("optimum-datagram", "frame=1600 error=1%", "payload", 1472.0, 0.0),
        ("optimum-tcp", "frame=128 error=5% rtt=300ms rto=1s rate=9.6kbit/s", "mss", 344.0, 0.0),
        ("ack-path", "forward=10Mbit/s reverse=50kbit/s mss=960", "normalised_ratio", 8.0, 1e-9),
        ("rfc6349", "rate=44.21Mbit/s rtt=10ms framing=ppp", "max_throughput", 42.8e6, 5e4),
        ("rto", "samples=2s", "rto_1", 6.0, 1e-9),
    ];
    for (name, values, result, published, half_digit) in cases {
        let ours = figure(&computed(name, values), result);
        assert!((ours - published).abs() <= half_digit, "{name} {values}: {result} is {ours}");
    }
}

#[test]
fn the_bound_that_a_timeout_has_is_named() {
    let warnings = |values: &str| computed("rto", values)["warnings"].to_string();
    for stack in ["rfc", "linux"] {
        let most = warnings(&format!("samples=10s max=1s stack={stack}"));
        assert!(most.contains("maximum") && !most.contains("minimum"), "{stack}: {most}");
        let least = warnings(&format!("samples=10ms stack={stack}"));
        assert!(least.contains("minimum") && !least.contains("maximum"), "{stack}: {least}");
        assert_eq!(warnings(&format!("samples=10s,20s stack={stack} max=600s")), "[]", "{stack}");
    }
}

#[test]
fn outside_its_range_a_formula_warns() {
    let warnings = |name, values| computed(name, values)["warnings"].as_array().unwrap().len();
    let cases = [
        ("mathis", "loss=0.1% rtt=80ms", 0),
        ("mathis", "loss=2% rtt=80ms", 1),
        ("mathis", "loss=10% rtt=80ms", 1),
        ("mathis", "loss=0.1% rtt=80ms window=16KiB", 1),
        ("mathis", "loss=0.1% rtt=80ms rate=1Mbit/s", 1),
        ("pftk", "loss=20% rtt=80ms rto=1s", 0),
        ("pftk", "loss=25% rtt=80ms rto=1s", 1),
        ("pftk", "loss=40% rtt=80ms rto=1s", 2), // and nothing was measured there
        ("pftk", "loss=1% rtt=80ms rto=20ms", 1),
        ("pftk-approx", "loss=1% rtt=80ms rto=1s window=12kB", 1),
        ("tfrc", "loss=50% rtt=80ms", 1),
        ("cubic", "loss=10% rtt=80ms", 1),
        // The link is the bound, and the choice is PFTK's all the same.
        ("optimum-tcp", "frame=128 error=30% rtt=300ms rto=1s rate=300bit/s", 1),
        ("cardwell", "size=1MB rtt=80ms loss=30%", 1),
        ("bdp", "rate=1Gbit/s rtt=1ms", 1),
        ("bdp", "rate=100Gbit/s rtt=1s", 1),
        ("recovery", "rate=100kbit/s rtt=80ms", 1),
        ("rto", "samples=10ms,10ms,10ms", 1),
        ("rto", "samples=10ms,10ms,10ms stack=linux", 1),
        ("rto", "samples=900ms,10ms stack=linux", 0),
        ("rfc6349", "rate=1kbit/s rtt=80ms size=1kB time=3s", 1),
        ("fragments", "packet=1500 mtu=576", 0),
        ("fragments", "packet=1500 mtu=68", 1),
        ("fragments", "packet=1500 mtu=576 header=24", 1),
        ("tunnel", "kind=gre mtu=1000 ip=6", 1),
        ("tunnel", "kind=6in4", 1),
        ("plateau", "packet=68", 1),
    ];
    for (name, values, count) in cases {
        assert_eq!(warnings(name, values), count, "{name} {values}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_a_hint() {
    let cases = [
        ("bdp", "rate=10", "`10` has no unit", "--> in `rate=10`"),
        ("bdp", "rate=10MB/s", "is not a unit of a rate", "hint: for example rate=10Mbit/s"),
        ("bdp", "rat=10Mbit/s", "`bdp` has no parameter `rat`", "hint: did you mean `rate`?"),
        ("bdp", "colour=red", "no parameter `colour`", "hint: it knows rate, rtt, mss"),
        ("bdp", "rate=1Mbit/s rate=2Mbit/s", "`rate` is given twice", "--> in `rate=2Mbit/s`"),
        ("bdp", "10Mbit/s", "`10Mbit/s` is not KEY=VALUE", "hint: for example maxseg calc bdp"),
        ("bdp", "rate=1Mbit/s", "`bdp` needs `rtt` (a time) too", "hint: for example maxseg calc"),
        ("bdp", "rate=1Mbit/s rtt=0s", "out of range: a time above 0", "--> in `rtt=0s`"),
        (
            "bdp",
            "rate=1Mbit/s rtt=1s mss=0",
            "MSS 0 is outside 1 to 65495",
            "hint: for example mss",
        ),
        ("pftk", "loss=0 rtt=1s rto=1s", "a share above 0 and below 1", "--> in `loss=0`"),
        ("pftk", "loss=1%", "needs `rtt` (a time) and `rto` (a time) too", "hint: for example"),
        ("overhead", "framing=fddi", "no such framing", "hint: for example framing=ethernet"),
        ("overhead", "payload=65500", "no IP packet holds", "--> in `payload=65500`"),
        ("rto", "samples=80ms stack=linus", "linus", "--> in `stack=linus`"),
        ("rto", "samples=80ms min=2min", "is above the largest", "--> in `min=2min`"),
        ("rto", "samples=80ms stack=ns2-reno granularity=1ms", "counts ticks", "granularity=1ms"),
        ("rfc6349", "rate=1Mbit/s rtt=1ms time=3s", "needs `size` too", "--> in `time=3s`"),
        ("rfc6349", "rate=1Mbit/s rtt=1ms sent=1kB resent=2kB", "more resent", "resent=2kB"),
        ("rfc6349", "rate=1Mbit/s rtt=1ms resent=2kB", "needs `sent`", "resent=2kB"),
        ("mss", "stack=linux user=40000", "88 to 32767", "user=40000"),
        ("mss", "stack=windows", "no MSS decision is known for `windows`", "stack=windows"),
        ("mss", "stack=rfc window=1kB", "`rfc` does not use it", "--> in `window=1kB`"),
        ("mss", "stack=stcp ip=6", "IPv4 only", "--> in `ip=6`"),
        ("tunnel", "kind=ppp", "no such tunnel", "hint: for example kind=wireguard"),
        ("tunnel", "kind=6in4 outer=6", "its outer IP is 4", "--> in `outer=6`"),
        ("tunnel", "kind=vxlan mtu=100", "nothing that IP must carry", "--> in `mtu=100`"),
        ("fragments", "packet=20 header=60", "shorter than its header", "--> in `packet=20`"),
        ("plateau", "packet=500 mtu=576", "is not refused", "--> in `mtu=576`"),
        (
            "optimum-datagram",
            "frame=128 error=1% mtu=68 header=68",
            "leaves nothing",
            "--> in `mtu=68`",
        ),
        (
            "optimum-tcp",
            "frame=128 error=1% rtt=1s rto=1s mtu=68 header=68",
            "leaves nothing",
            "mtu",
        ),
    ];
    for (name, values, what, where_or_hint) in cases {
        let text = failure(name, values);
        assert!(text.starts_with("error: ") && text.contains(what), "{name} {values}: {text}");
        assert!(text.contains(where_or_hint), "{name} {values}: {text}");
    }
}

#[test]
fn values_may_have_spaces() {
    let spaced = computed("bdp", "rate=10 Mbit/s rtt=80 ms");
    assert_eq!(spaced, computed("bdp", "rate=10Mbit/s rtt=80ms"));
    assert_eq!(spaced["inputs"]["rate"], "10 Mbit/s");
    assert_eq!(spaced["inputs"]["mss"], 1460);
}

#[test]
fn extreme_values_give_an_answer_or_an_error_never_a_panic() {
    let times = ["1ns", "1us", "876000h"];
    let rates = ["1bit/s", "100Tbit/s"];
    let shares = ["1e-300", "1e-9", "0.4999", "0.999999999999"];
    let mut answered = 0;
    for entry in ENTRIES {
        let all = times.iter().zip(rates.iter().cycle()).zip(shares.iter().cycle());
        let crossed = all.chain(times.iter().rev().zip(rates.iter().cycle()).zip(&shares[1..]));
        for ((time, rate), share) in crossed {
            let values: Vec<String> = entry
                .parameters
                .iter()
                .filter_map(|parameter| {
                    let value = match parameter.kind {
                        "a time" => time,
                        "a rate" => rate,
                        "a share" => share,
                        "a size" => "1152921504606846976B",
                        "a count" => "1000000",
                        "a number" => "1e300",
                        "times, with commas" => "0s,1h,1ns",
                        "bytes" => "65495",
                        _ => return None,
                    };
                    Some(format!("{}={value}", parameter.name))
                })
                .collect();
            let outcome = Inputs::parse(entry, &values).and_then(|inputs| entry.answer(&inputs));
            answered += usize::from(outcome.is_ok());
        }
    }
    assert!(answered > ENTRIES.len(), "{answered}");
}

fn words<'a>(document: &'a Value, prefix: &str) -> Vec<&'a str> {
    let results = document["results"].as_array().unwrap().iter();
    let of = results.filter(|figure| figure["name"].as_str().unwrap().starts_with(prefix));
    of.filter_map(|figure| figure["value"].as_str()).collect()
}

#[test]
fn a_segment_size_comes_with_every_clamp_and_the_one_that_won() {
    let half = computed("mss", "stack=linux peer=1460 window=1460B");
    assert_eq!(words(&half, "decided_by"), ["peer window"]);
    let steps = words(&half, "mss_");
    assert_eq!(steps[0], "interface mtu: 1500 B");
    assert_eq!(steps[1], "ip header: less 20 B, which gives 1480 B");
    assert!(steps.contains(&"peer option: at most 1460 B, which changes nothing"), "{steps:?}");
    assert!(steps.contains(&"peer window: at most 730 B, which gives 730 B"), "{steps:?}");
    // Problem report 6032: 128 KiB asked for, 16 KiB on the route.
    let buffer = |stack| {
        let fddi = format!("stack={stack} mtu=4352 peer=4312 buffer=128KiB pipe=16KiB");
        whole(&computed("mss", &fddi), "receive_buffer")
    };
    let releases = ["freebsd-2.2.5", "freebsd-2.2.5-patched", "freebsd"];
    assert_eq!(releases.map(buffer), [16_384, 131_072, 133_672]);
}

#[test]
fn fragments_are_written_down_and_plateaus_walked() {
    let document = computed("fragments", "packet=1500 mtu=576 loss=1%");
    let all = words(&document, "fragment_");
    assert_eq!(all[0], "572 B, of which 552 B of payload at offset 0");
    assert_eq!(all[2], "396 B, of which 376 B of payload at offset 1104");
    assert_eq!(whole(&document, "ip_bytes"), 1480 + 3 * 20);
    assert!((figure(&document, "packet_loss") - (1.0 - 0.99_f64.powi(3))).abs() < 1e-12);
    // 1500, 1492 and 1006 are refused; 508 passes.
    let document = computed("plateau", "packet=1500 mtu=576");
    let found = ["refused_packets", "found", "unused"].map(|name| whole(&document, name));
    assert_eq!(found, [3, 508, 68]);
}
