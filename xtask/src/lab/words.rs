//! A path in a line.

use std::fmt::Write as _;

use super::path::{Load, Path};

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
    match path.load {
        Load::Bulk => {}
        Load::Bytes(bytes) => {
            let _ = write!(text, ", {:.0} kB", bytes as f64 / 1e3);
        }
        Load::Requests { reply_bytes, think_s } => {
            let _ = write!(
                text,
                ", replies of {:.1} kB after {:.0} ms",
                reply_bytes as f64 / 1e3,
                1e3 * think_s
            );
        }
    }
    if path.starts_s.len() > 1 {
        let _ = write!(text, ", {} flows", path.starts_s.len());
    }
    text
}
