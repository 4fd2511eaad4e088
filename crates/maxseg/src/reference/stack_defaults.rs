//! What the hosts of a scenario are where it does not say: the values of the default stack.

use maxseg_core::settings::{DEFAULT_STACK, stack};
use toml::{Table, Value};

/// The values of the default stack, as its file and those that it goes on from have them.
pub(super) struct StackDefaults(Table);

impl StackDefaults {
    /// Those of the stack of hosts that name none.
    pub(super) fn of_linux() -> Self {
        Self(values_of(DEFAULT_STACK))
    }

    /// The value of a key in a table of the stack file, `""` for the file itself; `None` where the stack has none.
    pub(super) fn value(&self, table: &str, key: &str) -> Option<String> {
        if (table, key) == ("", "stack") {
            return Some(format!("\"{DEFAULT_STACK}\""));
        }
        let table = match table {
            "" => &self.0,
            name => self.0.get(name)?.as_table()?,
        };
        // A table with a section of its own has its values there.
        let has_section = super::TABLES.iter().any(|table| table.in_stack == Some(key));
        table.get(key).filter(|_| !has_section).map(Value::to_string)
    }
}

/// The values of a shipped stack over those of its base.
fn values_of(name: &str) -> Table {
    let shipped = stack(name).expect("the default stack and its bases are shipped");
    let mut values: Table = shipped.text.parse().expect("a shipped stack is well formed");
    let Some(base) = values.remove("base") else { return values };
    let mut all = base.as_str().map(values_of).unwrap_or_default();
    for (key, value) in values {
        match (all.get_mut(&key), value) {
            // The rule of a timer decides which of its keys count: those of another rule do not.
            (Some(Value::Table(below)), Value::Table(above)) if above.contains_key("rule") => {
                *below = above;
            }
            (Some(Value::Table(below)), Value::Table(above)) => below.extend(above),
            (_, value) => {
                all.insert(key, value);
            }
        }
    }
    all
}
