//! A scenario file with values set from outside, before it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toml::{Table, Value};

use super::examples::example;
use super::key::{self, KeyError, KeyStep, Overlap, overlap};
use super::locate::{Origin, key_span, location_of, value_span};
use super::meaning::meaning;
use super::misread::{Misread, list_for_table};
use super::syntax::{SyntaxError, syntax_error};
use super::values::{LIST_HINT, list, value};
// circle: a draft describes its sweep, and a sweep sets its values in the draft.
use super::sweep::{POINT, Sweep};
// circle: a draft keeps the stack files that its sweep names, and a stack file is set in a draft.
use super::stack_file::StackFile;
use super::{Location, Scenario, ScenarioError, ScenarioSpec};

/// The longest path (RFC 791: time to live).
const MOST_HOPS: usize = 255;
/// More flows than any simulation is asked for.
const MOST_FLOWS: usize = 10_000;

/// A scenario file as a TOML document, together with what was set from outside.
#[derive(Debug, Clone)]
pub struct Draft {
    file: Arc<str>,
    text: Arc<str>,
    table: Table,
    overrides: Vec<Override>,
    pub(super) stack_files: Arc<BTreeMap<String, StackFile>>, // by the names in the sweep
}

/// A value that was not written in the file, or not where it stands now.
#[derive(Debug, Clone)]
struct Override {
    place: Vec<KeyStep>,
    origin: Origin,
}

impl Draft {
    /// The document in `text`, which was read from `file`.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let table = text.parse::<Table>().map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let SyntaxError { what, hint } =
                syntax_error(error.message(), text.get(span.clone()).unwrap_or_default());
            let location = location_of(file, text, span);
            ScenarioError { what, key: String::new(), location, hint: hint.to_owned() }
        })?;
        let draft = Self {
            file: file.into(),
            text: text.into(),
            table,
            overrides: Vec::new(),
            stack_files: Arc::default(),
        };
        draft.check_lengths()?;
        Ok(draft)
    }

    /// Lists that no path and no run needs are refused before they are read.
    fn check_lengths(&self) -> Result<(), ScenarioError> {
        let limits = [
            ("hop", MOST_HOPS, "a packet crosses at most 255 hops: the TTL of IP has 8 bits"),
            ("flow", MOST_FLOWS, "one bulk flow stands for many: leave some out"),
        ];
        for (key, most, hint) in limits {
            let length = self.table.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            if length > most {
                let path = [KeyStep::Key(key.to_owned()), KeyStep::Index(most)];
                return Err(ScenarioError {
                    what: format!("{length} entries of [[{key}]] are more than {most}"),
                    key: key.to_owned(),
                    location: self.location(&path),
                    hint: hint.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The same without its sweep, as a point of the sweep begins.
    pub(super) fn without_sweep(&self) -> Self {
        let kept = self.table.iter().filter(|(key, _)| *key != "sweep");
        Self {
            file: Arc::clone(&self.file),
            text: Arc::clone(&self.text),
            table: kept.map(|(key, value)| (key.clone(), value.clone())).collect(),
            overrides: self.overrides.clone(),
            stack_files: Arc::clone(&self.stack_files),
        }
    }

    /// Set `key` to `value` wherever the key leads.
    ///
    /// # Errors
    /// The key leads nowhere.
    pub(super) fn set(
        &mut self,
        key: &str,
        value: &Value,
        origin: &Origin,
    ) -> Result<(), ScenarioError> {
        let places = self.places(key, origin)?;
        for place in places {
            key::set(&mut self.table, &place, value.clone())
                .map_err(|error| self.refuse(key, error, origin))?;
            self.overrides.push(Override { place, origin: origin.clone() });
        }
        Ok(())
    }

    /// Where `key` leads.
    fn places(&self, key: &str, origin: &Origin) -> Result<Vec<Vec<KeyStep>>, ScenarioError> {
        key::places(&self.table, key).map_err(|error| self.refuse(key, error, origin))
    }

    fn refuse(&self, key: &str, error: KeyError, origin: &Origin) -> ScenarioError {
        ScenarioError {
            what: error.what,
            key: key.to_owned(),
            location: self.location_of_origin(origin),
            hint: error.hint,
        }
    }

    /// Set what `assignment` says: `KEY=VALUE`, the value as in the file, quotes not needed. A key
    /// that the file sweeps is swept no more.
    ///
    /// # Errors
    /// It is no assignment, the key leads nowhere, or an axis of the file would undo it.
    pub fn set_argument(&mut self, assignment: &str) -> Result<(), ScenarioError> {
        let written = format!("--set {assignment}");
        let Some((key, text)) = assignment.split_once('=') else {
            let what = format!("`{assignment}` is not KEY=VALUE");
            return Err(at_argument(&written, what, "write for example --set sender.mss=536"));
        };
        let key = key.trim();
        self.end_sweep_of(key, None, &written)?;
        self.set(key, &value(text), &Origin::Argument(written))
    }

    /// Sweep as `argument` says: `KEY=VALUE,VALUE…`, `KEY=FROM..TO..STEP` or `KEY=FROM..TO..xFACTOR`.
    /// What the file says about that key goes.
    ///
    /// # Errors
    /// It is no such thing, has no values, or was set or swept by another argument.
    pub fn sweep_argument(&mut self, argument: &str) -> Result<(), ScenarioError> {
        let written = format!("--axis {argument}");
        let Some((key, values)) = argument.split_once('=') else {
            let what = format!("`{argument}` is not KEY=VALUES");
            return Err(at_argument(
                &written,
                what,
                "write for example --axis sender.mss=88,536,1460",
            ));
        };
        let key = key.trim();
        let values = list(values).map_err(|what| at_argument(&written, what, LIST_HINT))?;
        let origin = Origin::Argument(written.clone());
        self.refuse_second_argument(&self.places(key, &origin)?, key, &written)?;
        self.end_sweep_of(key, Some(key), &written)?;
        let place = vec![KeyStep::Key("sweep".to_owned()), KeyStep::Key(key.to_owned())];
        key::set(&mut self.table, &place, Value::Array(values))
            .map_err(|error| self.refuse(key, error, &origin))?;
        self.overrides.push(Override { place, origin });
        Ok(())
    }

    /// One argument sets a key or sweeps it, not two.
    fn refuse_second_argument(
        &self,
        places: &[Vec<KeyStep>],
        key: &str,
        written: &str,
    ) -> Result<(), ScenarioError> {
        let collides = |earlier: &&Override| match earlier.place.as_slice() {
            [KeyStep::Key(sweep), KeyStep::Key(axis)] if sweep == "sweep" => {
                overlap(&self.table, key, axis) != Overlap::None
            }
            set => places.iter().any(|place| place.starts_with(set) || set.starts_with(place)),
        };
        match self.overrides.iter().find(collides) {
            Some(Override { origin: Origin::Argument(earlier), .. }) => {
                let what = format!("`{earlier}` is about the same key");
                Err(at_argument(written, what, "leave one of them out"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes out of the file's sweep what `key` sets, all but the axis `replaced`, which keeps its place
    /// for new values.
    fn end_sweep_of(
        &mut self,
        key: &str,
        replaced: Option<&str>,
        written: &str,
    ) -> Result<(), ScenarioError> {
        let document = self.table.clone();
        let Some(sweep) = self.table.get_mut("sweep").and_then(Value::as_table_mut) else {
            return Ok(());
        };
        let mut undone = None;
        let mut keep = |swept: &str| match overlap(&document, key, swept) {
            Overlap::None => true,
            Overlap::Covers => false,
            Overlap::Partly => {
                undone.get_or_insert(swept.to_owned());
                true
            }
        };
        sweep.retain(|swept, _| swept == POINT || replaced == Some(swept) || keep(swept));
        if let Some(points) = sweep.get_mut(POINT).and_then(Value::as_array_mut) {
            for point in points.iter_mut().filter_map(Value::as_table_mut) {
                point.retain(|swept, _| keep(swept));
            }
            points.retain(|point| point.as_table().is_none_or(|table| !table.is_empty()));
            let mut known = BTreeSet::new();
            points.retain(|point| known.insert(meaning(point)));
        }
        sweep.retain(|key, values| {
            key != POINT || values.as_array().is_none_or(|points| !points.is_empty())
        });
        if sweep.is_empty() {
            self.table.remove("sweep");
        }
        match undone {
            None => Ok(()),
            Some(axis) => {
                let what = format!("the axis `{axis}` of the file would undo a part of it");
                Err(at_argument(written, what, &format!("set `{axis}` instead, or sweep that")))
            }
        }
    }

    /// The scenario that the document describes, its sweep left aside.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let table = self.without_sweep().table;
        if let Some(place) = list_for_table(&table) {
            return Err(self.misread(&place, "invalid type: sequence, expected a map"));
        }
        let spec: ScenarioSpec = serde_path_to_error::deserialize(table)
            .map_err(|error| self.misread(&steps(error.path()), error.inner().message()))?;
        spec.resolve().map_err(|problem| {
            let path = key::places(&self.table, &problem.key)
                .ok()
                .and_then(|places| places.into_iter().next())
                .unwrap_or_default();
            ScenarioError {
                what: problem.what,
                key: self.named(&path),
                location: self.location(&path),
                hint: problem.hint,
            }
        })
    }

    /// The sweep: the file's, as changed from outside; of one point where there is none.
    ///
    /// # Errors
    /// An axis is empty or not a list, names a key that cannot be swept, or there are too many points.
    pub fn sweep(&self) -> Result<Sweep, ScenarioError> {
        let at_sweep = vec![KeyStep::Key("sweep".to_owned())];
        match self.table.get("sweep") {
            None => Ok(Sweep::default()),
            Some(Value::Table(table)) => {
                Sweep::from_table(table, &self.table).map_err(|fault| ScenarioError {
                    what: fault.what,
                    key: key::written(&fault.below),
                    location: self.location(&[at_sweep, fault.below].concat()),
                    hint: fault.hint,
                })
            }
            Some(_) => Err(ScenarioError {
                what: "`sweep` must be a table".to_owned(),
                key: "sweep".to_owned(),
                location: self.location(&at_sweep),
                hint: "write [sweep] and below it \"sender.mss\" = [536, 1460]".to_owned(),
            }),
        }
    }

    /// The document as JSON, values as in the file.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.table).unwrap_or_default()
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The document, values as in the file.
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    /// What serde could not read, at the place where it was written.
    pub(super) fn misread(&self, path: &[KeyStep], message: &str) -> ScenarioError {
        match Misread::of(path, message, key::get(&self.table, path)) {
            Misread::UnknownKey { table, name, hint } => {
                let full = [table, &[KeyStep::Key(name.clone())]].concat();
                let location = match self.overriding(&full) {
                    Some(origin) => self.location_of_origin(origin),
                    None => match key_span(&self.text, table, &name) {
                        Some(span) => location_of(&self.file, &self.text, span),
                        None => self.location(table),
                    },
                };
                let what = format!("unknown key `{name}`");
                ScenarioError { what, key: self.named(&full), location, hint }
            }
            Misread::MissingKey { name } => {
                let full = [path, &[KeyStep::Key(name.clone())]].concat();
                let table =
                    if path.is_empty() { "the scenario".to_owned() } else { self.named(path) };
                ScenarioError {
                    what: format!("{table} has no `{name}`"),
                    key: self.named(&full),
                    location: self.location(path),
                    hint: format!("add {}", example(&full)),
                }
            }
            Misread::Value { what, hint } => {
                ScenarioError { what, key: self.named(path), location: self.location(path), hint }
            }
        }
    }

    /// Where the value at `path` was written: the last override of it, or else the file.
    pub(super) fn location(&self, path: &[KeyStep]) -> Location {
        if let Some(origin) = self.overriding(path) {
            return self.location_of_origin(origin);
        }
        match value_span(&self.text, path) {
            Some(span) => location_of(&self.file, &self.text, span),
            None => Location::Missing(self.file.to_string()),
        }
    }

    fn overriding(&self, path: &[KeyStep]) -> Option<&Origin> {
        let concerns = |place: &[KeyStep]| place.starts_with(path) || path.starts_with(place);
        let last = self.overrides.iter().rev().find(|over| concerns(&over.place));
        last.filter(|_| !path.is_empty()).map(|over| &over.origin)
    }

    fn location_of_origin(&self, origin: &Origin) -> Location {
        match origin {
            Origin::Argument(argument) | Origin::StackFile(argument) => {
                Location::Argument(argument.clone())
            }
            Origin::Sweep(below) => {
                self.location(&[vec![KeyStep::Key("sweep".to_owned())], below.clone()].concat())
            }
        }
    }

    /// A place as `--set` would name it, hops by their names.
    fn named(&self, path: &[KeyStep]) -> String {
        let mut words = path.to_vec();
        if let [KeyStep::Key(array), index @ KeyStep::Index(_), ..] = words.as_mut_slice()
            && array == "hop"
            && let Some(hop) = key::get(&self.table, &path[..2])
            && let Some(name) = hop.get("name").and_then(Value::as_str)
        {
            *index = KeyStep::Key(name.to_owned());
        }
        key::written(&words)
    }
}

fn at_argument(written: &str, what: String, hint: &str) -> ScenarioError {
    ScenarioError {
        what,
        key: String::new(),
        location: Location::Argument(written.to_owned()),
        hint: hint.to_owned(),
    }
}

pub(super) fn steps(path: &serde_path_to_error::Path) -> Vec<KeyStep> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(KeyStep::Index(*index)),
            Segment::Map { key } => Some(KeyStep::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}
