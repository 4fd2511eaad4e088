//! The lab: hosts and links in network namespaces, and the real kernel's TCP between them.

pub mod netem;

use maxseg_core::engine::{Caveat, Engine, EngineError, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;

/// The lab. Every run has namespaces, links and connections of its own.
#[derive(Debug, Clone, Default)]
pub struct Lab {
    /// Where every packet at every interface goes, if anywhere: a pcapng file.
    pub capture: Option<std::path::PathBuf>,
}

impl Engine for Lab {
    fn caveats(&self, _: &Scenario) -> Vec<Caveat> {
        Vec::new()
    }

    fn run(&mut self, _: &Scenario, _: &mut dyn Watch) -> Result<Outcome, EngineError> {
        Err(EngineError::Unable { what: "the lab is not there yet".to_owned(), hint: None })
    }
}
