//! What captures cost by their size, as a picture: for docs/performance-explain.md.

use super::chart::{Axis, Chart, Legend, Order, Point, Series, Spacing};

/// CPU seconds (second) by the number of packets (first), by rising numbers, as an SVG file.
pub fn cost_picture(points: &[(f64, f64)]) -> String {
    let line = |of: &dyn Fn(f64, f64) -> f64| {
        vec![points.iter().map(|(x, y)| Point { x: *x, y: of(*x, *y), half: 0.0 }).collect()]
    };
    let last = points.last().map_or(0.0, |(packets, seconds)| seconds / packets);
    let axis = |title: &str, write| Axis {
        title: title.to_owned(),
        spacing: Spacing::Log(10),
        ticks: Vec::new(),
        write,
    };
    let chart = Chart {
        title: "CPU time of `maxseg explain` by packets".to_owned(),
        subtitle: "25 connections; dashed: in proportion to the largest".to_owned(),
        x: axis("packets", |x| format!("{x:.0}")),
        y: axis("CPU time, s", |y| format!("{y}")),
        series_title: String::new(),
        series: vec![Series {
            label: "maxseg explain".to_owned(),
            solid: line(&|_, seconds| seconds),
            dashed: line(&|packets, _| packets * last),
            crosses: Vec::new(),
        }],
        order: Order::None,
        marks: Vec::new(),
        marks_title: String::new(),
        legend: Legend {
            solid: "measured".to_owned(),
            dashed: "in proportion".to_owned(),
            ..Legend::default()
        },
    };
    chart.to_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_an_image_with_both_lines() {
        let svg = cost_picture(&[(1e5, 0.01), (1e6, 0.1), (1e7, 1.0)]);
        assert!(svg.starts_with("<svg") && svg.contains("in proportion"), "{svg}");
    }
}
