//! The system that is booted: an archive of programs, their libraries, and modules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::archive::Archive;
use super::packages::Packages;

/// This machine's programs that are taken along.
const PROGRAMS: [&str; 3] = ["tc", "ip", "bash"];
/// Those that are taken along where this machine has them.
const OPTIONAL: [&str; 1] = ["strace"];
/// What is loaded, with what it needs; those that a kernel has built in are not there.
const MODULES: [&str; 12] = [
    "veth",
    "dummy",
    "tun",
    "ifb",
    "sch_netem",
    "sch_tbf",
    "sch_codel",
    "sch_red",
    "sch_htb",
    "act_mirred",
    "tcp_bbr",
    "8021q",
];

/// Starts the system and serves the second serial line: a line is a command, and its answer is exit code,
/// sizes of what it wrote, and that; by bash, since busybox prefers its own `ip` to any other. It ends by itself when whoever started it is gone.
const INIT: &str = r#"#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /tmp; mkdir /run/netns
dmesg -n 1
(sleep 900; poweroff -f) &
while read -r module; do insmod /modules/$module || echo "$module cannot be loaded"; done </modules/order
ip link set lo up
stty raw -echo -F /dev/ttyS1
serve() {
    echo ready
    while read -r line; do
        bash -c "$line" >/tmp/out 2>/tmp/err </dev/null
        echo "$? $(wc -c </tmp/out) $(wc -c </tmp/err)"
        cat /tmp/out /tmp/err
    done
}
serve </dev/ttyS1 >/dev/ttyS1
poweroff -f
"#;

/// Writes the archive, and says where.
pub(super) fn build(folder: &Path, packages: &Packages, maxseg: &Path) -> Result<PathBuf> {
    let mut archive = Archive::default();
    for mount in ["/proc", "/sys", "/dev", "/run", "/tmp", "/sbin"] {
        archive.folder(mount);
    }
    archive.file("/init", INIT.as_bytes());
    archive.file("/bin/busybox", &read(&packages.root.join("bin/busybox"))?);
    let mut libraries = BTreeSet::new();
    let optional = OPTIONAL.iter().filter_map(|name| find(name).ok());
    let programs: Vec<PathBuf> = PROGRAMS.iter().map(|name| find(name)).collect::<Result<_>>()?;
    for program in programs.into_iter().chain(optional) {
        archive.file(&program.to_string_lossy(), &read(&program)?);
        libraries.extend(libraries_of(&program)?);
    }
    for (place, program) in [
        ("/usr/sbin/ethtool", packages.root.join("sbin/ethtool")),
        ("/usr/local/bin/maxseg", maxseg.to_owned()),
    ] {
        archive.file(place, &read(&program)?);
        libraries.extend(libraries_of(&program)?);
    }
    for library in libraries {
        archive.file(&library.to_string_lossy(), &read(&library)?);
    }
    let mut order = String::new();
    for module in in_order(&packages.root.join("lib/modules").join(&packages.release))? {
        let name = file_name(&module).trim_end_matches(".xz").to_owned();
        archive.file(&format!("/modules/{name}"), &unpacked(&module)?);
        order.push_str(&name);
        order.push('\n');
    }
    archive.file("/modules/order", order.as_bytes());
    let path = folder.join("initramfs.cpio");
    fs::write(&path, archive.finish()).with_context(|| path.display().to_string())?;
    Ok(path)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// On the path, or where administrators' programs are.
fn find(program: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .with_context(|| format!("there is no `{program}` on this machine"))
}

/// The absolute paths in what `ldd` prints; of a static program none.
fn libraries_of(program: &Path) -> Result<BTreeSet<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(!text.contains("not found"), "{}: {text}", program.display());
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(PathBuf::from).collect())
}

/// The files of [`MODULES`], each behind what it needs.
fn in_order(modules: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    collect(&modules.join("kernel"), &mut all)?;
    let mut order = Vec::new();
    for module in MODULES {
        add(module, &all, &mut order)?;
    }
    ensure!(
        order.iter().any(|path| file_name(path).starts_with("sch_netem")),
        "this kernel's package has no sch_netem"
    );
    Ok(order)
}

fn add(module: &str, all: &[PathBuf], order: &mut Vec<PathBuf>) -> Result<()> {
    let is_it = |path: &&PathBuf| {
        file_name(path).split(".ko").next().is_some_and(|stem| stem.replace('-', "_") == module)
    };
    let Some(path) = all.iter().find(is_it) else { return Ok(()) };
    if order.contains(path) {
        return Ok(());
    }
    for needed in needs(&unpacked(path)?) {
        add(&needed, all, order)?;
    }
    order.push(path.clone());
    Ok(())
}

/// The modules in a module's `depends=` (its section `.modinfo`, strings that end with NUL).
fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = module.windows(KEY.len()).position(|window| window == KEY) else {
        return Vec::new();
    };
    let rest = &module[at + KEY.len()..];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let names = String::from_utf8_lossy(&rest[..end]).replace('-', "_");
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A module's bytes, whether compressed (newer packages) or not.
fn unpacked(module: &Path) -> Result<Vec<u8>> {
    if module.extension().is_none_or(|ending| ending != "xz") {
        return read(module);
    }
    let output = Command::new("xz").args(["-dc"]).arg(module).output().context("xz")?;
    ensure!(output.status.success(), "xz cannot unpack {}", module.display());
    Ok(output.stdout)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if file_name(&path).contains(".ko") {
            into.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_names_what_it_needs() {
        let module = |depends: &str| format!("\x7fELF\0license=GPL\0depends={depends}\0name=x\0");
        assert_eq!(needs(module("").as_bytes()), [""; 0]);
        assert_eq!(needs(module("nf-tables,ip6_udp").as_bytes()), ["nf_tables", "ip6_udp"]);
        assert_eq!(needs(b"no such string"), [""; 0]);
    }
}
