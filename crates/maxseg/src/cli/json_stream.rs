//! `maxseg run --json-stream`: a line as soon as there is something to say.

use std::time::{Duration, Instant};

use maxseg_core::engine::Continue;
use maxseg_core::results::Row;
use serde_json::Value;

use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::environment::Environment;
use maxseg_workbench::report::document::Document;
use maxseg_workbench::report::stream::StreamLine;
use maxseg_workbench::runner::{Observer, Progress};

/// Prints lines for as long as somebody reads them.
pub(super) struct JsonStream {
    printer: Printer,
    pace: Pace,
    /// Whether the run has another purpose than to be read here, such as rows to be kept.
    is_kept: bool,
    reader_is_gone: bool,
    /// Why a line could not be printed.
    failure: Option<Failure>,
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
        let pace = Pace::default();
        let mut stream = Self { printer, pace, is_kept, reader_is_gone: false, failure: None };
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

    /// Prints a line of a run; one that cannot be printed stops the run.
    fn follow(&mut self, line: &StreamLine<'_>) -> Continue {
        match self.print(line) {
            Ok(()) => Continue::Go,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                Continue::Stop
            }
        }
    }

    /// Why the run was stopped from here, if it was.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Observer for JsonStream {
    fn on_row(&mut self, row: &Row) -> Continue {
        self.follow(&StreamLine::Row(row))
    }

    fn on_progress(&mut self, progress: &Progress) -> Continue {
        // In full thousandths: a worker counts no finer.
        let done = (progress.done * 1000.0).round() / 1000.0;
        if self.pace.lets(Instant::now(), done) {
            return self.follow(&StreamLine::Progress { done, runs: progress.runs });
        }
        Continue::Go
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
