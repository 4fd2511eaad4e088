//! Formulas and their answers as JSON.

use serde_json::{Value, json};

use super::answer::{Answer, Figure};
use super::parameter::Presence;
use super::{ENTRIES, Entry, Inputs};

/// What came out, for programs.
pub fn answered_json(entry: &Entry, inputs: &Inputs<'_>, answer: &Answer) -> String {
    let results: Vec<Value> = answer.figures.iter().map(Figure::json).collect();
    let document = json!({
        "schema_version": 1,
        "name": entry.name,
        "inputs": inputs.json(),
        "results": results,
        "warnings": answer.warnings,
        "formula": entry.formula,
        "source": entry.source,
        "range": (entry.range)(),
    });
    format!("{document}\n")
}

/// What a formula is, for programs.
pub fn described_json(entry: &Entry) -> String {
    let mut document = json!({ "schema_version": 1 });
    if let (Some(document), Value::Object(entry)) = (document.as_object_mut(), about(entry)) {
        document.extend(entry);
    }
    format!("{document}\n")
}

/// Every formula, for programs.
pub fn list_json() -> String {
    let formulas: Vec<Value> = ENTRIES.iter().map(|entry| about(entry)).collect();
    format!("{}\n", json!({ "schema_version": 1, "formulas": formulas }))
}

fn about(entry: &Entry) -> Value {
    let parameters: Vec<Value> = entry
        .parameters
        .iter()
        .map(|parameter| {
            let default = match parameter.presence {
                Presence::Default(value) => Some(value),
                Presence::Required | Presence::Without(_) => None,
            };
            json!({
                "name": parameter.name,
                "kind": parameter.kind,
                "bounds": parameter.bounds_in_words(),
                "required": parameter.presence == Presence::Required,
                "default": default,
                "meaning": parameter.meaning,
            })
        })
        .collect();
    json!({
        "name": entry.name,
        "group": entry.group.title(),
        "about": entry.about,
        "parameters": parameters,
        "formula": entry.formula,
        "source": entry.source,
        "range": (entry.range)(),
        "example": format!("maxseg calc {} {}", entry.name, entry.example),
    })
}
