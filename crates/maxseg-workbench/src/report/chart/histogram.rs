//! A histogram over given ranges: how large a share lies in each, on a logarithmic scale, for tails.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::figure::{LEFT, RIGHT, Spacing, TOP, WIDTH};
use super::scale::Scale;
use super::svg::base_style;

/// Shares of ranges that follow each other.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    /// What it shows.
    pub(crate) title: String,
    /// Below the title: of how many, and what is to be known of them.
    pub(crate) subtitle: String,
    /// What the ranges are of.
    pub(crate) x_title: String,
    /// From left to right.
    pub(crate) bars: Vec<Bar>,
}

/// A range and its share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// The range in words.
    pub(crate) label: String,
    /// How many of all lie in it, from 0 to 1.
    pub(crate) share: f64,
    /// What a reader sees who points at it.
    pub(crate) words: String,
}

const BOTTOM: f64 = 300.0;
const HEIGHT: f64 = 360.0;
/// Of a bar's place.
const BAR_SHARE: f64 = 0.7;
/// Wider bars say no more.
const WIDEST: f64 = 60.0;
/// A scale of fewer decades would make differences of nothing.
const LEAST_DECADES: f64 = 2.0;

impl Histogram {
    /// The histogram as an SVG element of a page, which provides the ground.
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{0}. {1}\" class=\"chart\"><style>{2}.chart .share{{fill:var(--s0)}}</style>\
             <text class=\"title\" x=\"{LEFT}\" y=\"30\">{0}</text>\
             <text class=\"soft\" x=\"{LEFT}\" y=\"52\">{1}</text>",
            Escaped(&self.title),
            Escaped(&self.subtitle),
            base_style("--s0:#0072b2;", "--s0:#56b4e9;")
        );
        let least = self.bars.iter().map(|bar| bar.share).filter(|share| *share > 0.0);
        let decades = -least.fold(1.0, f64::min).log10().floor();
        let low = 10_f64.powf(-decades.max(LEAST_DECADES));
        let y = Scale::new(low, 1.0, BOTTOM, TOP, Spacing::Log(10));
        for tick in y.ticks(5) {
            let at = y.place(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                percent(tick)
            );
        }
        svg += &self.bars_svg(&y);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/><text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text></svg>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 42.0,
            Escaped(&self.x_title)
        );
        svg
    }

    fn bars_svg(&self, y: &Scale) -> String {
        let room = (RIGHT - LEFT) / self.bars.len().max(1) as f64;
        let width = (BAR_SHARE * room).min(WIDEST);
        let mut svg = String::new();
        for (index, bar) in self.bars.iter().enumerate() {
            let middle = LEFT + room * (index as f64 + 0.5);
            let top = if bar.share > 0.0 { y.place(bar.share) } else { BOTTOM };
            let _ = write!(
                svg,
                "<rect class=\"share\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\"><title>{}</title></rect>\
                 <text class=\"soft\" text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
                middle - width / 2.0,
                BOTTOM - top,
                Escaped(&bar.words),
                BOTTOM + 20.0,
                Escaped(&bar.label)
            );
        }
        svg
    }
}

/// A power of ten as a percentage: all its digits, since none is lost.
fn percent(share: f64) -> String {
    let text = format!("{:.6}", 100.0 * share);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
