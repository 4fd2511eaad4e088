//! STCP of VOS: `set_stcp_param` (14.7), and what set the same before it. The segment size for hosts that are not on the own
//! network is all that it has in common with Linux.

use std::fmt::Write as _;

use maxseg_core::tune::{Prefix, RouteMetricName, Target, Value};

use super::reader::{Piece, Reader};
use super::{Document, Note, Written};
use crate::error::DocumentError;

/// What its documents are known by.
pub(super) const REQUESTS: [&str; 4] =
    ["set_stcp_param", "list_stcp_param", "set_longword", "set_external_variable"];

/// Bytes of an IPv4 header, and of a TCP header: `min_mss` counts the second, an MTU both.
const HEADER: u64 = 20;
/// What `min_mss` may be: 500 to 1480.
const LEAST: u64 = 500;
const MOST: u64 = 1480;
const EXAMPLE: &str = "write for example set_stcp_param min_mss 1480";

pub(super) fn read(reader: &mut Reader<'_>, route: Prefix) -> Result<(), DocumentError> {
    for line in reader.lines() {
        // Of `analyze_system -request_line 'set_stcp_param …' -quit` the request counts.
        let words: Vec<Piece<'_>> = line.words().collect();
        let bare = |word: &Piece<'_>| word.text.trim_matches(['\'', '"', '‘', '’', ',']).to_owned();
        let Some(at) = words.iter().position(|word| REQUESTS.contains(&bare(word).as_str())) else {
            continue;
        };
        let (request, rest) = (bare(&words[at]), &words[at + 1..]);
        if request.starts_with("list_") {
            continue;
        }
        let Some(key) = rest.first() else {
            return Err(reader.fault(
                line.trimmed().span(),
                &request,
                "the request names nothing",
                EXAMPLE,
            ));
        };
        // The external variable's value follows `-to`.
        let value = if request == "set_external_variable" {
            let to = rest.iter().position(|word| word.text == "-to");
            to.and_then(|to| rest.get(to + 1))
        } else {
            rest.get(1)
        };
        let Some(value) = value else {
            let what = format!("{} has no value", bare(key));
            return Err(reader.fault(key.span(), &bare(key), what, EXAMPLE));
        };
        let radix = if request == "set_longword" { 16 } else { 10 };
        take(reader, route, [*key, *value], &bare(key), &bare(value), radix)?;
    }
    if reader.document.settings.is_empty() && reader.document.notes.is_empty() {
        return Err(reader.fault(0..0, "", "the document sets nothing", EXAMPLE));
    }
    Ok(())
}

fn take(
    reader: &mut Reader<'_>,
    route: Prefix,
    [key_place, value_place]: [Piece<'_>; 2],
    key: &str,
    value: &str,
    radix: u32,
) -> Result<(), DocumentError> {
    // TCP_OS counts the segment's payload, STCP the TCP header too.
    let (headers, least, most) = match key {
        "min_mss" | "default_min_mtu" => (HEADER, LEAST, MOST),
        "tcpos_default_mss$" => (2 * HEADER, LEAST - HEADER, MOST - HEADER),
        _ => {
            reader.note(&key_place.span(), key, "a parameter without an equivalent here: left out");
            return Ok(());
        }
    };
    let hint = format!("{EXAMPLE}; from {least} to {most}");
    let number = u64::from_str_radix(value, radix).map_err(|_| {
        let kind = if radix == 16 { "hexadecimal" } else { "whole" };
        reader.fault(
            value_place.span(),
            key,
            format!("`{value}` is not a {kind} number"),
            hint.clone(),
        )
    })?;
    if !(least..=most).contains(&number) {
        let what = format!("{key} {number} is outside {least} to {most}");
        return Err(reader.fault(value_place.span(), key, what, hint));
    }
    let mtu = number + headers;
    let text = format!(
        "segments of {} bytes to hosts beyond a router: route.{route}.mtu = {mtu}; the own network keeps \
         its full size, as STCP has it",
        mtu - 2 * HEADER
    );
    reader.note(&key_place.span(), key, text);
    let target = Target::Route { prefix: route, metric: RouteMetricName::Mtu };
    reader.set(value_place.span(), key, (target, &mtu.to_string()), None)
}

pub(super) fn write(document: &Document) -> Written {
    let mut written = Written::default();
    for setting in &document.settings {
        let Target::Route { metric: RouteMetricName::Mtu, .. } = &setting.target else {
            written.left_out.push(Note::of(setting, "STCP has no parameter for it"));
            continue;
        };
        match setting.value.number().map(|mtu| mtu.saturating_sub(HEADER)) {
            Some(_) if !written.text.is_empty() => written.left_out.push(Note::of(
                setting,
                "STCP has one size for every host beyond a router: the first is written",
            )),
            Some(min_mss) if (LEAST..=MOST).contains(&min_mss) => {
                let _ = writeln!(written.text, "set_stcp_param min_mss {min_mss}");
                written.widened.extend(setting.widened("STCP"));
            }
            Some(_) => written.left_out.push(Note::of(
                setting,
                format!("min_mss is the MTU less {HEADER}, from {LEAST} to {MOST}"),
            )),
            None => written.left_out.push(Note::of(setting, lacks(&setting.value))),
        }
    }
    written
}

fn lacks(value: &Value) -> String {
    format!("min_mss takes a number, not {value}")
}
