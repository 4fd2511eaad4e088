//! The guard on results: testdata/results-guard.

use xtask::results::{FILE, coverage, expected, guards};
use xtask::root;

#[test]
fn outcomes_are_those_of_this_version_of_results() {
    let expected = expected().unwrap_or_else(|error| panic!("{error:#}"));
    let kept = std::fs::read_to_string(root().join(FILE)).unwrap();
    assert_eq!(kept, expected, "{FILE} is not as generated: run `cargo xtask gen`");
}

#[test]
fn every_stack_key_and_word_of_the_scenario_file_is_guarded() {
    let missing = coverage::missing(&guards().unwrap()).unwrap();
    assert!(
        missing.is_empty(),
        "no scenario in testdata/results-guard holds: {} (add it to one of them)",
        missing.join(", ")
    );
}

#[test]
fn a_scenario_less_is_noticed() {
    let mut guards = guards().unwrap();
    guards.retain(|guard| guard.name != "tunnels");
    let missing = coverage::missing(&guards).unwrap();
    assert!(missing.contains(&"TunnelName: wireguard".to_owned()), "{missing:?}");
    assert!(missing.contains(&"TunnelName: 6in4".to_owned()), "{missing:?}");
}
