//! What a far end measured, as text: the verdict of each direction first, then the tables.

use std::fmt::Write as _;

use maxseg_core::outcome::LimitShare;
use maxseg_core::rfc6349::{Cause, Check, Metric, RunMetrics, TrainLimit, TrainsFound, Verdict};
use maxseg_core::units::approx;
use maxseg_workbench::path::{
    BothAtOnce, BottleneckConfidence, BottleneckMethod, BottleneckRate, DirectionReport,
    GRADE_RULE, PathReport, Rfc6349Report, SizeTable, UnderLoadRow,
};

use crate::printer::Printer;
use crate::report::grid::{Column, Grid};
use crate::wrap::hanging;

/// The parts of a far end; empty without one.
pub(super) fn far_end_text(report: &PathReport, printer: Printer) -> String {
    let width = printer.width();
    let mut text = String::new();
    if let Some(found) = &report.bottleneck {
        text.push('\n');
        let line = format!(
            "bottleneck: {} up, {} down (IP packets)",
            way(found.forward),
            way(found.reverse)
        );
        text += &line_of(&line, width);
    }
    if let Some(syn) = &report.syn_as_received {
        let mss = syn.mss.map_or_else(|| "none".to_owned(), |mss| mss.to_string());
        let line = format!(
            "this host's SYN arrived with MSS {mss}, TTL {}, options {}",
            syn.ttl,
            syn.options.join(" ")
        );
        text += &line_of(&line, width);
    }
    if let Some(reverse) = &report.path_mtu.reverse {
        let bytes =
            reverse.bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"));
        let chance = super::chance(reverse.error_chance.filter(|_| reverse.bytes.is_some()));
        let reason =
            reverse.reason.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
        let confidence = reverse.confidence.word();
        let line = format!("path MTU of the way back: {bytes} ({confidence}{chance}{reason})");
        text += &line_of(&line, width);
    }
    if !report.under_load.is_empty() {
        let _ = writeln!(text, "\n{}", printer.bold("Under load"));
        text += &under_load(&report.under_load, width);
        text += &line_of(GRADE_RULE, width);
    }
    if let Some(test) = &report.rfc6349 {
        for direction in &test.directions {
            text += &direction_text(direction, test, printer);
        }
        text += &test.both_at_once.as_ref().map_or_else(String::new, |both| at_once(both, width));
        text += &conditions(test, width);
    }
    if let Some(table) = &report.table {
        text += &size_table(table, printer);
    }
    text
}

/// The narrowest link of a direction, and how sure it is.
fn way(found: Option<BottleneckRate>) -> String {
    let Some(found) = found else { return "unknown".to_owned() };
    let rate = approx::rate(found.bps);
    match found.confidence {
        BottleneckConfidence::Confirmed => rate,
        BottleneckConfidence::AtLeast => format!("at least {rate}"),
        BottleneckConfidence::OneMethod if found.method == BottleneckMethod::Trains => {
            format!("{rate} by datagrams")
        }
        BottleneckConfidence::OneMethod => format!("{rate} by TCP"),
    }
}

fn line_of(line: &str, width: usize) -> String {
    format!("{}\n", hanging(line, width, "  ").trim_end())
}

/// The verdict of RFC 6349 for each direction, in a line or two.
pub(super) fn verdicts(path: &PathReport, printer: Printer) -> String {
    let Some(report) = &path.rfc6349 else { return String::new() };
    let mut text = String::new();
    for direction in &report.directions {
        let is_any =
            |verdict: Verdict| direction.checks.iter().any(|check| check.verdict == verdict);
        let verdict = if is_any(Verdict::Fail) {
            "FAILED"
        } else if is_any(Verdict::Unknown) {
            "undecided"
        } else if direction.checks.is_empty() {
            "measured"
        } else {
            "passed"
        };
        let (cause, why) = direction
            .interpretation
            .as_ref()
            .map_or(("unknown", "nothing was transferred"), |found| {
                (cause_word(found.cause), found.text.as_str())
            });
        let line = format!("RFC 6349, {}: {verdict}; {cause}: {why}", direction.direction);
        text += &line_of(&line, printer.width());
        for check in &direction.checks {
            text += &line_of(&format!("  {}", check_text(check)), printer.width());
        }
    }
    text
}

const fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Policing => "policing",
        Cause::Shaping => "shaping",
        Cause::Bufferbloat => "bufferbloat",
        Cause::ShortQueue => "short queue",
        Cause::Window => "receive window",
        Cause::SendBuffer => "send buffer",
        Cause::Host => "sending host",
        Cause::Loss => "loss",
        Cause::FullPath => "full path",
        Cause::Unknown => "unknown",
    }
}

fn check_text(check: &Check) -> String {
    let (name, bound) = match check.metric {
        Metric::TransferTimeRatio => ("transfer time ratio", "at most"),
        Metric::Efficiency => ("TCP efficiency", "at least"),
        Metric::BufferDelay => ("buffer delay", "at most"),
        Metric::Throughput => ("throughput", "at least"),
    };
    let said = |value: f64| match check.metric {
        Metric::TransferTimeRatio => format!("{value:.2}"),
        Metric::Efficiency => format!("{:.2}%", 100.0 * value),
        Metric::BufferDelay => approx::percent(value),
        Metric::Throughput => approx::rate(value),
    };
    let verdict = match check.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Unknown => "unknown",
    };
    let measured = check.measured.map_or_else(|| "not measured".to_owned(), said);
    format!("{verdict}: {name} {measured}, {bound} {}", said(check.threshold))
}

fn optional(value: Option<f64>, of: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), of)
}

fn under_load(rows: &[UnderLoadRow], width: usize) -> String {
    let mut grid = Grid::new(
        [Column::word("load")],
        [
            Column::number("rate"),
            Column::number("median ping"),
            Column::number("mean"),
            Column::number("99%"),
            Column::number("round trips/min"),
            Column::word("grade"),
        ],
    );
    for row in rows {
        grid.push([
            row.load.clone(),
            optional(row.rate_bps, approx::rate),
            optional(row.rtt_median_s, approx::time),
            optional(row.rtt_mean_s, approx::time),
            optional(row.rtt_p99_s, approx::time),
            optional(row.round_trips_per_minute, |n| format!("{n:.0}")),
            row.grade.unwrap_or("").to_owned(),
        ]);
    }
    grid.text(width)
}

fn direction_text(direction: &DirectionReport, report: &Rfc6349Report, printer: Printer) -> String {
    let width = printer.width();
    let title = format!("RFC 6349, {}", direction.direction);
    let mut text = format!("\n{}\n", printer.bold(&title));
    let least = if direction.is_lower_bound { "at least " } else { "" };
    let ideal = optional(direction.ideal_bps, approx::rate);
    let line = format!(
        "bottleneck {least}{} x baseline {} = BDP and least window {} bytes; ideal throughput {ideal} of payload in packets of {} bytes",
        approx::rate(direction.bottleneck_bps),
        approx::time(report.baseline.rtt_s),
        direction.bdp_bytes.round(),
        direction.packet_bytes
    );
    text += &line_of(&line, width);
    text += &direction.trains.as_ref().map_or_else(String::new, |found| trains(found, width));
    let keys = [Column::word("window"), Column::number("bytes")];
    let mut grid = Grid::new(
        keys,
        [
            Column::number("expected"),
            Column::number("measured"),
            Column::number("ratio"),
            Column::number("efficiency"),
            Column::number("buffer delay"),
        ],
    );
    for step in &direction.sweep {
        let run = step.run.as_ref();
        let name = format!("{:.0}% of BDP", 100.0 * step.of_bdp);
        let expected = optional(step.expected_bps, approx::rate);
        grid.push(row(name, step.window_bytes.to_string(), expected, run));
    }
    let window =
        |run: &RunMetrics| optional(run.window_bytes.map(|n| n as f64), |n| format!("{n:.0}"));
    for run in &direction.runs {
        grid.push(row("1 connection".to_owned(), window(run), ideal.clone(), Some(run)));
    }
    let many = &direction.many;
    let name = format!("{} connections", many.connections);
    grid.push(row(name, window(many), ideal, Some(many)));
    text += &grid.text(width);
    if let Some(run) = direction.runs.first() {
        let slow_start = if run.equilibrium.is_after_slow_start {
            "what came before equilibrium"
        } else {
            "a third, as slow start had not ended or its end is not known,"
        };
        let asked = direction.buffers.asked_bytes;
        let asked = asked.map_or_else(String::new, |asked| format!(" ({asked} asked for)"));
        let line = format!(
            "one connection counts from {} on: {slow_start} is left out; buffers {} to send, {} to receive{asked}, congestion control {}",
            approx::time(run.equilibrium.from_s),
            bytes(direction.buffers.send_bytes),
            bytes(direction.buffers.receive_bytes),
            direction.buffers.congestion.as_deref().unwrap_or("unknown")
        );
        text += &line_of(&line, width);
    }
    if !direction.limits.is_empty() {
        let line = format!("the sender's socket was limited by {}", limits(&direction.limits));
        text += &line_of(&line, width);
    }
    text
}

/// What trains of datagrams showed.
fn trains(found: &TrainsFound, width: usize) -> String {
    let limit = match found.limit {
        TrainLimit::Link => "a link's rate",
        TrainLimit::Policer => "a policer's rate",
        TrainLimit::AtLeast => "at least",
    };
    let line = format!(
        "trains of datagrams: {} lasts ({limit}), a short one passed at {}, {} is lost at any rate",
        approx::rate(found.lasting_bps),
        approx::rate(found.short_train_bps),
        approx::percent(found.lost_share)
    );
    line_of(&line, width)
}

fn bytes(bytes: Option<u32>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"))
}

fn limits(limits: &[LimitShare]) -> String {
    let said =
        |limit: &LimitShare| format!("{} ({})", limit.kind, approx::whole_percent(limit.share));
    limits.iter().map(said).collect::<Vec<_>>().join(", ")
}

/// Window, its bytes, what was expected, and what was measured.
fn row(name: String, window: String, expected: String, run: Option<&RunMetrics>) -> [String; 7] {
    let of = |value: fn(&RunMetrics) -> Option<f64>| run.and_then(value);
    [
        name,
        window,
        expected,
        optional(of(|run| Some(run.throughput_bps)), approx::rate),
        optional(of(|run| run.transfer_time_ratio), |ratio| format!("{ratio:.2}")),
        optional(of(|run| run.efficiency), |share| format!("{:.2}%", 100.0 * share)),
        optional(of(|run| run.buffer_delay), |share| format!("{:.1}%", 100.0 * share)),
    ]
}

/// Both directions at once, beside each by itself.
fn at_once(both: &BothAtOnce, width: usize) -> String {
    let of = |run: Option<&RunMetrics>| {
        optional(run.map(|run| run.throughput_bps), approx::rate)
            + &run
                .and_then(|run| run.transfer_time_ratio)
                .map_or_else(String::new, |ratio| format!(" (ratio {ratio:.2})"))
    };
    let (up, down) = (of(both.upload.as_ref()), of(both.download.as_ref()));
    let line = format!("both directions at once: {up} up, {down} down");
    format!("\n{}", line_of(&line, width))
}

/// What the numbers rest on.
fn conditions(test: &Rfc6349Report, width: usize) -> String {
    let stated = test.preconditions.stated_bps.map_or_else(
        || {
            "no bandwidth was stated, so that the ideal throughput is of the measured one"
                .to_owned()
        },
        |bps| format!("the ideal throughput is of the stated {}", approx::rate(bps as f64)),
    );
    let tested = if test.preconditions.is_layer_2_tested {
        "layers 2 and 3 were tested before"
    } else {
        "layers 2 and 3 were not tested before, which the RFC wants"
    };
    let line = format!("\n{stated}; {tested}; ratio is actual by ideal transfer time");
    let baseline = format!(
        "baseline {}: {}, {} sent",
        approx::time(test.baseline.rtt_s),
        test.baseline.method,
        test.baseline.sent
    );
    format!("\n{}{}", line_of(line.trim_start(), width), line_of(&baseline, width))
}

fn size_table(table: &SizeTable, printer: Printer) -> String {
    let title = format!("Segment size and window, {}", table.direction);
    let mut text = format!("\n{}\n", printer.bold(&title));
    let keys = [Column::word(""), Column::number("MSS"), Column::number("window")];
    let mut columns =
        vec![Column::number("rate"), Column::number("ping"), Column::number("in flight")];
    // What engines predict stands beside what was measured.
    let engines: Vec<&str> = ["model", "sim"]
        .into_iter()
        .filter(|engine| table.rows.iter().any(|row| row.engine == *engine))
        .collect();
    for engine in &engines {
        columns.push(Column::number(*engine));
        columns.push(Column::number("its ping"));
    }
    let mut grid = Grid::new(keys, columns);
    for (at, row) in table.rows.iter().enumerate().filter(|(_, row)| row.is_measured()) {
        let mark = if table.recommended == Some(at) { "->" } else { "" };
        let mut cells = vec![
            mark.to_owned(),
            row.mss_bytes.to_string(),
            row.window_bytes.to_string(),
            optional(row.rate_bps, approx::rate),
            optional(row.ping_s, approx::time),
            optional(row.in_flight_s, approx::time),
        ];
        // The rows of the same size and window follow.
        let of_row = table.rows.iter().skip(at + 1).take_while(|row| !row.is_measured());
        let predicted: Vec<_> = of_row.collect();
        for engine in &engines {
            let found = predicted.iter().find(|row| row.engine == *engine);
            cells.push(optional(found.and_then(|row| row.rate_bps), approx::rate));
            cells.push(optional(found.and_then(|row| row.ping_s), approx::time));
        }
        grid.push(cells);
    }
    text += &grid.text(printer.width());
    if let Some(because) = &table.because {
        text += &line_of(&format!("recommended: {because}"), printer.width());
    }
    text
}
