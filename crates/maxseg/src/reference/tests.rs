use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::scenario::{Draft, Scenario, ScenarioError};
use maxseg_core::sim::Sim;

use super::*;

#[test]
fn the_example_of_the_introduction_is_a_scenario() {
    let code: Vec<&str> = INTRODUCTION.split("```").skip(1).step_by(2).collect();
    assert_eq!(code.len(), 1);
    let draft = Draft::parse("introduction", code[0]).unwrap();
    let scenario = draft.scenario().unwrap();
    assert_eq!((scenario.path.hops.len(), scenario.flows.len()), (3, 2));
    assert_eq!(draft.sweep().unwrap().len(), Some(9));
}

#[test]
fn every_table_of_the_schema_has_a_section() {
    let schema = schemars::schema_for!(ScenarioSpec).to_value();
    let definitions = schema["$defs"].as_object().unwrap();
    let tables = definitions.iter().filter(|(_, of_table)| of_table.get("properties").is_some());
    for (name, _) in tables {
        let sections = TABLES.iter().filter(|table| table.definition == Some(name)).count();
        assert_eq!(sections, 1, "{name}");
    }
}

#[test]
fn every_key_says_what_it_is_and_may_be() {
    for section in Reference::new().sections {
        assert!(!section.keys.is_empty(), "{}", section.written);
        for key in section.keys {
            let place = format!("{} {}", section.written, key.name);
            assert!(key.about.ends_with('.'), "{place}: {}", key.about);
            assert!(!key.value.is_empty() && !key.engines.is_empty(), "{place}");
            assert!(!key.value.contains("null"), "{place}: {}", key.value);
        }
    }
}

/// A path on which most keys matter: losses, a slow way back, a queue that fills.
const PATH: &str = r#"
    [[hop]]
    name  = "radio"
    rate  = "8 Mbit/s"
    delay = "20 ms"
    queue = "20 packets"
    errors = { model = "uniform", rate = "1%" }
    [hop.reverse]
    errors = { model = "uniform", rate = "1%" }
    [until]
    time = "20 s"
"#;

/// What else a scenario needs for a key to be accepted, or to matter.
const BESIDE: [(&str, &[&str]); 42] = [
    ("hop.radio.pad", &["hop.radio.frame=128"]),
    ("hop.radio.icmp", &["hop.radio.mtu=1400", "sender.mss=1460"]),
    (
        "hop.radio.ecn",
        &[
            "sender.ecn=true",
            "receiver.ecn=true",
            "hop.radio.queue={ limit = \"1 MiB\", discipline = \"codel\" }",
        ],
    ),
    ("hop.radio.reverse.pad", &["hop.radio.frame=128"]),
    ("hop.radio.reverse.arq", &["hop.radio.arq={ retries = 3, delay = \"20 ms\" }"]),
    (
        "hop.radio.reverse.policer",
        &["hop.radio.policer={ rate = \"1 Mbit/s\", burst = \"64 KiB\" }"],
    ),
    ("hop.radio.queue", &["hop.radio.queue={ limit = \"100 packets\" }"]),
    ("hop.radio.queue.discipline", &["hop.radio.queue={ limit = \"100 packets\" }"]),
    (
        "hop.radio.queue.target",
        &["hop.radio.queue={ limit = \"100 packets\", discipline = \"codel\" }"],
    ),
    (
        "hop.radio.queue.interval",
        &["hop.radio.queue={ limit = \"100 packets\", discipline = \"codel\" }"],
    ),
    ("hop.radio.queue.min", &["hop.radio.queue={ limit = \"100 packets\", discipline = \"red\" }"]),
    ("hop.radio.queue.max", &["hop.radio.queue={ limit = \"100 packets\", discipline = \"red\" }"]),
    (
        "hop.radio.queue.max_p",
        &["hop.radio.queue={ limit = \"100 packets\", discipline = \"red\" }"],
    ),
    (
        "hop.radio.queue.weight",
        &["hop.radio.queue={ limit = \"100 packets\", discipline = \"red\" }"],
    ),
    ("hop.radio.queue.limit", &["hop.radio.queue={ limit = \"100 packets\" }"]),
    ("hop.radio.errors.model", &["hop.radio.errors={ rate = \"1%\" }"]),
    ("hop.radio.errors.per", &["hop.radio.frame=128"]),
    (
        "hop.radio.errors.burst",
        &["hop.radio.errors={ model = \"gilbert-elliott\", rate = \"1%\" }"],
    ),
    (
        "hop.radio.errors.good",
        &["hop.radio.errors={ model = \"gilbert-elliott\", rate = \"1%\", burst = 4 }"],
    ),
    (
        "hop.radio.errors.bad",
        &["hop.radio.errors={ model = \"gilbert-elliott\", rate = \"1%\", burst = 4 }"],
    ),
    ("hop.radio.errors.lost", &["hop.radio.errors={ model = \"list\" }"]),
    (
        "sender.linux.hystart",
        &[
            "hop.radio.errors={ model = \"none\" }",
            "hop.radio.queue=2000 packets",
            "hop.radio.rate=100 Mbit/s",
        ],
    ),
    ("hop.radio.arq", &["hop.radio.arq={ retries = 1, delay = \"5 ms\" }"]),
    ("hop.radio.policer", &["hop.radio.policer={ rate = \"2 Mbit/s\", burst = \"32 KiB\" }"]),
    ("sender.rto.tick", &["sender.stack=ns2-reno", "receiver.stack=ns2-reno"]),
    ("sender.rto.phase", &["sender.stack=ns2-reno", "receiver.stack=ns2-reno"]),
    ("sender.off_subnet_mss", &["sender.stack=rfc", "receiver.stack=rfc"]),
    ("sender.freebsd", &["sender.stack=freebsd-2.2.5", "receiver.stack=freebsd-2.2.5"]),
    ("flow.0.kind", &["flow=[ { kind = \"ping\" } ]"]),
    ("flow.0.rate", &["flow=[ { kind = \"cbr\", size = 200 } ]"]),
    ("flow.0.rate_counts", &["flow=[ { kind = \"cbr\", size = 200, rate = \"1 Mbit/s\" } ]"]),
    ("flow.0.size", &["flow=[ { kind = \"cbr\", rate = \"1 Mbit/s\" } ]"]),
    ("flow.0.header", &["flow=[ { kind = \"cbr\", size = 300, rate = \"1 Mbit/s\" } ]"]),
    ("flow.0.interval", &["flow=[ { kind = \"ping\" } ]"]),
    ("flow.0.stop", &["flow=[ { kind = \"ping\" } ]"]),
    ("flow.0.request", &["flow=[ { kind = \"request\", reply = \"20 KiB\" } ]"]),
    ("flow.0.reply", &["flow=[ { kind = \"request\", request = \"400 B\" } ]"]),
    ("flow.0", &["flow=[ { kind = \"request\", request = \"400 B\", reply = \"8 KiB\" } ]"]),
    ("hop.radio.tunnel", &["hop.radio.tunnel={ kind = \"wireguard\" }"]),
    (
        "sender.delayed_ack",
        &[
            "sender.stack=rfc",
            "receiver.stack=rfc",
            "sender.delayed_ack={ timeout = \"300 ms\" }",
            "receiver.delayed_ack={ timeout = \"300 ms\" }",
        ],
    ),
    ("sender.ns2", &["sender.stack=ns2-reno", "receiver.stack=ns2-reno"]),
    ("sender.rto", &["sender.stack=rfc", "receiver.stack=rfc"]),
];

/// The keys of the reference as on the command line, each with its example and its engines.
fn keys_with_examples() -> Vec<(String, String, String)> {
    let prefix = |table: &Table| match table.definition {
        None | Some("SweepTable") => "",
        Some("HopEntry") => "hop.radio.",
        Some("ReverseEntry") => "hop.radio.reverse.",
        Some("TunnelTable") => "hop.radio.tunnel.",
        Some("QueueTable") => "hop.radio.queue.",
        Some("ErrorSpec") => "hop.radio.errors.",
        Some("ArqEntry") => "hop.radio.arq.",
        Some("PolicerEntry") => "hop.radio.policer.",
        Some("SettingsSpec") => "sender.",
        Some("DelayedAckTable") => "sender.delayed_ack.",
        Some("RtoSpec") => "sender.rto.",
        Some("LinuxSpec") => "sender.linux.",
        Some("FreeBsdSpec") => "sender.freebsd.",
        Some("Ns2Spec") => "sender.ns2.",
        Some("FlowEntry") => "flow.0.",
        Some("UntilEntry") => "until.",
        Some("LabOptions") => "lab.",
        Some(other) => panic!("{other} has no place"),
    };
    let sections = Reference::new().sections;
    let with_tables = TABLES.iter().zip(sections);
    with_tables
        .flat_map(|(table, section)| {
            section.keys.into_iter().filter_map(move |key| {
                let path = format!("{}{}", prefix(table), key.name);
                Some((path, key.example?, key.engines))
            })
        })
        .collect()
}

/// What stands beside a key: its own entry, or that of the nearest table.
fn beside(path: &str) -> &'static [&'static str] {
    let mut of = path;
    loop {
        if let Some((_, sets)) = BESIDE.iter().find(|(key, _)| *key == of) {
            return sets;
        }
        match of.rsplit_once('.') {
            Some((table, _)) => of = table,
            None => return &[],
        }
    }
}

/// The path with what stands beside a key, and with the key's example too.
fn without_and_with(path: &str, example: &str) -> Result<(Scenario, Scenario), ScenarioError> {
    let mut draft = Draft::parse("test", PATH)?;
    for set in beside(path) {
        draft.set_argument(set)?;
    }
    let without = draft.scenario();
    for path in [path.to_owned(), path.replace("sender.", "receiver.")] {
        draft.set_argument(&format!("{path}={example}"))?;
    }
    let with = draft.scenario()?;
    // A required key may be the one that was missing.
    Ok((without.unwrap_or_else(|_| with.clone()), with))
}

#[test]
fn every_example_is_accepted() {
    let keys = keys_with_examples();
    assert!(keys.len() > 90, "{}", keys.len());
    let faults: Vec<String> = keys
        .iter()
        .filter(|(path, ..)| !is_sweep(path))
        .filter_map(|(path, example, _)| {
            let error = without_and_with(path, example).err()?;
            Some(format!("{path} = {example}: {error}"))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn is_sweep(path: &str) -> bool {
    path == "point"
}

/// Values other than the default, for keys that not every engine acts on and whose example is the default.
const OTHER: [(&str, &str); 22] = [
    ("seed", "7"),
    ("hop.radio.icmp", "\"drop\""),
    ("hop.radio.queue.target", "\"1 ms\""),
    ("hop.radio.queue.interval", "\"30 ms\""),
    ("hop.radio.queue.min", "\"2 packets\""),
    ("hop.radio.queue.max", "\"30 packets\""),
    ("hop.radio.queue.max_p", "0.2"),
    ("hop.radio.queue.weight", "0.1"),
    ("sender.recovery", "\"reno\""),
    ("sender.initial_ssthresh", "\"window\""),
    ("sender.limited_transmit", "false"),
    ("sender.handshake_ack", "false"),
    ("sender.delayed_ack.every", "3"),
    ("sender.sack", "false"),
    ("sender.linux", "{ tcp_recovery = false }"),
    ("sender.rto.initial", "\"3 s\""),
    ("sender.linux.tcp_recovery", "false"),
    ("sender.linux.tcp_early_retrans", "false"),
    ("sender.linux.tcp_frto", "false"),
    ("sender.linux.tcp_slow_start_after_idle", "false"),
    ("sender.linux.hystart", "false"),
    ("sender.linux.hz", "1000"),
];

#[test]
fn a_key_changes_only_the_engines_that_are_named_with_it() {
    let outcome = |engine: &mut dyn Engine, scenario: &Scenario| {
        serde_json::to_value(engine.run(scenario, &mut Unwatched).ok()).unwrap()
    };
    for (path, example, engines) in keys_with_examples() {
        if is_sweep(&path) {
            continue;
        }
        let other = OTHER.iter().find(|(key, _)| *key == path);
        let value = other.map_or(example.as_str(), |(_, value)| value);
        let (without, with) = without_and_with(&path, value).unwrap();
        let known: [(&str, &mut dyn Engine); 2] = [("model", &mut Model), ("sim", &mut Sim)];
        for (name, engine) in known {
            let is_named = engines.split(", ").any(|named| named == name);
            let is_equal = outcome(engine, &without) == outcome(engine, &with);
            assert!(is_named || is_equal, "{path} = {value} changes {name}; named are {engines}");
        }
    }
}

/// Of the settings, what has no effect on the kernel's TCP is told before a lab run: by the same rule as here.
#[cfg(feature = "lab")]
#[test]
fn keys_without_effect_on_the_kernel_are_not_named_with_the_lab() {
    let lab = maxseg_workbench::engines::engine(EngineName::Lab).unwrap();
    let mut wrong = Vec::new();
    for (path, example, engines) in keys_with_examples() {
        let Some(key) = path.strip_prefix("sender.") else { continue };
        let (_, with) = without_and_with(&path, &example).unwrap();
        let has_no_effect = lab.caveats(&with).iter().any(|caveat| {
            let keys = caveat.text.rsplit_once(": ").map_or("", |(_, keys)| keys);
            caveat.code == "kernel" && keys.split(", ").any(|without_effect| without_effect == key)
        });
        let is_named = engines.split(", ").any(|named| named == "lab");
        if has_no_effect && is_named {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "the lab leaves these to the kernel: {wrong:?}");
}
