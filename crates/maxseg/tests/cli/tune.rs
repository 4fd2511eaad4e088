//! `maxseg tune` in network namespaces of the test's own. They take root; without it, or without `ip`, the tests say that they are
//! skipped.

mod apply;
mod effect;
mod follow;
mod guard;
mod held;
mod host;
mod interfaces;
mod journal_owner;
mod json;
mod killed;
mod persist;
mod refused;
mod script;
mod sockets;
mod stacked;
mod together;
mod trouble;
mod undo;
mod watch;
mod worse;
