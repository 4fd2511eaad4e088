//! A lab's run as a capture file. The lab writes it; here it becomes a file, when it is whole.

use std::io;
use std::path::Path;

use maxseg_core::engine::{Caveat, Engine, EngineError, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::{Lab, LabError};

use super::incomplete;
use crate::error::{CaptureError, Error};
use crate::whole_file::WholeFile;

/// Runs `scenario` in the lab, and writes every packet of the wire to `file`, at every interface. The
/// file appears when it is whole. Gives the lab's caveats too.
///
/// # Errors
/// The lab cannot run it, or is not in this build; the file cannot be written; `watch` put an end to the run.
pub fn run(
    scenario: &Scenario,
    watch: &mut dyn Watch,
    path: &Path,
) -> Result<(Outcome, Vec<Caveat>), Error> {
    let fail = |error| Error::file("write", path, error);
    let mut file = WholeFile::create(path).map_err(fail)?;
    let mut lab = Lab::capturing(&mut file);
    let outcome = lab.run(scenario, watch).map_err(|error| unwritten(error, path))?;
    let mut caveats = lab.caveats(scenario);
    if outcome.lab.is_none() {
        let why = caveats.first().map_or("nothing ran", |caveat| caveat.text.as_str());
        let (file, why) = (path.to_owned(), why.to_owned());
        return Err(CaptureError::NoPackets { file, why }.into());
    }
    file.publish().map_err(fail)?;
    caveats.extend(incomplete(&outcome));
    Ok((outcome, caveats))
}

/// The error of a run; where it is that of the capture's file, it names the file.
fn unwritten(error: EngineError, path: &Path) -> Error {
    if let EngineError::Unable { source, .. } = &error
        && let Some(LabError::Capture(error)) = source.downcast_ref::<LabError>()
    {
        let copy = error.raw_os_error().map_or_else(
            || io::Error::new(error.kind(), error.to_string()),
            io::Error::from_raw_os_error,
        );
        return Error::file("write", path, copy);
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_the_file() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let told = unwritten(LabError::Capture(full()).into(), Path::new("lab.pcapng"));
        assert_eq!(told.to_string(), "cannot write lab.pcapng: no space is left on the device");
        assert!(told.hint().is_some_and(|hint| hint.starts_with("`df -h`")), "{told:?}");
        let other = unwritten(LabError::Tun(full()).into(), Path::new("lab.pcapng"));
        assert!(other.to_string().contains("TUN"), "{other}");
    }
}
