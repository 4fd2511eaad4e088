//! Sysctls of the network (`/proc/sys/net`).

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use maxseg_core::similar::closest;
use maxseg_core::tune::{Target, Value};

use super::TuneError;
use crate::observe::host::{sysctl, sysctl_file};

fn target(name: &str) -> Target {
    Target::Sysctl(name.to_owned())
}

pub(super) fn read(name: &str) -> Result<Value, TuneError> {
    match sysctl(name) {
        Ok(text) => Ok(Value::of(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Absent),
        Err(error) => Err(TuneError::read(&target(name), error)),
    }
}

/// The kernel takes what one write(2) has.
pub(super) fn write(name: &str, value: &Value) -> Result<(), TuneError> {
    let Value::Text(text) = value else {
        return Err(TuneError::CannotBe { target: target(name), value: value.clone() });
    };
    let mut file = open(name)?;
    file.write_all(format!("{text}\n").as_bytes())
        .map_err(|error| TuneError::write(&target(name), value, error))
}

/// Whether this user may write it: nothing is written.
pub(super) fn may_write(name: &str) -> Result<(), TuneError> {
    open(name).map(|_| ())
}

fn open(name: &str) -> Result<std::fs::File, TuneError> {
    let opened = OpenOptions::new().write(true).open(sysctl_file(name));
    opened.map_err(|error| TuneError::open(&target(name), error))
}

/// The sysctl of the same folder that was likely meant. The names of all of them begin alike, which makes none nearer.
pub(super) fn near(name: &str) -> Option<String> {
    let word = |name: &str| name.rsplit_once('.').map_or(name, |(_, word)| word).to_owned();
    let known = neighbours(name);
    let words: Vec<String> = known.iter().map(|name| word(name)).collect();
    let near = closest(&word(name), words.iter().map(String::as_str))?;
    known.into_iter().find(|name| word(name) == near)
}

/// Sysctls of the same folder.
fn neighbours(name: &str) -> Vec<String> {
    let path = sysctl_file(name);
    let Some(folder) = path.parent() else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let stem = name.rsplit_once('.').map_or("net", |(stem, _)| stem);
    names.map(|word| format!("{stem}.{}", word.replace('.', "/"))).collect()
}

/// A number; `default` where this namespace does not have it.
pub(super) fn number(name: &str, default: u32) -> u32 {
    sysctl(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
