//! Captures at the sender of Linux in virtual time (`MAXSEG_LINUX`), whose congestion control is known: flows of ten segments as well
//! as bulk transfers, with chosen drops, pauses and small windows. None is told as another.

use std::path::{Path, PathBuf};

use super::explain;

/// Where the tables of the kernel are, unless `MAXSEG_LINUX` names others.
const FOLDER: &str = "../../../shared/reference/linux";

fn folders() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::var("MAXSEG_LINUX") {
        // As in the other tests: from the root of the repository.
        Ok(list) => list.split(':').map(|part| crate_folder.join("../..").join(part)).collect(),
        Err(_) => vec![crate_folder.join(FOLDER)],
    }
}

/// The cells with a capture: name, and congestion control, which is told by its column.
fn cells(folder: &Path) -> Vec<(PathBuf, String)> {
    let Ok(text) = std::fs::read_to_string(folder.join("cells.csv")) else { return Vec::new() };
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let columns = lines.next().unwrap();
    let place = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (cell, cc) = (place("cell"), place("cc"));
    let of = |line: Vec<&str>| {
        let file = folder.join("packets").join(format!("{}.pcap.gz", line[cell]));
        (file, line[cc].to_owned())
    };
    lines.map(of).filter(|(file, _)| file.is_file()).collect()
}

#[test]
fn no_congestion_control_of_the_kernel_is_told_as_another() {
    let cells: Vec<(PathBuf, String)> = folders().iter().flat_map(|at| cells(at)).collect();
    if cells.is_empty() {
        let asked = std::env::var("MAXSEG_LINUX");
        assert!(asked.is_err(), "no capture in the folders of MAXSEG_LINUX: {asked:?}");
        println!("SKIPPED: there are no captures of the kernel in virtual time; see MAXSEG_LINUX");
        return;
    }
    let told = |file: &Path| -> String {
        let document = explain(file).unwrap();
        let connections = document["connections"].as_array().unwrap();
        let control = &connections[0]["congestion_control"];
        control["name"].as_str().unwrap_or("unknown").to_owned()
    };
    let told: Vec<(&Path, &str, String)> =
        cells.iter().map(|(file, cc)| (file.as_path(), cc.as_str(), told(file))).collect();
    let right = told.iter().filter(|(_, cc, name)| name == cc).count();
    println!("checked {} captures of the kernel in virtual time: {right} are named", told.len());
    // Of 51, half are named: the others are of ten segments, or of full windows.
    assert!(told.len() < 20 || 3 * right >= told.len(), "only {right} are named");
    let wrong: Vec<String> = told
        .iter()
        .filter(|(_, cc, name)| name != cc && name != "unknown")
        .map(|(file, cc, name)| format!("{}: {cc} told as {name}", file.display()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
