//! What the pages about shipped scenarios claim, held to by what the program prints.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::process::Command;

use serde_json::Value;

/// The summaries of a run by engine, in the order of the points.
struct Run(Vec<Value>);

fn run(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
    let output = command.arg("run").args(arguments).args(["--json", "-q"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(summary) = document["summary"].take() else { panic!("no summary") };
    Run(summary)
}

impl Run {
    fn means(&self, engine: &str, key: &str) -> Vec<f64> {
        let of_engine = self.0.iter().filter(|entry| entry["engine"] == engine);
        of_engine.map(|entry| entry[key]["mean"].as_f64().unwrap()).collect()
    }

    fn goodput(&self, engine: &str) -> Vec<f64> {
        self.means(engine, "goodput_bps")
    }

    /// Model over simulator lies in `range` at every point.
    fn agrees(&self, range: std::ops::Range<f64>) {
        for (model, sim) in self.goodput("model").iter().zip(self.goodput("sim")) {
            assert!(range.contains(&(model / sim)), "model {model}, sim {sim}");
        }
    }
}

/// docs/fragmenting-router.md: 4 segments (of 3 fragments) or 11, and what each has of the link.
#[test]
fn fragments_take_fewer_bytes_than_small_segments() {
    let few = [
        "fragmenting-router",
        "--set",
        "hop.narrow.errors.rate=0",
        "--axis",
        "sender.mss=536,1460",
    ];
    let short = run(&[&few[..], &["--set", "until.bytes=5840 B"]].concat());
    assert_eq!(short.means("sim", "data_packets"), [11.0, 4.0]);
    let long = run(&few);
    // Handshake and slow start are half a second of 300 s.
    long.agrees(0.99..1.01);
    let shares = [536.0 / 576.0, 1460.0 / 1540.0];
    for (model, share) in long.goodput("model").iter().zip(shares) {
        assert!((model / 2e6 - share).abs() < 1e-9);
    }
}

#[test]
fn fragments_win_at_one_percent_and_lose_at_five() {
    let arguments = "fragmenting-router --seeds 5 --axis hop.narrow.errors.rate=1%,5% \
                     --axis sender.mss=536,537,1088,1460";
    let runs = run(&arguments.split_whitespace().collect::<Vec<_>>());
    for engine in ["model", "sim"] {
        let [a536, a537, a1088, _, b536, _, _, b1460] = runs.goodput(engine)[..] else { panic!() };
        assert!(a1088 > a536 && a537 < 0.7 * a536, "{engine}");
        assert!(b536 > 1.2 * b1460, "{engine}");
    }
    // A segment of three fragments dies with 1 - (1 - q)^3; four standard errors of 5 runs of 16000.
    let lost = runs.means("sim", "segment_loss")[3];
    assert!((lost - 0.0297).abs() < 0.0025, "{lost}");
}

#[test]
fn a_black_hole_ends_with_probing_and_frag_needed_at_once() {
    let hole = [
        "fragmenting-router",
        "--set",
        "sender.df=true",
        "--set",
        "hop.narrow.errors.rate=0",
        "--set",
        "sender.mss=1460",
    ];
    let told = run(&[&hole[..], &["--set", "hop.narrow.icmp=send"]].concat());
    told.agrees(0.99..1.01);
    let silent = ["--set", "hop.narrow.icmp=drop", "--axis", "sender.mtu_probing=false,true"];
    let silent = run(&[&hole[..], &silent].concat());
    let (model, sim) = (silent.goodput("model"), silent.goodput("sim"));
    assert!(model[0] <= 0.0 && sim[0] <= 0.0);
    let size = |engine| silent.means(engine, "mss_used_bytes")[1].to_bits();
    assert_eq!(size("sim"), size("model"));
    // The model leaves out 15 s of 300 s, in which the timer expires four times.
    assert!((1.04..1.07).contains(&(model[1] / sim[1])), "{model:?} {sim:?}");
}

/// docs/cellular-arq.md
#[test]
fn with_repeats_the_largest_segment_is_best() {
    let arguments = "cellular-arq --seeds 3 --set until.time=200s --axis hop.radio.errors.rate=1%,5%,10% \
                     --axis sender.mss=88,344,1460";
    let runs = run(&arguments.split_whitespace().collect::<Vec<_>>());
    for engine in ["model", "sim"] {
        for rates in runs.goodput(engine).chunks(3) {
            assert!(rates[0] < rates[1] && rates[1] < rates[2], "{engine}: {rates:?}");
        }
    }
    let without = "cellular-arq --seeds 3 --set hop.radio.arq=false --set hop.radio.errors.rate=5% \
                   --axis sender.mss=344,1460";
    let without = run(&without.split_whitespace().collect::<Vec<_>>()).goodput("sim");
    assert!(without[0] > 4.0 * without[1], "{without:?}");
}

/// A saw-tooth bounds the link's rate whether a frame in a hundred is repeated or none is; in 20 teeth
/// slow start and its losses are 3%.
#[test]
fn rare_losses_do_not_lift_the_saw_tooth() {
    let arguments = "cellular-arq --set sender.mss=88 --axis hop.radio.errors.rate=0,1%";
    let model = run(&arguments.split_whitespace().collect::<Vec<_>>()).goodput("model");
    assert!(model[1] < model[0]);
    let long = run(&[
        "cellular-arq",
        "--set",
        "sender.mss=88",
        "--set",
        "hop.radio.errors.rate=0",
        "--set",
        "until.time=5000 s",
    ]);
    long.agrees(0.99..1.05);
}

/// docs/cable-modem.md: the simulator has slow start (2 s of 120 s), and a ping on the way back.
#[test]
fn the_way_back_of_a_cable_modem_decides() {
    let runs = run(&["cable-modem"]);
    runs.agrees(0.99..1.015);
    let model = runs.goodput("model");
    // 400 acknowledgements a second, of one segment or of two: the link allows 9.73 Mbit/s.
    let ack_bound = |per_ack: f64| 400.0 * per_ack * 1460.0 * 8.0;
    for per_ack in [1.0, 2.0] {
        assert!(model.iter().any(|rate| (rate - ack_bound(per_ack)).abs() < 1.0), "{model:?}");
    }
    // What the window holds beyond the path waits as acknowledgements; a ping shares the queue with
    // them, and finds it up to one acknowledgement (2.5 ms) and one request (5.25 ms) longer or shorter.
    let pings =
        runs.means("model", "ping_mean_s").into_iter().zip(runs.means("sim", "ping_mean_s"));
    for (model, sim) in pings {
        assert!((model - sim).abs() < 0.008, "model {model}, sim {sim}");
    }
}

#[test]
fn without_window_scaling_44_segments_are_the_most() {
    let windows = "receiver.window=44 segments,66 segments,69 segments";
    let off = ["--set", "receiver.window_scale=off", "--set", "receiver.delayed_ack.every=2"];
    let runs = run(&[&["cable-modem", "--axis", windows][..], &off].concat());
    for engine in ["model", "sim"] {
        let [first, second, third] = runs.goodput(engine)[..] else { panic!() };
        assert!(
            (second / first - 1.0).abs() < 0.02 && (third / second - 1.0).abs() < 1e-9,
            "{engine}"
        );
    }
}

/// docs/cellular-requests.md: without errors rounds decide, and the formula knows them.
#[test]
fn a_reply_takes_the_rounds_that_its_segments_need() {
    let clean = "cellular-requests --set hop.radio.errors.rate=0 --set flow.0.count=5 --set flow.0.reply=20KiB";
    let runs = run(&clean.split_whitespace().collect::<Vec<_>>());
    let (model, sim) = (runs.means("model", "request_mean_s"), runs.means("sim", "request_mean_s"));
    for ((model, sim), rounds) in model.iter().zip(&sim).zip([7.0, 5.0, 4.0, 3.0, 3.0, 2.0, 2.0]) {
        assert!((model / sim - 1.0).abs() < 0.005, "model {model}, sim {sim}");
        // Handshake and rounds of 440 ms, and of packets at most 80 ms in all.
        let least = 0.44 * (1.0 + rounds);
        assert!((least..least + 0.08).contains(sim), "{sim} s are not {rounds} rounds");
    }
}

/// docs/cellular-requests.md: at 5% a reply of 20 KiB is for small segments, at 1% for the largest.
#[test]
fn replies_like_larger_segments_until_losses_win() {
    let arguments = "cellular-requests --seeds 3 --set flow.0.reply=20KiB --set flow.0.count=100 \
                     --axis hop.radio.errors.rate=1%,5% --axis sender.mss=344,1460";
    let runs = run(&arguments.split_whitespace().collect::<Vec<_>>());
    let [a344, b344, a1460, b1460] = runs.means("sim", "request_mean_s")[..] else { panic!() };
    assert!(a1460 < 0.7 * a344 && b1460 > 3.0 * b344, "{a344} {a1460} {b344} {b1460}");
}
