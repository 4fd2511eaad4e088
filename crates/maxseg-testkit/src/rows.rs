//! Rows of runs that never were.

use maxseg_core::engine::{Caveat, EngineName};
use maxseg_core::outcome::{LabFlow, LabLink, LabProof, Lateness, LatenessBucket, Outcome};
use maxseg_core::results::Row;
use maxseg_core::scenario::Scenario;
use serde_json::Value;

/// A run of ten seconds at a point, a JSON object of swept keys and values, with its goodput in bits per second.
///
/// # Panics
/// The point is no object.
pub fn row(engine: EngineName, seed: Option<u64>, point: &Value, goodput: f64) -> Row {
    let Value::Object(point) = point else { panic!("{point} is no point") };
    Row {
        engine,
        point: point.clone(),
        hash: format!("{point:?}"),
        seed,
        outcome: Outcome {
            goodput_bps: Some(goodput),
            elapsed_s: Some(10.0),
            ..Outcome::default()
        },
        caveats: Vec::new(),
    }
}

/// A run of the simulator, its seed 1.
pub fn sim(point: &Value, goodput: f64) -> Row {
    row(EngineName::Sim, Some(1), point, goodput)
}

/// What the model gives.
pub fn model(point: &Value, goodput: f64) -> Row {
    row(EngineName::Model, None, point, goodput)
}

/// The same of a formula that does not hold there.
pub fn doubtful(row: Row) -> Row {
    Row { caveats: vec![Caveat::new("outside-range", "")], ..row }
}

/// A path with frames of 128 bytes, on which nothing is random.
///
/// # Panics
/// Never: the scenario is valid.
pub fn scenario() -> Scenario {
    let text = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\nframe = 128\n";
    Scenario::from_toml("test", text).expect("a valid scenario")
}

/// The proof of a run over one hop that damages 1%: two links, one flow.
pub fn proof() -> LabProof {
    LabProof {
        links: vec![
            LabLink {
                link: "hop.0".to_owned(),
                packets: 100_000,
                super_packets: 8113,
                damaged: 1003,
                damaged_expected: Some(0.01),
                ..LabLink::default()
            },
            LabLink {
                link: "hop.0.reverse".to_owned(),
                packets: 50_000,
                super_packets: 50_000,
                refused: 12,
                damaged_expected: Some(0.0),
                ..LabLink::default()
            },
        ],
        lateness: Some(Lateness {
            packets: 100,
            mean_s: 3e-5,
            p50_s: 1.2e-5,
            p99_s: 8e-5,
            max_s: 3e-4,
            early_max_s: 0.0,
            histogram: vec![
                LatenessBucket { up_to_s: 2e-5, packets: 90 },
                LatenessBucket { up_to_s: 5e-4, packets: 10 },
            ],
        }),
        cpu_s: 2.0,
        relay_cpu_s: Some(1.5),
        flows: vec![LabFlow {
            flow: 0,
            congestion: Some("cubic".to_owned()),
            mss_asked: Some(9000),
            mss_advertised_by_sender: Some(8960),
            mss_advertised_by_receiver: Some(8960),
            mss_effective: Some(8948),
            mss_reason: Some("timestamps take 12 bytes of every segment".to_owned()),
            window_asked: Some(65_536),
            window_advertised: Some(65_536),
            window_effective: Some(62_636),
            window_reason: None,
            ..LabFlow::default()
        }],
        ..LabProof::default()
    }
}

/// A run of the lab with its [`proof`], its seed 1.
pub fn lab(point: &Value, goodput: f64) -> Row {
    let mut row = row(EngineName::Lab, Some(1), point, goodput);
    row.outcome.cpu_s_per_gbit = Some(0.1);
    row.outcome.lab = Some(Box::new(proof()));
    row
}

/// A run of the lab that proves nothing.
///
/// # Panics
/// The row is not of the lab.
pub fn invalid(mut row: Row) -> Row {
    let why = "the kernel dropped 7 packets before the relay saw them".to_owned();
    row.outcome.lab.as_mut().expect("a row of the lab").invalid_because = vec![why];
    row
}
