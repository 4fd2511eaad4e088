//! Connections that are not established: not yet, or not any more.

use super::super::command::{Host, Remedy};
use super::SocketCase;
use crate::diagnose::{closed_and_still, closing_in_words};
use crate::evidence::Closing;

impl SocketCase<'_> {
    /// What there is to say of one that is not established, instead of a limit.
    pub(super) fn not_established(&self) -> Option<String> {
        if self.evidence.state.is_opening {
            let why = self.diagnosis.unknown_because.as_deref()?;
            return Some(format!("This connection is not established: {why}."));
        }
        let closing = closed_and_still(self.evidence)?;
        let process =
            self.pid.map_or_else(|| "this host".to_owned(), |pid| format!("process {pid}"));
        Some(format!(
            "This connection is not established any more: {}.",
            closing_in_words(closing, &process)
        ))
    }

    /// What to do about that; `None` where time does it.
    pub(super) fn establish(&self, here: &Host) -> Option<Remedy> {
        if self.evidence.state.is_opening {
            return Some(
                Remedy::new(format!(
                    "find out whether {} answers",
                    self.remote.ip().to_canonical()
                ))
                .look_linux(here, self.path_test()),
            );
        }
        let is_open_here = closed_and_still(self.evidence)? == Closing::CloseWait;
        is_open_here.then(|| {
            let process = self.process();
            Remedy::new(format!("let {process} close it: a socket stays in CLOSE-WAIT for as long as the process has it open"))
                .look_linux(here, "ss -tnp state close-wait")
        })
    }
}
