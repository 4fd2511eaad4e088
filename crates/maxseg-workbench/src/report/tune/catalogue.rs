//! The catalogue of tunables as JSON.

use maxseg_core::tunables::Range;
use schemars::JsonSchema;
use serde::Serialize;

use crate::tune::FileSetting;
use crate::tune::catalogue::{Current, Listed};

/// The version of the document's layout.
const SCHEMA_VERSION: u32 = 1;

/// Tunables, as this host has them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Tunables")]
pub struct CatalogueDocument<'a> {
    /// The version of this layout.
    pub schema_version: u32,
    /// Each with all that is known.
    pub tunables: Vec<TunableEntry<'a>>,
}

/// A tunable.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TunableEntry<'a> {
    /// As `sysctl.net.ipv4.tcp_rmem`, `route.mtu`, `interface.mtu`, `socket.rcvbuf` or `clamp`.
    pub name: &'a str,
    /// What it does.
    pub meaning: &'a str,
    /// The unit of its numbers.
    pub unit: &'a str,
    /// What each of several numbers is; empty of a single one.
    pub items: &'a [String],
    /// What it acts on: `machine`, `namespace`, `route`, `interface` or `socket`.
    pub scope: &'a str,
    /// When it acts: `live`, `live-downward`, `live-upward`, `new-connections`, `new-interfaces` or `never`.
    pub acts: &'a str,
    /// How that is known: `measured` or `source`.
    pub acts_by: &'a str,
    /// What `acts` leaves out.
    pub acts_note: Option<&'a str>,
    /// The values that it takes.
    pub range: RangeEntry<'a>,
    /// The kernel's own value; null where it depends on the machine.
    pub default: Option<&'a str>,
    /// What the default depends on.
    pub default_note: Option<&'a str>,
    /// The value here; null where it is unknown, or of each route, interface or socket.
    pub current: Option<&'a str>,
    /// The values of each interface.
    pub each: Vec<EachEntry<'a>>,
    /// Why the value is unknown.
    pub current_unknown: Option<&'a str>,
    /// Whether it differs from the kernel's own; null where that is unknown.
    pub modified: Option<bool>,
    /// The lines of files that set it; the last that is read when the machine starts holds then.
    pub set_by: Vec<FileEntry<'a>>,
    /// Whether the last of these lines gives the value here; null where there is none.
    pub set_by_holds: Option<bool>,
    /// The first Linux that has it.
    pub since: Option<&'a str>,
    /// What it is in other network namespaces than the first: `own`, `read-only` or `absent`; null of what is no sysctl.
    pub child_namespace: Option<&'a str>,
    /// Names of tunables to look at beside it.
    pub coupled_with: &'a [String],
    /// What can go wrong.
    pub risk: &'a str,
    /// What stays after its value has been restored.
    pub leaves_behind: Option<&'a str>,
    /// The same on other systems; null where nothing is known.
    pub equivalents: Equivalents<'a>,
    /// Kernel files, manual pages, RFCs.
    pub source: &'a [String],
}

/// The values that a tunable takes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RangeEntry<'a> {
    /// The least number.
    pub min: Option<i64>,
    /// The largest number.
    pub max: Option<i64>,
    /// Words beside the numbers.
    pub words: &'a [String],
    /// In words, where the values depend on the machine.
    pub described: Option<&'a str>,
}

/// The value of an interface.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EachEntry<'a> {
    /// The interface.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

/// A line of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileEntry<'a> {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What it sets.
    pub value: &'a str,
    /// The comment above it.
    pub why: Option<&'a str>,
    /// Whether the file is read when the machine starts: systemd does not read `/etc/sysctl.conf` itself.
    pub read_at_start: bool,
}

/// The same on other systems.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Equivalents<'a> {
    /// FreeBSD.
    pub freebsd: Option<&'a str>,
    /// macOS.
    pub macos: Option<&'a str>,
    /// Windows.
    pub windows: Option<&'a str>,
    /// Open Transport, STCP, `TCP_OS`, older BSD.
    pub historic: Option<&'a str>,
}

impl<'a> CatalogueDocument<'a> {
    /// The document of these tunables.
    pub fn of(listed: impl IntoIterator<Item = &'a Listed>) -> Self {
        let tunables = listed.into_iter().map(TunableEntry::of).collect();
        Self { schema_version: SCHEMA_VERSION, tunables }
    }
}

impl<'a> TunableEntry<'a> {
    fn of(listed: &'a Listed) -> Self {
        let tunable = listed.tunable;
        let (mut current, mut current_unknown, mut each) = (None, None, Vec::new());
        match &listed.current {
            Current::Value(value) => current = Some(value.as_str()),
            Current::Unknown(why) => current_unknown = Some(why.as_str()),
            Current::Each(all) => {
                each = all.iter().map(|(name, value)| EachEntry { name, value }).collect();
            }
            Current::ByTarget => {}
        }
        let file = |one: &'a FileSetting| FileEntry {
            file: one.file.display().to_string(),
            line: one.line,
            value: &one.value,
            why: one.why.as_deref(),
            read_at_start: one.is_read_at_start,
        };
        Self {
            name: &tunable.name,
            meaning: &tunable.meaning,
            unit: tunable.unit.word(),
            items: &tunable.items,
            scope: tunable.scope.word(),
            acts: tunable.acts.word(),
            acts_by: tunable.acts_by.word(),
            acts_note: tunable.acts_note.as_deref(),
            range: RangeEntry::of(&tunable.range),
            default: tunable.default.as_deref(),
            default_note: tunable.default_note.as_deref(),
            current,
            each,
            current_unknown,
            modified: listed.is_modified,
            set_by: listed.files.iter().map(file).collect(),
            set_by_holds: listed.holds(),
            since: tunable.since.as_deref(),
            child_namespace: tunable.sysctl().map(|_| tunable.child_namespace.word()),
            coupled_with: &tunable.coupled_with,
            risk: &tunable.risk,
            leaves_behind: tunable.leaves_behind.as_deref(),
            equivalents: Equivalents {
                freebsd: tunable.freebsd.as_deref(),
                macos: tunable.macos.as_deref(),
                windows: tunable.windows.as_deref(),
                historic: tunable.historic.as_deref(),
            },
            source: &tunable.source,
        }
    }
}

impl<'a> RangeEntry<'a> {
    fn of(range: &'a Range) -> Self {
        let described = range.described.as_deref();
        Self { min: range.min, max: range.max, words: &range.words, described }
    }
}
