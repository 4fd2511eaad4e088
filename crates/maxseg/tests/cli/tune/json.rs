//! The documents of `tune status` and `tune list`.

use serde_json::Value;

use super::super::{command, stdout};
use super::host::Host;

fn schema(what: &str) -> Value {
    let output = command(&["schema", what]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn status_has_its_keys_and_fits_its_schema() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.default.mtu=1400", "route.10.5.0.0/16.initcwnd=20"], &["--for", "1h"]);
    host.apply(&["route.default.mtu=1380"], &["--why", "a tunnel"]);
    host.namespace.must("sysctl -qw net.ipv4.tcp_sack=1");
    host.apply(&["sysctl.net.ipv4.tcp_sack=0"], &[]);
    host.namespace.must("sysctl -qw net.ipv4.tcp_sack=1");
    let validator = jsonschema::validator_for(&schema("tune-status")).unwrap();
    for more in [&[][..], &["--effect"], &["--all"]] {
        let output = host.tune(&[&["status", "--json"], more].concat());
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        validator.validate(&document).unwrap();
        for entry in document["entries"].as_array().unwrap() {
            for key in [
                "id", "tunable", "scope", "before", "after", "now", "state", "set_by", "set_at",
                "why", "expires", "effect",
            ] {
                assert!(entry.get(key).is_some(), "{key} of {entry}");
            }
        }
    }
    let states = ["superseded", "set", "set", "drifted"];
    assert_eq!(host.states(), states);
}

#[test]
fn the_catalogue_fits_its_schema() {
    let Some(host) = Host::new() else { return };
    let validator = jsonschema::validator_for(&schema("tune-list")).unwrap();
    for arguments in [&["list", "--json"][..], &["show", "tcp_rmem", "--json"]] {
        let document: Value = serde_json::from_slice(&host.tune(arguments).stdout).unwrap();
        validator.validate(&document).unwrap();
        assert!(!document["tunables"].as_array().unwrap().is_empty());
    }
}

#[test]
fn numbers_have_their_units() {
    let Some(host) = Host::new() else { return };
    for (name, unit) in [("socket.pacing_rate", "bytes/s"), ("socket.rto_min", "µs")] {
        let told = host.tune_ends(&["show", name], 0);
        assert!(told.contains(unit), "{told}");
    }
    let told = host.tune_ends(&["apply", "--dry-run", "--set", "route.default.rto_min=300"], 0);
    assert!(told.contains("unset -> 300 ms"), "{told}");
}
