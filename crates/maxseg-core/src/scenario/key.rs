//! Keys such as `hop.radio.errors.rate`: paths into a scenario file.

use toml::{Table, Value};

use crate::similar::closest;

/// One step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyStep {
    /// Into a table.
    Key(String),
    /// Into an array.
    Index(usize),
}

/// Why a key leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyError {
    pub(super) what: String,
    pub(super) hint: String,
}

/// No key of a scenario has more words than `hop.NAME.reverse.errors.INDEX.rate` and a few.
const DEEPEST: usize = 12;

/// The key that gives both hosts a stack, as `--stack` does.
pub(super) const BOTH_STACKS: &str = "stack";

/// Every place in `table` that `key` names. `stack` is that of both hosts, `hop.NAME` is the hop of that name, `hop.*` every hop;
/// numbers count from 0. The last steps need not exist yet.
pub(super) fn places(table: &Table, key: &str) -> Result<Vec<Vec<KeyStep>>, KeyError> {
    if key.trim() == BOTH_STACKS {
        let of = |end: &str| [end, "stack"].map(|word| KeyStep::Key(word.to_owned())).to_vec();
        return Ok(["sender", "receiver"].map(of).to_vec());
    }
    let words: Vec<&str> = key.split('.').map(str::trim).collect();
    if words.iter().any(|word| word.is_empty()) {
        return Err(KeyError {
            what: format!("`{key}` is not a key"),
            hint: "a key is a path into the file, such as sender.mss or hop.radio.rate".to_owned(),
        });
    }
    if words.len() > DEEPEST {
        return Err(KeyError {
            what: format!("a key of {} words leads nowhere", words.len()),
            hint: "a key is a path into the file, such as hop.radio.errors.rate".to_owned(),
        });
    }
    let mut places = vec![Vec::new()];
    for (depth, word) in words.iter().enumerate() {
        let mut deeper = Vec::new();
        for place in places {
            let here = if depth == 0 { None } else { get(table, &place) };
            match here {
                Some(Value::Array(items)) => {
                    for index in indices(items, word, &words[..depth])? {
                        deeper.push([place.clone(), vec![KeyStep::Index(index)]].concat());
                    }
                }
                Some(_) | None => {
                    deeper.push([place, vec![KeyStep::Key((*word).to_owned())]].concat());
                }
            }
        }
        places = deeper;
    }
    Ok(places)
}

/// Which items of an array `word` means.
fn indices(items: &[Value], word: &str, array: &[&str]) -> Result<Vec<usize>, KeyError> {
    let array = array.join(".");
    if word == "*" {
        return Ok((0..items.len()).collect());
    }
    let name_of = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
    // No name is a number: a hop that has such a one is refused, and at its own place.
    if let Ok(index) = word.parse::<usize>() {
        if index < items.len() {
            return Ok(vec![index]);
        }
        return Err(KeyError {
            what: format!("there is no {array}.{index}: the file has {} of them", items.len()),
            hint: format!("they are counted from 0, as in {array}.0"),
        });
    }
    if let Some(index) = items.iter().position(|item| name_of(item).as_deref() == Some(word)) {
        return Ok(vec![index]);
    }
    let names: Vec<String> = items.iter().filter_map(name_of).collect();
    let hint = match names.as_slice() {
        [] => {
            format!("they have no names here: write {array}.0, {array}.1 …, or {array}.* for all")
        }
        names => match closest(word, names.iter().map(String::as_str)) {
            Some(similar) => format!("did you mean `{array}.{similar}`?"),
            None => format!("known: {}, or {array}.* for all", names.join(", ")),
        },
    };
    Err(KeyError { what: format!("no {array} is called `{word}`"), hint })
}

/// The value at a place.
pub(super) fn get<'a>(table: &'a Table, place: &[KeyStep]) -> Option<&'a Value> {
    let (KeyStep::Key(first), rest) = place.split_first()? else {
        return None;
    };
    rest.iter().try_fold(table.get(first)?, |value, step| match step {
        KeyStep::Key(key) => value.get(key.as_str()),
        KeyStep::Index(index) => value.get(*index),
    })
}

/// Put `value` at a place, making tables on the way there.
pub(super) fn set(table: &mut Table, place: &[KeyStep], value: Value) -> Result<(), KeyError> {
    let not_a_table = |key: &str| KeyError {
        what: format!("`{key}` cannot be reached: what holds it is a plain value"),
        hint: "set the value that holds it as a whole".to_owned(),
    };
    let Some((KeyStep::Key(first), rest)) = place.split_first() else {
        return Err(not_a_table(""));
    };
    let mut here = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    for step in rest {
        here = match step {
            KeyStep::Key(key) => here
                .as_table_mut()
                .ok_or_else(|| not_a_table(key))?
                .entry(key.clone())
                .or_insert_with(|| Value::Table(Table::new())),
            KeyStep::Index(index) => {
                here.get_mut(*index).ok_or_else(|| not_a_table(&index.to_string()))?
            }
        };
    }
    *here = value;
    Ok(())
}

/// How the places of one key lie to those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Nothing is set by both.
    None,
    /// Everything that the other sets is set by the one.
    Covers,
    /// Some of it is.
    Partly,
}

/// How what `key` sets lies to what `other` sets; a key that leads nowhere sets nothing.
pub(super) fn overlap(table: &Table, key: &str, other: &str) -> Overlap {
    let (Ok(of_key), Ok(of_other)) = (places(table, key), places(table, other)) else {
        return Overlap::None;
    };
    let touch = |a: &[KeyStep], b: &[KeyStep]| a.starts_with(b) || b.starts_with(a);
    let touched = |place: &Vec<KeyStep>| of_key.iter().any(|mine| touch(mine, place));
    let covered = |place: &Vec<KeyStep>| of_key.iter().any(|mine| place.starts_with(mine));
    if !of_other.iter().any(touched) {
        Overlap::None
    } else if of_other.iter().all(covered) {
        Overlap::Covers
    } else {
        Overlap::Partly
    }
}

/// A place as a user would write it.
pub(super) fn written(place: &[KeyStep]) -> String {
    let steps = place.iter().map(|step| match step {
        KeyStep::Key(key) => key.clone(),
        KeyStep::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}
