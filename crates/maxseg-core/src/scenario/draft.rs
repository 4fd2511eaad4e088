//! A scenario file with values set from outside, before it is read.

use toml::{Table, Value};

use super::key::{self, KeyError, Step};
use super::locate::{key_span, place_of, value_span};
use super::{Place, Scenario, ScenarioError, ScenarioSpec, Sweep, sweep};
use crate::similar::closest;

/// A scenario file as a TOML document, together with what was set from outside.
#[derive(Debug, Clone)]
pub struct Draft {
    file: String,
    text: String,
    table: Table,
    overrides: Vec<(Vec<Step>, Origin)>,
}

/// Where a value that overrides the file's comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A command-line argument, as written.
    Argument(String),
    /// The sweep of the file itself: steps into the document.
    Sweep {
        /// The axis, or `point`.
        key: String,
        /// Which of its values.
        index: usize,
    },
}

impl Draft {
    /// The document in `text`, which was read from `file`.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let table = text.parse::<Table>().map_err(|error| ScenarioError {
            what: error.message().trim_end().to_owned(),
            key: String::new(),
            place: place_of(file, text, error.span().unwrap_or(0..0)),
            hint: None,
        })?;
        Ok(Self { file: file.to_owned(), text: text.to_owned(), table, overrides: Vec::new() })
    }

    /// Set `key` to `value` wherever the key leads.
    ///
    /// # Errors
    /// The key leads nowhere.
    pub fn set(&mut self, key: &str, value: &Value, origin: &Origin) -> Result<(), ScenarioError> {
        let fault = |error: KeyError| ScenarioError {
            what: error.what,
            key: key.to_owned(),
            place: self.place_of_origin(origin),
            hint: Some(error.hint),
        };
        let places = key::places(&self.table, key).map_err(fault)?;
        for place in places {
            key::set(&mut self.table, &place, value.clone()).map_err(|error| ScenarioError {
                what: error.what,
                key: key.to_owned(),
                place: self.place_of_origin(origin),
                hint: Some(error.hint),
            })?;
            self.overrides.push((place, origin.clone()));
        }
        Ok(())
    }

    /// Set what `assignment` says: `KEY=VALUE`, the value as in the file, quotes not needed. A key
    /// that the file sweeps is swept no more.
    ///
    /// # Errors
    /// It is no assignment, or the key leads nowhere.
    pub fn set_argument(&mut self, assignment: &str) -> Result<(), ScenarioError> {
        let origin = Origin::Argument(format!("--set {assignment}"));
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(ScenarioError {
                what: format!("`{assignment}` is not KEY=VALUE"),
                key: String::new(),
                place: self.place_of_origin(&origin),
                hint: Some("write for example --set sender.mss=536".to_owned()),
            });
        };
        let key = key.trim();
        if let Some(sweep) = self.table.get_mut("sweep").and_then(Value::as_table_mut) {
            sweep.remove(key);
        }
        self.set(key, &sweep::value(value), &origin)
    }

    /// The scenario that the document describes, its sweep left aside.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let mut table = self.table.clone();
        table.remove("sweep");
        let spec: ScenarioSpec = serde_path_to_error::deserialize(table).map_err(|error| {
            let path = steps(error.path());
            self.misread(&path, error.inner().message())
        })?;
        spec.resolve().map_err(|problem| {
            let path = key::places(&self.table, &problem.key)
                .ok()
                .and_then(|places| places.into_iter().next())
                .unwrap_or_default();
            ScenarioError {
                what: problem.what,
                key: self.named(&path),
                place: self.place(&path),
                hint: Some(problem.hint),
            }
        })
    }

    /// The file's sweep; of one point where it has none.
    ///
    /// # Errors
    /// An axis is empty or not a list.
    pub fn sweep(&self) -> Result<Sweep, ScenarioError> {
        match self.table.get("sweep") {
            None => Ok(Sweep::default()),
            Some(Value::Table(table)) => Sweep::from_table(table).map_err(|problem| {
                let path: Vec<Step> = ["sweep", &problem.key]
                    .iter()
                    .filter(|key| !key.is_empty())
                    .map(|key| Step::Key((*key).to_owned()))
                    .collect();
                ScenarioError {
                    what: problem.what,
                    key: problem.key,
                    place: self.place(&path),
                    hint: Some(problem.hint),
                }
            }),
            Some(_) => Err(ScenarioError {
                what: "`sweep` must be a table".to_owned(),
                key: "sweep".to_owned(),
                place: self.place(&[Step::Key("sweep".to_owned())]),
                hint: Some("write [sweep] and below it \"sender.mss\" = [536, 1460]".to_owned()),
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

    /// What serde could not read, at the place where it was written.
    fn misread(&self, path: &[Step], message: &str) -> ScenarioError {
        let what = message.trim_end().to_owned();
        if let Some((name, known)) = unknown_field(&what) {
            // serde's path may or may not end in the unknown key itself.
            let table = match path.split_last() {
                Some((Step::Key(last), table)) if *last == name => table,
                _ => path,
            };
            let known_words: Vec<&str> = known.iter().map(String::as_str).collect();
            let hint = match closest(&name, known_words.iter().copied()) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("known here: {}", known_words.join(", ")),
            };
            let full = [table, &[Step::Key(name.clone())]].concat();
            let place = match self.overriding(&full) {
                Some(origin) => self.place_of_origin(origin),
                None => match key_span(&self.text, table, &name) {
                    Some(span) => place_of(&self.file, &self.text, span),
                    None => self.place(table),
                },
            };
            let what = format!("unknown key `{name}`");
            return ScenarioError { what, key: self.named(&full), place, hint: Some(hint) };
        }
        if let Some(name) = what.strip_prefix("missing field `").and_then(|s| s.strip_suffix('`')) {
            let full = [path, &[Step::Key(name.to_owned())]].concat();
            let table = if path.is_empty() { "the scenario".to_owned() } else { self.named(path) };
            return ScenarioError {
                what: format!("{table} has no `{name}`"),
                key: self.named(&full),
                place: self.place(path),
                hint: example(&full).map(|example| format!("add {example}")),
            };
        }
        let hint = example(path).map(|example| format!("for example {example}"));
        ScenarioError { what, key: self.named(path), place: self.place(path), hint }
    }

    /// Where the value at `path` was written: the last override of it, or else the file.
    fn place(&self, path: &[Step]) -> Place {
        if let Some(origin) = self.overriding(path) {
            return self.place_of_origin(origin);
        }
        match value_span(&self.text, path) {
            Some(span) => place_of(&self.file, &self.text, span),
            None => Place::Missing(self.file.clone()),
        }
    }

    fn overriding(&self, path: &[Step]) -> Option<&Origin> {
        let concerns = |place: &Vec<Step>| {
            let shared = place.len().min(path.len());
            !path.is_empty() && place[..shared] == path[..shared]
        };
        self.overrides.iter().rev().find(|(place, _)| concerns(place)).map(|(_, origin)| origin)
    }

    fn place_of_origin(&self, origin: &Origin) -> Place {
        match origin {
            Origin::Argument(argument) => Place::Argument(argument.clone()),
            Origin::Sweep { key, index } => {
                let path =
                    [Step::Key("sweep".to_owned()), Step::Key(key.clone()), Step::Index(*index)];
                match value_span(&self.text, &path) {
                    Some(span) => place_of(&self.file, &self.text, span),
                    None => Place::Missing(self.file.clone()),
                }
            }
        }
    }

    /// A place as `--set` would name it, hops by their names.
    fn named(&self, path: &[Step]) -> String {
        let mut words = path.to_vec();
        if let [Step::Key(array), index @ Step::Index(_), ..] = words.as_mut_slice()
            && array == "hop"
            && let Some(hop) = key::get(&self.table, &path[..2])
            && let Some(name) = hop.get("name").and_then(Value::as_str)
        {
            *index = Step::Key(name.to_owned());
        }
        key::written(&words)
    }
}

fn steps(path: &serde_path_to_error::Path) -> Vec<Step> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// The name and the alternatives in serde's "unknown field `x`, expected one of `a`, `b`".
fn unknown_field(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (name, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((name.to_owned(), known))
}

/// How the key at `path` may look.
fn example(path: &[Step]) -> Option<&'static str> {
    let within = |name: &str| path.contains(&Step::Key(name.to_owned()));
    let Some(Step::Key(key)) = path.last() else { return None };
    Some(match key.as_str() {
        "hop" => "[[hop]] with a rate and a delay",
        "rate" if within("errors") => "rate = 0.01",
        "rate" => "rate = \"10 Mbit/s\"",
        "delay" => "delay = \"20 ms\"",
        "mss" => "mss = 1460",
        "mtu" => "mtu = 1500",
        "frame" => "frame = 128",
        "queue" => "queue = \"100 packets\"",
        "errors" => "errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }",
        "model" => "model = \"uniform\"",
        "kind" => "kind = \"bulk\"",
        "window" => "window = \"64 KiB\"",
        "time" => "time = \"60 s\"",
        "bytes" => "bytes = \"1 MiB\"",
        _ => return None,
    })
}
