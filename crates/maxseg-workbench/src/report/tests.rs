//! Tables and pictures of rows made by hand.

mod lab;

use maxseg_core::engine::{Caveat, EngineName};
use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Row, groups};
use maxseg_testkit::rows::{doubtful, model, row, scenario, sim};
use serde_json::json;

use super::chart::{HeatMap, Spacing};
use super::columns::columns;
use super::csv;
use super::heat::heat_maps;
use super::quantity::Quantity;
use super::{Swept, figures, size_lines};

/// The maps of a sweep whose runs are all there.
fn maps(rows: &[Row]) -> Vec<HeatMap> {
    heat_maps(Quantity::Goodput, &groups(rows), Swept::complete(&scenario()))
}

/// A map as it is drawn for a desk.
fn at_desk(map: &HeatMap) -> String {
    let html = map.to_html().into_string();
    html[html.find("<svg").unwrap()..html.find("</svg>").unwrap() + "</svg>".len()].to_owned()
}

#[test]
fn formulas_are_drawn_within_their_range_only() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let rows: Vec<Row> = [(100, false), (200, false), (300, true), (400, false)]
        .map(|(mss, doubt)| {
            let row = model(&at(mss), mss as f64);
            if doubt { doubtful(row) } else { row }
        })
        .into_iter()
        .chain([100, 200, 300, 400].map(|mss| sim(&at(mss), mss as f64)))
        .collect();
    let charts = figures(&rows, Swept::complete(&scenario())).charts;
    let pieces = |line: &[Vec<super::chart::Point>]| -> Vec<Vec<f64>> {
        line.iter().map(|piece| piece.iter().map(|point| point.x).collect()).collect()
    };
    assert_eq!(pieces(&charts[0].series[0].dashed), [vec![100.0, 200.0], vec![400.0]]);
    assert_eq!(pieces(&charts[0].series[0].solid), [vec![100.0, 200.0, 300.0, 400.0]]);
    let svg = charts[0].to_file();
    // One in the legend.
    assert_eq!(svg.matches("class=\"dash cmodel\"").count(), 2);
    assert_eq!(
        svg.matches("class=\"hollow cmodel\"").count(),
        1,
        "a piece of one point is seen too"
    );
}

#[test]
fn an_axis_is_what_its_values_are() {
    let spacing = |key: &str, values: &[&str]| {
        let rows: Vec<Row> = values.iter().map(|value| sim(&json!({ key: value }), 1e6)).collect();
        let axis = figures(&rows, Swept::complete(&scenario())).charts.remove(0).x;
        let labels: Vec<String> = axis.ticks.into_iter().map(|tick| tick.label).collect();
        (axis.spacing, labels, axis.title)
    };
    let (windows, labels, _) = spacing("receiver.window", &["256 KiB", "64 KiB", "1 MiB"]);
    assert_eq!(
        (windows, labels),
        (Spacing::Log(2), vec!["64 KiB".into(), "256 KiB".into(), "1 MiB".into()])
    );
    let (segments, labels, title) = spacing("receiver.window", &["10 segments", "20 segments"]);
    assert_eq!((segments, labels), (Spacing::Linear, vec!["10".into(), "20".into()]));
    assert_eq!(title, "receive window (segments)");
    for words in [["rfc", "ns2-reno"], ["64 KiB", "20 segments"]] {
        let (spacing, labels, _) = spacing("receiver.window", &words);
        assert_eq!((spacing, labels), (Spacing::Categories, words.map(str::to_owned).to_vec()));
    }
}

#[test]
fn words_are_drawn_as_points_with_bars() {
    let at = |stack: &str| json!({ "sender.stack": stack });
    let mut rows: Vec<Row> = Vec::new();
    for (stack, goodput) in [("rfc", 1e6), ("ns2-reno", 2e6)] {
        rows.push(model(&at(stack), goodput));
        for seed in 1..=3 {
            rows.push(row(EngineName::Sim, Some(seed), &at(stack), goodput + seed as f64 * 1e4));
        }
    }
    let svg = figures(&rows, Swept::complete(&scenario())).charts[0].to_file();
    assert!(!svg.contains("var("), "librsvg knows no custom properties: {svg}");
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    for wanted in ["rfc", "ns2-reno", "sender.stack", "95% confidence"] {
        assert!(texts.contains(&wanted), "no {wanted:?}");
    }
    // One in the legend.
    assert_eq!(svg.matches("class=\"interval csim\"").count(), 3);
    assert!(!svg.contains("class=\"curve") && !svg.contains("class=\"dash"), "no lines");
}

/// There are six colours: a seventh stack has the first one again, with dots of another shape.
#[test]
fn series_of_one_colour_have_points_of_different_shapes() {
    let mut rows: Vec<Row> = Vec::new();
    for stack in ["a", "b", "c", "d", "e", "f", "g"] {
        for mss in [500, 1000] {
            rows.push(sim(&json!({ "sender.stack": stack, "sender.mss": mss }), 1e6));
        }
    }
    let svg = figures(&rows, Swept::complete(&scenario())).charts[0].to_file();
    assert_eq!(svg.matches("<circle class=\"f0\"").count(), 2);
    assert_eq!(svg.matches("<circle class=\"f6\"").count(), 0, "{svg}");
    // With its sample.
    assert_eq!(svg.matches("<path class=\"f6\"").count(), 3, "{svg}");
    assert!(svg.contains(".curve.c6{stroke-dasharray"), "{svg}");
}

#[test]
fn pictures_that_are_left_out_are_counted_and_runs_of_different_length_said() {
    let mut rows = Vec::new();
    for mss in [536, 1460] {
        for rate in [0.0, 0.1] {
            for delay in 0..20 {
                let delay = format!("{delay} ms");
                let point =
                    json!({ "sender.mss": mss, "hop.0.errors.rate": rate, "hop.0.delay": delay });
                rows.push(sim(&point, 1e6));
            }
        }
    }
    rows[0].outcome.elapsed_s = Some(2.5);
    let scenario = scenario();
    let swept = Swept { is_random: true, ..Swept::complete(&scenario) };
    let figures = figures(&rows, swept);
    // The axis with most values makes the curves: two error rates are two pictures.
    assert_eq!((figures.charts.len(), figures.left_out), (2, 0));
    assert_eq!(
        figures.charts[0].subtitle,
        "error rate on hop 0 0%, one seed, 2.50 s to 10.0 s a run"
    );
    let many: Vec<Row> = (0..14 * 2 * 14 * 2)
        .map(|n: u64| {
            let point = json!({
                "sender.mss": 536 + n % 2,
                "hop.0.delay": format!("{} ms", n / 2 % 14),
                "hop.0.mtu": 1000 + n / 28 % 14,
                "hop.0.queue": n / 392,
            });
            sim(&point, 1e6)
        })
        .collect();
    let figures = super::figures(&many, swept);
    assert_eq!((figures.charts.len(), figures.left_out), (12, 14 * 2 - 12));
}

#[test]
fn seeds_are_counted_where_something_is_random() {
    let at = |mss: u64, mtu: u64| json!({ "sender.mss": mss, "hop.0.mtu": mtu });
    let places = [(536, 576), (1460, 576), (536, 1500), (1460, 1500)];
    let run = |seed| places.map(|(mss, mtu)| row(EngineName::Sim, Some(seed), &at(mss, mtu), 1e6));
    let scenario = scenario();
    let subtitles = |rows: &[Row], is_random: bool| {
        let swept = Swept { is_random, ..Swept::complete(&scenario) };
        [
            figures(rows, swept).charts.remove(0).subtitle,
            heat_maps(Quantity::Goodput, &groups(rows), swept).remove(0).subtitle,
        ]
    };
    let (one, two) = (run(1), [run(1), run(2)].concat());
    let cases = [
        (&one[..], true, Some("one seed")),
        (&two[..], true, Some("2 seeds")),
        (&one[..], false, None),
        (&two[..], false, Some("nothing here is random")),
    ];
    for (rows, is_random, wanted) in cases {
        let words = |parts: [Option<&str>; 3]| -> String {
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        };
        let want = [
            words([None, wanted, Some("10.0 s a run")]),
            words([Some("numbers in Mbit/s"), wanted, None]),
        ];
        assert_eq!(subtitles(rows, is_random), want);
    }
}

#[test]
fn sizes_that_were_all_lowered_are_a_sentence() {
    let run = |mss: u64, mtu: u64, used: u64| {
        let mut row = sim(&json!({ "sender.mss": mss, "hop.0.mtu": mtu }), 1e6);
        row.outcome.mss_used_bytes = Some(used);
        row
    };
    let scenario = scenario();
    let lines = |rows: &[Row], is_complete: bool| {
        size_lines(rows, &[], Swept { is_complete, ..Swept::complete(&scenario) })
    };
    let rows =
        [run(1440, 576, 524), run(1460, 576, 524), run(536, 1000, 536), run(1460, 1000, 948)];
    let why = "none: the path MTU or the receiver's MSS lowered every size of the sweep";
    let want = [
        format!("MTU of hop 0 (bytes) 576: {why}, to 524 bytes"),
        format!("MTU of hop 0 (bytes) 1000: {why} but 536, to 948 bytes"),
    ];
    assert_eq!(lines(&rows, true), want);
    assert!(lines(&rows, false).is_empty(), "the runs that are missing may be of other sizes");
    assert!(lines(&[run(536, 1500, 536), run(1460, 1500, 1460)], true).is_empty());
}

#[test]
fn csv_and_parquet_have_the_same_columns() {
    let mut row = sim(&json!({ "sender.mss": 536 }), 0.1);
    row.caveats = vec![Caveat::new("accuracy", ""), Caveat::new("mathis", "")];
    let rows = [row];
    let text = csv(&rows);
    let names: Vec<String> = columns(&rows).into_iter().map(|column| column.name).collect();
    let (header, line) = text.split_once('\n').unwrap();
    assert_eq!(header, names.join(","));
    assert!(line.starts_with("sim,1,") && line.ends_with(",accuracy mathis,536\n"), "{line}");
    assert!(line.contains(",536,0.1,10,"), "{line}");
}

#[test]
fn a_heat_map_frames_the_best_of_each_condition_and_says_its_numbers() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let mut rows = vec![
        sim(&at(1460, 0.05), 483.0),
        sim(&at(536, 0.05), 8040.0),
        doubtful(sim(&at(536, 0.0), 1.59e6)),
        sim(&at(1460, 0.0), 1.89e6),
    ];
    rows.push(model(&at(536, 0.0), 9e9)); // the map is of the simulator
    let map = maps(&rows).remove(0);
    assert_eq!(map.columns, ["536", "1460"]);
    let row = |index: usize| {
        let row = &map.rows[index];
        let cells = row.cells.iter().flatten().map(|cell| (cell.value, cell.mark, cell.is_best));
        (row.label.as_str(), cells.collect::<Vec<_>>())
    };
    assert_eq!(row(0), ("0%", vec![(1.59e6, "~", false), (1.89e6, "", true)]));
    assert_eq!(row(1), ("5%", vec![(8040.0, "", true), (483.0, "", false)]));
    assert_eq!(map.spacing, Spacing::Log(10));
    let svg = at_desk(&map);
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    // Of the middle between 483 bit/s and 1.89 Mbit/s.
    for wanted in ["numbers in kbit/s", "~1590", "1890", "8.04", "0.483", "effective MSS (bytes)"] {
        assert!(texts.contains(&wanted), "no {wanted:?} in {texts:?}");
    }
    for wanted in ["best of its row", "~ outside the formula's range", "1 Mbit/s"] {
        assert!(texts.contains(&wanted), "no {wanted:?} in {texts:?}");
    }
    assert_eq!(svg.matches("class=\"best\"").count(), 2 + 1, "two cells, and the legend");
}

#[test]
fn of_an_interrupted_sweep_no_cell_is_framed() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let places = [(536, 0.0, 1.59e6), (1460, 0.0, 1.89e6), (536, 0.05, 8e3)];
    let rows = places.map(|(mss, rate, goodput)| sim(&at(mss, rate), goodput));
    let scenario = scenario();
    let framed = |is_complete: bool| {
        let map = heat_maps(
            Quantity::Goodput,
            &groups(&rows),
            Swept { is_complete, ..Swept::complete(&scenario) },
        )
        .remove(0);
        let svg = at_desk(&map);
        (svg.matches("class=\"best\"").count(), svg.contains("best of its row"))
    };
    assert_eq!(framed(true), (1 + 1, true), "the one with a choice, and the legend");
    assert_eq!(framed(false), (0, false));
}

#[test]
fn many_cells_have_colours_only_and_words_no_map() {
    let point = |n: u64| json!({ "sender.mss": 100 + n % 20, "hop.0.mtu": 1000 + n / 20 });
    let rows: Vec<Row> = (0..20 * 11).map(|n| sim(&point(n), 1e6 + n as f64)).collect();
    let map = maps(&rows).remove(0);
    assert_eq!(map.spacing, Spacing::Linear);
    let numbers = |svg: &str| svg.matches("pointer-events:none").count();
    assert_eq!(numbers(&at_desk(&map)), 0, "220 cells");
    let fewer: Vec<Row> =
        rows.iter().filter(|row| row.point["sender.mss"] != 119).take(190).cloned().collect();
    assert_eq!(numbers(&at_desk(&maps(&fewer)[0])), 190);
    let words = ["rfc", "ns2-reno"].map(|stack| {
        [1, 2].map(|mss| sim(&json!({ "sender.stack": stack, "sender.mss": mss }), 1e6))
    });
    assert!(maps(&words.concat()).is_empty());
    let same = [1, 2, 3].map(|mss| sim(&json!({ "sender.mss": mss, "hop.0.mtu": 1500 }), 1e6));
    assert!(maps(&same).is_empty(), "one axis");
    let delays = [("1 ms", "1 Mbit/s"), ("2 ms", "1 Mbit/s"), ("1 ms", "2 Mbit/s")]
        .map(|(delay, rate)| sim(&json!({ "hop.0.delay": delay, "hop.0.rate": rate }), 1e6));
    let map = maps(&delays).remove(0);
    let cells = || map.rows.iter().flat_map(|row| &row.cells);
    assert_eq!((cells().count(), cells().flatten().count()), (4, 3), "one was not run");
    assert!(cells().flatten().all(|cell| !cell.is_best), "conditions have no best");
    roxmltree::Document::parse(&at_desk(&map)).unwrap();
}

#[test]
fn a_segment_size_is_shown_as_it_was_used() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let run = |mss: u64, used: u64, rate: f64| {
        let mut row = sim(&at(mss, rate), used as f64 * 1e3);
        row.outcome.mss_used_bytes = Some(used);
        row
    };
    // An MTU of 1492 has room for 1440 bytes of payload and 52 of headers and options.
    let sizes = [(536, 536), (1440, 1440), (1450, 1440), (1460, 1440)];
    let rows: Vec<Row> = [0.0, 0.1]
        .into_iter()
        .flat_map(|rate| sizes.map(|(mss, used)| run(mss, used, rate)))
        .collect();
    let chart = figures(&rows, Swept::complete(&scenario())).charts.remove(0);
    let drawn: Vec<f64> = chart.series[0].solid.iter().flatten().map(|point| point.x).collect();
    assert_eq!(drawn, [536.0, 1440.0]);
    let ticks: Vec<String> = chart.x.ticks.into_iter().map(|tick| tick.label).collect();
    assert_eq!(ticks, ["536", "1440"]);
    let map = maps(&rows).remove(0);
    assert_eq!(map.columns, ["536", "1440", "1450 (1440 used)", "1460 (1440 used)"]);
}

#[test]
fn pictures_show_the_goodput_of_the_flow_that_is_asked_about() {
    let run = |mss: u64, tcp: f64, cbr: f64| {
        let mut row = sim(&json!({ "sender.mss": mss, "hop.0.errors.rate": cbr / 1e9 }), tcp + cbr);
        let bulk =
            Outcome { goodput_bps: Some(tcp), mss_used_bytes: Some(mss), ..Outcome::default() };
        let cross = Outcome { goodput_bps: Some(cbr), ..Outcome::default() };
        row.outcome.flows = vec![bulk, cross];
        row
    };
    let rows = [run(536, 1e6, 8e6), run(1460, 2e6, 3e6), run(536, 1e6, 3e6), run(1460, 2e6, 8e6)];
    let chart = figures(&rows, Swept::complete(&scenario())).charts.remove(0);
    let drawn: Vec<f64> = chart.series[0].solid.iter().flatten().map(|point| point.y).collect();
    assert_eq!(drawn, [1e6, 2e6]);
    assert_eq!(
        (&*chart.y.title, &*chart.title),
        ("goodput of flow.0", "Goodput of flow.0 against effective MSS")
    );
    let map = maps(&rows).remove(0);
    assert_eq!((&*map.title, &*map.doubt), ("Goodput of flow.0 by sim", ""));
    assert!(csv(&rows).contains(",9000000,"), "the table of all numbers keeps the sum");
}
