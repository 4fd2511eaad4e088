//! Runs of the lab for tests.

use std::sync::{Mutex, MutexGuard, PoisonError};

use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::Lab;

/// One at a time: they share the machine's cores.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scenario of hosts that go by the RFCs.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::from_toml_over("rfc", "test", text).unwrap()
}

/// What the lab makes of it.
pub(crate) fn lab(text: &str) -> Outcome {
    Lab::default().run(&scenario(text), &mut Unwatched).unwrap()
}
