//! One piece of advice.

use schemars::JsonSchema;
use serde::Serialize;

use super::bench::{AS_IT_IS, Bench};
use super::commands::{Commands, commands};
use super::ends::Ends;
use super::gained::{AdviceGain, gain};
use super::goal::Goal;
use super::price::{Price, price};
use super::proof::Found;
use super::tune::{self, Setting};
use super::{Request, caution, words};
use crate::advise::{Change, Trial};
use crate::engine::EngineName;
use crate::outcome::LimitedBy;
use crate::scenario::Scenario;
use crate::units::Mss;

/// A change that serves a goal, with its proof and its price.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Its name, of what is changed and where: the same for the same path in another run.
    pub id: String,
    /// The change.
    #[serde(rename = "change", serialize_with = "entry_of")]
    #[schemars(with = "ChangeEntry")]
    pub change: Change,
    /// The change as a sentence.
    pub text: String,
    /// Where it is made: `host`, `route`, `gateway` or `path`.
    pub scope: &'static str,
    /// The host it is made on: its address, or its role on the path.
    pub on: String,
    /// The value in use; null where it is unknown, or where several were run.
    pub current: Option<String>,
    /// The value advised.
    pub proposed: String,
    /// What it gains.
    pub gain: AdviceGain,
    /// The runs that show it.
    pub proof: Vec<ProofRow>,
    /// What it costs.
    pub price: Price,
    /// Why this change.
    pub reason: String,
    /// What may go wrong.
    pub risk: String,
    /// What to consider before it is made; null where nothing is to be said.
    pub note: Option<String>,
    /// Where the rule stands: an RFC's section, a kernel's file.
    pub source: &'static str,
    /// How to make it, by system.
    pub commands: Commands,
    /// The settings of a Linux host that make it, as `maxseg tune apply` takes them; none where no address is known.
    pub settings: Vec<Setting>,
}

fn entry_of<S: serde::Serializer>(change: &Change, to: S) -> Result<S::Ok, S::Error> {
    ChangeEntry::of(*change).serialize(to)
}

/// A change, as documents have it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangeEntry {
    /// What is changed.
    pub kind: &'static str,
    /// Its new value in `unit`; null where it is switched.
    pub value: Option<f64>,
    /// Its new value as a word.
    pub word: Option<&'static str>,
    /// `bytes`, `segments`, `s` or `bps`; null where the value has none.
    pub unit: Option<&'static str>,
}

impl ChangeEntry {
    /// The entry of a change.
    pub fn of(change: Change) -> Self {
        let with = |value: f64, unit| Self {
            kind: change.kind(),
            value: Some(value),
            word: None,
            unit: Some(unit),
        };
        let switched = |word| Self { kind: change.kind(), value: None, word, unit: None };
        match change {
            Change::Window(bytes)
            | Change::ReceiveBuffer(bytes)
            | Change::FirstReceiveBuffer(bytes)
            | Change::SendBuffer(bytes)
            | Change::Queue(bytes) => with(bytes.get() as f64, "bytes"),
            Change::SegmentSize(mss) | Change::Clamp(mss) => with(f64::from(mss.get()), "bytes"),
            Change::Mtu(mtu) => with(f64::from(mtu.get()), "bytes"),
            Change::InitialWindow(segments) => with(f64::from(segments), "segments"),
            Change::RtoMin(time) | Change::RtoInitial(time) => with(time.as_secs_f64(), "s"),
            Change::Pacing(rate) => with(rate.get() as f64, "bps"),
            Change::Congestion(name) => switched(Some(name.word())),
            Change::MtuProbing | Change::ReorderingTolerance => switched(Some("on")),
            Change::NoSlowStartAfterIdle => switched(Some("off")),
            Change::ReadsAtOnce
            | Change::IcmpSent
            | Change::FairQueue
            | Change::Codel
            | Change::NoErrors => switched(None),
        }
    }
}

/// Runs of one point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProofRow {
    /// The changes, in words; none for the path as it is.
    pub changes: Vec<String>,
    /// The engine.
    pub engine: EngineName,
    /// Its runs.
    pub runs: usize,
    /// Mean goodput; of several bulk flows on the same way together.
    pub goodput_bps: f64,
    /// Half of its 95% interval; null where one run tells nothing of it.
    pub goodput_half_bps: Option<f64>,
    /// Mean round trip of echo requests under load.
    pub ping_s: Option<f64>,
    /// Mean time of a request.
    pub request_s: Option<f64>,
    /// Mean goodput of all other flows; null where none carries data.
    pub others_goodput_bps: Option<f64>,
    /// What formulas say of the goodput.
    pub model_bps: Option<f64>,
    /// The limit that held longest.
    pub limited_by: LimitedBy,
}

/// The name of a change: what is changed, and on which host.
pub(super) fn id(change: Change, ends: &Ends) -> String {
    let host = words::host_of(change, ends);
    let place = host.map_or_else(
        || words::scope(change).to_owned(),
        |host| host.address.map_or_else(|| host.role.to_owned(), |address| address.to_string()),
    );
    format!("{}-{}", change.kind(), place.replace([':', '.'], "-"))
}

/// The advice of a search, the largest gain first.
pub(super) fn advice(bench: &Bench, found: &Found, request: &Request<'_>) -> Vec<Advice> {
    let Some(best) = found.best else { return Vec::new() };
    let changes = bench.points[best].changes.clone();
    let mut advice: Vec<Advice> = changes
        .iter()
        .map(|change| {
            let without = found.without.iter().find(|(of, _)| of == change);
            let without = without.map(|(_, point)| *point);
            // Of one change alone, nothing is left without it.
            let without = without.or_else(|| (changes.len() == 1).then_some(AS_IT_IS));
            one(bench, *change, (without, best), (found, request))
        })
        .collect();
    let weight = |advice: &Advice| {
        let gain = &advice.gain;
        let of = |part: Option<f64>| part.unwrap_or(0.0);
        match request.goal {
            _ if gain.over_nothing => f64::INFINITY,
            Goal::Throughput => of(gain.goodput_pct).max(-of(gain.request_time_pct)),
            Goal::Latency => -of(gain.ping_pct),
            Goal::Balanced => of(gain.goodput_pct) - of(gain.ping_pct),
        }
    };
    advice.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    advice
}

fn one(
    bench: &Bench,
    change: Change,
    (without, best): (Option<usize>, usize),
    (found, request): (&Found, &Request<'_>),
) -> Advice {
    let baseline = bench.trial(AS_IT_IS, &found.draws);
    let mut shown = vec![AS_IT_IS];
    shown.extend(without);
    shown.push(best);
    shown.dedup();
    let rows = shown.into_iter().filter_map(|point| bench.trial(point, &found.draws));
    let as_it_is = baseline.as_ref().map(|trial| &trial.outcome);
    let reason = words::reason(change, request, as_it_is);
    let lost = |point: usize| bench.points[point].outcome().and_then(|run| run.segment_loss);
    let before = lost(without.unwrap_or(AS_IT_IS));
    let by_rule = Advice::by_rule(change, reason, request);
    let price = by_rule.price.with_losses(before.zip(lost(best)));
    Advice {
        price,
        gain: without.map_or_else(AdviceGain::default, |without| {
            gain(bench, [without, best], request, |number| found.draws.contains(&number))
        }),
        proof: rows.map(|trial| ProofRow::of(&trial, EngineName::Sim)).collect(),
        ..by_rule
    }
}

impl Advice {
    /// The best of the segment sizes that were run on this path: what a host sets for it.
    pub(in crate::advise) fn of_swept_size(size: u64, scenario: &Scenario) -> Option<Self> {
        let change = Change::SegmentSize(Mss::new(size).ok()?);
        let ends = Ends::of_scenario(scenario);
        let reason = "it had the most goodput of the sizes that were run".to_owned();
        let request = Request::new(scenario, Goal::Throughput, &ends);
        let text = format!("Send segments of an MSS of {size} from {}", ends.sender);
        Some(Self { current: None, text, ..Self::by_rule(change, reason, &request) })
    }

    /// What no run shows.
    pub(super) fn by_rule(change: Change, reason: String, request: &Request<'_>) -> Self {
        let (ends, scenario) = (request.ends, request.scenario);
        let is_raise = words::raises(change, scenario);
        Self {
            id: id(change, ends),
            change,
            text: words::sentence(change, ends, scenario),
            scope: words::scope(change),
            on: words::place_of(change, ends),
            current: Some(words::current(change, scenario)),
            proposed: words::proposed(change),
            gain: AdviceGain::default(),
            proof: Vec::new(),
            price: price(change, is_raise, request.connections),
            reason,
            risk: caution::risk(change, is_raise),
            note: caution::note(change, is_raise),
            source: caution::source(change),
            commands: commands(change, ends, scenario, is_raise),
            settings: tune::of(change, ends, scenario, is_raise),
        }
    }
}

impl ProofRow {
    /// The row of a trial by this engine.
    pub fn of(trial: &Trial, engine: EngineName) -> Self {
        Self {
            changes: trial.changes.iter().map(|it| it.describe_in(&trial.scenario)).collect(),
            engine,
            runs: trial.goodput.n.max(trial.ping.n),
            goodput_bps: trial.goodput.mean,
            goodput_half_bps: trial.goodput.ci95(),
            ping_s: (trial.ping.n > 0).then_some(trial.ping.mean),
            request_s: (trial.request.n > 0).then_some(trial.request.mean),
            others_goodput_bps: (trial.others.n > 0).then_some(trial.others.mean),
            model_bps: trial.model_bps(),
            limited_by: trial.limited_by,
        }
    }
}
