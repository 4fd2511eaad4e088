//! The netem backend on a kernel that has netem, and settings that no network namespace has: Debian's kernel, in qemu without KVM.
//!
//! Nothing of that kernel is installed: its package is unpacked under `target/qemu`, and a small system
//! in memory is made of busybox, the modules, and this machine's `tc`, `ip`, `ethtool` and `bash` with their
//! libraries. Commands go to it one by one over a serial line, and what they say comes back, so
//! that checks here are ordinary code that asks a machine. `docs/lab-netem.md` says what they show.

mod archive;
mod checks;
mod engine;
mod guest;
mod packages;
mod system;
mod tune;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::bench::target;
use crate::test::succeed;
use guest::Guest;

/// A check takes a machine, and says what it saw.
pub struct Check {
    /// What is checked.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&mut Guest) -> Result<String>,
}

/// All together may take so long, on a machine that others use too.
const LIMIT: Duration = Duration::from_secs(900);

/// Builds the system, boots it, and runs every check.
///
/// # Errors
/// What it needs is not there, the machine does not boot, a check fails, or time is up.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run() -> Result<()> {
    if let Some(why) = packages::missing() {
        println!("skipped lab-qemu: {why}");
        return Ok(());
    }
    let begun = Instant::now();
    let folder = target().join("qemu");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let packages = packages::fetch(&folder)?;
    let initramfs = system::build(&folder, &packages, &program()?)?;
    let built = begun.elapsed();
    let started = Instant::now();
    let mut guest = Guest::boot(&packages.kernel, &initramfs, &folder.join("console.log"), LIMIT)?;
    println!("kernel {}, booted in {:.0} s", packages.release, started.elapsed().as_secs_f64());

    let mut failed = Vec::new();
    for check in checks::CHECKS.iter().chain(&engine::CHECKS).chain(&tune::CHECKS) {
        let said = (check.run)(&mut guest);
        report(check.name, said, &mut failed);
        guest.tidy()?;
    }
    guest.power_off()?;
    println!(
        "{:.0} s to build the system, {:.0} s in qemu",
        built.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed under qemu: {}", failed.join("; "))
}

/// The program as developers build it: in this machine the kernel does the work.
fn program() -> Result<PathBuf> {
    succeed(Command::new("cargo").args(["build", "--quiet", "--locked", "--package", "maxseg"]))?;
    Ok(target().join("debug/maxseg"))
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn report(name: &'static str, said: Result<String>, failed: &mut Vec<&'static str>) {
    match said {
        Ok(said) => println!("ok      {name}: {said}"),
        Err(error) => {
            println!("FAILED  {name}: {error:#}");
            failed.push(name);
        }
    }
}
