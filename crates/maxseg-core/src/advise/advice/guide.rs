//! Guides judged: what each of their settings does on a path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::{self, AS_IT_IS, Bench};
use super::gained::{self, AdviceGain};
use super::goal::Goal;
use super::limit::limit;
use super::price::{Price, price};
use super::{Request, draws, worth};
use crate::advise::Change;
use crate::advise::data_flow::data_hosts;
use crate::engine::EngineError;
use crate::scenario::Scenario;
use crate::settings::{CongestionName, WindowSize};
use crate::units::Bytes;

/// A guide or a tool that sets a host's TCP without looking at the path, or by rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GuideName {
    /// The host tuning of `ESnet`.
    Esnet,
    /// The network profiles of `tuned`.
    Tuned,
    /// bpftune's tuners.
    Bpftune,
}

/// A guide's settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guide {
    /// Its title.
    pub title: String,
    /// Where and when it was read.
    pub source: String,
    /// Its settings.
    pub setting: Vec<GuideSetting>,
}

/// One setting of a guide.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuideSetting {
    /// The setting as the guide has it.
    pub name: String,
    /// For which hosts the guide has it.
    #[serde(default)]
    pub when: Option<String>,
    /// Its change, where a scenario can express it.
    #[serde(default)]
    change: Option<GuideChange>,
    /// Why no run shows it, or what it does.
    #[serde(default)]
    pub why: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GuideChange {
    ReceiveBuffer(u64),
    SendBuffer(u64),
    MtuProbing,
    NoSlowStartAfterIdle,
    Congestion(CongestionName),
}

impl GuideChange {
    fn change(self) -> Change {
        match self {
            Self::ReceiveBuffer(bytes) => Change::ReceiveBuffer(Bytes::new(bytes)),
            Self::SendBuffer(bytes) => Change::SendBuffer(Bytes::new(bytes / 2)),
            Self::MtuProbing => Change::MtuProbing,
            Self::NoSlowStartAfterIdle => Change::NoSlowStartAfterIdle,
            Self::Congestion(name) => Change::Congestion(name),
        }
    }
}

/// One setting of a guide, judged on a path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The setting as the guide has it.
    pub setting: String,
    /// For which hosts the guide has it.
    pub when: Option<String>,
    /// `helps`, `harms`, `no-difference`, or `unknown` where no run can show it.
    pub verdict: &'static str,
    /// What it gains; null where no run can show it.
    pub gain: Option<AdviceGain>,
    /// What it costs; null where no run can show it.
    pub price: Option<Price>,
    /// Why, in a sentence.
    pub reason: String,
}

impl GuideName {
    /// The word that commands use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Esnet => "esnet",
            Self::Tuned => "tuned",
            Self::Bpftune => "bpftune",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Esnet => include_str!("../../../guides/esnet.toml"),
            Self::Tuned => include_str!("../../../guides/tuned.toml"),
            Self::Bpftune => include_str!("../../../guides/bpftune.toml"),
        }
    }
}

/// The names of all guides.
pub const fn guides() -> [GuideName; 3] {
    [GuideName::Esnet, GuideName::Tuned, GuideName::Bpftune]
}

impl Guide {
    /// A guide by name.
    ///
    /// # Panics
    /// Never: a test reads each file.
    pub fn of(name: GuideName) -> Self {
        toml::from_str(name.file()).expect("a test reads each file")
    }
}

impl GuideSetting {
    /// The judgement without a run.
    fn unrun(&self, verdict: &'static str, price: Option<Price>, reason: String) -> Judged {
        Judged {
            setting: self.name.clone(),
            when: self.when.clone(),
            verdict,
            gain: None,
            price,
            reason,
        }
    }
}

/// Pairs of runs for each setting: as those that prove advice.
const RUNS: std::ops::Range<u64> = draws::PROOF;

/// What each setting of a guide does on a path, alone; last all of them together, where several can be run.
///
/// # Errors
/// The simulator cannot run the scenario.
pub fn judge(guide: &Guide, request: &Request<'_>) -> Result<Vec<Judged>, EngineError> {
    let runs_linux = bench::runs_linux(request.scenario);
    let mut bench = Bench::new(request, u32::MAX);
    bench.run(AS_IT_IS, RUNS)?;
    let mut judged = Vec::new();
    let mut all = Vec::new();
    for setting in &guide.setting {
        let change = setting.change.filter(|_| runs_linux).map(GuideChange::change);
        let Some(change) = change else {
            let why = setting.why.clone().unwrap_or_else(|| {
                "the hosts of this path do not run Linux's TCP: the setting does not apply"
                    .to_owned()
            });
            judged.push(setting.unrun("unknown", None, why));
            continue;
        };
        if let Some(reason) = without_effect(change, request.scenario) {
            let price = price(change, true, request.connections);
            judged.push(setting.unrun("no-difference", Some(price), reason.to_owned()));
            continue;
        }
        // A guide that has one value for each class of host has them one after the other: the last one counts.
        all.retain(|other: &Change| other.kind() != change.kind());
        all.push(change);
        judged.push(one(&mut bench, &setting.name, setting.when.as_deref(), &[change], request)?);
    }
    if all.len() > 1 {
        judged.push(one(&mut bench, "all that a run shows, together", None, &all, request)?);
    }
    Ok(judged)
}

fn one(
    bench: &mut Bench,
    name: &str,
    when: Option<&str>,
    changes: &[Change],
    request: &Request<'_>,
) -> Result<Judged, EngineError> {
    let point = bench.point(changes);
    bench.run(point, RUNS)?;
    let gain = gained::gain(bench, [AS_IT_IS, point], request, |_| true);
    let verdict =
        if point == AS_IT_IS { "no-difference" } else { verdict(bench, request.goal, point) };
    let prices = changes.iter().map(|change| price(*change, true, request.connections));
    let reason = match verdict {
        "no-difference" if point == AS_IT_IS => "the path has it already".to_owned(),
        "no-difference" => {
            "the runs with it and without it differ by too little to matter, or by chance"
                .to_owned()
        }
        "unknown" => "runs with it and without it differ too much by chance to tell".to_owned(),
        _ => {
            let at = &bench.points[point];
            let then = at.outcome().map(|outcome| limit(&at.scenario, outcome));
            let then = then.unwrap_or_default();
            format!("with it: {then}")
        }
    };
    Ok(Judged {
        setting: name.to_owned(),
        when: when.map(str::to_owned),
        verdict,
        gain: Some(gain),
        price: prices.reduce(Price::and),
        reason,
    })
}

/// Why a setting does nothing on hosts as these are.
fn without_effect(change: Change, scenario: &Scenario) -> Option<&'static str> {
    let [_, receiving] = data_hosts(scenario);
    let is_fixed = !matches!(receiving.window, WindowSize::Auto { .. });
    (is_fixed && matches!(change, Change::ReceiveBuffer(_))).then_some(
        "the receive window is fixed, by its program or a route: the limit of autotuning does not open it",
    )
}

/// An interval this wide, as a logarithm, shows nothing.
const WIDE: f64 = 0.2;

/// By the floor of all advice: what gains too little to be advised does not help either.
fn verdict(bench: &Bench, goal: Goal, point: usize) -> &'static str {
    let Some(gain) = worth::difference(bench, goal, AS_IT_IS, point, |_| true) else {
        return "unknown";
    };
    let half = gain.ci95().unwrap_or(f64::INFINITY);
    let is_no_chance = gain.mean.abs() > half;
    if is_no_chance && worth::is_worth(bench, goal, [AS_IT_IS, point], |_| true) {
        "helps"
    } else if is_no_chance && worth::is_worth(bench, goal, [point, AS_IT_IS], |_| true) {
        "harms"
    } else if 2.0 * half > WIDE {
        "unknown"
    } else {
        "no-difference"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_can_be_read() {
        for name in guides() {
            let guide: Guide = toml::from_str(name.file()).unwrap();
            assert!(guide.setting.len() > 3, "{}", guide.title);
            for setting in &guide.setting {
                assert!(setting.change.is_some() || setting.why.is_some(), "{}", setting.name);
            }
        }
    }
}
