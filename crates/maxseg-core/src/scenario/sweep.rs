//! Sweeps: keys with values to try, every combination.

use toml::{Table, Value};

use super::draft::{Draft, Origin};
use super::resolve::{Problem, problem};
use super::{Place, Scenario, ScenarioError};

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
    /// For an axis of the command line, the argument as written.
    argument: Option<String>,
}

/// One combination of a sweep's values.
#[derive(Debug, Clone)]
pub struct Point {
    /// The swept keys with their values, as in the file.
    pub values: Vec<(String, Value)>,
    /// The scenario with these values set.
    pub scenario: Scenario,
}

/// More combinations than anyone waits for; beyond this a sweep is taken for a mistake.
const MOST_POINTS: usize = 10_000_000;

impl Sweep {
    /// The sweep of a file: `"key" = [values]`, `"key" = "FROM..TO..STEP"`, and `point` tables.
    pub(super) fn from_table(table: &Table) -> Result<Self, Problem> {
        let mut axes = Vec::with_capacity(table.len());
        for (key, values) in table {
            axes.push(match (key.as_str(), values) {
                ("point", Value::Array(points)) => Axis::of_points(points)?,
                (_, Value::Array(values)) => {
                    if values.is_empty() {
                        let hint = "give it at least one value, or take it out";
                        return Err(problem(key, format!("the axis `{key}` is empty"), hint));
                    }
                    Axis::of_key(key, values.clone(), None)
                }
                (_, Value::String(range)) => {
                    let values = list(range).map_err(|what| problem(key, what, RANGE_HINT))?;
                    Axis::of_key(key, values, None)
                }
                (_, Value::Table(_)) => {
                    let what = format!("`{key}` is a table, not an axis");
                    let hint = "a key with dots needs quotes here: \"sender.mss\" = [536, 1460]";
                    return Err(problem(key, what, hint));
                }
                _ => {
                    let what = format!("the axis `{key}` is not a list of values");
                    return Err(problem(key, what, "write \"sender.mss\" = [536, 1460]"));
                }
            });
        }
        Ok(Self { axes })
    }

    /// Add the axis of a command-line argument `KEY=VALUE,VALUE…` or `KEY=FROM..TO..STEP`; it takes
    /// the place of the file's axis with that key.
    ///
    /// # Errors
    /// It is no such thing, or has no values.
    pub fn add_argument(&mut self, argument: &str) -> Result<(), ScenarioError> {
        let written = format!("--axis {argument}");
        let fault = |what: String, hint: &str| ScenarioError {
            what,
            key: String::new(),
            place: Place::Argument(written.clone()),
            hint: Some(hint.to_owned()),
        };
        let Some((key, values)) = argument.split_once('=') else {
            return Err(fault(format!("`{argument}` is not KEY=VALUES"), AXIS_HINT));
        };
        let key = key.trim();
        let values = list(values).map_err(|what| fault(what, RANGE_HINT))?;
        let axis = Axis::of_key(key, values, Some(written.clone()));
        match self.axes.iter_mut().find(|axis| axis.keys == [key]) {
            Some(same) => *same = axis,
            None => self.axes.push(axis),
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
    /// A value does not fit its key; or there are too many combinations.
    pub fn points(&self, draft: &Draft) -> Result<Vec<Point>, ScenarioError> {
        let count =
            self.len().filter(|count| *count <= MOST_POINTS).ok_or_else(|| ScenarioError {
                what: format!("the sweep has more than {MOST_POINTS} points"),
                key: "sweep".to_owned(),
                place: Place::Missing(draft.file().to_owned()),
                hint: Some("it is the product of all axes: shorten one".to_owned()),
            })?;
        (0..count).map(|number| self.point(draft, number)).collect()
    }

    fn point(&self, draft: &Draft, number: usize) -> Result<Point, ScenarioError> {
        let mut draft = draft.clone();
        let mut values = Vec::new();
        let mut stride: usize = self.axes.iter().map(|axis| axis.steps.len()).product();
        for axis in &self.axes {
            stride /= axis.steps.len();
            let step = number / stride % axis.steps.len();
            for (key, value) in axis.keys.iter().zip(&axis.steps[step]) {
                draft.set(key, value, &axis.origin(key, step))?;
                values.push((key.clone(), value.clone()));
            }
        }
        Ok(Point { values, scenario: draft.scenario()? })
    }
}

const AXIS_HINT: &str = "write for example --axis sender.mss=88,536,1460";
const RANGE_HINT: &str = "write values with commas, or FROM..TO..STEP such as 88..1460..128";

impl Axis {
    fn of_key(key: &str, values: Vec<Value>, argument: Option<String>) -> Self {
        let steps = values.into_iter().map(|value| vec![value]).collect();
        Self { keys: vec![key.to_owned()], steps, argument }
    }

    /// `[[sweep.point]]` tables, which must all set the same keys.
    fn of_points(points: &[Value]) -> Result<Self, Problem> {
        let fault = |what: String| {
            problem(
                "point",
                what,
                "every [[sweep.point]] sets the same keys, such as \"sender.mss\" = 536",
            )
        };
        let tables: Option<Vec<&Table>> = points.iter().map(Value::as_table).collect();
        let Some([first, rest @ ..]) = tables.as_deref() else {
            return Err(fault("the sweep's points are not tables".to_owned()));
        };
        let keys: Vec<String> = first.keys().cloned().collect();
        if keys.is_empty() {
            return Err(fault("a point of the sweep sets no key".to_owned()));
        }
        let mut steps = vec![first.values().cloned().collect()];
        for table in rest {
            let values: Option<Vec<Value>> =
                keys.iter().map(|key| table.get(key).cloned()).collect();
            match values {
                Some(values) if table.len() == keys.len() => steps.push(values),
                Some(_) | None => {
                    return Err(fault(format!(
                        "point {} sets other keys than the first",
                        steps.len()
                    )));
                }
            }
        }
        Ok(Self { keys, steps, argument: None })
    }

    fn origin(&self, key: &str, step: usize) -> Origin {
        match &self.argument {
            Some(argument) => Origin::Argument(argument.clone()),
            None if self.keys.len() > 1 => Origin::Sweep { key: "point".to_owned(), index: step },
            None => Origin::Sweep { key: key.to_owned(), index: step },
        }
    }
}

/// A value as a person writes it on a command line: as in the file, but quotes are not needed.
pub(super) fn value(text: &str) -> Value {
    let text = text.trim();
    match format!("value = {text}").parse::<Table>() {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.to_owned()))
        }
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}

/// The values of an axis: a list with commas, or `FROM..TO..STEP`.
fn list(text: &str) -> Result<Vec<Value>, String> {
    let parts: Vec<&str> = text.split("..").collect();
    match parts.as_slice() {
        [from, to, step] => range(from.trim(), to.trim(), step.trim()),
        [_, _] => Err(format!("`{text}` has no step")),
        _ if text.trim().is_empty() => Err("the axis is empty".to_owned()),
        _ => Ok(split_list(text).into_iter().map(value).collect()),
    }
}

/// Split at the commas that stand outside brackets and quotes.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// From, to and step in exact decimals, so that 0.1 + 0.2 is 0.3; with one unit, or with none.
fn range(from: &str, to: &str, step: &str) -> Result<Vec<Value>, String> {
    let number = |text: &str| -> Result<(i128, u32, String), String> {
        let split = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .unwrap_or(text.len());
        let (digits, unit) = (&text[..split], text[split..].trim().to_owned());
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa: i128 = format!("{whole}{fraction}")
            .parse()
            .ok()
            .filter(|_| fraction.len() <= 12 && whole.len() <= 18)
            .ok_or_else(|| format!("`{text}` is not a number"))?;
        Ok((mantissa, u32::try_from(fraction.len()).unwrap_or(0), unit))
    };
    let ends = [number(from)?, number(to)?, number(step)?];
    let [(_, _, unit), rest @ ..] = &ends;
    if rest.iter().any(|(_, _, other)| other != unit) {
        return Err(format!("`{from}..{to}..{step}` mixes units"));
    }
    let decimals = ends.iter().map(|(_, decimals, _)| *decimals).max().unwrap_or(0);
    let [from, to, step] = ends.each_ref().map(|(n, own, _)| n * 10_i128.pow(decimals - own));
    if step <= 0 {
        return Err("the step of a range must be above zero".to_owned());
    }
    if from > to {
        return Err("the axis is empty: its range ends before it begins".to_owned());
    }
    if (to - from) / step >= MOST_POINTS as i128 {
        return Err(format!("the range has more than {MOST_POINTS} values"));
    }
    let steps = (0..=(to - from) / step).map(|n| from + n * step);
    Ok(steps.map(|n| value_in_decimals(n, decimals, unit)).collect())
}

fn value_in_decimals(mantissa: i128, decimals: u32, unit: &str) -> Value {
    let sign = if mantissa < 0 { "-" } else { "" };
    let scale = 10_u128.pow(decimals);
    let (whole, rest) = (mantissa.unsigned_abs() / scale, mantissa.unsigned_abs() % scale);
    let text = match decimals {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{rest:0width$}", width = decimals as usize),
    };
    if unit.is_empty() { value(&text) } else { Value::String(format!("{text} {unit}")) }
}
