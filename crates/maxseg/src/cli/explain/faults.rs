//! Captures that are at fault, cut, or without packets.

use maxseg_wire::reading::{CaptureSummary, FilePart, Problem, ProblemKind};
use maxseg_workbench::file_error::for_shell;
use maxseg_workbench::report::words;

use super::super::broken_capture;
use super::ring;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::explain::problem_text;

/// With so many files at most a hint names all of them.
const MOST_NAMED: usize = 8;

/// The file of several that has this problem.
fn part<'a>(summary: &'a CaptureSummary, problem: &Problem) -> Option<&'a FilePart> {
    let file = problem.file.as_ref()?;
    summary.file.parts.iter().find(|part| part.name == *file)
}

/// Notes which files end within a packet.
pub(super) fn note_cut(name: &str, summary: &CaptureSummary, printer: Printer) {
    for cut in summary.cuts() {
        let part = part(summary, cut);
        let packets = words::grouped(part.map_or(summary.file.packets, |part| part.packets));
        let name = cut.file.as_deref().unwrap_or(name);
        printer.note(&format!("{name}: {}: its {packets} packets are explained", cut.kind));
    }
}

/// Notes between which files others are missing: by what passed, or where that does not show it by their names. `given` are all names.
pub(super) fn note_missing_files(summary: &CaptureSummary, given: &[String], printer: Printer) {
    let is_missing = |problem: &&Problem| matches!(problem.kind, ProblemKind::MissingFiles { .. });
    for problem in summary.problems.iter().filter(is_missing) {
        printer.note(&problem_text(problem));
        if let Some(hint) = problem.kind.hint() {
            printer.note(hint);
        }
    }
    let parts = &summary.file.parts;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let is_told = |name: &str| {
        summary
            .file
            .holes
            .iter()
            .any(|hole| parts.get(hole.before).is_some_and(|it| it.name == name))
    };
    for (one, next) in ring::missing(&names, given).into_iter().filter(|(_, next)| !is_told(next)) {
        printer.note(&format!(
            "by their names, files are missing between {one} and {next}: no connection goes on from one to the other, which would show it"
        ));
    }
}

/// Notes which of several files hold no packet.
pub(super) fn note_without_packets(names: &[String], printer: Printer) {
    let text = match names {
        [] => return,
        [one] => format!("{one} holds no packet and is left out"),
        [one, other] => format!("{one} and {other} hold no packet and are left out"),
        [one, others @ ..] => {
            format!("{one} and {} others hold no packet and are left out", others.len())
        }
    };
    printer.note(&text);
}

/// Why a capture is not explained; `files` are all that were given.
pub(super) fn at_fault(
    file: &str,
    files: &[String],
    summary: &CaptureSummary,
    fault: &Problem,
) -> Failure {
    let place = fault.offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    let part = part(summary, fault);
    let file = fault.file.as_deref().unwrap_or(file);
    let name = if file == "-" { "standard input" } else { file };
    let what = format!("{name} is at fault{place}: {}", problem_text(fault));
    let (compression, packets) = match part {
        Some(part) => (part.compression, part.packets),
        None => (summary.file.compression, summary.file.packets),
    };
    let command = match fault.file {
        Some(_) if files.len() > MOST_NAMED => "explain - OTHER-FILES".to_owned(),
        Some(_) => {
            let all =
                files.iter().map(|other| if other == file { "-".into() } else { for_shell(other) });
            format!("explain {}", all.collect::<Vec<_>>().join(" "))
        }
        None => "explain -".to_owned(),
    };
    let before = |offset| broken_capture::hint(file, compression, offset, packets, &command);
    match (fault.kind.hint(), fault.offset) {
        (None, Some(offset)) => Failure::with_hint(what, before(offset)),
        (hint, _) => Failure::Other { what, hint: hint.map(str::to_owned) },
    }
}
