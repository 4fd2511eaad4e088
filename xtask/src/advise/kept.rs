//! What was scored stays in the folder of the runs: a draw that was cut off goes on where it ended.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::draw::Drawn;

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    /// The path that it is about.
    text: String,
    result: T,
}

/// What `name` holds of this path, or what `work` gives.
pub(super) fn kept<T: Serialize + DeserializeOwned>(
    folder: &Path,
    name: &str,
    drawn: &Drawn,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let file = folder.join(format!("{name}-{}.json", drawn.number));
    let context = || file.display().to_string();
    if file.exists() {
        let kept: Kept<T> =
            serde_json::from_str(&fs::read_to_string(&file)?).with_context(context)?;
        if kept.text == drawn.text {
            return Ok(kept.result);
        }
    }
    let kept = Kept { text: drawn.text.clone(), result: work()? };
    let unfinished = file.with_extension("new");
    fs::write(&unfinished, serde_json::to_string_pretty(&kept)?).with_context(context)?;
    fs::rename(&unfinished, &file).with_context(context)?;
    Ok(kept.result)
}
