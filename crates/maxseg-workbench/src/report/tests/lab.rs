//! Rows of the lab beside the others: marks, proof, pictures.

use maxseg_testkit::rows::{invalid, lab};

use super::super::document::Document;
use super::super::proof::point_proofs;
use super::super::{page, segment_sizes};
use super::*;
use crate::environment::Environment;

fn page_of(rows: Vec<Row>) -> String {
    let engines = [EngineName::Lab];
    let document = Document::new(json!({}), Environment::of(&engines), rows, true, &[]);
    page(&document, "", Swept::complete(&scenario()), &[])
}

#[test]
fn the_proof_of_a_point_is_a_few_lines() {
    let rows = [lab(&json!({}), 1e6)];
    let points = point_proofs(&groups(&rows));
    let want = [
        "hop.0: 100 000 packets in 8 113 super-packets, 1 003 damaged (1.003%, 1% configured)",
        "hop.0.reverse: 50 000 packets, 12 found the queue full",
        "lateness p50 12.0 us, p99 80.0 us, max 300 us; the kernel dropped nothing; CPU 2.00 s, 1.50 s of it the relay's",
        "flow.0 (cubic): MSS asked 9000, advertised 8960, effective 8948 (timestamps take 12 bytes of every segment)",
        "flow.0: window asked 64 KiB, advertised 64 KiB, most in flight 62636 B",
    ];
    assert_eq!(points[0].lines(false), want);
}

#[test]
fn runs_of_a_point_are_told_together_and_super_packets_by_themselves() {
    let mut second = lab(&json!({}), 1e6);
    second.seed = Some(2);
    second.outcome.lab.as_mut().unwrap().lateness.as_mut().unwrap().p99_s = 1e-3;
    second.outcome.lab.as_mut().unwrap().capture_drops = Some(3);
    let mut first = lab(&json!({}), 1e6);
    first.outcome.lab.as_mut().unwrap().capture_drops = Some(4);
    let points = point_proofs(&groups(&[first, second]));
    assert_eq!(points[0].proof.capture_drops, Some(7));
    let lines = points[0].lines(false);
    assert_eq!(points[0].heading(), "2 runs together");
    assert!(lines[0].starts_with("hop.0: 200 000 packets"), "{lines:?}");
    assert!(lines[0].contains("2 006 damaged (1.003%, 1% configured)"), "{lines:?}");
    assert!(lines[2].contains("at the worst p50 12.0 us, p99 1.00 ms"), "{lines:?}");
    let mut netem = lab(&json!({}), 1e6);
    netem.caveats = vec![Caveat::new("as-netem", "")];
    netem.outcome.lab.as_mut().unwrap().links[0].damaged = 81;
    let lines = point_proofs(&groups(&[netem]))[0].lines(false);
    assert!(lines[0].contains("81 super-packets damaged (0.998%, 1% configured)"), "{lines:?}");
}

#[test]
fn the_lab_is_drawn_as_crosses_and_what_is_invalid_not_at_all() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let rows: Vec<Row> = [100, 200, 300]
        .into_iter()
        .flat_map(|mss| [model(&at(mss), 1.0), sim(&at(mss), 2.0), lab(&at(mss), 3.0)])
        .map(|row| {
            if row.point["sender.mss"] == 200 && row.outcome.lab.is_some() {
                invalid(row)
            } else {
                row
            }
        })
        .collect();
    let charts = figures(&rows, Swept::complete(&scenario())).charts;
    let series = &charts[0].series[0];
    let xs = |line: &super::super::chart::Line| -> Vec<f64> {
        line.iter().flatten().map(|point| point.x).collect()
    };
    assert_eq!(xs(&series.crosses), [100.0, 300.0]);
    assert_eq!((xs(&series.solid).len(), xs(&series.dashed).len()), (3, 3));
    let svg = charts[0].to_file();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.contains(&"lab, valid runs") && texts.contains(&"sim"), "{texts:?}");
    // One in the legend.
    assert_eq!(svg.matches("class=\"cross clab\"").count(), 3);
    // Alone it has a line, and is drawn as crosses too.
    let alone: Vec<Row> = rows.into_iter().filter(|row| row.engine == EngineName::Lab).collect();
    let charts = figures(&alone, Swept::complete(&scenario())).charts;
    assert_eq!(xs(&charts[0].series[0].crosses), [100.0, 300.0]);
}

#[test]
fn simulator_and_lab_have_a_heat_map_each() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let places = [(536, 0.0), (1460, 0.0), (536, 0.1), (1460, 0.1)];
    let rows: Vec<Row> = places
        .into_iter()
        .flat_map(|(mss, rate)| {
            [model(&at(mss, rate), 1e6), sim(&at(mss, rate), 1e6), lab(&at(mss, rate), 1e6)]
        })
        .collect();
    let titles: Vec<String> = maps(&rows).into_iter().map(|map| map.title).collect();
    assert_eq!(titles, ["Goodput by sim", "Goodput by lab"]);
}

#[test]
fn an_invalid_run_is_the_best_of_nothing() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let rows: Vec<Row> = (0..8)
        .flat_map(|n| {
            let rate = f64::from(n) / 100.0;
            [lab(&at(536, rate), 1e6), invalid(lab(&at(1460, rate), 2e6))]
        })
        .collect();
    let map = maps(&rows).remove(0);
    let best = |column: usize| {
        map.rows.iter().filter(|row| row.cells[column].is_some_and(|cell| cell.is_best)).count()
    };
    assert_eq!((best(0), best(1)), (8, 0));
}

#[test]
fn advice_goes_by_the_lab_where_nothing_is_simulated_and_not_by_invalid_runs() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let scenario = scenario();
    let advice = |rows: &[Row]| {
        let scenarios = rows.iter().map(|row| (row.hash.as_str(), &scenario)).collect();
        segment_sizes(rows, &scenarios).first().map(|advice| (advice.engine, advice.best))
    };
    let of_lab = [lab(&at(536), 1e6), lab(&at(1460), 2e6)];
    assert_eq!(advice(&of_lab), Some((EngineName::Lab, 1460)));
    let of_sim = [sim(&at(536), 2e6), sim(&at(1460), 1e6)];
    assert_eq!(advice(&[of_lab.to_vec(), of_sim.to_vec()].concat()), Some((EngineName::Sim, 536)));
    let [small, large] = of_lab;
    assert_eq!(advice(&[small, invalid(large)]), None, "one size is no choice");
}

#[test]
fn the_page_of_an_interrupted_sweep_says_why_nothing_is_the_best() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let places = [(536, 0.0), (1460, 0.0), (536, 0.1), (1460, 0.1)];
    let rows: Vec<Row> = places.map(|(mss, rate)| sim(&at(mss, rate), 1e6)).to_vec();
    let scenario = scenario();
    let page = |is_complete: bool| {
        let environment = Environment::of(&[EngineName::Sim]);
        let document = Document::new(json!({}), environment, rows.clone(), is_complete, &[]);
        page(&document, "", Swept { is_complete, ..Swept::complete(&scenario) }, &[])
    };
    let why = "some runs are missing, so that nothing is marked as the best";
    assert!(page(false).contains(why) && !page(false).contains("class=\"best\""));
    assert!(!page(true).contains(why) && page(true).contains("class=\"best\""));
}

#[test]
fn an_invalid_run_is_marked_in_csv_and_page() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let rows = vec![lab(&at(536), 1e6), invalid(lab(&at(1460), 2e6))];
    let csv = csv(&rows);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let of_row = |line: usize, name: &str| {
        csv.lines().nth(line).unwrap().split(',').nth(column(name)).unwrap().to_owned()
    };
    assert_eq!((of_row(1, "lab_valid"), of_row(2, "lab_valid")), ("true".into(), "false".into()));
    assert_eq!(of_row(1, "lab_lateness_p99_s"), "0.00008");
    assert_eq!(of_row(1, "lab_kernel_drops"), "0");
    let page = page_of(rows);
    for wanted in [">!2.00 Mbit/s</td>", "<h2>Invalid runs</h2>", "! no: the kernel dropped 7"] {
        assert!(page.contains(wanted), "no {wanted:?} in\n{page}");
    }
}

#[test]
fn why_netem_differs_is_told_where_both_are_there() {
    let at = |as_netem: bool| json!({ "lab.as_netem": as_netem });
    let both = vec![lab(&at(false), 1e6), lab(&at(true), 2e6)];
    let one = vec![lab(&at(false), 1e6), sim(&at(true), 2e6)];
    let words = "netem draws once";
    assert!(page_of(both).contains(words) && !page_of(one).contains(words));
}

#[test]
fn the_page_shows_lateness_links_and_flows() {
    let page = page_of(vec![lab(&json!({}), 1e6)]);
    for wanted in [
        "<h2>What the lab did</h2>",
        "How late packets left the relay",
        "up to 500 us: 10 packets, 10%",
        "Packets by link",
        ">1.003%</td>",
        "timestamps take 12 bytes of every segment",
        "clock source",
    ] {
        assert!(page.contains(wanted), "no {wanted:?} in\n{page}");
    }
    let start = page.find("How late packets").unwrap();
    let svg = &page[page[..start].rfind("<svg").unwrap()..];
    let svg = &svg[..svg.find("</svg>").unwrap() + 6];
    let picture = roxmltree::Document::parse(svg).unwrap();
    let bars = picture.descendants().filter(|node| node.attribute("class") == Some("share"));
    assert_eq!(bars.count(), 2);
}
