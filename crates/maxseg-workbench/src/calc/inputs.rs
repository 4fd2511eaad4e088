//! The values of a command line, against what a formula needs to know.

use maxseg_core::scenario::{Location, ScenarioError};
use maxseg_core::similar;
use serde_json::{Map, Value};

use super::Entry;
use super::parameter::{Described, Parameter, Presence};
use super::quantity::Quantity;
use crate::error::{Error, FormulaError};

/// Values for an entry: known keys, each once, each of its kind and within its bounds, none missing.
pub struct Inputs<'a> {
    entry: &'a Entry,
    given: Vec<(&'static str, String)>,
    json: Map<String, Value>,
}

impl<'a> Inputs<'a> {
    /// Reads `KEY=VALUE` arguments. One without `=` goes on with the value before it, so that
    /// `rate=10 Mbit/s` needs no quotes.
    ///
    /// # Errors
    /// A key is unknown or given twice, a value is wrong, or one is missing.
    pub fn parse(entry: &'a Entry, arguments: &[String]) -> Result<Self, Error> {
        let mut inputs = Self { entry, given: Vec::new(), json: Map::new() };
        for argument in joined(arguments) {
            inputs.take(&argument)?;
        }
        inputs.complete()?;
        Ok(inputs)
    }

    fn take(&mut self, argument: &str) -> Result<(), Error> {
        let Some((key, value)) = argument.split_once('=') else {
            let what = format!("`{argument}` is not KEY=VALUE");
            return Err(wrong(what, argument, self.example()));
        };
        let Some(parameter) = self.entry.parameters.iter().find(|known| known.name == key) else {
            let what = format!("`{}` has no parameter `{key}`", self.entry.name);
            return Err(wrong(what, argument, self.known_keys(key)));
        };
        if self.given.iter().any(|(known, _)| *known == key) {
            return Err(wrong(format!("`{key}` is given twice"), argument, self.example()));
        }
        let json = parameter.check(value).map_err(|what| {
            let hint = format!("for example {}={}", parameter.name, parameter.example());
            wrong(what, argument, hint)
        })?;
        self.json.insert(key.to_owned(), json);
        self.given.push((parameter.name, value.to_owned()));
        Ok(())
    }

    /// Defaults for what is not given, and an error that names everything that is missing.
    fn complete(&mut self) -> Result<(), Error> {
        let mut missing = Vec::new();
        for parameter in self.entry.parameters {
            if self.given.iter().any(|(name, _)| *name == parameter.name) {
                continue;
            }
            match parameter.presence {
                Presence::Required => missing.push(in_words(parameter)),
                Presence::Default(value) => self.take(&format!("{}={value}", parameter.name))?,
                Presence::Without(_) => {
                    self.json.insert(parameter.name.to_owned(), Value::Null);
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(FormulaError::Missing {
            formula: self.entry.name,
            missing,
            example: self.entry.example,
        }
        .into())
    }

    fn example(&self) -> String {
        format!("for example maxseg calc {} {}", self.entry.name, self.entry.example)
    }

    fn known_keys(&self, key: &str) -> String {
        let names = || self.entry.parameters.iter().map(|parameter| parameter.name);
        match similar::closest(key, names()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("it knows {}", names().collect::<Vec<_>>().join(", ")),
        }
    }

    /// The value of a parameter that is required or has a default.
    pub(super) fn get<T: Quantity>(&self, parameter: &Parameter<T>) -> Result<T, Error> {
        let value = self.maybe(parameter)?;
        value.ok_or_else(|| {
            self.refuse(
                parameter,
                format!("`{}` has no value for `{}`", self.entry.name, parameter.name),
            )
        })
    }

    /// The value of a parameter, if it is given or has a default.
    pub(super) fn maybe<T: Quantity>(&self, parameter: &Parameter<T>) -> Result<Option<T>, Error> {
        let given = self.given.iter().find(|(name, _)| *name == parameter.name);
        given
            .map(|(_, text)| T::read(text).map_err(|what| self.refuse(parameter, what)))
            .transpose()
    }

    /// A failure about the value of one parameter, which is fine by itself.
    pub(super) fn refuse<T>(&self, parameter: &Parameter<T>, what: impl Into<String>) -> Error {
        self.refuse_named(parameter.name, what)
    }

    /// The same about a parameter that is known by its name only.
    pub(super) fn refuse_named(&self, name: &str, what: impl Into<String>) -> Error {
        let given = self.given.iter().find(|(known, _)| *known == name);
        let value = given.map_or("", |(_, text)| text);
        wrong(what.into(), &format!("{name}={value}"), self.example())
    }

    /// Whether a parameter has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(known, _)| *known == name)
    }

    /// Every parameter with its value as it was used: `null` where there is none.
    pub(super) fn json(&self) -> Map<String, Value> {
        let names = self.entry.parameters.iter().map(|parameter| parameter.name);
        names.filter_map(|name| Some((name.to_owned(), self.json.get(name)?.clone()))).collect()
    }
}

fn in_words(parameter: &Described) -> String {
    format!("`{}` ({})", parameter.name, parameter.kind)
}

/// An argument without `=` belongs to the one before it.
fn joined(arguments: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for argument in arguments {
        match joined.last_mut() {
            Some(before) if !argument.contains('=') && before.contains('=') => {
                before.push(' ');
                before.push_str(argument);
            }
            Some(_) | None => joined.push(argument.clone()),
        }
    }
    joined
}

fn wrong(what: String, argument: &str, hint: String) -> Error {
    let key = argument.split('=').next().unwrap_or_default().to_owned();
    ScenarioError { what, key, location: Location::Argument(argument.to_owned()), hint }.into()
}
