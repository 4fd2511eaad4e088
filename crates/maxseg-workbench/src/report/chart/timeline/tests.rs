use super::super::figure::Spacing;
use super::super::scale::Scale;
use super::still::{MOST_DOTS, MOST_OF_A_LINE};
use super::thin::{kept, means, thinned_line};
use super::*;

#[test]
fn a_line_keeps_its_extremes() {
    let mut points: Vec<(f64, f64)> = (0..100_000).map(|n| (f64::from(n), 1.0)).collect();
    points[77_777].1 = 50.0;
    points[12_345].1 = -3.0;
    let thinned = thinned_line(&points, MOST_OF_A_LINE);
    assert!(thinned.len() <= MOST_OF_A_LINE + 2, "{}", thinned.len());
    assert!(thinned.contains(&(77_777.0, 50.0)) && thinned.contains(&(12_345.0, -3.0)));
    assert!(thinned.windows(2).all(|pair| pair[0].0 <= pair[1].0));
}

fn layer(kind: LayerKind, count: u32) -> Layer {
    Layer {
        label: "again".to_owned(),
        kind,
        color: "--again",
        is_bound: false,
        points: (0..count).map(|n| (f64::from(n), 1.0)).collect(),
        packets: None,
    }
}

#[test]
fn marks_are_never_thinned_out() {
    let scale = Scale::new(0.0, 20_000.0, 0.0, 800.0, Spacing::Linear);
    let count = |kind| layer(kind, 20_000).path(&scale, &scale).into_string().matches('M').count();
    assert_eq!(count(LayerKind::Marks), 20_000);
    assert!(count(LayerKind::Dots) <= MOST_DOTS);
}

fn panel(layers: Vec<Layer>) -> Panel {
    Panel {
        id: "some",
        title: "Some bytes".to_owned(),
        height: 100.0,
        unit: Unit::Bytes,
        layers,
        rows: Vec::new(),
        note: String::new(),
        missing: "not captured: the other side",
        table: None,
    }
}

fn timeline(panels: Vec<Panel>) -> Timeline {
    let (others, filter, filter_in_range) = (Vec::new(), String::new(), String::new());
    let begin = Some(Time::from_millis(1_700_000_000_123));
    Timeline { begin, from: 0.0, to: 3.0, panels, packets: 0, others, filter, filter_in_range }
}

/// Each packet of a thinned layer keeps its own number and size.
#[test]
fn the_script_gets_every_packet_with_its_number() {
    let mut dots = layer(LayerKind::Dots, 100_000);
    let frames: Vec<u64> = (0..100_000).map(|n| 7 * n + 1).collect();
    let bytes = (0..100_000).collect();
    dots.packets =
        Some(Packets { what: "segment from byte".to_owned(), frames, bytes, ..Packets::default() });
    let filter = "ip.addr == 10.0.0.1 && tcp.port == 80".to_owned();
    let timeline = Timeline { to: 1e5, filter, ..timeline(vec![panel(vec![dots])]) };
    let data: serde_json::Value = serde_json::from_str(&timeline.data()).unwrap();
    assert_eq!(data["filter"], timeline.filter);
    assert_eq!(data["begin_us"], 1_700_000_000_123_000_u64);
    let undated: serde_json::Value =
        serde_json::from_str(&Timeline { begin: None, ..timeline.clone() }.data()).unwrap();
    assert!(undated["begin_us"].is_null());
    let layer = &data["panels"][0]["layers"][0];
    let summed = |key: &str| -> Vec<i64> {
        let values = layer[key].as_array().unwrap().iter().map(|value| value.as_i64().unwrap());
        values
            .scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
            .collect()
    };
    let (times, frames) = (summed("t"), summed("frames"));
    assert!((30_000..=40_000).contains(&frames.len()), "{}", frames.len());
    for ((time, frame), bytes) in times.iter().zip(&frames).zip(layer["bytes"].as_array().unwrap())
    {
        let n = bytes.as_i64().unwrap();
        assert_eq!((*time, *frame), (n * 10_000_000, 7 * n + 1));
    }
    assert_eq!(frames.last(), Some(&699_994), "the last one as well");
}

#[test]
fn what_has_no_data_is_not_in_the_legend() {
    let mut empty = layer(LayerKind::Line, 0);
    empty.label = "nothing".to_owned();
    let panels = vec![panel(vec![layer(LayerKind::Dots, 3), empty])];
    let html = timeline(panels).to_html().into_string();
    assert!(html.contains("again") && !html.contains("nothing"), "{html}");
}

#[test]
fn a_bound_that_is_far_away_does_not_flatten_the_rest() {
    for (bound, largest) in [(2.0, 2.0), (1000.0, 1.0)] {
        let mut window = layer(LayerKind::Steps, 2);
        window.is_bound = true;
        window.points = vec![(0.0, bound), (1.0, bound)];
        let panel = panel(vec![window, layer(LayerKind::Line, 3)]);
        assert!((panel.largest(Layer::largest) - largest).abs() < 1e-9, "a bound of {bound}");
    }
}

/// A step curve over a pause shows the value that held then, however many points there are.
#[test]
fn points_beside_a_pause_are_kept_and_so_is_the_last() {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for burst in 0..10_u32 {
        // What is in flight falls to nothing at the end of each burst.
        let packets = (0..10_007_u32)
            .map(|n| (f64::from(burst) * 100.0 + 1e-4 * f64::from(n), f64::from(10_006 - n)));
        points.extend(packets);
    }
    for thinned in [
        kept(&points, 40_000).into_iter().map(|index| points[index]).collect(),
        thinned_line(&points, 3000),
    ] {
        let thinned: Vec<(f64, f64)> = thinned;
        for pair in thinned.windows(2).filter(|pair| pair[1].0 - pair[0].0 > 50.0) {
            assert!(pair[0].1.abs() < 0.5 && (pair[1].1 - 10_006.0).abs() < 0.5, "{pair:?}");
        }
        assert_eq!((thinned.first(), thinned.last()), (points.first(), points.last()));
        assert!(thinned.len() < 41_000, "{}", thinned.len());
    }
}

#[test]
fn rates_are_means_over_time_and_a_pause_is_none_of_them() {
    let points = [(0.0, 8.0), (1.0, 4.0), (2.0, 0.0), (12.0, 6.0), (13.0, 0.0)];
    let within = [(0.0, 6.0), (2.0, 0.0), (12.0, 6.0), (13.0, 0.0)];
    assert_eq!(means(&points, 2.0), within);
    assert_eq!(means(&points, 0.5), points);
    let left_over = [(0.0, 2.0), (1.0, 2.0), (2.0, 5.0), (3.0, 5.0)];
    assert_eq!(means(&left_over, 2.0), [(0.0, 3.0), (3.0, 3.0)]);
}

/// Still pictures: 800 wide, and 100 high for values up to 100.
fn outline(kind: LayerKind, points: &[(f64, f64)], bytes: &[u32]) -> String {
    let (x, y) = (
        Scale::new(0.0, 100.0, 0.0, 800.0, Spacing::Linear),
        Scale::new(0.0, 100.0, 100.0, 0.0, Spacing::Linear),
    );
    let mut one = layer(kind, 0);
    one.points = points.to_vec();
    one.packets = Some(Packets { bytes: bytes.to_vec(), ..Packets::default() });
    one.path(&x, &y).into_string()
}

#[test]
fn the_last_value_holds_until_the_end_and_a_segment_is_as_high_as_its_bytes() {
    let steps = outline(LayerKind::Steps, &[(0.0, 50.0), (50.0, 0.0)], &[]);
    assert!(steps.contains("M0.00 50.0H400.00V100.0H800.00"), "{steps}");
    let segment = outline(LayerKind::Dots, &[(50.0, 20.0)], &[60]);
    assert!(segment.contains("M400.00 80.0V20.0"), "{segment}");
}

#[test]
fn what_is_at_the_end_is_seen() {
    let span = Span { from: 100.0, to: 100.0, text: "reset".to_owned() };
    let row = Row { label: "reset".to_owned(), color: "--noted", spans: vec![span] };
    let bars = row.bars(0, &Scale::new(0.0, 100.0, 0.0, 800.0, Spacing::Linear)).into_string();
    assert!(bars.contains("M797.00 11H800.00"), "{bars}");
}

#[test]
fn a_graph_without_anything_says_why() {
    let panels = vec![panel(vec![layer(LayerKind::Line, 0)])];
    let html = timeline(panels).to_html().into_string();
    assert!(html.contains("not captured: the other side"), "{html}");
    assert!(!html.contains("<svg") && !html.contains("data-panel"), "no empty axis: {html}");
}

#[test]
fn the_legend_says_how_far_a_bound_goes_that_the_axis_does_not_reach() {
    let mut window = layer(LayerKind::Steps, 2);
    window.is_bound = true;
    window.points = vec![(0.0, 64_000.0), (1.0, 64_000.0)];
    let html = panel(vec![window, layer(LayerKind::Line, 3)]);
    let html = timeline(vec![html]).to_html().into_string();
    assert!(html.contains("again: up to 64.0 kB, above the graph"), "{html}");
}

/// A burst in one of a thousand intervals is drawn as a part of a mean, and the axis is for that.
#[test]
fn the_axis_of_rates_is_for_what_is_drawn() {
    let mut rates = layer(LayerKind::Rates, 2);
    let rate = |n: u32| if n == 500 { 1000.0 } else { 10.0 };
    rates.points = (0..=1000).map(|n| (f64::from(n) / 10.0, rate(n))).collect();
    let rates = panel(vec![rates]);
    let scale = Scale::new(0.0, 100.0, 0.0, 800.0, Spacing::Linear);
    assert!(rates.largest(Layer::largest) > 999.0);
    assert!(rates.range(&scale).1 < 400.0, "{:?}", rates.range(&scale));
}
