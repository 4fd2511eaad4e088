//! Topologies of other programs as scenarios: MiniEdit's `.mn` files.
//!
//! ```text
//! bytes → topology (what MiniEdit saved) → chain (the links between two hosts) → hops → scenario text
//! ```
//! What a scenario cannot say is noted on the way, with the reason, and stands at the head of the text.
//! Nothing of the file is run, and nothing of it reaches a comment or a terminal but as plain text.

mod chain;
mod hop;
mod left_out;
mod miniedit;
mod notes;
mod tc_time;
mod text;
mod value;

#[cfg(test)]
mod tests;

use maxseg_core::scenario::Scenario;

use crate::error::Error;
use chain::Chain;
use hop::{Hop, name_apart};
use notes::Notes;

/// The two hosts that the user chose, each if it was chosen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ends<'a> {
    /// Who sends.
    pub from: Option<&'a str>,
    /// Who receives.
    pub to: Option<&'a str>,
}

/// A scenario, and what did not get into it.
#[derive(Debug)]
pub struct Imported {
    /// The file, in TOML: the program itself has read it.
    pub text: String,
    /// What could not be carried over as it is, and why: a line each.
    pub notes: Vec<String>,
    /// Between whom, and over which hops.
    pub path: String,
}

/// The scenario in what MiniEdit saved as `file`.
///
/// # Errors
/// It is not a MiniEdit topology, or none that is a chain between two hosts, or a link of that chain has an option
/// with a value that it cannot have.
pub fn from_miniedit(bytes: &[u8], file: &str, ends: Ends<'_>) -> Result<Imported, Error> {
    let mut notes = Notes::default();
    let topology = miniedit::read(bytes, file, &mut notes)?;
    let chain = Chain::between(&topology, ends)?;
    left_out::note(&topology, &chain, &mut notes);
    let hops = chain.steps.iter().map(|step| Hop::new(step, file, &mut notes));
    let mut hops = hops.collect::<Result<Vec<Hop>, _>>()?;
    name_apart(&mut hops);
    let notes = notes.lines();
    let text =
        text::scenario(&text::Origin { file, topology: &topology, chain: &chain }, &hops, &notes);
    Scenario::from_toml(&format!("{file} as a scenario"), &text)?;
    Ok(Imported { text, notes, path: chain.words() })
}
