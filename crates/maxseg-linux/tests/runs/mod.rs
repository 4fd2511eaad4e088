//! Runs of the lab for tests.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::Lab;

/// Tests that measure what a machine's cores are needed for write, others read.
static CORES: RwLock<()> = RwLock::new(());

/// With nothing else on the machine's cores, for rates and times near what they carry.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    CORES.write().unwrap_or_else(PoisonError::into_inner)
}

/// Beside others that put little load on the machine's cores, too.
pub(crate) fn quiet() -> RwLockReadGuard<'static, ()> {
    CORES.read().unwrap_or_else(PoisonError::into_inner)
}

/// A scenario of hosts that go by the RFCs.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::from_toml_over("rfc", "test", text).unwrap()
}

/// What the lab makes of it.
pub(crate) fn lab(text: &str) -> Outcome {
    Lab::default().run(&scenario(text), &mut Unwatched).unwrap()
}
