//! Many runs: rows, and what they say together.

mod base_units;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::engine::{Caveat, EngineName};
use crate::outcome::{LimitedBy, Outcome};
use crate::stats::{Summary, student_t};
pub use base_units::in_base_units;

/// One run of one engine at one point of a sweep.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Row {
    /// Who ran it.
    pub engine: EngineName,
    /// The swept keys with their values, as in the file.
    pub point: Map<String, Value>,
    /// What identifies the experiment: [`Scenario::content_hash`](crate::scenario::Scenario::content_hash).
    pub hash: String,
    /// The seed; `None` for an engine to which chance means nothing.
    pub seed: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
    /// What to know about it.
    pub caveats: Vec<Caveat>,
}

/// One run of one engine at one point of a sweep.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Row")]
struct WrittenRow<'a> {
    /// Who ran it.
    engine: EngineName,
    /// The swept keys with their values, as in the file.
    point: &'a Map<String, Value>,
    /// The same in base units, with the unit in the key: `receiver.window_bytes`.
    point_si: Map<String, Value>,
    /// What identifies the experiment: the scenario without its seed.
    hash: &'a str,
    /// The seed; null for an engine to which chance means nothing.
    seed: Option<u64>,
    /// What came of it.
    outcome: &'a Outcome,
    /// What to know about it.
    caveats: &'a [Caveat],
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { engine, point, hash, seed, outcome, caveats } = self;
        let (engine, seed) = (*engine, *seed);
        let point_si = in_base_units(point);
        WrittenRow { engine, point, point_si, hash, seed, outcome, caveats }.serialize(serializer)
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        WrittenRow::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenRow::json_schema(generator)
    }
}

/// What makes a row the same as another.
pub type RowKey = (String, EngineName, Option<u64>);

impl Row {
    /// Rows with the same key have the same outcome.
    pub fn key(&self) -> RowKey {
        (self.hash.clone(), self.engine, self.seed)
    }
}

/// All runs of one engine at one point.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Who ran them.
    pub engine: EngineName,
    /// The swept keys with their values.
    pub point: &'a Map<String, Value>,
    /// The runs, by seed.
    pub rows: Vec<&'a Row>,
}

/// The rows by engine and point, in the order in which they first come.
pub fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut order: Vec<Group<'_>> = Vec::new();
    let mut known: BTreeMap<(EngineName, String), usize> = BTreeMap::new();
    for row in rows {
        let index = *known.entry((row.engine, written(&row.point))).or_insert_with(|| {
            order.push(Group { engine: row.engine, point: &row.point, rows: Vec::new() });
            order.len() - 1
        });
        order[index].rows.push(row);
    }
    for group in &mut order {
        group.rows.sort_by_key(|row| row.seed);
    }
    order
}

/// A point as JSON text: two are equal where their texts are.
pub(crate) fn written(point: &Map<String, Value>) -> String {
    serde_json::to_string(point).expect("keys are text and values JSON already")
}

impl Group<'_> {
    /// Whether some run of it proves nothing ([`Outcome::is_valid`]).
    pub fn has_invalid(&self) -> bool {
        self.rows.iter().any(|row| !row.outcome.is_valid())
    }

    /// Whether a formula was used where it does not hold.
    pub fn is_doubtful(&self) -> bool {
        let outside = |row: &&Row| row.caveats.iter().any(|caveat| caveat.code == "outside-range");
        self.rows.iter().any(outside)
    }

    /// Mean and spread of one number of the outcomes; `None` where no run knows it.
    pub fn summary(&self, number: impl Fn(&Outcome) -> Option<f64>) -> Option<Summary> {
        let samples: Vec<f64> = self.rows.iter().filter_map(|row| number(&row.outcome)).collect();
        (!samples.is_empty()).then(|| Summary::of(&samples))
    }

    /// Mean and spread of the goodput in bits per second by which groups are compared
    /// ([`Outcome::headline_goodput_bps`]).
    pub fn goodput(&self) -> Option<Summary> {
        self.summary(Outcome::headline_goodput_bps)
    }

    /// The places of the flows that its goodput is of, where others carry data beside them ([`Outcome::asked_flows`]).
    pub fn asked_flows(&self) -> Vec<usize> {
        let asked = self.rows.iter().map(|row| row.outcome.asked_flows());
        asked.into_iter().find(|asked| !asked.is_empty()).unwrap_or_default()
    }

    /// The same of another number that is shown beside it ([`Outcome::headline`]).
    pub fn headline(&self, number: impl Fn(&Outcome) -> Option<f64>) -> Option<Summary> {
        self.summary(|outcome| outcome.headline(&number))
    }

    /// The limit of most runs, of the flow that its goodput is of; of several that which carries most.
    pub fn limited_by(&self) -> Option<LimitedBy> {
        self.limit_of_most(|outcome| match outcome.asked_flows().as_slice() {
            [] => outcome.limited_by,
            // Another flow's limit is none of its.
            [only] => outcome.flows[*only].limited_by,
            several => {
                let limited = several.iter().map(|flow| &outcome.flows[*flow]);
                let limited = limited.filter(|flow| flow.limited_by.is_some());
                limited.max_by_key(|flow| flow.payload_bytes)?.limited_by
            }
        })
    }

    /// The limit of most runs, of the flow that `of` takes it from.
    pub fn limit_of_most(&self, of: impl Fn(&Outcome) -> Option<LimitedBy>) -> Option<LimitedBy> {
        LimitedBy::of_most(self.rows.iter().filter_map(|row| of(&row.outcome)))
    }

    /// For the JSON document: every number of the outcome as `{"mean", "ci95"}`, `null` where no run
    /// knows it.
    pub fn to_json(&self) -> Value {
        let outcomes: Vec<Map<String, Value>> =
            self.rows.iter().map(|row| numbers(&row.outcome)).collect();
        let mut summary = Map::new();
        summary.insert("engine".to_owned(), Value::from(self.engine.word()));
        summary.insert("point".to_owned(), Value::Object(self.point.clone()));
        summary.insert("point_si".to_owned(), Value::Object(in_base_units(self.point)));
        summary.insert("runs".to_owned(), Value::from(self.rows.len()));
        let mut known: Option<(usize, f64)> = None;
        for key in outcomes.first().map(|outcome| outcome.keys()).into_iter().flatten() {
            let samples: Vec<f64> =
                outcomes.iter().filter_map(|outcome| outcome.get(key)?.as_f64()).collect();
            let value = if samples.is_empty() {
                Value::Null
            } else {
                let of = Summary::of(&samples);
                let ci95 = of.interval(|freedom| {
                    let (_, t) = known
                        .filter(|(n, _)| *n == of.n)
                        .unwrap_or_else(|| (of.n, student_t(0.975, freedom)));
                    known = Some((of.n, t));
                    t
                });
                serde_json::json!({ "mean": of.mean, "ci95": ci95 })
            };
            summary.insert(key.clone(), value);
        }
        let limit = self.limit_of_most(|outcome| outcome.limited_by);
        let limit = limit.map_or(Value::Null, |limit| Value::from(limit.word()));
        summary.insert("limited_by".to_owned(), limit);
        Value::Object(summary)
    }
}

/// The numbers of an outcome by key, `null` where unknown; words and lists left out.
pub fn numbers(outcome: &Outcome) -> Map<String, Value> {
    match serde_json::to_value(outcome) {
        Ok(Value::Object(mut map)) => {
            for word in [
                "limited_by",
                "formula",
                "limits",
                "lab",
                "links",
                "kind",
                "name",
                "on_first_way",
                "flows",
            ] {
                map.remove(word);
            }
            map
        }
        Ok(_) | Err(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: EngineName, mss: u64, seed: Option<u64>, goodput: f64) -> Row {
        let mut point = Map::new();
        point.insert("sender.mss".to_owned(), Value::from(mss));
        Row {
            engine,
            point,
            hash: mss.to_string(),
            seed,
            outcome: Outcome { goodput_bps: Some(goodput), ..Outcome::default() },
            caveats: Vec::new(),
        }
    }

    #[test]
    fn rows_gather_by_engine_and_point() {
        let rows = [
            row(EngineName::Sim, 536, Some(2), 30.0),
            row(EngineName::Model, 536, None, 20.0),
            row(EngineName::Sim, 536, Some(1), 10.0),
            row(EngineName::Sim, 600, Some(1), 50.0),
        ];
        let groups = groups(&rows);
        let shape: Vec<_> = groups.iter().map(|group| (group.engine, group.rows.len())).collect();
        assert_eq!(shape, [(EngineName::Sim, 2), (EngineName::Model, 1), (EngineName::Sim, 1)]);
        let goodput = groups[0].goodput().unwrap();
        assert!((goodput.mean - 20.0).abs() < 1e-12);
        assert_eq!(groups[0].rows[0].seed, Some(1));
    }

    /// Bulk TCP beside a constant bit rate, as each engine describes them.
    fn with_cross_traffic(tcp: Option<f64>) -> Outcome {
        let bulk = Outcome { goodput_bps: tcp, mss_used_bytes: Some(1460), ..Outcome::default() };
        let cbr = Outcome { goodput_bps: Some(8e6), ..Outcome::default() };
        let ping = Outcome { ping_mean_s: Some(0.1), ..Outcome::default() };
        let goodput_bps = Some(tcp.unwrap_or(0.0) + 8e6);
        Outcome { goodput_bps, flows: vec![bulk, cbr, ping], ..Outcome::default() }
    }

    #[test]
    fn groups_are_compared_by_the_goodput_of_tcp() {
        let mut rows = [row(EngineName::Sim, 536, Some(1), 0.0)];
        rows[0].outcome = with_cross_traffic(Some(2e6));
        let group = &groups(&rows)[0];
        assert_eq!(group.asked_flows(), [0]);
        assert!((group.goodput().unwrap().mean - 2e6).abs() < 1e-6);
        assert_eq!(group.to_json()["goodput_bps"]["mean"], 1e7, "the document keeps the sum");
    }

    /// Losses of the run stand beside no goodput of one flow; the time of the pings is no flow's but theirs.
    #[test]
    fn other_numbers_are_of_the_same_flow() {
        let mut outcome = with_cross_traffic(Some(2e6));
        (outcome.timeouts, outcome.flows[0].timeouts) = (Some(9), Some(4));
        outcome.ping_mean_s = Some(0.1);
        assert_eq!(outcome.headline(|of| of.timeouts), Some(4));
        assert_eq!(outcome.headline(|of| of.ping_mean_s), Some(0.1));
    }

    /// iperf3 does not report what limits it; the cross traffic's limit is not it.
    #[test]
    fn an_unknown_limit_is_not_that_of_another_flow() {
        let mut rows = [row(EngineName::Lab, 536, Some(1), 0.0)];
        rows[0].outcome = with_cross_traffic(Some(2e6));
        rows[0].outcome.limited_by = Some(LimitedBy::Bandwidth);
        rows[0].outcome.flows[1].limited_by = Some(LimitedBy::Bandwidth);
        assert_eq!(groups(&rows)[0].limited_by(), None);
        rows[0].outcome.flows[0].limited_by = Some(LimitedBy::Rto);
        assert_eq!(groups(&rows)[0].limited_by(), Some(LimitedBy::Rto));
    }

    #[test]
    fn an_unknown_goodput_of_tcp_is_not_that_of_the_cross_traffic() {
        assert_eq!(with_cross_traffic(None).headline_goodput_bps(), None);
        let mut datagrams_only = with_cross_traffic(None);
        datagrams_only.flows.remove(0);
        assert_eq!(datagrams_only.headline_goodput_bps(), Some(8e6));
        let mut second = with_cross_traffic(Some(2e6));
        second.flows[1].mss_used_bytes = Some(1460);
        assert_eq!(second.headline_goodput_bps(), Some(2e6), "not with the sum of the other way");
        second.flows[1].on_first_way = Some(true);
        assert_eq!(
            second.headline_goodput_bps(),
            Some(1e7),
            "what one takes from the other is no gain"
        );
        assert!(second.asked_flows().is_empty(), "all of it is asked about");
        second.flows.extend(with_cross_traffic(None).flows);
        assert_eq!(second.asked_flows(), [0, 1]);
        assert_eq!(second.headline_goodput_bps(), Some(1e7), "without datagrams beside them");
    }

    #[test]
    fn a_summary_has_every_number_and_null_for_the_unknown() {
        let rows =
            [row(EngineName::Sim, 536, Some(1), 10.0), row(EngineName::Sim, 536, Some(2), 30.0)];
        let json = groups(&rows)[0].to_json();
        assert_eq!(json["runs"], 2);
        assert_eq!(json["goodput_bps"]["mean"], 20.0);
        assert!(json["goodput_bps"]["ci95"].as_f64().unwrap() > 100.0);
        assert!(json["timeouts"].is_null() && json.get("timeouts").is_some());
    }
}
