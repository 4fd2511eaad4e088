//! Runs that are clear-cut, as labelled captures for the tests.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::run::{Run, folder};
use super::stratum::Stratum;
use super::truth::Truth;
use super::view;
use super::words::parameters;

/// Copies the captures of each of the runs `numbers` of a stratum, kept in `kept`, to `samples`, with their labels.
///
/// # Errors
/// A run is not there, not valid or not clear-cut; a file cannot be written.
pub(super) fn write(kept: &Path, samples: &Path, stratum: Stratum, numbers: &[u64]) -> Result<()> {
    fs::create_dir_all(samples).with_context(|| samples.display().to_string())?;
    for number in numbers {
        let folder = folder(kept, stratum, *number);
        let run = Run::read(&folder)?;
        let truth = run.truth.as_ref().filter(|truth| run.counts() && !truth.is_border());
        let truth = truth.with_context(|| format!("run {number} is invalid or at a border"))?;
        let stem = stem(&run, truth);
        for (index, name) in files(&run, &stem).iter().enumerate() {
            fs::copy(view::file(&folder, index), samples.join(name))?;
        }
        let mut text = serde_json::to_string_pretty(&label(&run, truth, &stem))?;
        text.push('\n');
        fs::write(samples.join(format!("{stem}.label.json")), text)?;
    }
    ensure!(!numbers.is_empty(), "no run was named");
    Ok(())
}

/// By stratum, limit and congestion control; the number keeps two of a kind apart.
fn stem(run: &Run, truth: &Truth) -> String {
    let limit = truth.limits.first().map_or("unknown", |limit| limit.word());
    let setup = &run.setup;
    format!("lab_{}_{limit}_{}_{:03}", setup.stratum.word(), setup.congestion.word(), run.number)
}

fn files(run: &Run, stem: &str) -> Vec<String> {
    let views = run.setup.views.iter();
    views.map(|view| format!("{stem}.{}.pcapng.gz", view.interfaces.join("+"))).collect()
}

fn label(run: &Run, truth: &Truth, stem: &str) -> Value {
    let (setup, facts) = (&run.setup, &run.facts);
    let wanted: &[&str] = if truth.is_ack_path { &["ack-path"] } else { &[] };
    json!({
        "files": files(run, stem),
        "limited_by": truth.limits,
        "must_find": wanted,
        "why": parameters(setup),
        "congestion_control": setup.congestion.word(),
        "path": {
            "base_rtt_ms": 1000.0 * setup.rtt_s,
            "rate_mbit": setup.rate_bps as f64 / 1e6,
            "queue_bytes": setup.queue_bytes,
            "random_loss": setup.loss,
        },
        "share_of_line_rate": facts.payload_bytes * 8.0 / (facts.link_bps * facts.lasted_s),
        "tcp_info": {
            "lasted_s": facts.lasted_s,
            "busy_s": facts.busy_s,
            "rwnd_limited_s": facts.window_limited_s,
            "sndbuf_limited_s": facts.buffer_limited_s,
        },
        "scenario": setup.to_toml(),
    })
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LimitedBy::{Bandwidth, Congestion};

    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn a_label_names_its_files_and_the_right_answers() {
        let one = scored(Stratum::FarEnds, 3, &[Congestion], Bandwidth);
        let stem = stem(&one.run, &one.truth);
        let label = label(&one.run, &one.truth, &stem);
        assert_eq!(label["limited_by"], json!(["congestion"]));
        assert_eq!(label["files"][1], json!(format!("{stem}.receiver.pcapng.gz")));
        assert!(stem.starts_with("lab_far-ends_congestion_") && stem.ends_with("_003"), "{stem}");
    }
}
