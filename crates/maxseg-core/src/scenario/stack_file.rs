//! Stack files: stacks of the user's own, named where a scenario names a stack.

use std::sync::Arc;

use toml::{Table, Value};

use super::draft::steps;
use super::key::{BOTH_STACKS, KeyStep};
use super::locate::Origin;
// circle: a sweep names stack files, and has its points given them.
use super::sweep::POINT;
use super::{Draft, End, ScenarioError};
use crate::settings::{ROOT_STACK, SettingsSpec, is_stack_file, stack};

/// Keys whose value is a table of further keys, each with a default of its own.
const TABLES: [&str; 4] = ["rto", "linux", "ns2", "freebsd"];

/// The hosts whose stack a key of the sweep sets.
fn ends_of(key: &str) -> impl Iterator<Item = End> {
    [End::Sender, End::Receiver]
        .into_iter()
        .filter(move |end| key == BOTH_STACKS || key == format!("{}.stack", end.word()))
}

/// A stack of the user's own: a shipped stack, and what differs from it.
#[derive(Debug, Clone, PartialEq)]
pub struct StackFile {
    file: String,
    base: &'static str,
    /// Keys below `sender` or `receiver`, and their values.
    keys: Vec<(String, Value)>,
}

impl StackFile {
    /// Whether a stack's name is that of a file.
    pub fn is_meant_by(name: &str) -> bool {
        is_stack_file(name)
    }

    /// The stack in `text`, which was read from `file`.
    ///
    /// # Errors
    /// It is not TOML, has an unknown key or a value that the key does not take, or its base is no shipped stack.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let draft = Draft::parse(file, text)?;
        let base = base_of(&draft)?;
        let settings: Table = draft
            .table()
            .iter()
            .filter(|(key, _)| !["about", "sources", "base"].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if settings.contains_key("stack") {
            let hint = "write base = \"linux\", or another of `maxseg stacks`";
            return Err(error_at(&draft, "stack", "a stack file has a `base`, no `stack`", hint));
        }
        let spec: SettingsSpec = serde_path_to_error::deserialize(settings.clone())
            .map_err(|error| draft.misread(&steps(error.path()), error.inner().message()))?;
        spec.over(&base.settings).complete().map_err(|error| {
            error_at(&draft, error.key(), &error.to_string(), &error.hint(base.name))
        })?;
        let keys = settings.into_iter().flat_map(|(key, value)| leaves(key, value)).collect();
        Ok(Self { file: file.to_owned(), base: base.name, keys })
    }
}

/// The stack whose values hold where the file gives none.
fn base_of(draft: &Draft) -> Result<crate::settings::Stack, ScenarioError> {
    let name = match draft.table().get("base") {
        None => ROOT_STACK,
        Some(Value::String(name)) => name,
        Some(_) => {
            return Err(error_at(draft, "base", "a base is a name", "write base = \"linux\""));
        }
    };
    stack(name).map_err(|error| error_at(draft, "base", &error.to_string(), &error.hint()))
}

fn error_at(draft: &Draft, key: &str, what: &str, hint: &str) -> ScenarioError {
    let path: Vec<KeyStep> = key.split('.').map(|word| KeyStep::Key(word.to_owned())).collect();
    ScenarioError {
        what: what.to_owned(),
        key: key.to_owned(),
        location: draft.location(&path),
        hint: hint.to_owned(),
    }
}

fn leaves(key: String, value: Value) -> Vec<(String, Value)> {
    match value.as_table().filter(|_| TABLES.contains(&key.as_str())) {
        None => vec![(key, value)],
        Some(table) => {
            table.iter().map(|(inner, value)| (format!("{key}.{inner}"), value.clone())).collect()
        }
    }
}

impl Draft {
    /// The name of the stack of the host at `end`, where the document gives one.
    pub fn stack_of(&self, end: End) -> Option<&str> {
        self.table().get(end.word())?.get("stack")?.as_str()
    }

    /// Whether the sweep changes the whole stack of the host at `end`.
    pub fn sweeps_stack_of(&self, end: End) -> bool {
        let own = format!("{}.stack", end.word());
        self.swept_stacks().any(|(key, _)| key == BOTH_STACKS || *key == own)
    }

    /// The stack files that the sweep names, as they are written there.
    pub fn swept_stack_files(&self) -> Vec<String> {
        let named = self.swept_stacks().flat_map(|(_, values)| match values.as_array() {
            Some(values) => values.iter().filter_map(Value::as_str).collect(),
            None => Vec::from_iter(values.as_str()),
        });
        let mut files: Vec<String> =
            named.filter(|name| is_stack_file(name)).map(str::to_owned).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The keys of the sweep that give a host its stack, with their values.
    fn swept_stacks(&self) -> impl Iterator<Item = (&String, &Value)> {
        let sweep = self.table().get("sweep").and_then(Value::as_table);
        let points = sweep.and_then(|sweep| sweep.get(POINT)).and_then(Value::as_array);
        let tables = points.into_iter().flatten().filter_map(Value::as_table);
        let all = sweep.into_iter().chain(tables).flatten();
        all.filter(|(key, _)| ends_of(key).next().is_some())
    }

    /// Has the points of the sweep read this file where they name it so.
    pub fn add_stack_file(&mut self, name: &str, stack: StackFile) {
        Arc::make_mut(&mut self.stack_files).insert(name.to_owned(), stack);
    }

    /// Gives a point of the sweep the stack file that one of its values names.
    ///
    /// # Errors
    /// The document has something else than a table where the host's settings belong.
    pub(super) fn set_swept_stack(
        &mut self,
        key: &str,
        value: &Value,
    ) -> Result<(), ScenarioError> {
        let files = Arc::clone(&self.stack_files);
        let Some(stack) = value.as_str().and_then(|name| files.get(name)) else { return Ok(()) };
        for end in ends_of(key) {
            self.set_stack_file(end, stack)?;
        }
        Ok(())
    }

    /// Gives the host at `end` the stack of a file. What the document sets itself stays, as over any other stack. The
    /// answer is the same in words of [`Draft::set_argument`].
    ///
    /// # Errors
    /// The document has something else than a table where the host's settings belong.
    pub fn set_stack_file(
        &mut self,
        end: End,
        stack: &StackFile,
    ) -> Result<Vec<String>, ScenarioError> {
        let key_of = |key: &str| format!("{}.{key}", end.word());
        let own = self.table().get(end.word()).cloned();
        let is_set = |key: &str| {
            own.as_ref().is_some_and(|own| {
                key.split('.').try_fold(own, |value, word| value.get(word)).is_some()
            })
        };
        // As of an argument: an axis of the same key contradicts it, where one of the file's keys goes on from it.
        let named = Origin::Argument(format!("stack = {}", stack.file));
        let base = Value::String(stack.base.to_owned());
        self.set(&key_of("stack"), &base, &named)?;
        let mut assignments = vec![format!("{}={base}", key_of("stack"))];
        let origin = Origin::StackFile(format!("stack = {}", stack.file));
        for (key, value) in stack.keys.iter().filter(|(key, _)| !is_set(key)) {
            self.set(&key_of(key), value, &origin)?;
            assignments.push(format!("{}={value}", key_of(key)));
        }
        Ok(assignments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = "[sender]\nstack = \"./host.toml\"\nmss = 1000\nrto.min = \"300 ms\"\n\
                            [[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n";
    const HOST: &str = "about = \"a host\"\nbase = \"linux\"\ncongestion = \"bbr\"\nmss = 1448\n\
                        delayed_ack = { timeout = \"40 ms\" }\n[rto]\nmin = \"100 ms\"\nmax = \"60 s\"\n\
                        [linux]\ntcp_rmem = [4096, 131072, 33554432]\n";

    #[test]
    fn a_stack_file_stands_below_what_the_scenario_sets() {
        let stack = StackFile::parse("host.toml", HOST).unwrap();
        let mut draft = Draft::parse("path.toml", SCENARIO).unwrap();
        assert_eq!(draft.stack_of(End::Sender), Some("./host.toml"));
        let assignments = draft.set_stack_file(End::Sender, &stack).unwrap();
        let sender = draft.scenario().unwrap().sender;
        assert_eq!((sender.stack.as_str(), sender.congestion.word()), ("linux", "bbr"));
        assert_eq!(sender.mss.map(|mss| mss.bytes().get()), Some(1000));
        let millis = |n| crate::units::Time::from_millis(n);
        assert_eq!((sender.rto.min, sender.rto.max), (millis(300), millis(60_000)));
        assert_eq!(sender.linux.unwrap().tcp_rmem, [4096, 131_072, 33_554_432]);
        // A lab that is kept up gets the same in words.
        let mut other = Draft::parse("path.toml", SCENARIO).unwrap();
        for assignment in &assignments {
            other.set_argument(assignment).unwrap();
        }
        assert_eq!(other.scenario().unwrap().sender, sender);
        // What the file sets can still be swept.
        draft.sweep_argument("sender.linux.tcp_frto=true,false").unwrap();
        assert!(!draft.sweeps_stack_of(End::Sender));
    }

    #[test]
    fn each_table_of_the_settings_goes_key_by_key() {
        let schema = serde_json::to_value(schemars::schema_for!(SettingsSpec)).unwrap();
        let name = |entry: &serde_json::Value| -> Option<String> {
            let of = entry.get("$ref").or_else(|| entry["anyOf"][0].get("$ref"))?;
            Some(of.as_str()?.rsplit('/').next()?.to_owned())
        };
        let tables = schema["properties"].as_object().unwrap().iter().filter(|(_, entry)| {
            name(entry).is_some_and(|name| schema["$defs"][name]["type"] == "object")
        });
        let mut tables: Vec<&str> = tables.map(|(key, _)| key.as_str()).collect();
        let mut listed = TABLES.to_vec();
        tables.sort_unstable();
        listed.sort_unstable();
        assert_eq!(tables, listed);
    }

    #[test]
    fn a_table_of_freebsd_stands_below_the_scenario_s_keys() {
        let host =
            "base = \"freebsd-2.2.5\"\n[freebsd]\nrecvpipe = \"16 KiB\"\nsendpipe = \"32 KiB\"\n";
        let stack = StackFile::parse("host.toml", host).unwrap();
        let text = "[sender]\nstack = \"./host.toml\"\nfreebsd.recvpipe = \"64 KiB\"\n[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n";
        let mut draft = Draft::parse("path.toml", text).unwrap();
        draft.set_stack_file(End::Sender, &stack).unwrap();
        let rules = draft.scenario().unwrap().sender.freebsd.unwrap();
        let sizes = [rules.recvpipe, rules.sendpipe].map(|size| size.unwrap().get() >> 10);
        assert_eq!(sizes, [64, 32]);
    }

    #[test]
    fn every_shipped_stack_is_a_stack_file() {
        for stack in crate::settings::builtin_stacks() {
            StackFile::parse(stack.name, stack.text)
                .unwrap_or_else(|e| panic!("{}: {e}", stack.name));
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, wanted) in [
            ("base = \"linus\"", "there is no stack `linus`"),
            ("base = 4", "a base is a name"),
            ("stack = \"linux\"", "a stack file has a `base`, no `stack`"),
            ("base = \"linux\"\n[linux]\ntcp_rmen = [1, 2, 3]", "unknown key `tcp_rmen`"),
            ("base = \"linux\"\n[linux]\nhz = 0", "linux.hz"),
            ("base = \"linux\"\n[linux]\nhz = 128", "`CONFIG_HZ` is 100, 250, 300 or 1000"),
        ] {
            let error = StackFile::parse("host.toml", text).unwrap_err();
            assert!(error.what.contains(wanted), "{text}: {}", error.what);
            assert!(matches!(error.location, super::super::Location::File(_)), "{text}");
            assert!(!error.hint.is_empty(), "{text}");
        }
    }
}
