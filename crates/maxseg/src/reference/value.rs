//! What a value may be, in words.

use serde_json::Value;

/// The definitions of a schema.
pub(super) struct Definitions<'a>(&'a Value);

/// A reference to a definition begins so.
const POINTER: &str = "#/$defs/";

impl<'a> Definitions<'a> {
    pub(super) fn of(schema: &'a Value) -> Self {
        Self(&schema["$defs"])
    }

    /// The definition of this name; `null` where there is none.
    pub(super) fn get(&self, name: &str) -> &'a Value {
        &self.0[name]
    }

    /// What a value by this schema may be.
    pub(super) fn words(&self, schema: &Value) -> String {
        if let Some(definition) = self.referred(schema) {
            return self.of_definition(definition);
        }
        if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
            return self.one_of(choices);
        }
        if let Some(value) = schema.get("const") {
            return format!("`{value}`");
        }
        if let Some(values) = schema["enum"].as_array() {
            return listed(values.iter().map(|value| format!("`{value}`")).collect());
        }
        match kind(schema) {
            "boolean" => match schema["description"].as_str() {
                // One of the two, where something else may stand in place of the other.
                Some(one) if one.starts_with('`') => one.trim_end_matches('.').to_owned(),
                Some(_) | None => "`true` or `false`".to_owned(),
            },
            "integer" => number("an integer", schema),
            "number" => number("a number", schema),
            "array" if schema.get("maxItems").is_some() => {
                format!("{} numbers in brackets", schema["maxItems"])
            }
            "array" => match self.referred(&schema["items"]) {
                Some(definition) if definition.get("properties").is_some() => {
                    "a list of tables".to_owned()
                }
                Some(_) | None => "a list".to_owned(),
            },
            "object" => "a table".to_owned(),
            _ => "text".to_owned(),
        }
    }

    fn referred(&self, schema: &Value) -> Option<&'a Value> {
        schema["$ref"].as_str()?.strip_prefix(POINTER).map(|name| self.get(name))
    }

    fn of_definition(&self, definition: &Value) -> String {
        if definition.get("properties").is_some() {
            return "a table".to_owned();
        }
        // What types say of themselves in a clause is more than their schema knows; that of an enumeration is its list.
        match definition["description"].as_str() {
            Some(clause) if !clause.ends_with('.') => {
                let words = self.words(&without_description(definition));
                match range(definition) {
                    Some(range) => format!("{clause}, {range}"),
                    None if words.contains(['"', '}']) || words.ends_with("a table") => {
                        format!("{clause}: {words}")
                    }
                    None => clause.to_owned(),
                }
            }
            Some(_) | None => self.words(&without_description(definition)),
        }
    }

    fn one_of(&self, choices: &[Value]) -> String {
        let named = choices.iter().filter_map(|choice| choice["const"].as_str());
        let described: Vec<String> = named
            .zip(choices)
            .map(|(name, choice)| {
                let about = choice["description"].as_str().unwrap_or_default();
                let about = super::sentence(about);
                match about.trim_end_matches('.') {
                    "" => format!("`\"{name}\"`"),
                    about => format!("`\"{name}\"` ({})", uncapitalized(about)),
                }
            })
            .collect();
        if described.len() == choices.len() {
            return listed(described);
        }
        let others = choices.iter().filter(|choice| kind(choice) != "null");
        let mut words: Vec<String> = Vec::new();
        for choice in others {
            let choice = self.words(choice);
            if !words.contains(&choice) {
                words.push(choice);
            }
        }
        listed(words)
    }
}

/// The type of a value; of several, the one that is not `null`.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.rfind(|kind| *kind != "null").unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "",
    }
}

fn number(what: &str, schema: &Value) -> String {
    match range(schema) {
        Some(range) => format!("{what}, {range}"),
        None => what.to_owned(),
    }
}

/// From where to where a number goes.
fn range(schema: &Value) -> Option<String> {
    match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("{least} or more")),
        (None, _) => None,
    }
}

fn listed(mut words: Vec<String>) -> String {
    match words.pop() {
        None => String::new(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
    }
}

/// Names that keep their capital within a sentence.
const NAMES: [&str; 3] = ["Ethernet", "Geneve", "Linux"];

/// As within a sentence; names and abbreviations keep their capitals.
fn uncapitalized(text: &str) -> String {
    if NAMES.iter().any(|name| text.starts_with(name)) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text.to_owned(),
    }
}

fn without_description(definition: &Value) -> Value {
    let mut rest = definition.clone();
    if let Some(object) = rest.as_object_mut() {
        object.remove("description");
    }
    rest
}
