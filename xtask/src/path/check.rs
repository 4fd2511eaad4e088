//! The command: makes networks, asks in them, and publishes what was answered beside what is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::network::Network;
use super::page::page;
use super::peers::Peer;
use super::score::{OURS, is_within_budget};
use super::{Answer, Case, Grade, Run, Truth};
use crate::draws::{DrawOptions, Half, until_done};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct PathArgs {
    /// How many networks
    #[arg(long, default_value_t = 300)]
    pub runs: u64,
    /// Only this one, told in full
    #[arg(long, value_name = "NUMBER")]
    pub only: Option<u64>,
    /// Ask this program alone, not its peers
    #[arg(long)]
    pub no_peers: bool,
    /// Which half, how many networks at once, and where they go.
    #[command(flatten)]
    pub draws: DrawOptions,
}

const FILE: &str = "docs/validation-path.md";
/// Seconds after which it is stopped.
const PATIENCE_S: u64 = 45;
/// As an ordinary user without any right: nobody.
const ORDINARY: [&str; 6] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
/// Of 300 networks at most 3 may be answered wrongly and 9 not at all.
const MOST_WRONG: f64 = 0.01;
const MOST_NONE: f64 = 0.03;

/// Makes and asks, scores, and writes the page.
///
/// # Errors
/// The lab cannot run here, or a file cannot be written; or a bar is missed, after the page is written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &PathArgs) -> Result<()> {
    let half = options.draws.half()?;
    let kept = options.draws.folder("path", &half);
    let program = options.draws.program()?;
    let peers = if options.no_peers { Vec::new() } else { Peer::installed() };
    if let Some(number) = options.only {
        let run = make(&program, &kept, half.seed, number, &peers)?;
        println!("{}\n{:#?}", run.case.words(), run);
        return Ok(());
    }
    let runs = all(options, &half, &kept, &program, &peers)?;
    let is_published = half.is_scored && options.runs >= 300 && !options.no_peers;
    let file = if is_published { root().join(FILE) } else { kept.join("path.md") };
    fs::write(&file, page(&half, &runs)).with_context(|| file.display().to_string())?;
    println!("wrote {}", file.display());
    let missed: Vec<String> = OURS.iter().flat_map(|who| missed(&runs, who)).collect();
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}

/// The bars that are missed by the answers to one who asks, in words; prints how they were.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn missed(runs: &[Run], asks: &str) -> Vec<String> {
    let of_asked = |run: &'_ Run| {
        let (_, answer, grade) = run.own().find(|(who, ..)| *who == asks)?;
        Some((grade, is_within_budget(&run.case, answer)))
    };
    let all: Vec<(Grade, bool)> = runs.iter().filter_map(of_asked).collect();
    let count = |is: fn(&(Grade, bool)) -> bool| all.iter().filter(|one| is(one)).count();
    let wrong = count(|(grade, _)| *grade == Grade::Wrong);
    let none = count(|(grade, _)| *grade == Grade::None);
    let slow = count(|(_, is_in_time)| !is_in_time);
    println!(
        "{asks}: {} networks: {wrong} wrong, {none} without an answer, {slow} too slow",
        all.len()
    );
    let most = |share: f64| share * all.len() as f64;
    [
        (wrong as f64 > most(MOST_WRONG), format!("{asks}: {wrong} wrong")),
        (none as f64 > most(MOST_NONE), format!("{asks}: {none} without an answer")),
        (slow > 0, format!("{asks}: {slow} beyond time or bytes")),
        (
            all.len() != runs.len(),
            format!("{asks}: {} answers to {} networks", all.len(), runs.len()),
        ),
    ]
    .into_iter()
    .filter_map(|(is_missed, words)| is_missed.then_some(words))
    .collect()
}

fn all(
    options: &PathArgs,
    half: &Half,
    kept: &Path,
    program: &Path,
    peers: &[Peer],
) -> Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(Vec::new());
    until_done(
        options.draws.jobs,
        || {
            Some(next.fetch_add(1, Ordering::Relaxed) as u64)
                .filter(|number| *number < options.runs)
        },
        |number| {
            let run = make(program, kept, half.seed, number, peers)?;
            say_line(&run);
            runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
            Ok(())
        },
    )?;
    let mut runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.sort_by_key(|run| run.number);
    Ok(runs)
}

/// Makes a run, or reads it where it is kept.
fn make(program: &Path, kept: &Path, seed: u64, number: u64, peers: &[Peer]) -> Result<Run> {
    let folder = kept.join(format!("{number:03}"));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let file = folder.join("run.json");
    let case = Case::draw(seed, number);
    if let Some(run) = read(&file).filter(|run| run.case == case) {
        return Ok(run);
    }
    let name = format!("path-{}-{number}", std::process::id());
    let network = Network::up(program, &folder, &name, &case)?;
    let mut answers = vec![
        (OURS[0].to_owned(), ask(program, &network, &folder.join("root.json"), &[])?),
        (OURS[1].to_owned(), ask(program, &network, &folder.join("user.json"), &ORDINARY)?),
    ];
    for peer in peers {
        answers.push((peer.word().to_owned(), peer.asked(&network)?));
    }
    let run = Run { number, truth: Truth::of(&case), case, answers };
    fs::write(&file, serde_json::to_string_pretty(&run)?)?;
    Ok(run)
}

fn read(file: &Path) -> Option<Run> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

fn ask(program: &Path, network: &Network<'_>, file: &PathBuf, before: &[&str]) -> Result<Answer> {
    let program = program.to_string_lossy();
    let to = match network.receiver {
        std::net::IpAddr::V4(address) => format!("{address}:{}", Case::PORT),
        std::net::IpAddr::V6(address) => format!("[{address}]:{}", Case::PORT),
    };
    let words = [before, &[&*program, "path", &to, "--json", "-q"]].concat();
    let started = Instant::now();
    let output = network.run(PATIENCE_S, &words)?;
    let elapsed_s = started.elapsed().as_secs_f64();
    fs::write(file, &output.stdout)?;
    fs::write(file.with_extension("err"), &output.stderr)?;
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok(Answer { exit: output.status.code(), elapsed_s, ..Answer::of(&document) })
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say_line(run: &Run) {
    let said: Vec<String> = run
        .answers
        .iter()
        .map(|(who, answer)| {
            let grade = Grade::of(answer, run.truth, OURS.contains(&who.as_str()));
            let mtu = answer.mtu.map_or_else(|| "–".to_owned(), |mtu| mtu.to_string());
            let hole = answer.hole.map(|hop| format!(" hole after {hop}")).unwrap_or_default();
            format!("{who} {mtu}{hole} {} {:.1} s {grade:?}", answer.confidence, answer.elapsed_s)
        })
        .collect();
    let hole = run.truth.hole.map(|hop| format!(" hole after {hop}")).unwrap_or_default();
    println!(
        "{}: {}; is {}{hole}; {}",
        run.number,
        run.case.words(),
        run.truth.mtu,
        said.join("; ")
    );
}
