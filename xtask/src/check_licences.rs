//! Every dependency's licence is a permissive one. (`deny.toml` says the same to cargo-deny.)

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::root;

/// Licences that a dependency may have; one of its alternatives is enough.
const PERMISSIVE: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "CC0-1.0",
    "0BSD",
    "MIT-0",
];

/// Checks what `cargo metadata` says of every dependency.
///
/// # Errors
/// A licence is missing or not in the list.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn check() -> Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let faults: Vec<String> = packages
        .iter()
        .filter(|package| !is_permissive(package["license"].as_str().unwrap_or("")))
        .map(|package| {
            format!("{} {}: {}", package["name"], package["version"], package["license"])
        })
        .collect();
    if faults.is_empty() {
        println!("licences: {} packages, all permissive", packages.len());
        return Ok(());
    }
    bail!("licences that are not in the list:\n  {}", faults.join("\n  "))
}

/// `A OR B` needs one of them, `A AND B` both; older manifests write `A/B` for OR.
fn is_permissive(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|all| all.split(" OR ").any(|one| PERMISSIVE.contains(&one.trim())))
}
