//! The numbers of the graphs for the page's script: columns of differences, which are short.

use serde::Serialize;

use super::thin::{kept, thinned_line};
use super::{Layer, LayerKind, Panel, Row, Timeline, Unit};

/// Times are whole numbers of this, in seconds.
const TICK_S: f64 = 1e-7;
/// Points of a line, and dots, that the page carries of a layer: some ten bytes each.
const MOST_POINTS: usize = 40_000;

#[derive(Serialize)]
struct TimelineData<'a> {
    /// Microseconds since 1970: whole numbers of a script hold no nanoseconds.
    begin_us: Option<u64>,
    from: f64,
    to: f64,
    tick_s: f64,
    packets: u64,
    filter: &'a str,
    filter_in_range: &'a str,
    panels: Vec<PanelData<'a>>,
    others: Vec<LayerData<'a>>,
}

#[derive(Serialize)]
struct PanelData<'a> {
    id: &'a str,
    title: &'a str,
    height: f64,
    unit: &'static str,
    ends: Option<&'a [String; 2]>,
    layers: Vec<LayerData<'a>>,
    rows: Vec<RowData<'a>>,
}

#[derive(Serialize)]
struct LayerData<'a> {
    label: &'a str,
    kind: &'static str,
    color: &'static str,
    is_bound: bool,
    /// Differences of times, in ticks.
    t: Vec<i64>,
    /// Differences of values, in units of `scale`.
    v: Vec<i64>,
    scale: f64,
    packet: Option<&'a str>,
    /// Differences of packet numbers.
    frames: Option<Vec<i64>>,
    bytes: Option<Vec<u32>>,
    /// Differences of windows, −1 where one is not known.
    windows: Option<Vec<i64>>,
}

#[derive(Serialize)]
struct RowData<'a> {
    label: &'a str,
    color: &'static str,
    spans: Vec<SpanData<'a>>,
}

#[derive(Serialize)]
struct SpanData<'a> {
    from: f64,
    to: f64,
    text: &'a str,
}

impl Timeline {
    /// As JSON that may stand in a script element of HTML, and of XML.
    pub(super) fn data(&self) -> String {
        let data = TimelineData {
            begin_us: self.begin.map(|begin| begin.as_nanos() / 1000),
            from: self.from,
            to: self.to,
            tick_s: TICK_S,
            packets: self.packets,
            filter: &self.filter,
            filter_in_range: &self.filter_in_range,
            panels: self.panels.iter().filter(|panel| !panel.is_empty()).map(Panel::data).collect(),
            others: self
                .others
                .iter()
                .filter(|layer| !layer.points.is_empty())
                .map(|layer| layer.data(1.0))
                .collect(),
        };
        let json = serde_json::to_string(&data).unwrap_or_default();
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

impl Panel {
    fn data(&self) -> PanelData<'_> {
        let (unit, ends) = match &self.unit {
            Unit::Bytes => ("bytes", None),
            Unit::Rate => ("rate", None),
            Unit::Time => ("time", None),
            Unit::Ends(ends) => ("ends", Some(ends)),
        };
        // Times are kept to the nanosecond, all else to whole bytes and bits per second.
        let scale = if self.unit == Unit::Time { 1e-9 } else { 1.0 };
        PanelData {
            id: self.id,
            title: &self.title,
            height: self.height,
            unit,
            ends,
            layers: self.shown().map(|layer| layer.data(scale)).collect(),
            rows: self.rows.iter().map(Row::data).collect(),
        }
    }
}

impl Layer {
    /// How many of its packets the page carries.
    pub(crate) fn carried(&self) -> usize {
        self.kept().len()
    }

    /// Which of its points the page carries.
    fn kept(&self) -> Vec<usize> {
        match self.kind {
            LayerKind::Steps | LayerKind::Dots => kept(&self.points, MOST_POINTS),
            LayerKind::Line
            | LayerKind::Rates
            | LayerKind::RateMarks
            | LayerKind::Marks
            | LayerKind::Rings
            | LayerKind::Arrows
            | LayerKind::Pieces => (0..self.points.len()).collect(),
        }
    }

    fn data(&self, scale: f64) -> LayerData<'_> {
        let kept = self.kept();
        let is_line = matches!(self.kind, LayerKind::Line | LayerKind::Steps);
        let points = if is_line && self.packets.is_none() {
            thinned_line(&self.points, MOST_POINTS)
        } else {
            of(&kept, &self.points)
        };
        let packets = self.packets.as_ref();
        let frames = packets.filter(|packets| !packets.frames.is_empty());
        let windows = packets.filter(|packets| !packets.windows.is_empty());
        LayerData {
            label: &self.label,
            kind: self.kind.word(),
            color: self.color,
            is_bound: self.is_bound,
            t: differences(points.iter().map(|(time, _)| whole(time / TICK_S))),
            v: differences(points.iter().map(|(_, value)| whole(value / scale))),
            scale,
            packet: frames.map(|packets| packets.what.as_str()),
            frames: frames.map(|packets| {
                differences(of(&kept, &packets.frames).iter().map(|frame| frame.cast_signed()))
            }),
            bytes: packets.map(|packets| of(&kept, &packets.bytes)),
            windows: windows.map(|packets| {
                let bytes = |window: &Option<u64>| window.map_or(-1, u64::cast_signed);
                differences(of(&kept, &packets.windows).iter().map(bytes))
            }),
        }
    }
}

impl LayerKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Steps => "steps",
            Self::Rates => "rates",
            Self::RateMarks => "rate-marks",
            Self::Dots => "dots",
            Self::Marks => "marks",
            Self::Rings => "rings",
            Self::Arrows => "arrows",
            Self::Pieces => "pieces",
        }
    }
}

impl Row {
    fn data(&self) -> RowData<'_> {
        let spans = self.spans.iter();
        let spans = spans.map(|span| SpanData { from: span.from, to: span.to, text: &span.text });
        RowData { label: &self.label, color: self.color, spans: spans.collect() }
    }
}

/// Those of a list that are kept.
fn of<T: Copy>(kept: &[usize], list: &[T]) -> Vec<T> {
    kept.iter().filter_map(|index| list.get(*index)).copied().collect()
}

fn differences(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    values.map(|value| value - std::mem::replace(&mut before, value)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "casts saturate, and a graph ends before that")]
fn whole(value: f64) -> i64 {
    value.round() as i64
}
