//! The command: makes runs, or takes what was kept, explains their captures and publishes how often that is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;
use maxseg_core::outcome::LimitedBy;

use super::bins::Bin;
use super::congestion;
use super::page::page;
use super::run::Run;
use super::score::{Grades, Scored, Verdict, score};
use super::stratum::Stratum;
use super::{live, promises, sample, say, words};
use crate::draws::{DrawOptions, Engine, Half, Runner, until_done};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// What runs them: of `sim` there are no paced senders
    #[arg(long, value_enum, default_value_t = Engine::Lab)]
    pub engine: Engine,
    /// How many valid runs of each stratum; 27 of the lab, 100 simulated ones unless given
    #[arg(long)]
    pub runs_per_stratum: Option<usize>,
    /// Only this stratum, which may be given several times; then no page is written
    #[arg(long, value_name = "NAME")]
    pub stratum: Vec<Stratum>,
    /// Which half, how many runs at once, and where they go.
    #[command(flatten)]
    pub draws: DrawOptions,
    /// Run nothing: take what an earlier call kept in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "seed", "runs_per_stratum", "engine"])]
    pub from: Option<PathBuf>,
    /// Only copy captures of the runs with these numbers, and their labels, to testdata/captures
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', requires_all = ["from", "stratum"])]
    pub sample: Vec<u64>,
}

const FILE: &str = "docs/validation-explain.md";
const SIM_FILE: &str = "docs/validation-explain-sim.md";
const LIVE_FILE: &str = "docs/validation-live.md";
const LIVE_SIM_FILE: &str = "docs/validation-live-sim.md";
/// A stratum has so many times the runs that are wanted at most, invalid ones among them.
const MOST_DRAWS: usize = 2;
/// Fewer valid runs show too little of a stratum.
const LEAST_RUNS: usize = 25;
/// The page is written over only where each stratum has so much of that number: a few runs show little.
const LEAST_PUBLISHED: f64 = 0.9;
/// The most verdicts that may be false.
const MOST_FALSE: f64 = 0.03;
/// The most runs near borders at which two limits are right.
const MOST_BORDERS: f64 = 0.2;

/// Runs or reads, explains, and writes the page.
///
/// # Errors
/// The engine cannot run here, or a file cannot be read or written; or a bar is missed, after the page is written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &ExplainArgs) -> Result<()> {
    if let (Some(kept), false) = (&options.from, options.sample.is_empty()) {
        let samples = root().join("testdata/captures");
        return options
            .stratum
            .iter()
            .try_for_each(|stratum| sample::write(kept, &samples, *stratum, &options.sample));
    }
    let (engine, half) = asked(options)?;
    let all_strata = strata(engine);
    let strata =
        if options.stratum.is_empty() { all_strata.clone() } else { options.stratum.clone() };
    let default = match engine {
        Engine::Lab => "explain",
        Engine::Sim => "explain-sim",
    };
    let kept = options.from.clone().unwrap_or_else(|| options.draws.folder(default, &half));
    let runs = if options.from.is_some() {
        strata.iter().map(|stratum| read(&kept, *stratum)).collect::<Result<Vec<_>>>()?
    } else {
        make(options, &strata, half.seed, &kept)?
    };
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    let all = runs.clone();
    let scored = score(runs, &kept, say::of_capture)?;
    congestion::say(&scored);
    say_gains(&scored);
    let least = LEAST_PUBLISHED * default_runs(engine) as f64;
    let has_all = |stratum: &Stratum| Grades::of_stratum(&scored, *stratum).runs as f64 >= least;
    let is_whole = strata.len() == all_strata.len() && strata.iter().all(has_all);
    let published = match engine {
        Engine::Lab => FILE,
        Engine::Sim => SIM_FILE,
    };
    let is_published = half.is_scored && is_whole;
    let file = if is_published { root().join(published) } else { kept.join("explain.md") };
    let mut text = page(engine, &half, &all, &scored);
    let mut short = missed(&strata, &scored);
    short.extend(congestion::missed(&scored));
    if engine == Engine::Sim {
        let carried_out = promises::carry_out(&scored)?;
        promises::say(&carried_out);
        short.extend(promises::missed(&carried_out));
        text.push_str(&promises::section(&carried_out));
    }
    fs::write(&file, text).with_context(|| file.display().to_string())?;
    println!("wrote {}; {} runs scored of {}", file.display(), scored.len(), all.len());
    short.append(&mut publish_live(engine, &half, &scored, &kept, is_whole)?);
    ensure!(short.is_empty(), "missed: {}", short.join("; "));
    Ok(())
}

/// The strata that an engine runs: in the simulator nothing but BBR paces a sender.
fn strata(engine: Engine) -> Vec<Stratum> {
    let runs = |stratum: &Stratum| engine == Engine::Lab || *stratum != Stratum::Paced;
    Stratum::ALL.into_iter().filter(runs).collect()
}

/// How many valid runs of a stratum there are unless another number is asked for.
const fn default_runs(engine: Engine) -> usize {
    match engine {
        Engine::Lab => 27,
        Engine::Sim => 100,
    }
}

/// Writes the page of what sockets show; the bars that are missed, in words.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn publish_live(
    engine: Engine,
    half: &Half,
    scored: &[Scored],
    kept: &Path,
    is_whole: bool,
) -> Result<Vec<String>> {
    let all = live::live(scored, kept)?;
    let published = match engine {
        Engine::Lab => LIVE_FILE,
        Engine::Sim => LIVE_SIM_FILE,
    };
    let is_published = half.is_scored && is_whole;
    let file = if is_published { root().join(published) } else { kept.join("live.md") };
    fs::write(&file, live::page(engine, half, &all)).with_context(|| file.display().to_string())?;
    let [right, unknown, wrong] = live::grades(&all.iter().collect::<Vec<_>>());
    println!("live: {right} of {} right, {unknown} unknown, {wrong} false", all.len());
    Ok(live::missed(&all))
}

/// What runs them, which half of the runs it is, and where its randomness begins.
fn asked(options: &ExplainArgs) -> Result<(Engine, Half)> {
    let Some(kept) = &options.from else { return Ok((options.engine, options.draws.half()?)) };
    // What was kept tells; the commit that is named, only if the seed is from it.
    let first = Stratum::ALL.iter().find_map(|stratum| read(kept, *stratum).ok()?.pop());
    let Run { seed, setup, .. } =
        first.with_context(|| format!("{} holds no runs", kept.display()))?;
    let asked = options.draws.half().ok().filter(|half| half.seed == seed);
    Ok((setup.engine, asked.unwrap_or_else(|| Half::of(seed))))
}

/// Every run of a stratum that is kept in a folder, by number.
fn read(kept: &Path, stratum: Stratum) -> Result<Vec<Run>> {
    let folder = kept.join(stratum.word());
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut folders = entries
        .map(|entry| Ok(entry?.path()))
        .filter(|path| path.as_ref().map_or(true, |path| path.join("run.json").is_file()))
        .collect::<Result<Vec<PathBuf>>>()?;
    folders.sort();
    folders.iter().map(|folder| Run::read(folder)).collect()
}

/// Makes the runs of all strata, several at once, until each has as many valid ones as are wanted.
fn make(
    options: &ExplainArgs,
    strata: &[Stratum],
    seed: u64,
    kept: &Path,
) -> Result<Vec<Vec<Run>>> {
    let runner = match options.engine {
        Engine::Lab => Runner::Lab(options.draws.program()?),
        Engine::Sim => Runner::Sim,
    };
    let wanted = options.runs_per_stratum.unwrap_or(default_runs(options.engine));
    let progress = Mutex::new(Progress::new(strata, wanted));
    let done = AtomicUsize::new(0);
    let next = || progress.lock().unwrap_or_else(PoisonError::into_inner).next();
    until_done(options.draws.jobs, next, |(stratum, number)| {
        let run = Run::make(&runner, kept, stratum, seed, number)?;
        say_line(&run, done.fetch_add(1, Ordering::Relaxed) + 1);
        progress.lock().unwrap_or_else(PoisonError::into_inner).add(run);
        Ok(())
    })?;
    Ok(progress.into_inner().unwrap_or_else(PoisonError::into_inner).runs())
}

/// The runs that are made.
struct Progress {
    wanted: usize,
    strata: BTreeMap<Stratum, Made>,
}

/// Those of a stratum.
#[derive(Default)]
struct Made {
    begun: usize,
    runs: Vec<Run>,
}

impl Progress {
    fn new(strata: &[Stratum], wanted: usize) -> Self {
        let strata = strata.iter().map(|stratum| (*stratum, Made::default())).collect();
        Self { wanted, strata }
    }

    /// The next run: of the stratum that has fewest, so that an interrupted call leaves equal shares.
    fn next(&mut self) -> Option<(Stratum, u64)> {
        let wanted = self.wanted;
        let short = |made: &Made| {
            let valid = made.runs.iter().filter(|run| run.counts()).count();
            let under_way = made.begun - made.runs.len();
            valid + under_way < wanted && made.begun < MOST_DRAWS * wanted
        };
        let open = self.strata.iter_mut().filter(|(_, made)| short(made));
        let (stratum, made) = open.min_by_key(|(_, made)| made.begun)?;
        made.begun += 1;
        Some((*stratum, made.begun as u64 - 1))
    }

    fn add(&mut self, run: Run) {
        if let Some(made) = self.strata.get_mut(&run.setup.stratum) {
            made.runs.push(run);
        }
    }

    fn runs(self) -> Vec<Vec<Run>> {
        let mut all: Vec<Vec<Run>> = self.strata.into_values().map(|made| made.runs).collect();
        for runs in &mut all {
            runs.sort_by_key(|run| run.number);
        }
        all
    }
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say_line(run: &Run, done: usize) {
    let truth = match (&run.truth, run.invalid_because.is_empty()) {
        (_, false) => format!("invalid after {} attempts", run.attempts),
        (Some(truth), true) => words::truth(truth),
        (None, true) => "nothing tells".to_owned(),
    };
    println!("{done}: {} {:03} {:?}: {truth}", run.setup.stratum.word(), run.number, run.setup.aim);
}

/// How many captures of runs that losses limit have a gain.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn say_gains(scored: &[Scored]) {
    let lossy = scored.iter().filter(|one| one.truth.limits.contains(&LimitedBy::Congestion));
    let verdicts: Vec<&Verdict> = lossy.flat_map(|one| &one.verdicts).collect();
    let given = verdicts.iter().filter(|verdict| verdict.said.promise.is_some()).count();
    println!("a gain is given in {given} of {} captures of runs that losses limit", verdicts.len());
}

/// The bars that are missed, in words; prints what each stratum has.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn missed(strata: &[Stratum], scored: &[Scored]) -> Vec<String> {
    let mut short = Vec::new();
    for stratum in strata {
        let grades = Grades::of_stratum(scored, *stratum);
        let (word, all, share) = (stratum.word(), grades.all(), grades.share(grades.right));
        println!(
            "{word}: {} runs, {} right of {all} ({:.1}%), {} unknown, {} false; {} false causes",
            grades.runs,
            grades.right,
            100.0 * share,
            grades.unknown,
            grades.wrong,
            grades.false_causes
        );
        if share < stratum.bar() {
            short.push(format!("{word} {} of {all} right", grades.right));
        }
        if grades.runs < LEAST_RUNS {
            short.push(format!("{word} has {} valid runs", grades.runs));
        }
        if *stratum == Stratum::NearEnds
            && grades.borders as f64 > MOST_BORDERS * grades.runs as f64
        {
            short.push(format!("{} of {} runs at borders", grades.borders, grades.runs));
        }
    }
    let all = Grades::of(scored.iter());
    println!("all: {} right, {} unknown, {} false", all.right, all.unknown, all.wrong);
    if all.share(all.wrong) > MOST_FALSE {
        short.push(format!("{} of {} false", all.wrong, all.all()));
    }
    for bin in Bin::of(scored) {
        let (least, most) = bin.expected();
        println!(
            "confidence {:.2} to {:.2}: {} of {} right, {:.3} claimed: {least} to {most}",
            bin.from, bin.to, bin.right, bin.all, bin.claimed
        );
        if !bin.holds() {
            short.push(format!("{} of {} right at {:.2}", bin.right, bin.all, bin.claimed));
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LimitedBy::Bandwidth;

    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn strata_get_equal_shares_and_invalid_runs_are_followed_by_others() {
        let strata = [Stratum::Router, Stratum::Paced];
        let mut progress = Progress::new(&strata, 2);
        let mut made = Vec::new();
        while let Some((stratum, number)) = progress.next() {
            made.push((stratum, number));
            let mut run = scored(stratum, number, &[Bandwidth], Bandwidth).run;
            if stratum == Stratum::Paced && number == 0 {
                run.invalid_because.push("late".to_owned());
            }
            progress.add(run);
        }
        made.sort_unstable();
        let of = |stratum| made.iter().filter(|(of, _)| *of == stratum).count();
        assert_eq!((of(Stratum::Router), of(Stratum::Paced)), (2, 3));
    }

    /// The same runs on any machine: what a change of the rules costs shows here before a draw of the lab.
    #[test]
    #[expect(clippy::print_stdout, reason = "the counts, for whoever changes a rule")]
    fn simulated_runs_are_explained_as_well_as_before() {
        const RUNS: u64 = 8;
        let kept = tempfile::tempdir().unwrap();
        let runs: Vec<Run> = strata(Engine::Sim)
            .into_iter()
            .flat_map(|stratum| (0..RUNS).map(move |number| (stratum, number)))
            .map(|(stratum, number)| {
                Run::make(&Runner::Sim, kept.path(), stratum, 7, number).unwrap()
            })
            .collect();
        let scored = score(runs, kept.path(), say::of_capture).unwrap();
        let all = Grades::of(scored.iter());
        let promises = promises::carry_out(&scored).unwrap();
        let broken = promises.iter().filter(|one| one.is_broken()).count();
        println!("{all:?}; {broken} of {} promises broken", promises.len());
        // 109 right, 2 wrong and 1 of 20 broken when this was written.
        assert!(all.right >= 107 && all.wrong <= 3, "{all:?}");
        assert!(promises.len() >= 18 && broken <= 2, "{broken} of {} broken", promises.len());
    }

    #[test]
    fn what_is_missed_is_named() {
        let right: Vec<Scored> = (0..30)
            .map(|number| scored(Stratum::Router, number, &[Bandwidth], Bandwidth))
            .collect();
        let short = missed(&[Stratum::Router], &right);
        assert_eq!(short, ["30 of 30 right at 0.90"; 0], "{short:?}");
        assert!(missed(&[Stratum::Router], &right[..3])[0].contains("3 valid runs"));
    }
}
