//! The observed path as a scenario.

use maxseg_core::advise::{Case, LossCause, ObservedPath, ScenarioRequest, scenario_text};
use maxseg_core::evidence::Handshake;
use maxseg_core::scenario::Scenario;
use maxseg_testkit::windowed;

fn text(loss: f64, by: LossCause) -> String {
    let mut evidence = windowed(0);
    evidence.forward.data_packets = 10_000;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small share")]
    let resent = (loss * 10_000.0) as u64;
    evidence.forward.retransmitted_packets = resent;
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    let request = ScenarioRequest {
        name: "a\n\"b\"",
        origin: "from a\n[hop] file",
        loss: by,
        bytes: path.bytes,
    };
    scenario_text(&path, &request)
}

#[test]
fn every_form_is_a_scenario() {
    for (loss, by) in
        [(0.0, LossCause::Random), (0.02, LossCause::Random), (0.02, LossCause::QueueOverflow)]
    {
        let text = text(loss, by);
        let scenario = Scenario::from_toml("test", &text)
            .unwrap_or_else(|error| panic!("{}\n{text}", error.what));
        assert_eq!(scenario.name, "a\n\"b\"");
        assert_eq!(scenario.is_random(), loss > 0.0 && by == LossCause::Random, "{text}");
        assert_eq!(scenario.bottleneck_rate().get() / 1000, 20_000);
    }
}

#[test]
fn without_syns_options_are_assumed() {
    let mut evidence = windowed(0);
    evidence.handshake = Handshake::default();
    evidence.forward.sack_permitted = false;
    evidence.reverse.sack_permitted = false;
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    let request =
        ScenarioRequest { name: "a", origin: "b", loss: LossCause::Random, bytes: path.bytes };
    let text = scenario_text(&path, &request);
    assert!(!text.contains("both SYNs\n") && !text.contains("SYN says"), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("sack")), "{text}");
    assert!(text.contains("window_scale = \"auto\" # low"), "{text}");
    assert!(text.contains("timestamps = true # low: segments carry them"), "{text}");
    Scenario::from_toml("test", &text).unwrap();
}

#[test]
fn every_value_states_its_confidence() {
    let text = text(0.02, LossCause::Random);
    for name in ["rate", "delay", "mtu", "queue", "errors", "mss", "window"] {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ="))).unwrap();
        let known = ["# high: ", "# medium: ", "# low: "];
        assert!(known.iter().any(|mark| line.contains(mark)), "{line}");
    }
}
