//! What comes from Debian: qemu, installed; kernel, busybox and ethtool, only unpacked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::is_installed;
use crate::test::{is_root, succeed};

/// Whose newest version the kernel is.
const KERNEL: &str = "linux-image-cloud-amd64";

/// Unpacked packages.
pub(super) struct Packages {
    /// The root of their files.
    pub(super) root: PathBuf,
    /// What `uname -r` will say.
    pub(super) release: String,
    /// The kernel's image.
    pub(super) kernel: PathBuf,
}

/// Why this machine cannot have it; `None` where it can.
pub(super) fn missing() -> Option<&'static str> {
    if !cfg!(target_arch = "x86_64") {
        return Some("the kernel is Debian's for amd64");
    }
    if !is_installed("apt-get") {
        return Some("it takes Debian's packages, and there is no apt-get");
    }
    let can_have_qemu = is_installed("qemu-system-x86_64") || is_root();
    (!can_have_qemu).then_some("there is no qemu-system-x86_64: apt-get install qemu-system-x86")
}

/// Installs qemu where it is missing, downloads and unpacks the rest; what is there is kept.
pub(super) fn fetch(folder: &Path) -> Result<Packages> {
    install_qemu()?;
    let kernel = kernel_package()?;
    let root = folder.join("root");
    let release = kernel.trim_start_matches("linux-image-").to_owned();
    let done = root.join(format!(".unpacked-{kernel}"));
    if !done.is_file() {
        let packages = folder.join("packages");
        for old in [&root, &packages] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
            fs::create_dir_all(old)?;
        }
        let mut download = Command::new("apt-get");
        download.args(["download", "-qq", &kernel, "busybox-static", "ethtool"]);
        // Not through `succeed`, which runs at the repository's root.
        let status = download.current_dir(&packages).status().context("apt-get download")?;
        ensure!(status.success(), "{download:?} failed");
        for package in fs::read_dir(&packages)? {
            succeed(Command::new("dpkg-deb").arg("-x").arg(package?.path()).arg(&root))?;
        }
        fs::write(&done, "")?;
    }
    Ok(Packages { kernel: root.join(format!("boot/vmlinuz-{release}")), root, release })
}

fn install_qemu() -> Result<()> {
    if is_installed("qemu-system-x86_64") {
        return Ok(());
    }
    succeed(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends", "qemu-system-x86"]);
    succeed(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// The versioned package that [`KERNEL`] stands for.
fn kernel_package() -> Result<String> {
    let named = || -> Result<Option<String>> {
        let output = Command::new("apt-cache").args(["depends", KERNEL]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let depends = |line: &str| Some(line.trim().strip_prefix("Depends: ")?.to_owned());
        Ok(text.lines().find_map(depends).filter(|name| name.starts_with("linux-image-")))
    };
    if let Some(kernel) = named()? {
        return Ok(kernel);
    }
    // Package lists may never have been fetched.
    if is_root() {
        succeed(Command::new("apt-get").args(["update", "-qq"]))?;
    }
    match named()? {
        Some(kernel) => Ok(kernel),
        None => bail!("apt knows no {KERNEL}: `apt-get update`, on Debian"),
    }
}
