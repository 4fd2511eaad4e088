//! What README.md and docs/requests.md claim in numbers is what the code knows.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use maxseg_core::model::pftk::{MEASURED, VALID_UP_TO};
use maxseg_core::model::requests;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::RESULTS_VERSION;
use xtask::root;

fn readme() -> String {
    joined("README.md")
}

/// The text of a document, its lines joined.
fn joined(file: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// It is compiled with the examples of the crate.
#[test]
fn the_example_of_the_library_is_the_one_that_is_compiled() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, behind) = page.split_once("```rust\n").unwrap();
    let (shown, _) = behind.split_once("```").unwrap();
    let source = root().join("crates/maxseg-workbench/examples/readme.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let lines: Vec<&str> =
        source.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert!(
        lines.join("\n").contains(shown.trim_end()),
        "README.md shows another program: {shown}"
    );
}

#[test]
fn the_accuracy_of_pftk_is_what_was_measured() {
    let up_to_5 = || MEASURED.iter().filter(|(loss, ..)| *loss <= 0.05);
    let low = up_to_5().map(|(_, low, _)| *low).fold(f64::INFINITY, f64::min);
    let high = up_to_5().map(|(.., high)| *high).fold(0.0, f64::max);
    let at = |wanted: f64| MEASURED.iter().find(|(loss, ..)| (loss - wanted).abs() < 1e-9).unwrap();
    let (_, _, too_high) = at(VALID_UP_TO);
    let claims = [
        format!("{low:.2} to {high:.2} times what the simulator does up to 5% segment loss"),
        format!("At {:.0}% it gives up to {too_high:.2} times", 100.0 * VALID_UP_TO),
    ];
    for claim in claims {
        assert!(readme().contains(&claim), "README.md does not say {claim:?}");
    }
}

/// The ratios of the lines of docs/performance.md whose case begins with `case`.
fn ratios(page: &str, case: &str) -> Vec<f64> {
    let lines = page.lines().filter(|line| line.starts_with(&format!("| {case}")));
    lines.map(|line| line.split('|').nth(6).unwrap().trim().parse().unwrap()).collect()
}

/// The page is measured on one machine, README rounds its ratios down: the least of each kind of path.
#[test]
fn the_speed_is_what_was_measured() {
    let page = std::fs::read_to_string(root().join("docs/performance.md")).unwrap();
    let least = |case| ratios(&page, case).into_iter().reduce(f64::min).unwrap().floor();
    let (_, grid) = page.split_once("on one core: ").unwrap();
    let grid: f64 = grid.split_once(" s of CPU").unwrap().0.parse().unwrap();
    let claims = [
        format!(
            "{} times the CPU time on the cellular path without errors and {} times on a clean fast link",
            least("no errors"),
            least("clean 1 Gbit/s, window")
        ),
        format!("the grid of `cellular-mss` with ten seeds takes {grid:.1} s"),
    ];
    for claim in claims {
        assert!(readme().contains(&claim), "README.md does not say {claim:?}");
    }
}

/// The cells of the lines of a page's tables that begin so.
fn table_lines(page: &str, begin: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(begin));
    lines.map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// How many sockets a page judges, and of how many of 100 it is right and wrong.
fn live_percents(page: &str) -> (String, f64, f64) {
    let live = table_lines(page, "| all ");
    let [_, _, runs, right, _, wrong, _] = &live[0][..] else { panic!("{live:?}") };
    let (all, wrong): (f64, f64) = (runs.parse().unwrap(), wrong.parse().unwrap());
    let right: f64 = right.split(' ').next().unwrap().parse().unwrap();
    let [right, wrong] = [right, wrong].map(|count| (100.0 * count / all).round());
    (runs.clone(), right, wrong)
}

/// What guides and README say of `explain`, its confidence and live connections is what the pages of the draw have.
#[test]
fn the_accuracy_of_verdicts_is_that_of_the_pages() {
    let bins = table_lines("docs/validation-explain.md", "| 0.");
    let share = |bin: &[String]| -> f64 {
        100.0 * bin[4].parse::<f64>().unwrap() / bin[2].parse::<f64>().unwrap()
    };
    let [low, middle, high] = &bins[..] else { panic!("{bins:?}") };
    let confidence = format!(
        "named with {}, {} and {} in the mean, {:.0}%, {:.0}% and {:.0}% were right",
        low[3],
        middle[3],
        high[3],
        share(low),
        share(middle),
        share(high)
    );
    let of = |bin: &[String]| format!("{} of {}", bin[4], bin[2]);
    let in_bins = format!("{}, {} and {} verdicts were right", of(low), of(middle), of(high));
    let (runs, right, wrong) = live_percents("docs/validation-live.md");
    let (simulated, right_simulated, wrong_simulated) =
        live_percents("docs/validation-live-sim.md");
    let page = joined("docs/validation-explain.md");
    let (_, sum) = page.split_once("verdicts are right (").unwrap();
    let percent = |text: &str| -> f64 { text.split_once('%').unwrap().0.parse().unwrap() };
    let [sum, unknown, wrong_ones] =
        ["", "unknown (", "false ("].map(|word| percent(sum.split_once(word).unwrap().1));
    let claims = [
        ("docs/explain.md", confidence),
        ("README.md", in_bins),
        (
            "docs/connections.md",
            format!(
                "Of {runs} senders in drawn lab runs {right}% were judged rightly and {wrong}% falsely"
            ),
        ),
        (
            "README.md",
            format!(
                "the sockets of {runs} senders in those transfers | {right}% right, {wrong}% false"
            ),
        ),
        (
            "README.md",
            format!(
                "of {simulated} simulated senders {right_simulated}% right, {wrong_simulated}% false"
            ),
        ),
        ("README.md", format!("{sum:.0}% right, {unknown:.0}% `unknown`, {wrong_ones}% false")),
    ];
    for (file, claim) in claims {
        assert!(joined(file).contains(&claim), "{file} does not say {claim:?}");
    }
}

#[test]
fn the_accuracy_of_request_times_is_what_was_measured() {
    let page = joined("docs/requests.md");
    let [(kept, _), (low, high)] = requests::MEASURED;
    for claim in [format!("{low:.2} to {high:.2} times"), format!("{kept:.2} times")] {
        assert!(page.contains(&claim), "docs/requests.md does not say {claim:?}");
    }
}

#[test]
fn the_version_of_results_is_the_current_one() {
    let claim = format!("Results are of version {RESULTS_VERSION} (");
    assert!(readme().contains(&claim), "README.md does not say {claim:?}");
}

#[test]
fn every_limit_is_explained() {
    let limits = [
        LimitedBy::Application,
        LimitedBy::Paced,
        LimitedBy::StartUp,
        LimitedBy::ReceiveWindow,
        LimitedBy::SendBuffer,
        LimitedBy::Bandwidth,
        LimitedBy::Congestion,
        LimitedBy::Host,
        LimitedBy::PathMtu,
        LimitedBy::Rto,
        LimitedBy::Unknown,
    ];
    for limit in limits {
        assert!(readme().contains(&format!("| `{limit}` |")), "README.md does not explain {limit}");
    }
}
