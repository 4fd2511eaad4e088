//! `maxseg capture --read`: the packets of a file as if they passed now.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use maxseg_wire::capture_file::{CaptureFile, OpenError, Record};

use super::CaptureArgs;
use crate::failure::Failure;
use crate::monitor::{Monitor, View};
use crate::printer::Printer;

/// So many characters are printed at once.
const BATCH: usize = 1 << 16;

pub(super) fn run(args: &CaptureArgs, path: &Path, printer: Printer) -> Result<(), Failure> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|error| Failure::file("read", path, &error))?)
    };
    let mut file = CaptureFile::open(input).map_err(|error| refused(path, &error))?;
    let selection = args.selection()?;
    let mut monitor = Monitor::new(printer, args.manner(false));
    let (mut out, mut shown) = (String::new(), 0_u64);
    let mut names: Vec<Option<String>> = Vec::new();
    let fault = loop {
        if args.count == Some(shown) {
            break None;
        }
        let record = match file.next() {
            Ok(Some(record)) => record,
            Ok(None) => break None,
            Err(fault) => break Some(fault),
        };
        // A record is lent by the file, and so are the interfaces: not both at once.
        let (Record { interface, at_nanos, original_len, link_type, .. }, bytes) =
            (record, record.data.to_vec());
        let known = file.interfaces();
        names.extend(known[names.len()..].iter().map(|interface| interface.name.clone()));
        monitor.name_interfaces(names.len() > 1);
        let view = View {
            at_nanos,
            interface: names.get(interface as usize).and_then(Option::as_deref),
            direction: None,
            link_type,
            original_len,
            bytes: &bytes,
            checksum_pending: false,
        };
        shown += u64::from(monitor.show_selected(&view, &selection, &mut out));
        if out.len() >= BATCH {
            printer.text(&out)?;
            out.clear();
        }
    };
    printer.text(&out)?;
    match fault {
        None => Ok(()),
        Some(fault) => Err(Failure::with_hint(
            format!("{} {fault}", path.display()),
            format!("`maxseg explain {}` reads what comes before the fault", path.display()),
        )),
    }
}

fn refused(path: &Path, error: &OpenError) -> Failure {
    let what = format!("{} {error}", path.display());
    match error.hint() {
        Some(hint) => Failure::with_hint(what, hint),
        None => Failure::with_hint(what, format!("`file {}` shows what it is", path.display())),
    }
}
