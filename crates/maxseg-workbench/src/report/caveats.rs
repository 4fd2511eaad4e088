//! Caveats, gathered: a sweep has the same ones at many points, and both engines have some in common.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::engine::{Caveat, EngineName};
use maxseg_core::results::Row;
use serde_json::{Map, Value};

use super::marks::point_words;
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
    /// Which they are, as people read them, in the order in which they came; empty where all points of the engines have it.
    pub at: Vec<String>,
    /// Whether it says the same at all of them.
    pub is_same_everywhere: bool,
}

/// So many points are named; of more the first is.
const MOST_NAMED: usize = 3;

/// Gathers caveats as they come, those of a run together.
#[derive(Debug, Default)]
pub struct Gathering {
    /// A run may have several of one code, of different hosts, flows or hops: the number counts them.
    kinds: BTreeMap<(String, EngineName, usize), Kind>,
    /// Every point that an engine ran, with caveats or without.
    points: BTreeMap<EngineName, BTreeSet<String>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Kind {
    /// Points by hash or place.
    points: BTreeSet<String>,
    /// The same in words, as they came.
    at: Vec<String>,
    texts: BTreeSet<String>,
    last: String,
}

impl Gathering {
    /// Adds the caveats of an engine's run at a point, which is known by its hash or place, and has these values of what is swept.
    pub fn add(
        &mut self,
        engine: EngineName,
        point: &str,
        values: &Map<String, Value>,
        caveats: &[Caveat],
    ) {
        self.points.entry(engine).or_default().insert(point.to_owned());
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
            if kind.points.insert(point.to_owned()) && kind.at.len() < MOST_NAMED {
                kind.at.push(point_words(values).join(", "));
            }
            kind.texts.insert(caveat.text.clone());
            kind.last.clone_from(&caveat.text);
        }
    }

    /// By code; what engines have in common once.
    pub fn gathered(&self) -> Vec<Gathered> {
        let mut all: Vec<(Gathered, &Kind)> = Vec::new();
        for ((code, engine, _), kind) in &self.kinds {
            let is_everywhere = self.points.get(engine) == Some(&kind.points);
            let at = if is_everywhere { Vec::new() } else { kind.at.clone() };
            let is_same = |known: &Gathered, same: &Kind| {
                known.code == *code && same == kind && known.at == at
            };
            match all.iter_mut().find(|(known, same)| is_same(known, same)) {
                Some((known, _)) => known.engines.push(*engine),
                None => all.push((
                    Gathered {
                        engines: vec![*engine],
                        code: code.clone(),
                        text: kind.last.clone(),
                        points: kind.points.len(),
                        at,
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
    /// `model and sim, mss-lowered (at segment size 1460): …`
    pub fn line(&self) -> String {
        let engines: Vec<&str> = self.engines.iter().map(|engine| engine.word()).collect();
        let notes: Vec<String> = self.which().into_iter().chain(self.whose_text()).collect();
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{}, {}{notes}: {}", words::listed(&engines), self.code, self.text)
    }

    /// Which points have it; `None` of the only one.
    fn which(&self) -> Option<String> {
        if self.at.is_empty() {
            return (self.points > 1).then(|| format!("all {} points", self.points));
        }
        Some(match self.at.first().filter(|_| self.points > MOST_NAMED) {
            Some(first) => format!("at {} points, the first at {first}", self.points),
            // Values of one point are divided by commas.
            None => format!("at {}", self.at.join(" | ")),
        })
    }

    /// Whose the text is, where it is another at each of the points.
    fn whose_text(&self) -> Option<String> {
        let differs = self.points > 1 && !self.is_same_everywhere;
        differs.then(|| "the text is the last one's".to_owned())
    }
}

/// A line for each caveat of a run: whose it is, how many points have one like it, and what it says.
pub fn caveat_lines(rows: &[Row]) -> Vec<String> {
    let mut gathering = Gathering::default();
    for row in rows {
        gathering.add(row.engine, &row.hash, &row.point, &row.caveats);
    }
    gathering.gathered().iter().map(Gathered::line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of a sweep of the stack.
    fn at(stack: &str) -> Map<String, Value> {
        Map::from_iter([("sender.stack".to_owned(), stack.into())])
    }

    #[test]
    fn what_is_of_some_points_says_of_which() {
        let mut gathering = Gathering::default();
        for (number, stack) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
            let code = |code: &str| Caveat::new(code, "text");
            let mut caveats = vec![code("everywhere")];
            caveats.extend((number == 1).then(|| code("one")));
            caveats.extend((number < 4).then(|| code("four")));
            caveats.extend((number < 3).then(|| code("three")));
            gathering.add(EngineName::Sim, stack, &at(stack), &caveats);
        }
        let lines: Vec<String> = gathering.gathered().iter().map(Gathered::line).collect();
        let words = |stack: &str| point_words(&at(stack)).join(", ");
        let [a, b, c] = ["a", "b", "c"].map(words);
        assert_eq!(
            lines,
            [
                "sim, everywhere (all 5 points): text".to_owned(),
                format!("sim, four (at 4 points, the first at {a}): text"),
                format!("sim, one (at {b}): text"),
                format!("sim, three (at {a} | {b} | {c}): text"),
            ]
        );
    }

    #[test]
    fn what_is_the_same_is_said_once() {
        use EngineName::{Model, Sim};
        let mut gathering = Gathering::default();
        let mut add = |engine, point, code, text: &str| {
            gathering.add(engine, point, &at(point), &[Caveat::new(code, text)]);
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
                "model, accuracy (all 2 points; the text is the last one's): at 2%",
                "model and sim, mixed-stacks (all 2 points): one end is ns-2's",
                "sim, unfinished (at sender.stack a): 20 bytes",
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
            gathering.add(engine, "a", &at("a"), &caveats("mss-lowered", &texts));
        }
        gathering.add(Lab, "a", &at("a"), &caveats("mss-lowered", &["flow 2: 1398"]));
        gathering.add(
            Sim,
            "a",
            &at("a"),
            &caveats("linux-keys", &["of the sender", "of the receiver"]),
        );
        gathering.add(Sim, "b", &at("b"), &caveats("linux-keys", &["of the sender", "of both"]));
        let lines: Vec<String> = gathering.gathered().iter().map(Gathered::line).collect();
        let here = point_words(&at("a")).join(", ");
        assert_eq!(
            lines,
            [
                "sim, linux-keys (all 2 points): of the sender".to_owned(),
                "sim, linux-keys (all 2 points; the text is the last one's): of both".to_owned(),
                "model, mss-lowered: flow 0: 1348".to_owned(),
                "model and lab, mss-lowered: flow 2: 1398".to_owned(),
                format!("sim, mss-lowered (at {here}): flow 0: 1348"),
                format!("sim, mss-lowered (at {here}): flow 2: 1398"),
            ]
        );
    }
}
