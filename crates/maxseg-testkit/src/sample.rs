//! Samples of what takes long to check whole.

/// The variable by which `cargo xtask test` asks for a sample; its value is the seed.
pub const SAMPLE: &str = "MAXSEG_SAMPLE";

/// The seed of the sample that is asked for; `None` where all is to be checked.
///
/// # Errors
/// The variable is no number.
pub fn sample_seed() -> Result<Option<u64>, String> {
    let Ok(text) = std::env::var(SAMPLE) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{SAMPLE}={text} is not a number"))
}

/// One in `one_in` of a list, other ones by each seed, where a sample is asked for; else all of it. Prints what was left out;
/// `what` names the list.
///
/// # Panics
/// The seed is no number.
#[expect(clippy::print_stdout, reason = "what a test leaves out, it says")]
pub fn sampled<T>(what: &str, list: Vec<T>, one_in: u64) -> Vec<T> {
    let Some(seed) = sample_seed().unwrap_or_else(|error| panic!("{error}")) else { return list };
    let whole = list.len();
    // At least one, however short the list.
    let is_taken = |number: u64| number % one_in == seed % one_in.min(whole.max(1) as u64);
    let sample: Vec<T> =
        (0..).zip(list).filter(|(number, _)| is_taken(*number)).map(|(_, one)| one).collect();
    println!("a sample: {} of {whole} {what}, {SAMPLE}={seed}; CI=true checks all", sample.len());
    sample
}

/// Long tests take turns in samples: so many turns there are.
const TURNS: u64 = 3;

/// Whether a long test, whose turn this is (from 0), is in the sample that is asked for; every test is where none is asked for. Prints
/// that it is left out.
///
/// # Panics
/// The seed is no number.
#[expect(clippy::print_stdout, reason = "what a test leaves out, it says")]
pub fn is_its_turn(turn: u64) -> bool {
    let Some(seed) = sample_seed().unwrap_or_else(|error| panic!("{error}")) else { return true };
    let is_its_turn = seed % TURNS == turn;
    if !is_its_turn {
        println!(
            "a sample: not this test, which is in one of {TURNS}, {SAMPLE}={seed}; CI=true runs it"
        );
    }
    is_its_turn
}
