//! Bars with their names and values, one below the other.

use maud::{Markup, html};

use super::layout::{Anchor, LINE, for_both, headings, label, px, svg, widest};

/// Bars under a title.
#[derive(Debug)]
pub(crate) struct BarChart {
    /// What they show.
    pub(crate) title: String,
    /// Below the title.
    pub(crate) subtitle: String,
    /// What their lengths measure.
    pub(crate) kind: BarKind,
    /// From the top down.
    pub(crate) bars: Vec<Bar>,
}

/// What the lengths of bars measure: each has its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarKind {
    /// Goodput.
    Goodput,
    /// Round trips under load.
    Ping,
    /// Sizes of packets.
    Size,
}

impl BarKind {
    const fn class(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Ping => "ping",
            Self::Size => "size",
        }
    }
}

/// A bar: its name, its length in any unit, and what stands behind it.
#[derive(Debug, Default)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) length: f64,
    pub(crate) said: String,
    /// It is only expected.
    pub(crate) is_expected: bool,
    /// A dashed line follows it.
    pub(crate) is_last_before_line: bool,
}

/// Height of a bar, and the room between two.
const BAR: f64 = 16.0;
const GAP: f64 = 10.0;
/// Names stand before their bars where these keep at least this share of the width, and above them otherwise.
const LEAST_ROOM: f64 = 0.4;

impl BarChart {
    /// The bars as a piece of a page; nothing where there is none.
    pub(crate) fn to_html(&self) -> Markup {
        html! { @if !self.bars.is_empty() { (for_both(|width| self.draw(width))) } }
    }

    fn draw(&self, width: f64) -> Markup {
        let (headings, top) = headings(&self.title, &self.subtitle, width);
        let names = widest(self.bars.iter().map(|bar| bar.name.as_str())) + 12.0;
        let behind = widest(self.bars.iter().map(|bar| bar.said.as_str())) + 8.0;
        let is_beside = width - names - behind >= LEAST_ROOM * width;
        let left = if is_beside { names } else { 0.0 };
        let above = if is_beside { 0.0 } else { LINE };
        let step = above + BAR + GAP;
        let most = self.bars.iter().map(|bar| bar.length).fold(f64::MIN_POSITIVE, f64::max);
        let length = |bar: &Bar| (width - left - behind) * bar.length / most;
        let body = html! {
            (headings)
            @for (at, bar) in self.bars.iter().enumerate() {
                @let y = top + 12.0 + above + step * at as f64;
                @let text = y + BAR - 4.0;
                (label("", Anchor::Start, 0.0, if is_beside { text } else { y - 6.0 }, &bar.name))
                rect class=(if bar.is_expected { "expected" } else { self.kind.class() })
                    x=(px(left)) y=(px(y)) width=(px(length(bar))) height=(px(BAR)) {}
                (label("", Anchor::Start, left + length(bar) + 8.0, text, &bar.said))
                @if bar.is_last_before_line {
                    path class="hole" d={ "M0 " (px(y + BAR + GAP / 2.0)) "H" (px(width)) } {}
                }
            }
        };
        let name = format!("{}. {}", self.title, self.subtitle);
        svg(width, top + 12.0 + step * self.bars.len() as f64, &name, "", &body)
    }
}
