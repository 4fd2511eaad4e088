//! Samples of what takes long to check whole.

/// The variable by which `cargo xtask test` asks for a sample; its value is the seed.
const SAMPLE: &str = "MAXSEG_SAMPLE";

/// One in `one_in` of a list, other ones by each seed, where a sample is asked for; else all of it. Prints what was left out;
/// `what` names the list.
///
/// # Panics
/// The seed is no number.
#[expect(clippy::print_stdout, reason = "what a test leaves out, it says")]
pub fn sampled<T>(what: &str, list: Vec<T>, one_in: u64) -> Vec<T> {
    let Ok(seed) = std::env::var(SAMPLE) else { return list };
    let seed: u64 = seed.parse().unwrap_or_else(|_| panic!("{SAMPLE}={seed} is not a number"));
    let whole = list.len();
    // At least one, however short the list.
    let is_taken = |number: u64| number % one_in == seed % one_in.min(whole.max(1) as u64);
    let sample: Vec<T> =
        (0..).zip(list).filter(|(number, _)| is_taken(*number)).map(|(_, one)| one).collect();
    println!("a sample: {} of {whole} {what}, {SAMPLE}={seed}; CI=true checks all", sample.len());
    sample
}
