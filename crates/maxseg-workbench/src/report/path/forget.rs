//! What the kernel has forgotten, as JSON.

use std::io;

use serde::Serialize;

use crate::path::{Forgotten, ForgottenOutcome};

/// What `path --forget --json` prints.
#[derive(Serialize)]
pub struct ForgetDocument {
    schema_version: u32,
    forgotten: Vec<ForgottenEntry>,
}

#[derive(Serialize)]
struct ForgottenEntry {
    destination: String,
    mtu_bytes: Option<u32>,
    expires_s: Option<f64>,
    outcome: ForgottenOutcome,
}

impl ForgetDocument {
    /// The document.
    pub fn new(forgotten: &[Forgotten]) -> Self {
        let entry = |one: &Forgotten| ForgottenEntry {
            destination: one.destination.to_string(),
            mtu_bytes: one.mtu_bytes,
            expires_s: one.expires_s,
            outcome: one.outcome,
        };
        Self { schema_version: 1, forgotten: forgotten.iter().map(entry).collect() }
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}
