//! Runs that are clear-cut, as labelled captures for the tests.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::page::parameters;
use super::run::{Point, Run, folder};

/// Copies both captures of each of the runs `numbers`, kept in `kept`, to `samples`, with their labels.
///
/// # Errors
/// A run is not there, not valid or not clear-cut; a file cannot be written.
pub(super) fn write(kept: &Path, samples: &Path, numbers: &[u64]) -> Result<()> {
    fs::create_dir_all(samples).with_context(|| samples.display().to_string())?;
    for number in numbers {
        let folder = folder(kept, *number);
        let run = Run::read(&folder)?;
        ensure!(run.counts() && !run.is_ambiguous(), "run {number} is invalid or ambiguous");
        let stem = stem(&run);
        for point in Point::ALL {
            fs::copy(point.file(&folder), samples.join(file(&stem, point)))?;
        }
        let mut text = serde_json::to_string_pretty(&label(&run, &stem))?;
        text.push('\n');
        fs::write(samples.join(format!("{stem}.label.json")), text)?;
    }
    Ok(())
}

/// By limit and congestion control; the number keeps two of a kind apart.
fn stem(run: &Run) -> String {
    let limit = run.truth.first().map_or("unknown", |limit| limit.word());
    format!("lab_{limit}_{}_{:03}", run.setup.congestion.word(), run.number)
}

fn file(stem: &str, point: Point) -> String {
    format!("{stem}.{}.pcapng.gz", point.word())
}

fn label(run: &Run, stem: &str) -> Value {
    let (setup, facts) = (&run.setup, &run.facts);
    let line = run.outcome.lab.as_deref().and_then(|lab| lab.links.first());
    json!({
        "files": Point::ALL.map(|point| file(stem, point)),
        "limited_by": run.truth,
        "must_find": [],
        "why": parameters(setup),
        "congestion_control": setup.congestion.word(),
        "path": {
            "base_rtt_ms": 1000.0 * setup.rtt_s,
            "rate_mbit": setup.rate_bps as f64 / 1e6,
            "queue_bytes": setup.queue_bytes,
            "random_loss": setup.loss,
        },
        "share_of_line_rate": facts.payload_bytes * 8.0 / (facts.link_bps * facts.lasted_s),
        "line_data_direction": line.map(|line| json!({
            "in": line.packets,
            "random_drops": line.damaged,
            "queue_drops": line.refused,
        })),
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
        let run = &scored(&[(3, &[Congestion], [Some(Bandwidth); 2])])[0].run;
        let stem = stem(run);
        let label = label(run, &stem);
        assert_eq!(label["limited_by"], json!(["congestion"]));
        assert_eq!(label["files"][1], json!(format!("{stem}.receiver.pcapng.gz")));
        assert!(stem.starts_with("lab_congestion_") && stem.ends_with("_003"), "{stem}");
    }
}
