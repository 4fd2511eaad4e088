//! The simulator's Linux against Linux in virtual time (`MAXSEG_LINUX`).

use maxseg_core::rng::Stream;
use maxseg_testkit::{SAMPLE, sample_seed};
use xtask::linux::{Cell, GOODPUT, Judged, cells, folders, judge};

/// Cells of a sample of each folder: a cell takes a quarter of a second of a small machine.
const SAMPLED_CELLS: usize = 30;

/// Of so many lossy cells 5% are outside their 95% interval by chance; more than this many standard deviations
/// above that (one run in a thousand) is a rule that is missing.
const DEVIATIONS: f64 = 3.1;
/// Cells of BBR without random loss whose retransmissions are within a tenth of the kernel's, at least: where the
/// queue is a quarter of the path, one round more of startup, by a hair, is a third of them all.
const ALIKE: f64 = 0.9;

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many cells were checked")]
fn every_cell_of_the_kernel_in_virtual_time_is_met() {
    let (mut judged, mut faults, mut skipped, mut left_out) = (Vec::new(), Vec::new(), 0, 0);
    let seed = sample_seed().unwrap();
    for folder in folders() {
        if !folder.join("cells.csv").exists() && std::env::var_os("MAXSEG_LINUX").is_none() {
            println!("skipped: there is no {}", folder.display());
            continue;
        }
        let (mut here, not): (Vec<_>, Vec<_>) = cells(&folder)
            .unwrap_or_else(|error| panic!("{error:#}"))
            .into_iter()
            .partition(|cell| cell.not_here().is_none());
        for cell in &not {
            println!("  skipped: {} ({})", cell.name, cell.not_here().unwrap_or_default());
        }
        skipped += not.len();
        if let Some(seed) = seed {
            left_out += here.len();
            here = sample(here, seed);
            left_out -= here.len();
        }
        let of_folder = judge(&folder, &here).unwrap_or_else(|error| panic!("{error:#}"));
        if folder.ends_with("testdata/linux") {
            faults.extend(of_folder.iter().filter_map(parted));
        }
        judged.extend(of_folder);
    }
    for cell in judged.iter().filter(|cell| cell.is_undecided()) {
        println!(
            "  not judged, one run of the kernel: {} {:+.2}%",
            cell.cell.name,
            100.0 * cell.apart()
        );
    }
    for cell in judged.iter().filter(|cell| cell.difference.is_some()) {
        println!("{}: {}", cell.cell.name, cell.shown);
    }
    let of_samples = |of: fn(&Judged) -> usize| judged.iter().map(of).sum::<usize>();
    println!(
        "tcp_info: {} samples compared, the mark of the application differs in {}",
        of_samples(|cell| cell.samples.count),
        of_samples(|cell| cell.samples.marks_apart)
    );
    let apart =
        |cell: &Judged| Some(format!("{}: {}", cell.cell.name, cell.samples.apart.as_ref()?));
    faults.extend(judged.iter().filter_map(apart));
    faults.extend(judged.iter().filter_map(Judged::fault));
    let of_all = summarise(&judged);
    if let Some(seed) = seed {
        // The bars of all cells together are for all of them.
        println!("{left_out} cells were left out by {SAMPLE}={seed}; CI=true checks all");
    } else {
        faults.extend(of_all);
    }
    println!("checked {} cells, skipped {skipped}", judged.len());
    assert!(!judged.is_empty(), "no cell was checked");
    assert!(faults.is_empty(), "{} faults:\n{faults:#?}", faults.len());
}

/// Where a cell parts from the kernel that was the same to the end when it was kept.
fn parted(judged: &Judged) -> Option<String> {
    let found = judged.difference.as_ref()?;
    Some(format!("{}: packet {} differs ({})", judged.cell.name, found.index, found.what))
}

/// Some cells, by the seed.
fn sample(mut cells: Vec<Cell>, seed: u64) -> Vec<Cell> {
    cells.sort_by_key(|cell| Stream::named(seed, &cell.name).at(0));
    cells.truncate(SAMPLED_CELLS);
    cells
}

/// Prints what came of each set, and of all that is drawn together; gives what is wrong with the latter.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn summarise(judged: &[Judged]) -> Vec<String> {
    let mut sets: Vec<(&str, &str)> =
        judged.iter().map(|cell| (cell.cell.set.as_str(), cell.cell.cc.as_str())).collect();
    sets.sort_unstable();
    sets.dedup();
    for (set, cc) in sets {
        let cells: Vec<&Judged> =
            judged.iter().filter(|cell| cell.cell.set == set && cell.cell.cc == cc).collect();
        let count = |of: fn(&Judged) -> bool| cells.iter().filter(|cell| of(cell)).count();
        let worst = cells.iter().max_by(|a, b| a.apart().abs().total_cmp(&b.apart().abs()));
        let worst = worst.map_or(String::new(), |cell| {
            format!("{} {:+.2}%", cell.cell.name, 100.0 * cell.apart())
        });
        println!(
            "{set:<9} {cc:<5} {:>3} cells; packets the same {} of {}, different before the first drop or draw {}; \
             goodput within 1%: {}; furthest: {worst}",
            cells.len(),
            count(|cell| cell.is_recorded && cell.difference.is_none()),
            count(|cell| cell.is_recorded),
            count(|cell| cell.is_early),
            count(|cell| cell.apart().abs() <= GOODPUT),
        );
    }
    [welch(judged), retransmissions(judged)].into_iter().flatten().collect()
}

/// Welch's test over all cells with drawn losses at once.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn welch(judged: &[Judged]) -> Option<String> {
    let widths: Vec<(&str, f64)> =
        judged.iter().filter_map(|cell| Some((cell.cell.name.as_str(), cell.widths()?))).collect();
    let outside: Vec<_> = widths.iter().filter(|(_, width)| width.abs() > 1.0).collect();
    let (n, found) = (widths.len() as f64, outside.len() as f64);
    println!("lossy: {found} of {n} cells outside Welch's 95% interval: {outside:?}");
    let most = 0.05 * n + DEVIATIONS * (0.05 * 0.95 * n).sqrt();
    (found > most).then(|| format!("{found} of {n} lossy cells are outside"))
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn retransmissions(judged: &[Judged]) -> Option<String> {
    let asked: Vec<_> =
        judged.iter().filter_map(|cell| Some((cell, cell.retransmits_alike()?))).collect();
    let alike = asked.iter().filter(|(_, alike)| *alike).count();
    for (cell, _) in asked.iter().filter(|(_, alike)| !alike) {
        let apart = cell.retransmitted_apart().unwrap_or_default();
        println!("  BBR's retransmissions: {} {:+.1}%", cell.cell.name, 100.0 * apart);
    }
    println!("BBR without random loss: retransmissions within 10% in {alike} of {}", asked.len());
    let too_few = (alike as f64) < ALIKE * asked.len() as f64;
    too_few.then(|| format!("retransmissions alike in {alike} of {} cells only", asked.len()))
}
