//! Experiments on TCP paths: run scenarios, keep and report results, explain captures. It prints nothing and knows no
//! terminal; the program `maxseg` is one user of it.
//!
//! [`experiment`] is what is to be run, [`runner`] runs it and keeps rows, [`report`] turns rows into documents, tables
//! and charts, [`explain`] reads captures, [`capture`] writes them, [`connections`] lists sockets, `why` explains one, [`calc`] has one formula at a time, [`import`] reads
//! other programs' topologies, [`measured`] what was measured on a real path. Scenarios, rows and findings are `maxseg-core`'s types.
//!
//! A scenario is run at two segment sizes:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use maxseg_core::engine::EngineName;
//! use maxseg_core::scenario::Draft;
//! use maxseg_workbench::experiment::Experiment;
//! use maxseg_workbench::runner::{Plan, RunOptions, run};
//!
//! let text = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"50 ms\"\n";
//! let mut draft = Draft::parse("path.toml", text)?;
//! draft.sweep_argument("sender.mss=536,1460")?;
//! let experiment = Experiment::new(draft, text, vec![EngineName::Sim], 1)?;
//! let points = experiment.points()?;
//! let plan = Plan::new(&experiment, &points);
//! let stop = AtomicBool::new(false); // set from elsewhere, it stops the runs
//! let result = run(&plan, &RunOptions::default(), None, &stop, &mut ())?;
//! assert!(result.complete);
//! let goodput = |row: usize| result.rows[row].outcome.goodput_bps;
//! assert!(goodput(1) > goodput(0), "fewer headers");
//! # Ok::<(), maxseg_workbench::Error>(())
//! ```
//!
//! Findings of a capture: see [`explain`].
//!
//! The feature `lab`, on by default, is all that needs Linux and the crate `maxseg-linux`: the engine `lab`, `tune`, `path`, `why`,
//! `fuzz`, `report::tune`, `report::path`, `report::why`, and of [`connections`] what asks the kernel (`Watch`; `Recording` and `Listing` read
//! files without it). Types of `maxseg-linux` that these take or give are here under their own names. Live packets (`maxseg capture`), the far
//! end of path tests (`maxseg responder`) and the look at a host (`maxseg doctor`) are in `maxseg-linux` alone.
//!
//! Modules use only those to their left:
//!
//! <!-- layers of maxseg-workbench -->
//! ```text
//! file_error host_port json_words · error environment whole_file · parallel · engines · experiment
//! calc connections explain import measured · capture compare path tune why · advise fuzz · report
//! runner
//! ```
//! <!-- end of layers -->
#![forbid(unsafe_code)]

#[cfg(all(feature = "lab", not(target_os = "linux")))]
compile_error!("the lab needs Linux's network namespaces: build with --no-default-features");

pub mod advise;
pub mod calc;
pub mod capture;
pub mod compare;
pub mod connections;
pub mod engines;
pub mod environment;
pub mod error;
pub mod experiment;
pub mod explain;
pub mod file_error;
#[cfg(feature = "lab")]
pub mod fuzz;
pub mod host_port;
pub mod import;
mod json_words;
pub mod measured;
pub mod parallel;
#[cfg(feature = "lab")]
pub mod path;
pub mod report;
pub mod runner;
#[cfg(feature = "lab")]
pub mod tune;
pub mod whole_file;
#[cfg(feature = "lab")]
pub mod why;

pub use error::Error;

/// Version and commit of this build, as `maxseg --version` prints them.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("MAXSEG_COMMIT"), ")");
