//! `maxseg run --json-stream`: a line as soon as there is something to say.

use std::time::{Duration, Instant};

use maxseg_core::results::Row;
use serde_json::Value;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::document::Document;
use crate::report::stream::StreamLine;
use crate::runner::Listener;

/// Prints lines for as long as somebody reads them.
pub(super) struct JsonStream {
    printer: Printer,
    pace: Pace,
    /// Whether the run has another purpose than to be read here, such as rows to be kept.
    is_kept: bool,
    reader_is_gone: bool,
}

impl JsonStream {
    /// Prints the first line.
    pub(super) fn begin(
        printer: Printer,
        scenario: &Value,
        environment: &Environment,
        runs: usize,
        is_kept: bool,
    ) -> Result<Self, Failure> {
        let mut stream = Self { printer, pace: Pace::default(), is_kept, reader_is_gone: false };
        stream.print(&StreamLine::Run { schema_version: 1, scenario, environment, runs })?;
        Ok(stream)
    }

    /// Prints the last line.
    pub(super) fn end(&mut self, document: &Document) -> Result<(), Failure> {
        self.print(&StreamLine::summary(document))
    }

    /// A reader that is gone ends the run, unless it is kept.
    fn print(&mut self, line: &StreamLine<'_>) -> Result<(), Failure> {
        if self.reader_is_gone {
            return Ok(());
        }
        match self.printer.data(&line.to_json()).map_err(Failure::from) {
            Err(Failure::BrokenPipe) if self.is_kept => {
                self.reader_is_gone = true;
                Ok(())
            }
            done => done,
        }
    }
}

impl Listener for JsonStream {
    fn row(&mut self, row: &Row) -> Result<(), Failure> {
        self.print(&StreamLine::Row(row))
    }

    fn progress(&mut self, done: f64, runs: usize) -> Result<(), Failure> {
        // In full thousandths: a worker counts no finer.
        let done = (done * 1000.0).round() / 1000.0;
        if self.pace.lets(Instant::now(), done) {
            return self.print(&StreamLine::Progress { done, runs });
        }
        Ok(())
    }
}

/// Lets a number pass where it changed, and not too often.
#[derive(Debug, Default)]
struct Pace(Option<(Instant, f64)>);

impl Pace {
    const LEAST: Duration = Duration::from_millis(500);

    fn lets(&mut self, now: Instant, number: f64) -> bool {
        let lets = self.0.is_none_or(|(before, last)| {
            now.duration_since(before) >= Self::LEAST && number.total_cmp(&last).is_ne()
        });
        if lets {
            self.0 = Some((now, number));
        }
        lets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_twice_a_second_at_most_and_only_where_it_changed() {
        let begin = Instant::now();
        let mut pace = Pace::default();
        let cases = [
            (0, 0.0, true),
            (100, 0.5, false),
            (499, 0.6, false),
            (500, 0.6, true),
            (1200, 0.6, false),
            (1201, 0.7, true),
            (1300, 0.8, false),
        ];
        for (at, done, told) in cases {
            assert_eq!(pace.lets(begin + Duration::from_millis(at), done), told, "{at} ms");
        }
    }
}
