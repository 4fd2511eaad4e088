//! Statistical batteries. Each statistic is held against a bound that a true random source exceeds
//! once in some 10⁵ tries; the streams are fixed, so a pass today is a pass for ever.

use super::*;

const DRAWS: u64 = 1 << 20;

fn streams() -> impl Iterator<Item = Stream> {
    ["hop.radio.errors", "hop.wired.errors", "flow.0"]
        .into_iter()
        .flat_map(|name| (0..4).map(move |seed| Stream::named(seed, name)))
}

/// χ² of `counts` against equal expectation.
fn chi_squared(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum()
}

/// How many standard deviations χ² lies from its mean (Wilson–Hilferty).
fn sigmas(chi2: f64, degrees: f64) -> f64 {
    let shift = 1.0 - 2.0 / (9.0 * degrees);
    (libm::cbrt(chi2 / degrees) - shift) / libm::sqrt(2.0 / (9.0 * degrees))
}

#[test]
fn every_byte_of_the_output_is_uniform() {
    for stream in streams() {
        for byte in 0..8 {
            let mut counts = [0; 256];
            for n in 0..DRAWS {
                counts[(stream.at(n) >> (8 * byte) & 0xff) as usize] += 1;
            }
            let off = sigmas(chi_squared(&counts), 255.0);
            assert!(off.abs() < 4.5, "{stream:?} byte {byte}: {off} sigma");
        }
    }
}

#[test]
fn neighbours_do_not_correlate() {
    for stream in streams() {
        for lag in [1, 2, 3, 64, 1000] {
            let value = |n| (stream.at(n) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
            let sum: f64 = (0..DRAWS).map(|n| value(n) * value(n + lag)).sum();
            // The product of two centred uniforms has variance 1/144.
            let off = sum / libm::sqrt(DRAWS as f64 / 144.0);
            assert!(off.abs() < 4.5, "{stream:?} lag {lag}: {off} sigma");
        }
    }
}

#[test]
fn pairs_fill_the_square() {
    for stream in streams() {
        let mut counts = vec![0; 1 << 12];
        for n in 0..DRAWS / 2 {
            let (a, b) = (stream.at(2 * n) >> 58, stream.at(2 * n + 1) >> 58);
            counts[usize::try_from(a << 6 | b).unwrap()] += 1;
        }
        let off = sigmas(chi_squared(&counts), 4095.0);
        assert!(off.abs() < 4.5, "{stream:?}: {off} sigma");
    }
}

#[test]
fn birthday_spacings_repeat_as_often_as_they_should() {
    // Marsaglia: 2^12 birthdays in a year of 2^32 days; repeated spacings are Poisson with mean
    // m³/4n = 4. Summed over 48 years: mean 192, standard deviation 13.9.
    let mut repeats = 0_usize;
    for stream in streams() {
        for year in 0..4 {
            let mut days: Vec<u64> = (0..4096).map(|n| stream.at(year << 20 | n) >> 32).collect();
            days.sort_unstable();
            let mut gaps: Vec<u64> = days.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.sort_unstable();
            repeats += gaps.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
    }
    assert!((192.0 - repeats as f64).abs() < 4.5 * 13.9, "{repeats} repeats");
}

#[test]
fn one_flipped_input_bit_flips_half_the_output() {
    for stream in streams() {
        for bit in 0..64 {
            let flips: u32 =
                (0..512_u64).map(|n| (stream.at(n) ^ stream.at(n ^ 1 << bit)).count_ones()).sum();
            // 512 × 64 fair coins: mean 16 384, standard deviation 90.5.
            let off = (f64::from(flips) - 16_384.0) / 90.5;
            assert!(off.abs() < 5.0, "{stream:?} bit {bit}: {off} sigma");
        }
    }
}

#[test]
fn neighbouring_seeds_share_nothing() {
    let mut counts = [0; 65];
    for seed in 0..4096_u64 {
        let near = Stream::named(seed, "errors").at(0) ^ Stream::named(seed + 1, "errors").at(0);
        counts[near.count_ones() as usize] += 1;
    }
    let mean = (0..=64).map(|k| k * counts[k]).sum::<usize>() as f64 / 4096.0;
    assert!((mean - 32.0).abs() < 4.5 * 4.0 / 64.0, "mean distance {mean}");
}

#[test]
fn a_name_is_a_stream_of_its_own() {
    let names = ["hop.0.errors", "hop.1.errors", "hop.0.reverse.errors", ""];
    let firsts: std::collections::BTreeSet<u64> =
        names.iter().map(|name| Stream::named(1, name).at(0)).collect();
    assert_eq!(firsts.len(), names.len());
    // Pinned: a different value here means that every published result changes.
    assert_eq!(Stream::named(1, "hop.radio.errors").at(0), 12_154_286_713_530_514_248);
}

#[test]
fn distributions_have_their_means() {
    let mut rng = Stream::named(7, "test").reader();
    let n = 200_000;
    let mean = |total: f64| total / f64::from(n);
    let uniform = mean((0..n).map(|_| rng.uniform()).sum());
    assert!((uniform - 0.5).abs() < 4.5 * 0.289 / 447.0, "{uniform}");
    let span = Time::from_millis(10);
    let exponential = mean((0..n).map(|_| rng.exponential(span).as_secs_f64()).sum());
    assert!((exponential / 0.01 - 1.0).abs() < 4.5 / 447.0, "{exponential}");
    let tries = mean((0..n).map(|_| rng.tries_until(0.25) as f64).sum());
    assert!((tries / 4.0 - 1.0).abs() < 4.5 * 0.866 / 447.0, "{tries}");
    assert_eq!(rng.tries_until(1.0), 1);
}

#[test]
fn a_threshold_admits_its_share() {
    let mut rng = Stream::named(3, "test").reader();
    for p in [0.0, 1e-3, 0.114, 0.5, 1.0] {
        let threshold = Threshold::of(Probability::new(p).unwrap());
        let hits = (0..DRAWS).filter(|_| rng.happens(threshold)).count() as f64;
        let off = hits - p * DRAWS as f64;
        assert!(off.abs() <= 4.5 * libm::sqrt(DRAWS as f64 * p * (1.0 - p)), "{p}: {off}");
    }
}
