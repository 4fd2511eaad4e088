//! TCP over real paths, without I/O.
//!
//! The crate knows no clock, file, thread or environment: everything takes `now` as an argument and
//! chance from a seed, so that a run is the same on every machine. Modules use only those to their
//! left:
//!
//! <!-- layers of maxseg-core -->
//! ```text
//! units similar excerpt · stats rng framing tunables · errors mss window · path path_mtu settings ·
//! scenario outcome evidence · engine diagnose · results why · compare · link · tcp · model sim ·
//! advise rfc6349 tune
//! ```
//! <!-- end of layers -->
#![forbid(unsafe_code)]

pub mod advise;
pub mod compare;
pub mod diagnose;
pub mod engine;
pub mod errors;
pub mod evidence;
pub mod excerpt;
pub mod framing;
pub mod link;
pub mod model;
pub mod mss;
pub mod outcome;
pub mod path;
pub mod path_mtu;
pub mod results;
pub mod rfc6349;
pub mod rng;
pub mod scenario;
pub mod settings;
pub mod sim;
pub mod similar;
pub mod stats;
pub mod tcp;
pub mod tunables;
pub mod tune;
pub mod units;
pub mod why;
pub mod window;
