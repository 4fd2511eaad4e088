use super::super::figure::Spacing;
use super::super::scale::Scale;
use super::still::{MOST_DOTS, MOST_OF_A_LINE};
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
        table: None,
    }
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
    let timeline = Timeline {
        from: 0.0,
        to: 1e5,
        panels: vec![panel(vec![dots])],
        others: Vec::new(),
        filter,
    };
    let data: serde_json::Value = serde_json::from_str(&timeline.data()).unwrap();
    assert_eq!(data["filter"], timeline.filter);
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
    let timeline =
        Timeline { from: 0.0, to: 3.0, panels, others: Vec::new(), filter: String::new() };
    let html = timeline.to_html().into_string();
    assert!(html.contains("again") && !html.contains("nothing"), "{html}");
}

#[test]
fn a_bound_that_is_far_away_does_not_flatten_the_rest() {
    for (bound, largest) in [(2.0, 2.0), (1000.0, 1.0)] {
        let mut window = layer(LayerKind::Steps, 2);
        window.is_bound = true;
        window.points = vec![(0.0, bound), (1.0, bound)];
        let panel = panel(vec![window, layer(LayerKind::Line, 3)]);
        assert!((panel.largest() - largest).abs() < 1e-9, "a bound of {bound}");
    }
}
