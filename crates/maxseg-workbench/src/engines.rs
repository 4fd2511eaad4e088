//! The engines by name: formulas, simulator, and the lab where this build has it.

mod simulate_all;

use maxseg_core::engine::{Engine, EngineName};
use maxseg_core::model::Model;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use crate::error::Error;
pub(crate) use simulate_all::simulate_all;

/// Whether this build can run the lab: it has the cargo feature `lab`.
pub const HAS_LAB: bool = cfg!(feature = "lab");

/// The engine of this name.
///
/// # Errors
/// [`Error::NoLab`]: the lab is asked for and is not in this build. [`Error::NoEngine`]: nothing runs it.
pub fn engine(name: EngineName) -> Result<Box<dyn Engine>, Error> {
    match name {
        EngineName::Model => Ok(Box::new(Model)),
        EngineName::Sim => Ok(Box::new(Sim)),
        EngineName::Lab => lab(),
        EngineName::Measured => Err(Error::NoEngine),
    }
}

#[cfg(feature = "lab")]
#[expect(clippy::unnecessary_wraps, reason = "a build without the lab has an error here")]
fn lab() -> Result<Box<dyn Engine>, Error> {
    Ok(Box::new(maxseg_linux::lab::Lab::default()))
}

#[cfg(not(feature = "lab"))]
fn lab() -> Result<Box<dyn Engine>, Error> {
    Err(Error::NoLab)
}

/// Whether the lab can run `scenario` on this machine, without running it.
///
/// # Errors
/// The reason, with a hint; [`Error::NoLab`] in a build without the lab.
#[cfg(feature = "lab")]
pub fn check_lab(scenario: &Scenario) -> Result<(), Error> {
    Ok(maxseg_linux::lab::check(scenario)?)
}

/// Whether the lab can run `scenario` on this machine, without running it.
///
/// # Errors
/// [`Error::NoLab`]: this build has no lab.
#[cfg(not(feature = "lab"))]
pub fn check_lab(scenario: &Scenario) -> Result<(), Error> {
    let _ = scenario;
    Err(Error::NoLab)
}
