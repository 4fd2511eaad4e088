//! Sweeps: keys with values to try, every combination.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::draft::Draft;
use super::key::{KeyStep, Overlap, overlap};
use super::locate::Origin;
use super::meaning::meaning;
use super::values::{LIST_HINT, MOST_VALUES, list};
use super::{Scenario, ScenarioError};

/// Keys with values to try: the product of all axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    axes: Vec<Axis>,
}

/// One dimension of a sweep: one key with several values, or several keys that change together.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The keys, as written.
    pub keys: Vec<String>,
    /// For each step of the axis, a value for each key.
    pub steps: Vec<Vec<Value>>,
    /// Whether it comes from `[[sweep.point]]` tables.
    of_points: bool,
}

/// One combination of a sweep's values.
#[derive(Debug, Clone)]
pub struct Point {
    /// The swept keys with their values, as in the file.
    pub values: Vec<(String, Value)>,
    /// The scenario with these values set.
    pub scenario: Scenario,
}

/// The array of single points among the axes.
pub(super) const POINT: &str = "point";

/// What is wrong with a sweep, at a place below it.
pub(super) struct Fault {
    pub(super) below: Vec<KeyStep>,
    pub(super) what: String,
    pub(super) hint: String,
}

fn fault(below: &[KeyStep], what: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault { below: below.to_vec(), what: what.into(), hint: hint.into() }
}

fn step(key: &str) -> KeyStep {
    KeyStep::Key(key.to_owned())
}

impl Sweep {
    /// The sweep in the table `[sweep]` of `document`: `"key" = [values]`, `"key" = "FROM..TO..STEP"`,
    /// and `point` tables.
    pub(super) fn from_table(table: &Table, document: &Table) -> Result<Self, Fault> {
        let axes = table
            .iter()
            .map(|(key, values)| match (key.as_str(), values) {
                (POINT, Value::Array(points)) => Axis::of_points(points),
                (_, values) => Axis::of_key(key, values),
            })
            .collect::<Result<Vec<Axis>, Fault>>()?;
        let sweep = Self { axes };
        sweep.check_keys(document)?;
        Ok(sweep)
    }

    /// Each key can be swept, and no two axes set the same thing.
    fn check_keys(&self, document: &Table) -> Result<(), Fault> {
        let keys: Vec<(&Axis, &String)> = self
            .axes
            .iter()
            .flat_map(|axis| axis.keys.iter().map(move |key| (axis, key)))
            .collect();
        for (number, (axis, key)) in keys.iter().enumerate() {
            let below = axis.below(key);
            let first = key.split('.').next().unwrap_or(key);
            if first == "seed" {
                let hint = "--seeds 10 runs the scenario's own seed and the nine after it";
                return Err(fault(&below, "the seed is not an axis", hint));
            }
            if ["name", "about", "sweep"].contains(&first) {
                let hint = "sweep what changes the outcome";
                return Err(fault(&below, format!("`{key}` cannot be swept"), hint));
            }
            let same =
                |(_, earlier): &&(&Axis, &String)| overlap(document, key, earlier) != Overlap::None;
            if let Some((_, earlier)) = keys[..number].iter().find(same) {
                let what = format!("`{key}` sets what the axis `{earlier}` sets too");
                return Err(fault(&below, what, "leave one of them out"));
            }
        }
        Ok(())
    }

    /// The axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many combinations there are; `None` where no number holds them.
    pub fn len(&self) -> Option<usize> {
        self.axes.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.steps.len()))
    }

    /// Whether nothing is swept.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    /// Every combination, the last axis changing fastest.
    ///
    /// # Errors
    /// A value does not fit its key.
    pub fn points(&self, draft: &Draft) -> Result<Vec<Point>, ScenarioError> {
        let base = draft.without_sweep();
        (0..self.len().unwrap_or(0)).map(|number| self.point_of(&base, number)).collect()
    }

    /// One combination by its number, from 0.
    ///
    /// # Errors
    /// A value does not fit its key.
    pub fn point(&self, draft: &Draft, number: usize) -> Result<Point, ScenarioError> {
        self.point_of(&draft.without_sweep(), number)
    }

    fn point_of(&self, base: &Draft, number: usize) -> Result<Point, ScenarioError> {
        let mut draft = base.clone();
        let mut values = Vec::new();
        let mut stride: usize = self.axes.iter().map(|axis| axis.steps.len()).product();
        for axis in &self.axes {
            stride /= axis.steps.len();
            let index = number / stride % axis.steps.len();
            for (key, value) in axis.keys.iter().zip(&axis.steps[index]) {
                draft.set(key, value, &axis.origin(key, index))?;
                draft.set_swept_stack(key, value)?;
                values.push((key.clone(), value.clone()));
            }
        }
        Ok(Point { values, scenario: draft.scenario()? })
    }
}

impl Axis {
    /// One key with a list or a range of values.
    fn of_key(key: &str, values: &Value) -> Result<Self, Fault> {
        let below = [step(key)];
        let values = match values {
            Value::Array(values) => values.clone(),
            Value::String(range) => list(range).map_err(|what| fault(&below, what, LIST_HINT))?,
            Value::Table(_) => {
                let what = format!("`{key}` is a table, not an axis");
                let hint = "a key with dots needs quotes here: \"sender.mss\" = [536, 1460]";
                return Err(fault(&below, what, hint));
            }
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
                let what = format!("the axis `{key}` is not a list of values");
                return Err(fault(&below, what, "write \"sender.mss\" = [536, 1460]"));
            }
        };
        if values.is_empty() {
            let hint = "give it at least one value, or take it out";
            return Err(fault(&below, format!("the axis `{key}` is empty"), hint));
        }
        if values.len() > MOST_VALUES {
            let what = format!("the axis `{key}` has more than {MOST_VALUES} values");
            return Err(fault(&below, what, "shorten it"));
        }
        let mut known = BTreeSet::new();
        for (index, value) in values.iter().enumerate() {
            if !known.insert(meaning(value)) {
                let what = format!("the axis `{key}` has {value} twice");
                let hint = "take one of them out: \"64 KiB\" and \"65536 B\" are one value";
                return Err(fault(&[step(key), KeyStep::Index(index)], what, hint));
            }
        }
        let steps = values.into_iter().map(|value| vec![value]).collect();
        Ok(Self { keys: vec![key.to_owned()], steps, of_points: false })
    }

    /// `[[sweep.point]]` tables, which must all set the same keys.
    fn of_points(points: &[Value]) -> Result<Self, Fault> {
        const HINT: &str = "every [[sweep.point]] sets the same keys, such as \"sender.mss\" = 536";
        let at = |index: usize| [step(POINT), KeyStep::Index(index)];
        let mut keys: Vec<String> = Vec::new();
        let mut steps: Vec<Vec<Value>> = Vec::new();
        let mut known = BTreeSet::new();
        for (index, point) in points.iter().enumerate() {
            let Some(table) = point.as_table().filter(|table| !table.is_empty()) else {
                return Err(fault(&at(index), "a point of the sweep sets no key", HINT));
            };
            if index == 0 {
                keys = table.keys().cloned().collect();
            }
            let values: Option<Vec<Value>> =
                keys.iter().map(|key| table.get(key).cloned()).collect();
            let Some(values) = values.filter(|_| table.len() == keys.len()) else {
                let what = format!("point {index} sets other keys than point 0");
                return Err(fault(&at(index), what, HINT));
            };
            if !known.insert(values.iter().map(meaning).collect::<Vec<_>>()) {
                let what = format!("point {index} sets the same values as an earlier one");
                return Err(fault(&at(index), what, "take one of the two [[sweep.point]] out"));
            }
            steps.push(values);
        }
        if steps.is_empty() {
            return Err(fault(&[step(POINT)], "the sweep has no point", HINT));
        }
        Ok(Self { keys, steps, of_points: true })
    }

    /// Where `key` of this axis stands, below `[sweep]`.
    fn below(&self, key: &str) -> Vec<KeyStep> {
        if self.of_points {
            vec![step(POINT), KeyStep::Index(0), step(key)]
        } else {
            vec![step(key)]
        }
    }

    /// Where the value of `key` at one step stands, below `[sweep]`.
    fn origin(&self, key: &str, index: usize) -> Origin {
        Origin::Sweep(if self.of_points {
            vec![step(POINT), KeyStep::Index(index), step(key)]
        } else {
            vec![step(key), KeyStep::Index(index)]
        })
    }
}
