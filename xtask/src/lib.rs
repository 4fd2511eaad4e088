//! Development commands of maxseg, and what its tests against peers share with them.

pub mod bench;
pub mod check_licences;
pub mod generate;
pub mod layers;
pub mod ns2;
pub mod test;
pub mod validate;

use std::path::{Path, PathBuf};

/// The repository's root.
///
/// # Panics
/// Never: this crate lies in a folder of the root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above").to_owned()
}
