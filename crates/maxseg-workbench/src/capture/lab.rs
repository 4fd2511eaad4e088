//! A lab's run as a capture file. The lab writes it; here it becomes a file, when it is whole.

use std::path::Path;

use maxseg_core::engine::{Caveat, Engine, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::Lab;

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
    let outcome = lab.run(scenario, watch)?;
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
