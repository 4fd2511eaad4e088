//! Whole files: what comes of them, and that nothing makes the import fall over.

mod wrong_options;

use maxseg_core::errors::{ErrorModel, Per};
use maxseg_core::path::QueueLimit;
use maxseg_core::scenario::Scenario;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Ends, Imported, from_miniedit};
use crate::error::Error;

fn import(document: &Value) -> Result<Imported, Error> {
    from_miniedit(document.to_string().as_bytes(), "test.mn", Ends::default())
}

fn scenario(imported: &Imported) -> Scenario {
    Scenario::from_toml("test", &imported.text).unwrap()
}

/// Two hosts at a switch, with these links.
fn two_hosts(links: &Value) -> Value {
    json!({
        "hosts": [{ "number": "1", "opts": {} }, { "number": "2", "opts": {} }],
        "switches": [{ "number": "1", "opts": {} }],
        "links": links,
    })
}

/// Two hosts at a switch; the first one's link is like this.
fn with_first_link(options: &Value) -> Value {
    two_hosts(&json!([
        { "src": "h1", "dest": "s1", "opts": options },
        { "src": "s1", "dest": "h2", "opts": { "bw": 1 } },
    ]))
}

fn first_link(options: &Value) -> Imported {
    import(&with_first_link(options)).unwrap()
}

fn fails(document: &Value, ends: Ends<'_>) -> String {
    from_miniedit(document.to_string().as_bytes(), "test.mn", ends).unwrap_err().told()
}

#[test]
fn a_link_has_the_same_options_both_ways() {
    let options =
        json!({ "bw": 10, "delay": "5ms", "jitter": "1ms", "loss": 3, "max_queue_size": 50 });
    let imported = first_link(&options);
    let scenario = scenario(&imported);
    let [first, second] = &scenario.path.hops[..] else { panic!("{}", imported.text) };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("h1-s1", "s1-h2"));
    for link in first.links() {
        assert_eq!(link.rate.to_string(), "10 Mbit/s");
        assert_eq!(link.delay.to_string(), "5 ms");
        assert_eq!(link.jitter.to_string(), "1 ms");
        assert_eq!(link.queue, QueueLimit::Packets(50));
        let [(_, ErrorModel::Uniform { per: Per::Packet, rate })] = link.errors.entries() else {
            panic!("{:?}", link.errors)
        };
        assert_eq!(rate.to_string(), "3%");
    }
    assert_eq!(second.forward.queue, QueueLimit::Packets(1000));
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn what_mininet_would_not_do_is_said() {
    let cases = [
        (
            json!({}),
            "10 Gbit/s",
            "h1 - s1: no bw, so Mininet sets no limit; 10 Gbit/s is chosen here",
        ),
        (
            json!({ "bw": 10_000 }),
            "10 Gbit/s",
            "bw 10000 of h1 - s1: carried over, but Mininet ignores",
        ),
        (json!({ "bw": 1, "delay": "5" }), "delay = \"5 us\"", ""),
        (json!({ "bw": 1, "delay": 5 }), "delay = \"5 us\"", ""),
        (json!({ "bw": 1, "delay": "5 ms" }), "delay = \"5 ms\"", "tc refuses the space"),
        (
            json!({ "bw": 1, "delay": "1ms", "jitter": "2ms" }),
            "jitter = \"1 ms\"",
            "1 ms, the delay, instead",
        ),
        (json!({ "bw": 1, "jitter": "2ms" }), "delay = \"0 s\"", "no jitter without a delay"),
        (json!({ "bw": 1, "loss": "0.5" }), "rate = \"0.5%\"", ""),
        (json!({ "bw": 1, "loss": 0 }), "1 Mbit/s", ""),
        (json!({ "bw": 1, "max_queue_size": "1" }), "queue = \"1 packet\"", ""),
        (json!({ "bw": 1, "speedup": 9 }), "1 Mbit/s", "speedup 9 of h1 - s1: Mininet's own"),
        (json!({ "bw": 1, "use_hfsc": true }), "1 Mbit/s", "`use_hfsc` of h1 - s1: unknown"),
        (json!({ "bw": "", "delay": "", "jitter": null }), "10 Gbit/s", "no bw"),
    ];
    for (options, written, note) in cases {
        let imported = first_link(&options);
        let first = imported.text.split("[[hop]]").nth(1).unwrap();
        assert!(first.contains(written), "{options}: {first}");
        assert_eq!(imported.notes.is_empty(), note.is_empty(), "{options}: {:?}", imported.notes);
        let noted = note.is_empty() || imported.notes.iter().any(|line| line.contains(note));
        assert!(noted, "{options}: {:?}", imported.notes);
        scenario(&imported);
    }
}

#[test]
fn both_versions_mean_the_same() {
    let links = json!([{ "src": "h1", "dest": "s1", "opts": {} }, { "src": "h2", "dest": "s1", "opts": {} }]);
    let mut first = two_hosts(&links);
    first["version"] = json!("1");
    first["controllers"] =
        json!({ "c0": { "controllerType": "ref", "remoteIP": "127.0.0.1", "remotePort": 6633 } });
    let mut second = json!({
        "version": 2,
        "hosts": [
            { "number": "2", "opts": { "hostname": "h2", "nodeNum": 2, "sched": "host" }, "x": "1.0", "y": "1.0" },
            { "number": "1", "opts": { "hostname": "h1", "nodeNum": 1, "sched": "host" }, "x": "1.0", "y": "1.0" },
        ],
        "switches": [{ "number": "1", "opts": { "hostname": "s1", "switchType": "default", "controllers": ["c0"] } }],
        "controllers": [{ "opts": { "hostname": "c0", "controllerType": "ref", "remotePort": 6633 } }],
        "links": links,
    });
    let text = |document: &Value| {
        import(document).unwrap().text.replace("format version 1", "format version 2")
    };
    assert_eq!(text(&first), text(&second));
    second["version"] = json!("3");
    assert!(
        import(&second).unwrap().notes[0].starts_with("version \"3\": MiniEdit writes 1 and 2")
    );
}

#[test]
fn what_is_no_chain_is_refused_with_a_way_out() {
    let chain = two_hosts(&json!([{ "src": "h1", "dest": "s1" }, { "src": "h2", "dest": "s1" }]));
    let ends = |from, to| Ends { from, to };
    let cases = [
        (ends(Some("h1"), Some("h1")), "--from and --to are the same host", "hosts: h1, h2"),
        (ends(Some("h11"), None), "there is no host h11", "did you mean h1? hosts: h1, h2"),
        (ends(None, Some("s1")), "s1 is not a host but a switch", "hosts: h1, h2"),
    ];
    for (ends, what, hint) in cases {
        assert_eq!(fails(&chain, ends), format!("error: {what}\nhint: {hint}\n"));
    }
    let other =
        from_miniedit(chain.to_string().as_bytes(), "test.mn", ends(Some("h2"), None)).unwrap();
    assert_eq!(other.path, "h2 - s1 - h1");
    let twice = two_hosts(&json!([
        { "src": "h1", "dest": "s1" }, { "src": "s1", "dest": "h1" }, { "src": "h2", "dest": "s1" },
    ]));
    assert!(fails(&twice, Ends::default()).contains("more than one path leads from h1 to h2"));
    let cut = two_hosts(&json!([{ "src": "h1", "dest": "s1" }]));
    assert!(fails(&cut, Ends::default()).contains("no path leads from h1 to h2"));
    assert!(fails(&cut, Ends::default()).contains("from h1 the links lead to s1"));
    let alone = two_hosts(&json!([{ "src": "h2", "dest": "s1" }]));
    assert!(fails(&alone, Ends::default()).contains("h1 has no link"));
    let through_a_host = json!({
        "hosts": [{ "number": 1 }, { "number": 2 }, { "number": 3 }],
        "links": [{ "src": "h1", "dest": "h2" }, { "src": "h2", "dest": "h3" }],
    });
    let failure = fails(&through_a_host, ends(Some("h1"), Some("h3")));
    assert!(failure.contains("a host between passes nothing on"), "{failure}");
    let one = json!({ "hosts": [{ "number": 1 }], "links": [] });
    assert!(fails(&one, Ends::default()).contains("this topology has one host, h1"));
    assert!(fails(&json!({ "hosts": [], "links": [] }), Ends::default()).contains("has no host"));
}

#[test]
fn what_miniedit_does_not_write_is_refused_with_its_place() {
    let cases = [
        (json!([]), "it is a list, not a table"),
        (json!({ "nodes": [] }), "it has no hosts"),
        (json!({ "hosts": [] }), "it has no links"),
        (json!({ "hosts": {}, "links": [] }), "hosts is a table, not a list"),
        (json!({ "hosts": [1], "links": [] }), "hosts[0] is a number, not a table"),
        (json!({ "hosts": [{}], "links": [] }), "hosts[0] has neither opts.hostname nor number"),
        (
            json!({ "hosts": [{ "opts": 3 }], "links": [] }),
            "hosts[0].opts is a number, not a table",
        ),
        (
            json!({ "hosts": [{ "number": 1 }, { "number": "1" }], "links": [] }),
            "two nodes are called h1",
        ),
        (json!({ "hosts": [], "links": [{ "src": "h1" }] }), "links[0] has no dest"),
        (json!({ "hosts": [], "links": [{ "src": [] }] }), "links[0].src is a list, not a name"),
        (json!({ "hosts": [], "links": [], "controllers": 1 }), "controllers is a number, neither"),
    ];
    for (document, what) in cases {
        let failure = fails(&document, Ends::default());
        let want = format!("error: test.mn is not a MiniEdit topology: {what}");
        assert!(failure.starts_with(&want), "{failure}");
    }
    let cases: [(&[u8], &str, &str); 6] = [
        (b" \n", "error: test.mn is empty\n", "issue 1086"),
        (b"\xef\xbb\xbf", "error: test.mn is empty\n", "issue 1086"),
        (
            b"{\n  \"hosts\": [,\n",
            "error: test.mn:2:13: a value is missing or misspelt\n",
            "is a JSON document",
        ),
        (b"{'hosts': []}", "error: test.mn:1:2: a key is not in quotes\n", "looks like Python"),
        (
            b"#!/usr/bin/python\n",
            "error: test.mn:1:1: a value is missing or misspelt\n",
            "Export Level 2 Script",
        ),
        (b"{\"a\": \"\xff\"}", "error: test.mn:1:", "is a JSON document"),
    ];
    for (bytes, what, hint) in cases {
        let failure = from_miniedit(bytes, "test.mn", Ends::default()).unwrap_err().told();
        assert!(failure.starts_with(what) && failure.contains(hint), "{failure}");
    }
}

#[test]
fn names_are_made_fit_for_keys_and_kept_apart() {
    let document = json!({
        "hosts": [{ "number": 1, "opts": { "hostname": "a.b" } }, { "number": 2, "opts": { "hostname": "a\n[x]" } }],
        "switches": [{ "opts": { "hostname": "c" } }, { "opts": { "hostname": "a_b-c" } }, { "opts": { "hostname": "d" } }],
        "links": [
            { "src": "a.b", "dest": "c" }, { "src": "c", "dest": "a_b-c" }, { "src": "a_b-c", "dest": "d" },
            { "src": "d", "dest": "a\n[x]" },
        ],
    });
    let imported = import(&document).unwrap();
    let names: Vec<String> =
        scenario(&imported).path.hops.into_iter().map(|hop| hop.name).collect();
    assert_eq!(names, ["a_b-c", "c-a_b-c", "a_b-c-d", "d-a_[x]"]);
    assert!(!imported.text.contains("\n[x]"), "{}", imported.text);
    let twins = json!({
        "hosts": [{ "number": 1, "opts": { "hostname": "a.b" } }, { "number": 2, "opts": { "hostname": "h" } }],
        "switches": [{ "opts": { "hostname": "c" } }, { "opts": { "hostname": "a*b" } }],
        "links": [{ "src": "a.b", "dest": "c" }, { "src": "c", "dest": "a*b" }, { "src": "a*b", "dest": "h" }],
    });
    let names: Vec<String> =
        scenario(&import(&twins).unwrap()).path.hops.into_iter().map(|hop| hop.name).collect();
    assert_eq!(names, ["a_b-c", "c-a_b", "a_b-h"]);
}

/// What a link of a random chain is like, in the units of MiniEdit's dialogue.
#[derive(Debug, Clone)]
struct RandomLink {
    bw: Option<u32>,
    delay_us: Option<u32>,
    jitter_us: Option<u32>,
    loss: Option<u8>,
    queue: Option<u32>,
    /// Whether MiniEdit's user drew it from the receiver's side.
    backwards: bool,
}

fn random_link() -> impl Strategy<Value = RandomLink> {
    use proptest::option::of;
    (
        of(1..=10_000_u32),
        of(0..=1_000_000_u32),
        of(0..=1_000_000_u32),
        of(0..=100_u8),
        of(1..=100_000_u32),
        any::<bool>(),
    )
        .prop_map(|(bw, delay_us, jitter_us, loss, queue, backwards)| RandomLink {
            bw,
            delay_us,
            jitter_us: jitter_us.and_then(|jitter| delay_us.map(|delay| jitter.min(delay))),
            loss,
            queue,
            backwards,
        })
}

impl RandomLink {
    /// As MiniEdit saves it between these nodes; `as_text` for numbers in quotes.
    fn saved(&self, from: &str, to: &str, as_text: bool) -> Value {
        let mut options = json!({});
        let number = |n: u32| if as_text { json!(n.to_string()) } else { json!(n) };
        let numbers =
            [("bw", self.bw), ("loss", self.loss.map(u32::from)), ("max_queue_size", self.queue)];
        for (key, value) in numbers {
            if let Some(n) = value {
                options[key] = number(n);
            }
        }
        for (key, micros) in [("delay", self.delay_us), ("jitter", self.jitter_us)] {
            let text = |us: u32| {
                if us.is_multiple_of(1000) { format!("{}ms", us / 1000) } else { us.to_string() }
            };
            if let Some(us) = micros {
                options[key] = json!(text(us));
            }
        }
        let (src, dest) = if self.backwards { (to, from) } else { (from, to) };
        json!({ "src": src, "dest": dest, "opts": options })
    }
}

/// Keys that mean something to the import, so that random documents get past its first question.
const KEYS: &str = "(version|application|hosts|switches|links|controllers|opts|src|dest|number|hostname|bw|delay|jitter|loss|\
                    max_queue_size|nodeNum|switchType|c0|h1|s1|x)";

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        KEYS.prop_map(Value::from),
        ".*".prop_map(Value::from),
        "[0-9]{1,3}(ms|us|s)?".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 128, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((KEYS, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_told_and_not_fallen_over(bytes: Vec<u8>) {
        let _ = from_miniedit(&bytes, "any.mn", Ends::default());
    }

    #[test]
    fn any_document_is_told_and_not_fallen_over(document in any_json()) {
        let _ = import(&document);
    }

    /// A file of ours with one value replaced by anything.
    #[test]
    fn any_value_in_a_link_or_a_node_gives_a_scenario_or_a_failure(value in any_json(), key in KEYS, at in 0..4_usize) {
        let mut document = two_hosts(&json!([
            { "src": "h1", "dest": "s1", "opts": {} }, { "src": "s1", "dest": "h2", "opts": {} },
        ]));
        match at {
            0 => document[&key] = value,
            1 => document["hosts"][0]["opts"][&key] = value,
            2 => document["links"][0]["opts"][&key] = value,
            _ => document["links"][0][&key] = value,
        }
        if let Ok(imported) = import(&document) {
            scenario(&imported);
        }
    }

    #[test]
    fn a_chain_comes_through_with_its_numbers(
        links in proptest::collection::vec(random_link(), 1..8), as_text: bool, order in any::<u64>(),
    ) {
        let switches = links.len() - 1;
        let name = |node: usize| match node {
            0 => "h1".to_owned(),
            last if last == links.len() => "h2".to_owned(),
            switch => format!("s{switch}"),
        };
        let mut saved: Vec<Value> = links.iter().enumerate()
            .map(|(at, link)| link.saved(&name(at), &name(at + 1), as_text)).collect();
        let turns = usize::try_from(order % links.len() as u64).unwrap();
        saved.rotate_left(turns);
        let switch = |n: usize| json!({ "number": n.to_string(), "opts": {} });
        let document = json!({
            "hosts": [{ "number": "2", "opts": {} }, { "number": "1", "opts": {} }],
            "switches": (1..=switches).map(switch).collect::<Vec<_>>(),
            "links": saved,
        });
        let imported = import(&document).unwrap();
        let path = scenario(&imported).path;
        prop_assert_eq!(path.hops.len(), links.len());
        for (hop, link) in path.hops.iter().zip(&links) {
            for way in hop.links() {
                let rate = u64::from(link.bw.unwrap_or(10_000)) * 1_000_000;
                prop_assert_eq!(way.rate.get(), rate);
                prop_assert_eq!(way.delay.as_nanos(), u64::from(link.delay_us.unwrap_or(0)) * 1000);
                prop_assert_eq!(way.jitter.as_nanos(), u64::from(link.jitter_us.unwrap_or(0)) * 1000);
                prop_assert_eq!(way.queue, QueueLimit::Packets(link.queue.unwrap_or(1000)));
                let loss = match way.errors.entries() {
                    [(_, ErrorModel::None)] => 0.0,
                    [(_, ErrorModel::Uniform { per: Per::Packet, rate })] => rate.get() * 100.0,
                    other => panic!("{other:?}"),
                };
                // A percentage over 100 and back.
                prop_assert!((loss - f64::from(link.loss.unwrap_or(0))).abs() < 1e-9);
            }
        }
    }
}
