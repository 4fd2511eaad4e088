//! A path in a line.

use std::fmt::Write as _;

use super::path::Path;

/// Its numbers.
pub(super) fn parameters(path: &Path) -> String {
    let mut text = format!(
        "{}, {:.1} Mbit/s, {:.0} ms, queue {:.2}, MSS {}",
        path.congestion.word(),
        path.rate_bps as f64 / 1e6,
        1e3 * path.rtt_s,
        path.queue_in_paths(),
        path.mss_bytes
    );
    if let Some(loss) = path.loss {
        let _ = write!(text, ", loss {:.2}%", 100.0 * loss.rate);
        if let Some(burst) = loss.burst {
            let _ = write!(text, " in bursts of {burst:.1}");
        }
    }
    text.push_str(&path.load.in_words());
    if path.starts_s.len() > 1 {
        let _ = write!(text, ", {} flows", path.starts_s.len());
    }
    text
}
