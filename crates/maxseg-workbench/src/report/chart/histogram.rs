//! A histogram over given ranges: how large a share lies in each, on a logarithmic scale, for tails.

use maud::{Markup, html};

use super::figure::Spacing;
use super::layout::{Anchor, Below, LINE, for_both, headings, label, px, svg, text_width};
use super::scale::Scale;

/// Shares of ranges that follow each other.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    /// What it shows.
    pub(crate) title: String,
    /// Below the title: of how many, and what is to be known of them.
    pub(crate) subtitle: String,
    /// What the ranges are of.
    pub(crate) x_title: String,
    /// What the shares are of.
    pub(crate) y_title: String,
    /// From left to right.
    pub(crate) ranges: Vec<Range>,
}

/// A range and its share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    /// The range in words.
    pub(crate) label: String,
    /// How many of all lie in it, from 0 to 1.
    pub(crate) share: f64,
    /// What a reader sees who points at it.
    pub(crate) words: String,
}

/// From top to bottom of the bars.
const HEIGHT: f64 = 210.0;
/// Of a bar's place.
const BAR_SHARE: f64 = 0.7;
/// Wider bars say no more.
const WIDEST: f64 = 60.0;
/// A scale of fewer decades would make differences of nothing.
const LEAST_DECADES: f64 = 2.0;

impl Histogram {
    /// The histogram as a piece of a page, which provides the ground.
    pub(crate) fn to_html(&self) -> Markup {
        for_both(|width| self.draw(width))
    }

    fn draw(&self, width: f64) -> Markup {
        let (headings, y) = headings(&self.title, &self.subtitle, width);
        let top = y + LINE + 10.0;
        let bottom = top + HEIGHT;
        let scale = self.scale(bottom, top);
        let ticks: Vec<(f64, String)> =
            scale.ticks(5).into_iter().map(|tick| (scale.place(tick), percent(tick))).collect();
        let left = ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max) + 12.0;
        let room = (width - left) / self.ranges.len().max(1) as f64;
        let middle = |index: usize| left + room * (index as f64 + 0.5);
        let labels = self.ranges.iter().enumerate();
        let below =
            Below::words(labels.map(|(n, range)| (middle(n), range.label.clone())).collect());
        let bar = (BAR_SHARE * room).min(WIDEST);
        let body = html! {
            (headings)
            (label("", Anchor::Start, 0.0, top - 12.0, &format!("↑ {}, logarithmic", self.y_title)))
            @for (y, text) in &ticks {
                path class="grid" d={ "M" (px(left)) " " (px(*y)) "H" (px(width)) } {}
                (label("soft", Anchor::End, left - 8.0, y + 4.0, text))
            }
            @for (index, range) in self.ranges.iter().enumerate() {
                @let top = if range.share > 0.0 { scale.place(range.share) } else { bottom };
                rect class="share" x=(px(middle(index) - bar / 2.0)) y=(px(top)) width=(px(bar)) height=(px(bottom - top)) {
                    title { (range.words) }
                }
            }
            path class="grid" d={ "M" (px(left)) " " (px(bottom)) "H" (px(width)) } {}
            (below.to_svg(bottom))
            (label("", Anchor::Middle, f64::midpoint(left, width), bottom + below.height + LINE, &self.x_title))
        };
        let name = format!("{}. {}", self.title, self.subtitle);
        svg(width, bottom + below.height + LINE + 10.0, &name, "", &body)
    }

    fn scale(&self, bottom: f64, top: f64) -> Scale {
        let shares = self.ranges.iter().map(|range| range.share).filter(|share| *share > 0.0);
        let decades = -shares.fold(1.0, f64::min).log10().floor();
        let low = 10_f64.powf(-decades.max(LEAST_DECADES));
        Scale::new(low, 1.0, bottom, top, Spacing::Log(10))
    }
}

/// A power of ten as a percentage: all its digits, since none is lost.
fn percent(share: f64) -> String {
    let text = format!("{:.6}", 100.0 * share);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
