//! Experiments on TCP paths: run scenarios, keep and report results, explain captures.
//!
//! Modules use only those to their left:
//!
//! <!-- layers of maxseg-workbench -->
//! ```text
//! error environment whole_file · engines · experiment calc import · capture · report runner
//! ```
//! <!-- end of layers -->
#![forbid(unsafe_code)]

#[cfg(all(feature = "lab", not(target_os = "linux")))]
compile_error!("the lab needs Linux's network namespaces: build with --no-default-features");

pub mod calc;
pub mod capture;
pub mod engines;
pub mod environment;
pub mod error;
pub mod experiment;
pub mod import;
pub mod report;
pub mod runner;
pub mod whole_file;

pub use error::Error;

/// Version and commit of this build, as `maxseg --version` prints them.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("MAXSEG_COMMIT"), ")");
