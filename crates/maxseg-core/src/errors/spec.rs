//! Error models as a scenario file writes them.

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::{Clock, ErrorModel, GilbertElliott, Per, Schedule};
use crate::units::{Probability, Time, UnitError};

/// An error model, with the time from which it holds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorSpec {
    /// Time from which the model holds, in a list of several; a single model holds from the beginning.
    #[schemars(extend("x-example" = "\"0 s\"", "x-default" = "\"0 s\""))]
    pub at: Option<Time>,
    /// Name of the model.
    #[schemars(extend("x-example" = "\"uniform\""))]
    pub model: ModelName,
    /// Unit of an error: a frame, a packet or a byte; or `time` for a chain that runs in time.
    #[schemars(extend("x-example" = "\"packet\"", "x-default" = "\"packet\""))]
    pub per: Option<PerName>,
    /// Probability of an error for each unit; of a chain the share of units (or of time) in the bad state.
    #[schemars(extend("x-example" = "0.01"))]
    pub rate: Option<Probability>,
    /// Mean length of the bad state: a number of units, or a time with `per = "time"`.
    #[schemars(extend("x-example" = "4"))]
    pub burst: Option<Burst>,
    /// Probability of an error in the good state of a chain; 0 unless given.
    #[schemars(extend("x-example" = "0.001", "x-default" = "0"))]
    pub good: Option<Probability>,
    /// Probability of an error in the bad state of a chain; 1 unless given.
    #[schemars(extend("x-example" = "0.5", "x-default" = "1"))]
    pub bad: Option<Probability>,
    /// Of `list`: numbers of the packets that are lost, from 0 in the order on the wire.
    #[schemars(extend("x-example" = "[3, 17]", "x-engines" = "sim, lab"))]
    pub lost: Option<Vec<u64>>,
}

/// The error models by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// No errors.
    None,
    /// Independent errors.
    Uniform,
    /// Errors in bursts, by a two-state chain.
    GilbertElliott,
    /// The packets with the numbers in `lost`.
    List,
}

/// What one error hits, or what moves a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PerName {
    /// A radio frame.
    Frame,
    /// A packet.
    Packet,
    /// A byte.
    Byte,
    /// The chain runs in time.
    Time,
}

/// The mean length of a bad run.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Burst {
    /// In units.
    Units(f64),
    /// In time.
    Time(Time),
}

impl<'de> Deserialize<'de> for Burst {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NumberOrTime;
        impl Visitor<'_> for NumberOrTime {
            type Value = Burst;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of units, or a time such as \"10 ms\"")
            }
            fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<Burst, E> {
                Ok(Burst::Units(n))
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Burst, E> {
                Ok(Burst::Units(n as f64))
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Burst, E> {
                Ok(Burst::Units(n as f64))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Burst, E> {
                text.parse().map(Burst::Time).map_err(|e: UnitError| E::custom(e))
            }
        }
        from.deserialize_any(NumberOrTime)
    }
}

/// One error model for the whole run, or a schedule of several.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum ErrorsSpec {
    /// One for the whole run.
    One(Box<ErrorSpec>),
    /// One after the other; each needs its `at`.
    Schedule(Vec<ErrorSpec>),
}

// By hand, not `untagged`: so that an error inside keeps its key and its place in the file.
impl<'de> Deserialize<'de> for ErrorsSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TableOrArray;
        impl<'de> Visitor<'de> for TableOrArray {
            type Value = ErrorsSpec;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an error model such as { model = \"uniform\", per = \"frame\", rate = 0.01 }, or a list of them")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ErrorsSpec, A::Error> {
                ErrorSpec::deserialize(MapAccessDeserializer::new(map))
                    .map(|spec| ErrorsSpec::One(Box::new(spec)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ErrorsSpec, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(ErrorsSpec::Schedule)
            }
        }
        from.deserialize_any(TableOrArray)
    }
}

/// What is wrong with an error model that could be read.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{what}")]
pub struct ErrorSpecError {
    /// The key at fault, below `errors`; empty for the model as a whole.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub hint: String,
}

/// A packet may meet a period after the other: many in its airtime are as one long one.
const SHORTEST_BURST: Time = Time::from_nanos(1_000);

fn fault(key: &str, what: impl Into<String>, hint: impl Into<String>) -> ErrorSpecError {
    ErrorSpecError { key: key.to_owned(), what: what.into(), hint: hint.into() }
}

impl ErrorsSpec {
    /// The schedule that this describes.
    ///
    /// # Errors
    /// A key is missing or does not go with the model, a chain is impossible, or times do not rise.
    pub fn resolve(&self) -> Result<Schedule, ErrorSpecError> {
        let specs = match self {
            Self::One(spec) => std::slice::from_ref(spec.as_ref()),
            Self::Schedule(specs) => specs.as_slice(),
        };
        let mut entries: Vec<(Time, ErrorModel)> = Vec::with_capacity(specs.len());
        for (index, spec) in specs.iter().enumerate() {
            let inside = |mut error: ErrorSpecError| {
                if matches!(self, Self::Schedule(_)) {
                    error.key = match error.key.as_str() {
                        "" => index.to_string(),
                        key => format!("{index}.{key}"),
                    };
                }
                error
            };
            let model = spec.model().map_err(inside)?;
            let at = spec.at.unwrap_or_default();
            let hint = "a schedule begins with at = \"0 s\" and its times rise";
            match entries.last() {
                None if at > Time::ZERO => {
                    return Err(inside(fault("at", format!("the schedule begins at {at}"), hint)));
                }
                Some((before, _)) if at <= *before => {
                    let what = format!("{at} does not come after {before}");
                    return Err(inside(fault("at", what, hint)));
                }
                None | Some(_) => entries.push((at, model)),
            }
        }
        if entries.is_empty() {
            return Err(fault(
                "",
                "the list of error models is empty",
                "leave `errors` out for none",
            ));
        }
        Ok(Schedule(entries))
    }
}

impl ErrorSpec {
    fn model(&self) -> Result<ErrorModel, ErrorSpecError> {
        match self.model {
            ModelName::None => self.takes_only(&[]).map(|()| ErrorModel::None),
            ModelName::Uniform => self.uniform(),
            ModelName::GilbertElliott => self.gilbert_elliott(),
            ModelName::List => self.list(),
        }
    }

    /// Refuses the keys that go with other models.
    fn takes_only(&self, known: &[&str]) -> Result<(), ErrorSpecError> {
        let given = [
            ("per", self.per.is_some()),
            ("rate", self.rate.is_some()),
            ("burst", self.burst.is_some()),
            ("good", self.good.is_some()),
            ("bad", self.bad.is_some()),
            ("lost", self.lost.is_some()),
        ];
        match given.iter().find(|(key, given)| *given && !known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let name = match self.model {
                    ModelName::None => "none",
                    ModelName::Uniform => "uniform",
                    ModelName::GilbertElliott => "gilbert-elliott",
                    ModelName::List => "list",
                };
                let hint = match *key {
                    "lost" => "`lost` goes with model = \"list\"".to_owned(),
                    "burst" | "good" | "bad" => {
                        format!("`{key}` goes with model = \"gilbert-elliott\"")
                    }
                    _ => "take it out, or choose another model".to_owned(),
                };
                Err(fault(key, format!("the model `{name}` has no `{key}`"), hint))
            }
        }
    }

    fn list(&self) -> Result<ErrorModel, ErrorSpecError> {
        self.takes_only(&["lost"])?;
        let hint = "add lost = [3, 17]: numbers of packets, from 0";
        let lost = self.lost.as_ref().ok_or_else(|| fault("", "the list has no `lost`", hint))?;
        if !lost.is_sorted_by(|a, b| a < b) {
            return Err(fault("lost", "the numbers of lost packets do not rise", "sort them"));
        }
        Ok(ErrorModel::List { lost: lost.as_slice().into() })
    }

    fn rate(&self) -> Result<Probability, ErrorSpecError> {
        self.rate.ok_or_else(|| fault("", "the error model has no rate", "add rate = 0.01"))
    }

    fn uniform(&self) -> Result<ErrorModel, ErrorSpecError> {
        self.takes_only(&["per", "rate"])?;
        let per = unit(self.per.unwrap_or(PerName::Packet)).ok_or_else(|| {
            let what = "uniform errors cannot be clocked by time";
            fault("per", what, "use per = \"frame\", \"packet\" or \"byte\"")
        })?;
        Ok(ErrorModel::Uniform { per, rate: self.rate()? })
    }

    fn gilbert_elliott(&self) -> Result<ErrorModel, ErrorSpecError> {
        self.takes_only(&["per", "rate", "burst", "good", "bad"])?;
        let per = self.per.unwrap_or(PerName::Packet);
        let clock = match (unit(per), self.burst) {
            (_, None) => {
                let hint = "add burst = 4 (units), or burst = \"10 ms\" with per = \"time\"";
                return Err(fault("", "the chain has no `burst`, its mean bad run", hint));
            }
            (Some(per), Some(Burst::Units(burst))) if burst >= 1.0 => Clock::Units { per, burst },
            (Some(_), Some(Burst::Units(burst))) => {
                let what = format!("a mean bad run of {burst} units is shorter than one");
                return Err(fault("burst", what, "use burst = 1 or more"));
            }
            (None, Some(Burst::Time(burst))) if burst >= SHORTEST_BURST => Clock::Time { burst },
            (None, Some(Burst::Time(burst))) => {
                let what = format!("a mean bad period of {burst} is below {SHORTEST_BURST}");
                return Err(fault("burst", what, "use burst = \"10 ms\""));
            }
            (Some(_), Some(Burst::Time(_))) => {
                let hint = "write per = \"time\", or give burst as a number";
                return Err(fault(
                    "burst",
                    "this chain is clocked by units, its burst is a time",
                    hint,
                ));
            }
            (None, Some(Burst::Units(_))) => {
                let hint = "write burst = \"10 ms\", or per = \"frame\"";
                return Err(fault(
                    "burst",
                    "this chain is clocked by time, its burst is a number",
                    hint,
                ));
            }
        };
        let chain = GilbertElliott {
            clock,
            rate: self.rate()?,
            good: self.good.unwrap_or(Probability::NEVER),
            bad: self.bad.unwrap_or(Probability::ALWAYS),
        };
        if let Clock::Units { burst, .. } = clock {
            let (leave_good, _) = chain.steps(burst);
            if leave_good > 1.0 {
                let what =
                    format!("{} of units cannot be bad in runs of {burst} on average", chain.rate);
                let hint =
                    format!("with this rate a bad run lasts at least {:.2}", leave_good * burst);
                return Err(fault("burst", what, hint));
            }
        }
        Ok(ErrorModel::GilbertElliott(chain))
    }
}

fn unit(per: PerName) -> Option<Per> {
    match per {
        PerName::Frame => Some(Per::Frame),
        PerName::Packet => Some(Per::Packet),
        PerName::Byte => Some(Per::Byte),
        PerName::Time => None,
    }
}
