//! Caveats, gathered: a sweep has the same ones at many points, and both engines have some in common.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::engine::{Caveat, EngineName};
use maxseg_core::results::Row;

use super::words;

/// A caveat with the points that it concerns.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Whose it is.
    pub engines: Vec<EngineName>,
    /// The word for programs.
    pub code: String,
    /// What it says at the last of the points.
    pub text: String,
    /// How many points have it.
    pub points: usize,
    /// Whether it says the same at all of them.
    pub is_same_everywhere: bool,
}

/// Gathers caveats as they come, those of a run together.
#[derive(Debug, Default)]
pub struct Gathering {
    /// A run may have several of one code, of different hosts, flows or hops: the number counts them.
    kinds: BTreeMap<(String, EngineName, usize), Kind>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Kind {
    points: BTreeSet<String>,
    texts: BTreeSet<String>,
    last: String,
}

impl Gathering {
    /// Adds the caveats of an engine's run at a point, which is known by its hash or place.
    pub fn add(&mut self, engine: EngineName, point: &str, caveats: &[Caveat]) {
        for (at, caveat) in caveats.iter().enumerate() {
            let before = &caveats[..at];
            if before.contains(caveat) {
                continue;
            }
            let others: BTreeSet<&str> = before
                .iter()
                .filter(|other| other.code == caveat.code)
                .map(|other| other.text.as_str())
                .collect();
            let key = (caveat.code.clone(), engine, others.len());
            let kind = self.kinds.entry(key).or_default();
            kind.points.insert(point.to_owned());
            kind.texts.insert(caveat.text.clone());
            kind.last.clone_from(&caveat.text);
        }
    }

    /// By code; what engines have in common once.
    pub fn gathered(&self) -> Vec<Gathered> {
        let mut all: Vec<(Gathered, &Kind)> = Vec::new();
        for ((code, engine, _), kind) in &self.kinds {
            match all.iter_mut().find(|(known, same)| known.code == *code && *same == kind) {
                Some((known, _)) => known.engines.push(*engine),
                None => all.push((
                    Gathered {
                        engines: vec![*engine],
                        code: code.clone(),
                        text: kind.last.clone(),
                        points: kind.points.len(),
                        is_same_everywhere: kind.texts.len() == 1,
                    },
                    kind,
                )),
            }
        }
        all.into_iter().map(|(gathered, _)| gathered).collect()
    }
}

impl Gathered {
    /// `model and sim, mss-lowered (3 points): …`
    pub fn line(&self) -> String {
        let engines: Vec<&str> = self.engines.iter().map(|engine| engine.word()).collect();
        let points = match (self.points, self.is_same_everywhere) {
            (1, _) => String::new(),
            (n, true) => format!(" ({n} points)"),
            (n, false) => format!(" (at {n} points; the text is the last one's)"),
        };
        format!("{}, {}{points}: {}", words::listed(&engines), self.code, self.text)
    }
}

/// A line for each caveat of a run: whose it is, how many points have one like it, and what it says.
pub fn caveat_lines(rows: &[Row]) -> Vec<String> {
    let mut gathering = Gathering::default();
    for row in rows {
        gathering.add(row.engine, &row.hash, &row.caveats);
    }
    gathering.gathered().iter().map(Gathered::line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_said_once() {
        use EngineName::{Model, Sim};
        let mut gathering = Gathering::default();
        let mut add = |engine, point, code, text: &str| {
            gathering.add(engine, point, &[Caveat::new(code, text)]);
        };
        add(Model, "a", "mixed-stacks", "one end is ns-2's");
        add(Model, "b", "mixed-stacks", "one end is ns-2's");
        add(Sim, "a", "mixed-stacks", "one end is ns-2's");
        add(Sim, "b", "mixed-stacks", "one end is ns-2's");
        add(Model, "a", "accuracy", "at 1%");
        add(Model, "b", "accuracy", "at 2%");
        // Two seeds of one point are one point.
        add(Sim, "a", "unfinished", "10 bytes");
        add(Sim, "a", "unfinished", "20 bytes");
        let lines: Vec<String> = gathering.gathered().iter().map(Gathered::line).collect();
        assert_eq!(
            lines,
            [
                "model, accuracy (at 2 points; the text is the last one's): at 2%",
                "model and sim, mixed-stacks (2 points): one end is ns-2's",
                "sim, unfinished: 20 bytes",
            ]
        );
    }
    #[test]
    fn a_run_s_caveats_of_one_code_are_all_said() {
        use EngineName::{Lab, Model, Sim};
        let caveats = |code: &str, texts: &[&str]| -> Vec<Caveat> {
            texts.iter().map(|text| Caveat::new(code, *text)).collect()
        };
        let mut gathering = Gathering::default();
        for engine in [Model, Sim] {
            let texts = ["flow 0: 1348", "flow 0: 1348", "flow 2: 1398"];
            gathering.add(engine, "a", &caveats("mss-lowered", &texts));
        }
        gathering.add(Lab, "a", &caveats("mss-lowered", &["flow 2: 1398"]));
        gathering.add(Sim, "a", &caveats("linux-keys", &["of the sender", "of the receiver"]));
        gathering.add(Sim, "b", &caveats("linux-keys", &["of the sender", "of both"]));
        let lines: Vec<String> = gathering.gathered().iter().map(Gathered::line).collect();
        assert_eq!(
            lines,
            [
                "sim, linux-keys (2 points): of the sender",
                "sim, linux-keys (at 2 points; the text is the last one's): of both",
                "model and sim, mss-lowered: flow 0: 1348",
                "model, sim and lab, mss-lowered: flow 2: 1398",
            ]
        );
    }
}
