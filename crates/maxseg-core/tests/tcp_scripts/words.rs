//! The words of a script: settings, segments, numbers.

use std::collections::VecDeque;
use std::fmt::Write as _;

use maxseg_core::settings::SettingsSpec;
use maxseg_core::tcp::{Config, Limit, SackBlocks, Segment, SegmentOptions, Timestamps};
use maxseg_core::units::{Mss, Time};

/// `mss=1000 stack="rfc" window="64 KiB" unopened`: settings of both ends alike.
pub(crate) fn config(text: &str) -> Result<(Config, bool), String> {
    let (text, opened) = match text.trim().strip_suffix("unopened") {
        Some(rest) => (rest, false),
        None => (text, true),
    };
    let mut toml = String::new();
    let (mut quoted, mut depth) = (false, 0);
    for c in text.trim().chars() {
        quoted ^= c == '"';
        depth += i32::from(c == '{') - i32::from(c == '}');
        toml.push(if c == ' ' && !quoted && depth == 0 { '\n' } else { c });
    }
    let spec: SettingsSpec = toml::from_str(&toml).map_err(|error| error.to_string())?;
    let name = spec.stack.as_deref().unwrap_or("rfc");
    let stack = maxseg_core::settings::stack(name).map_err(|error| error.to_string())?;
    let settings = spec.over(&stack.settings).complete().map_err(|error| error.to_string())?;
    let mss = spec.mss.unwrap_or(Mss::new(1000).unwrap());
    Ok((Config { sender: settings.clone(), receiver: settings, mss, clamp: mss }, opened))
}

pub(crate) fn syn() -> Segment {
    Segment { syn: true, ..Segment::EMPTY }
}

pub(crate) fn syn_ack(window: u32) -> Segment {
    Segment { ack: 1, window, ..syn() }
}

/// What may follow a segment: `sack 2000:3000,4000:5000`, `ts 100ms` (of a sender's segment) or
/// `echo 100ms` (of an acknowledgement), `ce`, `ece`, `cwr`.
pub(crate) fn options(mut segment: Segment, words: &mut VecDeque<&str>) -> Result<Segment, String> {
    while let Some(word) = words.front().copied() {
        match word {
            "sack" => {
                words.pop_front();
                for block in words.pop_front().unwrap_or("?").split(',') {
                    let (from, to) = block.split_once(':').ok_or(format!("`{block}`?"))?;
                    let ack = segment.ack;
                    kept(&mut segment).sack.push(ack, number(from)? + 1, number(to)? + 1);
                }
            }
            "ts" | "echo" => {
                words.pop_front();
                let at = time(words.pop_front().unwrap_or("?"))?;
                kept(&mut segment).timestamps = Some(Timestamps { value: at, echo: at });
            }
            "ce" => segment.marked = words.pop_front().is_some(),
            "ece" => segment.echoes_marks = words.pop_front().is_some(),
            "cwr" => segment.reduced = words.pop_front().is_some(),
            _ => break,
        }
    }
    Ok(segment)
}

pub(crate) fn kept(segment: &mut Segment) -> &mut SegmentOptions {
    segment.options.get_or_insert_with(|| {
        Box::new(SegmentOptions { sack: SackBlocks::NONE, timestamps: None })
    })
}

/// `1000:2000`, or `1000:2000 again`.
pub(crate) fn data(range: &str, words: &mut VecDeque<&str>) -> Result<Segment, String> {
    let (from, to) = range.split_once(':').ok_or(format!("`{range}` is no range"))?;
    let (from, to) = (number(from)?, number(to)?);
    let repeated = words.front() == Some(&"again");
    if repeated {
        words.pop_front();
    }
    let len = u16::try_from(to - from).map_err(|error| error.to_string())?;
    Ok(Segment { seq: from + 1, ack: 1, len, repeated, ..Segment::EMPTY })
}

/// A segment of an endpoint, which has both halves' business.
pub(crate) fn describe(segment: &Segment) -> String {
    match (segment.syn, segment.len) {
        (true, _) if segment.ack == 0 => "syn".to_owned(),
        (true, _) | (false, 0) => describe_ack(segment),
        (false, _) => format!("{} {}", describe_data(segment), describe_ack(segment)),
    }
}

pub(crate) fn describe_data(segment: &Segment) -> String {
    let marks = if segment.reduced { " cwr" } else { "" };
    match (segment.syn, segment.len) {
        (true, _) if segment.timestamps().is_some() => "syn ts".to_owned(),
        (true, _) => "syn".to_owned(),
        (false, 0) if segment.seq > 1 => format!("probe {}", segment.seq - 1),
        (false, 0) => "ack".to_owned(),
        (false, len) => format!("{}:{}{marks}", segment.seq - 1, segment.seq - 1 + u64::from(len)),
    }
}

pub(crate) fn describe_ack(segment: &Segment) -> String {
    if segment.syn {
        return format!("synack win {}", segment.window);
    }
    let mut text = format!("ack {}", segment.ack - 1);
    let blocks: Vec<String> = segment
        .sack()
        .iter(segment.ack)
        .map(|(from, to)| format!("{}:{}", from - 1, to - 1))
        .collect();
    if !blocks.is_empty() {
        write!(text, " sack {}", blocks.join(",")).unwrap();
    }
    if segment.echoes_marks {
        text += " ece";
    }
    if let Some(timestamps) = segment.timestamps() {
        write!(text, " echo {}ms", timestamps.echo.as_nanos() / 1_000_000).unwrap();
    }
    format!("{text} win {}", segment.window)
}

pub(crate) fn equal<T: Copy + PartialEq + std::fmt::Display>(
    what: &str,
    got: T,
    wanted: T,
) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what} is {got}, not {wanted}")) }
}

pub(crate) fn limit(name: &str) -> Result<Limit, String> {
    match name {
        "start-up" => Ok(Limit::StartUp),
        "receive-window" => Ok(Limit::ReceiveWindow),
        "congestion" => Ok(Limit::Congestion),
        other => Err(format!("`{other}` is no limit")),
    }
}

pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

pub(crate) fn time(text: &str) -> Result<Time, String> {
    text.parse().map_err(|error| format!("{error}"))
}
