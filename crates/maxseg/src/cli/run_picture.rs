//! Whether a run has a picture, before it begins.

use std::path::Path;

use maxseg_core::scenario::Point;
use maxseg_workbench::whole_file::WholeFile;

use crate::failure::Failure;

/// A picture shows what changes along an axis.
pub(super) fn begin_picture(file: &Path, points: &[Point]) -> Result<WholeFile, Failure> {
    let is_swept = points.iter().any(|point| point.values != points[0].values);
    if is_swept {
        return WholeFile::create(file).map_err(|error| Failure::file("write", file, &error));
    }
    Err(no_picture("nothing is swept", file))
}

pub(super) fn no_picture(why: &str, file: &Path) -> Failure {
    let what = format!("{why}, so there is no picture to write to {}", file.display());
    Failure::with_hint(what, "sweep a key, for example --axis sender.mss=536,1220,1460")
}
