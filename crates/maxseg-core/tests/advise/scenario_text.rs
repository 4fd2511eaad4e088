//! The observed path as a scenario.

use maxseg_core::advise::{Case, LossModel, ObservedPath, ScenarioRequest, scenario_text};
use maxseg_core::diagnose::{CongestionAlgorithm, LossCause};
use maxseg_core::engine::assumed_by_simulator;
use maxseg_core::evidence::{Handshake, LossEpisode};
use maxseg_core::scenario::Scenario;
use maxseg_core::settings::CongestionName;
use maxseg_core::units::Time;
use maxseg_testkit::windowed;

fn text(loss: f64, by: LossModel) -> String {
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
        [(0.0, LossModel::Errors), (0.02, LossModel::Errors), (0.02, LossModel::QueueOverflow)]
    {
        let text = text(loss, by);
        let scenario = Scenario::from_toml("test", &text)
            .unwrap_or_else(|error| panic!("{}\n{text}", error.what));
        assert_eq!(scenario.name, "a\n\"b\"");
        assert!(scenario.runs_linux(&scenario.flows[0]), "{text}");
        assert_eq!(scenario.sender.congestion, CongestionName::Cubic, "assumed: {text}");
        assert!(assumed_by_simulator(&scenario).is_empty(), "every key is Linux's: {text}");
        assert_eq!(scenario.is_random(), loss > 0.0 && by == LossModel::Errors, "{text}");
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
        ScenarioRequest { name: "a", origin: "b", loss: LossModel::Errors, bytes: path.bytes };
    let text = scenario_text(&path, &request);
    assert!(!text.contains("both SYNs\n") && !text.contains("SYN says"), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("sack")), "{text}");
    assert!(!text.contains("window_scale") && !text.contains("rto"), "{text}");
    assert!(text.contains("timestamps = true # low: segments carry them"), "{text}");
    Scenario::from_toml("test", &text).unwrap();
}

#[test]
fn every_value_states_its_confidence() {
    let text = text(0.02, LossModel::Errors);
    for name in ["rate", "delay", "mtu", "queue", "errors", "congestion", "mss", "window"] {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ="))).unwrap();
        let known = ["# high: ", "# medium: ", "# low: "];
        assert!(known.iter().any(|mark| line.contains(mark)), "{line}");
    }
}

#[test]
fn the_named_congestion_control_is_the_rerun_s() {
    let evidence = windowed(0);
    let mut case = Case::of(&evidence);
    assert_eq!(case.diagnosis.congestion_control.name, CongestionAlgorithm::Unknown);
    case.diagnosis.congestion_control.name = CongestionAlgorithm::Bbr;
    case.diagnosis.congestion_control.confidence = 0.95;
    let path = ObservedPath::of(&case).unwrap();
    let request =
        ScenarioRequest { name: "a", origin: "b", loss: LossModel::Errors, bytes: path.bytes };
    let text = scenario_text(&path, &request);
    assert!(text.contains("congestion = \"bbr\" # high: "), "{text}");
    let scenario = Scenario::from_toml("test", &text).unwrap();
    assert_eq!(scenario.sender.congestion, CongestionName::Bbr);
}

#[test]
fn losses_have_the_cause_that_was_found() {
    let mut evidence = windowed(0);
    evidence.forward.retransmitted_packets = 60;
    for number in 1..=10 {
        evidence.forward.loss_episodes.begin(LossEpisode {
            at: Time::from_millis(500 * number),
            rtt: Some(Time::from_millis(80)),
            in_flight: 60_000,
            lost: 6,
            sent_bytes: 380_000 * number,
            sent_since: 1000,
        });
    }
    let text = |cause, model| {
        let mut case = Case::of(&evidence);
        case.diagnosis.loss.cause = cause;
        let path = ObservedPath::of(&case).unwrap();
        let request = ScenarioRequest { name: "a", origin: "b", loss: model, bytes: path.bytes };
        let text = scenario_text(&path, &request);
        Scenario::from_toml("test", &text).unwrap_or_else(|error| panic!("{}\n{text}", error.what));
        text
    };
    // Six packets a recovery, where chance strikes one of a thousand.
    let errors = text(LossCause::Errors, LossModel::Errors);
    assert!(errors.contains("gilbert-elliott") && errors.contains("burst = 5.9"), "{errors}");
    let policer = text(LossCause::Policer, LossModel::Policer);
    assert!(policer.contains("policer = { rate = \"6.298"), "{policer}");
    assert!(!text(LossCause::Queue, LossModel::QueueOverflow).contains("errors ="));
}
