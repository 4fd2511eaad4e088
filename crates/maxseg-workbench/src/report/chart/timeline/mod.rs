//! Graphs over the same time, one below the other: what happened at a moment stands on one vertical line.
//!
//! `still` draws them as pictures for a page without its script, `data` writes the numbers from which the script draws
//! them anew for each view. Colours are custom properties of the page.

mod data;
mod still;
mod thin;

use maud::{Markup, PreEscaped, html};
use maxseg_core::units::Time;

use super::super::words;

/// Graphs that share their time.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    /// The time that stands at 0, since 1970; `None` where that does not tell the time of day of all.
    pub(crate) begin: Option<Time>,
    /// From where to where, in seconds.
    pub(crate) from: f64,
    /// See `from`.
    pub(crate) to: f64,
    /// From top to bottom.
    pub(crate) panels: Vec<Panel>,
    /// How many packets there are, of which the layers may hold fewer.
    pub(crate) packets: u64,
    /// Packets that no panel shows.
    pub(crate) others: Vec<Layer>,
    /// Wireshark's display filter of what they show.
    pub(crate) filter: String,
    /// The same where numbers of packets bound it already.
    pub(crate) filter_in_range: String,
}

/// One graph.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Its name in links.
    pub(crate) id: &'static str,
    /// What it shows.
    pub(crate) title: String,
    /// How high the plot is, where it has no rows.
    pub(crate) height: f64,
    /// What its values are.
    pub(crate) unit: Unit,
    /// From back to front.
    pub(crate) layers: Vec<Layer>,
    /// Rows of bars instead of layers, from the top down.
    pub(crate) rows: Vec<Row>,
    /// What stands below it.
    pub(crate) note: String,
    /// Why there is nothing to show, where that is so.
    pub(crate) missing: &'static str,
    /// The same as a table; `None` where there is none.
    pub(crate) table: Option<Markup>,
}

/// What the values of a panel are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes.
    Bytes,
    /// Bits per second.
    Rate,
    /// Seconds.
    Time,
    /// 0 is the first of two ends, 1 the second.
    Ends([String; 2]),
}

impl Unit {
    /// A value in words.
    fn write(&self, value: f64) -> String {
        match self {
            Self::Bytes => words::size(words::rounded(value)),
            Self::Rate => words::round_rate(value),
            Self::Time => words::time(value),
            Self::Ends(ends) => ends[usize::from(value > 0.5)].clone(),
        }
    }
}

/// Something that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// What it is, for the legend.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) kind: LayerKind,
    /// Its colour: a custom property of the page.
    pub(crate) color: &'static str,
    /// Whether it is a bound to the others: where it is far above them, the axis does not go up to it.
    pub(crate) is_bound: bool,
    /// Time in seconds and value, in order of time.
    pub(crate) points: Vec<(f64, f64)>,
    /// The packet of each point, where points are packets; or the bytes of each piece.
    pub(crate) packets: Option<Packets>,
}

/// The packets of a layer's points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packets {
    /// What each is: `segment from byte`, followed by the value where it ends with `byte`.
    pub(crate) what: String,
    /// Their numbers in the capture; empty where the points are not single packets.
    pub(crate) frames: Vec<u64>,
    /// Their payload in bytes.
    pub(crate) bytes: Vec<u32>,
    /// The windows that they advertise, where they are known; empty where they are not looked at.
    pub(crate) windows: Vec<Option<u64>>,
}

/// How a layer is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerKind {
    /// From point to point.
    Line,
    /// A value holds until the next, the last one until the end.
    Steps,
    /// Rates of intervals, each from its point to the next: where many are shown in a pixel, their mean.
    Rates,
    /// Likewise; those above zero are marks.
    RateMarks,
    /// A dot each, a segment from its first byte to its last.
    Dots,
    /// A larger dot each, that is not to be overlooked.
    Marks,
    /// A ring each.
    Rings,
    /// An arrow from each point at an even place to the one behind it.
    Arrows,
    /// Likewise, a thick line.
    Pieces,
}

/// A row of bars.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What the bars are.
    pub(crate) label: String,
    /// Their colour.
    pub(crate) color: &'static str,
    /// The bars.
    pub(crate) spans: Vec<Span>,
}

/// A time that something took.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    /// When it began, in seconds.
    pub(crate) from: f64,
    /// When it ended, in seconds.
    pub(crate) to: f64,
    /// What took the time.
    pub(crate) text: String,
}

impl Timeline {
    /// All of them, as a piece of a page; the script finds the numbers in it.
    pub(crate) fn to_html(&self) -> Markup {
        html! {
            div.linked {
                // JSON in which no tag can begin.
                script type="application/json" class="graph-data" { (PreEscaped(self.data())) }
                @for panel in &self.panels { (self.figure(panel)) }
            }
        }
    }
}

/// A bound above so many times the largest of what it bounds is not shown.
const FAR: f64 = 3.0;

impl Panel {
    /// The largest value that is to be shown, of what each layer has at most.
    fn largest(&self, of_layer: impl Fn(&Layer) -> f64) -> f64 {
        let largest = |is_bound| {
            let layers = self.layers.iter().filter(|layer| layer.is_bound == is_bound);
            layers.map(&of_layer).fold(0.0_f64, f64::max)
        };
        let (others, bound) = (largest(false), largest(true));
        if others > 0.0 && bound > FAR * others { others } else { others.max(bound) }
    }

    /// Whether it has nothing to show.
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.shown().next().is_none()
    }

    /// The layers that have something to show.
    fn shown(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| !layer.points.is_empty())
    }
}

impl Layer {
    /// Its largest value: the last byte of a segment.
    fn largest(&self) -> f64 {
        let values = (0..self.points.len()).map(|index| self.points[index].1 + self.height(index));
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// How far a point reaches up: as many bytes as a segment has.
    fn height(&self, index: usize) -> f64 {
        let is_segment = matches!(self.kind, LayerKind::Dots | LayerKind::Marks);
        let packets = self.packets.as_ref().filter(|_| is_segment);
        packets.and_then(|packets| packets.bytes.get(index)).map_or(0.0, |bytes| f64::from(*bytes))
    }
}

#[cfg(test)]
mod tests;
