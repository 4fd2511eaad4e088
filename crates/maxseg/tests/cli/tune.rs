//! `maxseg tune` in network namespaces of the test's own. They take root; without it, or without `ip`, the tests say that they are
//! skipped.

mod apply;
mod effect;
mod guard;
mod host;
mod killed;
mod refused;
mod script;
mod trouble;
mod undo;
mod watch;
