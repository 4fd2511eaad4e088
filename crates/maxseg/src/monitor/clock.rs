//! Times of lines.

use clap::ValueEnum;

/// Which time a line shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeFormat {
    /// The time of day, UTC
    #[default]
    Absolute,
    /// Seconds since the first packet
    Relative,
    /// Seconds since the packet before
    Delta,
}

/// Knows the packets before.
#[derive(Debug)]
pub(super) struct Clock {
    format: TimeFormat,
    first: Option<u64>,
    last: Option<u64>,
}

const SECOND: u64 = 1_000_000_000;

impl Clock {
    pub(super) fn new(format: TimeFormat) -> Self {
        Self { format, first: None, last: None }
    }

    /// The time of the next packet, in nanoseconds since 1970, to the microsecond. Packets of two processors may
    /// come in the other order: then it is negative.
    pub(super) fn show(&mut self, at: Option<u64>) -> String {
        let Some(at) = at else { return "no-time".to_owned() };
        let first = *self.first.get_or_insert(at);
        let before = self.last.replace(at).unwrap_or(at);
        match self.format {
            TimeFormat::Absolute => {
                let seconds = at / SECOND % 86_400;
                let [hours, minutes] = [seconds / 3600, seconds / 60 % 60];
                let micros = at % SECOND / 1000;
                format!("{hours:02}:{minutes:02}:{:02}.{micros:06}", seconds % 60)
            }
            TimeFormat::Relative => since(first, at),
            TimeFormat::Delta => since(before, at),
        }
    }
}

fn since(then: u64, at: u64) -> String {
    let sign = if at < then { "-" } else { "" };
    let nanos = at.abs_diff(then);
    format!("{sign}{}.{:06}", nanos / SECOND, nanos % SECOND / 1000)
}
