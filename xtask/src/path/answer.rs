//! What a program says of a path.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Bytes of the largest packet that arrives; `None` for no answer.
    pub mtu: Option<u64>,
    /// The router at which packets vanish, by its distance in hops.
    pub hole: Option<u64>,
    /// Whether packets are said to vanish, wherever.
    pub has_hole: bool,
    /// How sure it is, in its own word.
    pub confidence: String,
    /// Bytes that it sent.
    pub sent_bytes: Option<u64>,
    /// How long it took, seconds.
    pub elapsed_s: f64,
    /// Its exit code; `None` where it had to be stopped.
    pub exit: Option<i32>,
}

impl Answer {
    /// That of `maxseg path --json`.
    pub fn of(document: &Value) -> Self {
        let path = &document["path_mtu"];
        let hole = &path["black_hole"];
        Self {
            mtu: path["forward_bytes"].as_u64(),
            hole: hole["after_hop"].as_u64(),
            has_hole: hole.is_object(),
            confidence: path["confidence"].as_str().unwrap_or_default().to_owned(),
            sent_bytes: document["sent_bytes"].as_u64(),
            elapsed_s: document["elapsed_s"].as_f64().unwrap_or_default(),
            exit: Some(0),
        }
    }
}
