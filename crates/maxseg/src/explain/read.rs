//! Opening the capture that is to be explained.

use std::io;
use std::path::Path;

use maxseg_wire::reading::{ReadOptions, Reading};
use maxseg_workbench::explain::{self, Connections};

use super::Explanation;
use crate::failure::Failure;

/// Reads the capture at this path, or standard input for `-`, to its end or its first fault. The explanation has no
/// connections yet: there may be more than fit into memory at once.
///
/// # Errors
/// It cannot be opened, is no capture, or does not have the interface.
pub(crate) fn read(
    file: &str,
    options: &ReadOptions<'_>,
) -> Result<(Explanation, Connections), Failure> {
    let Reading { summary, connections } = if file == "-" {
        explain::read(io::stdin(), "standard input", options)
    } else {
        explain::read_file(Path::new(file), options)
    }?;
    Ok((Explanation::new(file, summary), connections))
}
