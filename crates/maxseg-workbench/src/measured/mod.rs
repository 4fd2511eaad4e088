//! What `maxseg path` measured on a real path, as rows beside the runs of a scenario.
//!
//! ```text
//! path.json → report (the keys that are read) → Measurement… ─┬→ Row, engine `measured`
//!                                     points of the scenario ─┘  equal segment size and window
//! ```

mod report;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use maxseg_core::engine::{Caveat, EngineName};
use maxseg_core::outcome::Outcome;
use maxseg_core::results::Row;
use maxseg_core::scenario::{End, Flow, FlowKind, Scenario};
use maxseg_core::settings::WindowSize;
use serde_json::{Map, Value};

use crate::error::{Error, MeasuredError};
use report::Report;

/// The transfers of a report.
#[derive(Debug)]
pub struct Measured {
    file: String,
    address: String,
    measurements: Vec<Measurement>,
}

/// One transfer, or the mean of several at once.
#[derive(Debug, Clone, PartialEq)]
struct Measurement {
    /// The part of the report that it stands in.
    part: &'static str,
    /// Who sent the data.
    direction: Direction,
    /// Payload of a full segment: the one, or those that the path MTU leaves.
    segments: Vec<u64>,
    window: Window,
    outcome: Outcome,
}

/// Which way data went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    /// To the far end.
    Upload,
    /// From it.
    Download,
}

/// The receiver's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    /// It was set, in bytes.
    Set(u64),
    /// The kernel widened it, as far as this where that is known.
    Automatic(Option<u64>),
}

/// A point of the sweep: its values, its scenario, and what identifies it.
pub type MeasuredPoint<'a> = (&'a Map<String, Value>, &'a Scenario, &'a str);

/// The rows of a report that have a point, and how many have none.
#[derive(Debug)]
pub struct MeasuredRows {
    /// Point by point.
    pub rows: Vec<Row>,
    /// Transfers with a segment size or window that no point has.
    pub without_point: usize,
}

impl Measured {
    /// Reads a report.
    ///
    /// # Errors
    /// The file cannot be read, is not a report of this version, or one without throughput.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let bytes = fs::read(file).map_err(|error| Error::file("read", file, error))?;
        Ok(Self::of_json(&bytes, &file.display().to_string())?)
    }

    fn of_json(bytes: &[u8], file: &str) -> Result<Self, MeasuredError> {
        let report = Report::parse(bytes, file)?;
        let measurements = report.measurements();
        if measurements.is_empty() {
            let why = report.far_end_error.clone();
            let why =
                why.unwrap_or_else(|| "nothing was transferred to or from a far end".to_owned());
            return Err(MeasuredError::NoRows { file: file.to_owned(), why });
        }
        Ok(Self { file: file.to_owned(), address: report.address, measurements })
    }

    /// A row for each point and each transfer with its segment size and window.
    ///
    /// # Errors
    /// There is none.
    pub fn rows<'a>(
        &self,
        points: impl Iterator<Item = MeasuredPoint<'a>>,
    ) -> Result<MeasuredRows, Error> {
        let mut rows = Vec::new();
        let mut has_point = vec![false; self.measurements.len()];
        let mut first = None;
        for (values, scenario, hash) in points {
            let flow = scenario.flows.iter().find(|flow| flow.kind == FlowKind::Bulk);
            let Some(flow) = flow else { continue };
            let settings = PointSettings::of(scenario, flow);
            for (measurement, has_point) in self.measurements.iter().zip(&mut has_point) {
                if measurement.is_of(&settings) {
                    *has_point = true;
                    rows.push(Row {
                        engine: EngineName::Measured,
                        point: values.clone(),
                        hash: hash.to_owned(),
                        seed: None,
                        outcome: measurement.outcome.clone(),
                        caveats: vec![self.caveat(measurement, &settings)],
                    });
                }
            }
            first.get_or_insert(settings);
        }
        if rows.is_empty() {
            let point = first.map_or_else(|| "no bulk flow".to_owned(), |first| first.text());
            let (file, settings) = (self.file.clone(), self.settings_text());
            return Err(MeasuredError::NoPoint { file, settings, point }.into());
        }
        let without_point = has_point.iter().filter(|has_point| !**has_point).count();
        Ok(MeasuredRows { rows, without_point })
    }

    fn caveat(&self, measurement: &Measurement, settings: &PointSettings) -> Caveat {
        let Measurement { part, direction, .. } = measurement;
        let mut text = format!(
            "measured on the path to {} by `maxseg path` ({part}, {})",
            self.address,
            direction.word()
        );
        if settings.direction != *direction {
            text += "; the flow goes from the sender, which is not the far end where `maxseg path --scenario` made the file";
        }
        Caveat::new("measured", text)
    }

    /// The segment sizes and windows of the rows, each once.
    fn settings_text(&self) -> String {
        let mut sizes: Vec<u64> =
            self.measurements.iter().flat_map(|row| row.segments.clone()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut windows: Vec<String> = Vec::new();
        for row in &self.measurements {
            let text = row.window.text();
            if !windows.contains(&text) {
                windows.push(text);
            }
        }
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        format!("segments of {} bytes; windows: {}", sizes.join(", "), windows.join(", "))
    }
}

/// Puts rows of a path behind the others of their points.
pub fn place(rows: &mut Vec<Row>, measured: Vec<Row>) {
    for row in measured {
        let last = rows.iter().rposition(|other| other.point == row.point);
        rows.insert(last.map_or(rows.len(), |last| last + 1), row);
    }
}

/// What a point's bulk flow has.
#[derive(Debug)]
struct PointSettings {
    direction: Direction,
    segment: u64,
    window: Window,
}

impl PointSettings {
    fn of(scenario: &Scenario, flow: &Flow) -> Self {
        let mss = scenario.mss(flow).effective.bytes();
        let (_, receiver) = scenario.settings_in_use(flow);
        let window = match receiver.window {
            WindowSize::Auto { most } => Window::Automatic(Some(most.get())),
            window @ (WindowSize::Bytes(_) | WindowSize::Segments(_)) => {
                Window::Set(window.bytes(mss).get())
            }
        };
        let direction = match flow.from {
            End::Sender => Direction::Upload,
            End::Receiver => Direction::Download,
        };
        Self { direction, segment: mss.get(), window }
    }

    fn text(&self) -> String {
        format!("segments of {} bytes; window: {}", self.segment, self.window.text())
    }
}

impl Measurement {
    /// A window that the kernel widened is also that of a host with a set one that it never filled.
    fn is_of(&self, point: &PointSettings) -> bool {
        let has_window = match (self.window, point.window) {
            (Window::Set(measured), Window::Set(point)) => measured == point,
            (Window::Automatic(_), Window::Automatic(_)) => true,
            (Window::Automatic(Some(most)), Window::Set(point)) => point >= most,
            (Window::Set(_), Window::Automatic(_)) | (Window::Automatic(None), Window::Set(_)) => {
                false
            }
        };
        let is_other_way = self.part != report::TABLE && self.direction != point.direction;
        self.segments.contains(&point.segment) && has_window && !is_other_way
    }
}

impl Direction {
    const fn word(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
        }
    }
}

impl Window {
    fn text(self) -> String {
        match self {
            Self::Set(bytes) => format!("{bytes} B"),
            Self::Automatic(_) => "auto".to_owned(),
        }
    }
}
