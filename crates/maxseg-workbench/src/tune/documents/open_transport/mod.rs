//! Settings files of Open Transport's tuner: lines `key=value` between `#auto` and `#end`. The keys are those of Mentat TCP,
//! which Solaris and HP-UX share.

mod keys;
mod times;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maxseg_core::similar::closest;
use maxseg_core::tune::{Prefix, RouteMetricName, Target};

use super::reader::{Piece, Reader};
use super::{Document, Note, Setting, Written};
use crate::error::DocumentError;
use keys::{Meaning, NAMES, meaning};

const EXAMPLE: &str = "write for example tcp_mss_max=536 between #auto and #end";

/// The segment size that the multiplier of the window counts where the file gives none: that of Ethernet.
const USUAL_MSS: u64 = 1460;
/// Headers of IPv4 and TCP.
const HEADERS: u64 = 40;

/// What a key's meaning depends on.
struct Context {
    route: Prefix,
    /// `tcp_mss_max`, or what is usual.
    mss: u64,
}

pub(super) fn read(reader: &mut Reader<'_>, route: Prefix) -> Result<(), DocumentError> {
    let pairs = pairs(reader)?;
    let mut values = BTreeMap::new();
    for (key, value) in &pairs {
        let number: u64 = value.text.parse().map_err(|_| {
            let what = format!("`{}` is not a whole number", value.text);
            reader.fault(value.span(), key.text, what, EXAMPLE)
        })?;
        if values.insert(key.text, number).is_some() {
            let what = format!("{} is given twice", key.text);
            return Err(reader.fault(key.span(), key.text, what, "keep one of the two lines"));
        }
    }
    let mss = values.get("tcp_mss_max").copied().unwrap_or(USUAL_MSS);
    let context = Context { route, mss };
    for (key, value) in pairs {
        let number = values.get(key.text).copied().unwrap_or_default();
        let Some(Meaning { setting, note }) = meaning(key.text, number, &context) else {
            let hint = match closest(key.text, NAMES) {
                Some(near) => format!("did you mean `{near}`?"),
                None => EXAMPLE.to_owned(),
            };
            let what = format!("Open Transport has no `{}`", key.text);
            return Err(reader.fault(key.span(), key.text, what, hint));
        };
        if let Some(note) = note {
            reader.note(&key.span(), key.text, note);
        }
        if let Some((target, value_text)) = setting {
            reader.set(value.span(), key.text, (target, &value_text), None)?;
        }
    }
    Ok(())
}

/// Keys and values between `#auto` and `#end`; what stands outside is a comment.
fn pairs<'t>(reader: &Reader<'t>) -> Result<Vec<(Piece<'t>, Piece<'t>)>, DocumentError> {
    let mut pairs = Vec::new();
    let mut begun: Option<Piece<'_>> = None;
    let mut has_part = false;
    for line in reader.lines() {
        let line = line.trimmed();
        if line.text.eq_ignore_ascii_case("#auto") {
            if begun.replace(line).is_some() {
                return Err(reader.fault(
                    line.span(),
                    "#auto",
                    "the part before has no #end",
                    "end it by a line #end",
                ));
            }
            has_part = true;
        } else if line.text.eq_ignore_ascii_case("#end") {
            if begun.take().is_none() {
                return Err(reader.fault(
                    line.span(),
                    "#end",
                    "nothing has begun here",
                    "begin it by a line #auto",
                ));
            }
        } else if begun.is_some() && !line.text.is_empty() && !line.text.starts_with(['#', ';']) {
            let Some((key, value)) = line.split('=') else {
                return Err(reader.fault(line.span(), line.text, "the line has no `=`", EXAMPLE));
            };
            pairs.push((key.trimmed(), value.trimmed()));
        }
    }
    if let Some(begun) = begun {
        return Err(reader.fault(
            begun.span(),
            "#auto",
            "the part has no #end",
            "end it by a line #end",
        ));
    }
    if !has_part {
        return Err(reader.fault(0..0, "#auto", "the file has no part #auto … #end", EXAMPLE));
    }
    if pairs.is_empty() {
        return Err(reader.fault(0..0, "#auto", "nothing is set between #auto and #end", EXAMPLE));
    }
    Ok(pairs)
}

pub(super) fn write(document: &Document) -> Written {
    let mut written = Written { text: "#auto\n".to_owned(), ..Written::default() };
    let mut given = Vec::new();
    let mss = document.settings.iter().find_map(mss_of).unwrap_or(USUAL_MSS);
    for setting in &document.settings {
        match keys::pair(&setting.target, &setting.value, mss) {
            Some((key, _)) if given.contains(&key) => {
                let text =
                    format!("Open Transport has one {key} for every host: the first is written");
                written.left_out.push(Note::of(setting, text));
            }
            Some((key, value)) => {
                let _ = writeln!(written.text, "{key}={value}");
                written.widened.extend(setting.widened("Open Transport"));
                given.push(key);
            }
            None => written.left_out.push(Note::of(setting, "Open Transport has no such setting")),
        }
    }
    written.text += "#end\n";
    if given.is_empty() {
        written.text.clear();
    }
    written
}

/// The segment size that a route's MTU means.
fn mss_of(setting: &Setting) -> Option<u64> {
    let Target::Route { metric: RouteMetricName::Mtu, .. } = setting.target else { return None };
    setting.value.number()?.checked_sub(HEADERS).filter(|mss| *mss > 0)
}
