//! The points of an experiment by the engines whose results are the same on every machine, and by the lab.

use std::fs;

use anyhow::{Context, Result};
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::scenario::{Draft, Point, Scenario};
use maxseg_core::sim::Sim;
use maxseg_workbench::engines::{check_lab, engine};
use maxseg_workbench::experiment::Experiment as Swept;
use maxseg_workbench::report::words;
use serde_json::Value;

use super::list::{Experiment, Measure};
use super::stored::LabPoint;
use crate::draws::ATTEMPTS;
use crate::root;

/// The numbers of one engine at a point, a measure each.
pub(super) type Numbers = Vec<Option<f64>>;

/// What is computed at a point.
#[derive(Debug)]
pub(super) struct Computed {
    /// The values of the swept keys, in words.
    pub(super) point: Vec<String>,
    pub(super) model: Numbers,
    pub(super) sim: Numbers,
    /// The simulator with the stack `linux`; `None` where that is the scenario's own, or cannot be.
    pub(super) linux: Option<Numbers>,
    /// Why a lab cannot have numbers of it.
    pub(super) beyond_the_lab: Option<String>,
}

impl Experiment {
    /// The swept keys, as headings.
    pub(super) fn keys(&self) -> Result<Vec<String>> {
        let points = self.points(false)?;
        let keys =
            points.first().map(|point| point.values.iter().map(|(key, _)| words::title(key)));
        Ok(keys.into_iter().flatten().collect())
    }

    /// The points, with their own stacks or with that of Linux.
    fn points(&self, on_linux: bool) -> Result<Vec<Point>> {
        let file = root().join(format!("scenarios/{}.toml", self.scenario));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let mut draft = Draft::parse(self.scenario, &text)?;
        if on_linux {
            draft.set_argument("sender.stack=\"linux\"")?;
            draft.set_argument("receiver.stack=\"linux\"")?;
        }
        self.set.iter().try_for_each(|assignment| draft.set_argument(assignment))?;
        self.axes.iter().try_for_each(|axis| draft.sweep_argument(axis))?;
        Ok(Swept::new(draft, text, vec![EngineName::Sim], 1)?.points()?)
    }

    /// Every point by formulas, simulator, and simulator with the stack `linux`.
    pub(super) fn compute(&self) -> Result<Vec<Computed>> {
        let own = self.points(false)?;
        let is_linux = own.iter().all(|point| point.scenario.sender.linux.is_some());
        let on_linux = if self.without_linux.is_some() {
            vec![None; own.len()]
        } else {
            self.points(true)?.into_iter().map(Some).collect()
        };
        let lab = engine(EngineName::Lab)?;
        let beyond = |point: &Point| {
            let mut caveats = lab.caveats(&point.scenario).into_iter();
            caveats.find(|caveat| caveat.code == "beyond-the-lab").map(|caveat| caveat.text)
        };
        let computed = |(point, on_linux): (&Point, Option<Point>)| {
            let word = |(key, value): &(String, toml::Value)| -> Result<String> {
                Ok(words::value(key, &serde_json::to_value(value)?))
            };
            Ok(Computed {
                point: point.values.iter().map(word).collect::<Result<_>>()?,
                model: self.numbers(&mut Model, &point.scenario)?,
                sim: self.numbers(&mut Sim, &point.scenario)?,
                beyond_the_lab: on_linux.as_ref().and_then(beyond),
                linux: on_linux
                    .filter(|_| !is_linux)
                    .map(|point| self.numbers(&mut Sim, &point.scenario))
                    .transpose()?,
            })
        };
        own.iter().zip(on_linux).map(computed).collect()
    }

    fn numbers(&self, engine: &mut dyn Engine, scenario: &Scenario) -> Result<Numbers> {
        let outcome = engine.run(scenario, &mut Unwatched)?;
        Ok(self.measures.iter().map(|measure: &Measure| (measure.of)(&outcome)).collect())
    }

    /// Every point by the lab, with the kernel's own TCP; nothing where Linux lacks what it is about.
    pub(super) fn lab(&self, say: impl Fn(&str)) -> Result<Vec<LabPoint>> {
        if self.without_linux.is_some() {
            return Ok(Vec::new());
        }
        let mut lab = engine(EngineName::Lab)?;
        let points = self.points(true)?;
        let run = |(index, point): (usize, &Point)| -> Result<LabPoint> {
            say(&format!("{}: point {} of {}", self.page, index + 1, points.len()));
            let point_json = named(point)?;
            if let Err(error) = check_lab(&point.scenario) {
                return Ok(LabPoint::without(point_json, error.to_string()));
            }
            let mut outcome = lab.run(&point.scenario, &mut Unwatched)?;
            for _ in 1..ATTEMPTS {
                if outcome.is_valid() {
                    break;
                }
                outcome = lab.run(&point.scenario, &mut Unwatched)?;
            }
            let numbers = self.measures.iter().map(|measure| (measure.of)(&outcome)).collect();
            let why = (!outcome.is_valid()).then(|| outcome.invalid_because().join("; "));
            Ok(LabPoint { point: point_json, numbers, invalid: why, why: None })
        };
        points.iter().enumerate().map(run).collect()
    }

    /// The points as the stored runs name them.
    pub(super) fn lab_points(&self) -> Result<Vec<Value>> {
        if self.without_linux.is_some() {
            return Ok(Vec::new());
        }
        self.points(true)?.iter().map(named).collect()
    }
}

/// The swept keys with their values.
fn named(point: &Point) -> Result<Value> {
    Ok(serde_json::to_value(point.values.iter().cloned().collect::<toml::Table>())?)
}
