//! What a hop's entry says of its queue and its less common parts.

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::path::{CodelSettings, Discipline, QueueLimit, RedSettings};
use crate::units::{BitsPerSec, Bytes, Probability, Time};

/// Retransmission by the link (ARQ).
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArqEntry {
    /// Most retransmissions of a frame (of a packet on a link without frames); then the packet is lost.
    #[schemars(range(min = 0, max = 255))]
    #[schemars(extend("x-example" = "3"))]
    pub retries: u8,
    /// Delay of the packet by each retransmission, beside its transmission time; the link sends other packets
    /// meanwhile, and the order is kept.
    #[schemars(extend("x-example" = "\"20 ms\""))]
    pub delay: Time,
}

/// A policer: packets above its rate are dropped before the queue, and none is delayed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerEntry {
    /// Rate at which the token bucket fills; it counts bytes on the wire.
    #[schemars(extend("x-example" = "\"10 Mbit/s\""))]
    pub rate: BitsPerSec,
    /// Size of the bucket; at least the largest packet.
    #[schemars(extend("x-example" = "\"10 kB\""))]
    pub burst: Bytes,
}

/// A table, or `false` for a direction that has none although the other has.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(untagged)]
pub enum OrOff<T> {
    /// `false`.
    Off(bool),
    /// The table.
    On(T),
}

impl<T> OrOff<T> {
    /// The table, if there is one.
    pub fn on(self) -> Option<T> {
        match self {
            Self::Off(_) => None,
            Self::On(table) => Some(table),
        }
    }
}

// By hand, not `untagged`: so that an error inside keeps its key and its place in the file.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrOff<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TableOrFalse<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TableOrFalse<T> {
            type Value = OrOff<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table, or false")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<OrOff<T>, E> {
                if on {
                    Err(E::invalid_type(serde::de::Unexpected::Bool(on), &self))
                } else {
                    Ok(OrOff::Off(on))
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OrOff<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OrOff::On)
            }
        }
        from.deserialize_any(TableOrFalse(std::marker::PhantomData))
    }
}

/// News of a packet above the MTU that must not be fragmented.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IcmpName {
    /// The error is sent.
    Send,
    /// It is not: a black hole.
    Drop,
}

/// `"100 packets"`, `"64 KiB"`, or a table that names the discipline as well.
#[derive(Debug, Clone, Copy)]
pub struct QueueEntry {
    /// How much may wait.
    pub limit: QueueLimit,
    /// Who keeps it shorter.
    pub discipline: Discipline,
}

/// A queue with its discipline.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueueTable {
    /// Queue limit: `"100 packets"` or `"64 KiB"`, without the packet in transmission.
    #[schemars(extend("x-example" = "\"100 packets\""))]
    limit: Limit,
    /// Queue discipline; `tail-drop` unless given.
    #[serde(default)]
    #[schemars(extend("x-example" = "\"codel\"", "x-default" = "\"tail-drop\"", "x-engines" = "sim, lab"))]
    discipline: DisciplineName,
    /// Of `codel`: queueing delay that is allowed for longer than `interval`; `5 ms` unless given (RFC 8289).
    #[schemars(extend("x-example" = "\"5 ms\"", "x-default" = "\"5 ms\"", "x-engines" = "sim, lab"))]
    target: Option<Time>,
    /// Of `codel`: time for which `target` must be exceeded, a long round trip; `100 ms` unless given.
    #[schemars(extend("x-example" = "\"100 ms\"", "x-default" = "\"100 ms\"", "x-engines" = "sim, lab"))]
    interval: Option<Time>,
    /// Of `red`: the average length below which nothing is dropped; `"5 packets"` unless given.
    #[schemars(extend("x-example" = "\"5 packets\"", "x-default" = "\"5 packets\"", "x-engines" = "sim, lab"))]
    min: Option<Limit>,
    /// Of `red`: the average length from which on every packet is dropped; `"15 packets"` unless given.
    #[schemars(extend("x-example" = "\"15 packets\"", "x-default" = "\"15 packets\"", "x-engines" = "sim, lab"))]
    max: Option<Limit>,
    /// Of `red`: the chance of a drop just below `max`; 0.02 unless given (Floyd and Jacobson 1993).
    #[schemars(extend("x-example" = "0.02", "x-default" = "0.02", "x-engines" = "sim, lab"))]
    max_p: Option<Probability>,
    /// Of `red`: the weight of a new sample in the average; 0.002 unless given.
    #[schemars(extend("x-example" = "0.002", "x-default" = "0.002", "x-engines" = "sim, lab"))]
    weight: Option<Probability>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum DisciplineName {
    /// Packets that find the queue full are dropped.
    #[default]
    TailDrop,
    /// Drops by the time waited (RFC 8289).
    Codel,
    /// Drops by the average length (Floyd and Jacobson 1993).
    Red,
}

#[derive(Debug, Clone, Copy)]
struct Limit(QueueLimit);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        queue_limit(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "QueueLimit".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "examples": ["100 packets", "64 KiB"] })
    }
}

impl QueueTable {
    fn entry(self) -> Result<QueueEntry, String> {
        let given = [
            ("target", self.target.is_some(), DisciplineName::Codel),
            ("interval", self.interval.is_some(), DisciplineName::Codel),
            ("min", self.min.is_some(), DisciplineName::Red),
            ("max", self.max.is_some(), DisciplineName::Red),
            ("max_p", self.max_p.is_some(), DisciplineName::Red),
            ("weight", self.weight.is_some(), DisciplineName::Red),
        ];
        let foreign = |(_, given, of): &&(_, bool, _)| *given && *of != self.discipline;
        if let Some((key, _, of)) = given.iter().find(foreign) {
            let of = if *of == DisciplineName::Red { "red" } else { "codel" };
            return Err(format!("`{key}` goes with discipline = \"{of}\""));
        }
        let discipline = match self.discipline {
            DisciplineName::TailDrop => Discipline::TailDrop,
            DisciplineName::Codel => Discipline::Codel(self.codel()?),
            DisciplineName::Red => Discipline::Red(self.red()?),
        };
        Ok(QueueEntry { limit: room(self.limit.0)?, discipline })
    }

    fn codel(&self) -> Result<CodelSettings, String> {
        let default = CodelSettings::default();
        let interval = self.interval.unwrap_or(default.interval);
        let target = self.target.unwrap_or(default.target);
        if target == Time::ZERO || target > interval {
            return Err(format!(
                "a target of {target} with an interval of {interval}: the target is above zero, and no longer than the interval"
            ));
        }
        Ok(CodelSettings { target, interval })
    }

    fn red(&self) -> Result<RedSettings, String> {
        let default = RedSettings::default();
        let settings = RedSettings {
            min: self.min.map_or(default.min, |limit| limit.0),
            max: self.max.map_or(default.max, |limit| limit.0),
            max_p: self.max_p.unwrap_or(default.max_p),
            weight: self.weight.unwrap_or(default.weight),
        };
        let rising = match (settings.min, settings.max) {
            (QueueLimit::Packets(min), QueueLimit::Packets(max)) => min < max,
            (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => min < max,
            (QueueLimit::Packets(_), QueueLimit::Bytes(_))
            | (QueueLimit::Bytes(_), QueueLimit::Packets(_)) => {
                return Err(
                    "`min` and `max` count the same: both packets, or both bytes".to_owned()
                );
            }
        };
        if !rising {
            return Err("`min` must be below `max`".to_owned());
        }
        if settings.weight == Probability::NEVER || settings.max_p == Probability::NEVER {
            return Err("with a `weight` or `max_p` of 0 RED does nothing".to_owned());
        }
        Ok(settings)
    }
}

impl<'de> Deserialize<'de> for QueueEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrTable;
        impl<'de> Visitor<'de> for TextOrTable {
            type Value = QueueEntry;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a queue such as \"100 packets\", \"64 KiB\" or { limit = \"64 KiB\" }")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QueueEntry, E> {
                let limit = queue_limit(text).and_then(room).map_err(E::custom)?;
                Ok(QueueEntry { limit, discipline: Discipline::TailDrop })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QueueEntry, A::Error> {
                let table = QueueTable::deserialize(MapAccessDeserializer::new(map))?;
                table.entry().map_err(serde::de::Error::custom)
            }
        }
        from.deserialize_any(TextOrTable)
    }
}

impl JsonSchema for QueueEntry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let table = generator.subschema_for::<QueueTable>();
        schemars::json_schema!({
            "description": "how much may wait, the packet on the wire not counted",
            "anyOf": [{ "type": "string", "examples": ["100 packets", "64 KiB"] }, table],
        })
    }
}

/// More packets than any queue holds; memory for them is set aside.
const MOST_PACKETS: u32 = 10_000_000;

/// No packet is shorter: an IPv4 and a TCP header.
const SHORTEST_PACKET: Bytes = Bytes::new(40);

/// A limit of a whole queue, which must hold a packet.
fn room(limit: QueueLimit) -> Result<QueueLimit, String> {
    match limit {
        QueueLimit::Packets(0) => Err("a queue of 0 packets holds none".to_owned()),
        QueueLimit::Bytes(bytes) if bytes < SHORTEST_PACKET => {
            Err(format!("a queue of {bytes} holds no packet: the shortest has {SHORTEST_PACKET}"))
        }
        QueueLimit::Packets(_) | QueueLimit::Bytes(_) => Ok(limit),
    }
}

fn queue_limit(text: &str) -> Result<QueueLimit, String> {
    let trimmed = text.trim();
    let packets = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"));
    if let Some(number) = packets {
        return match number.trim().parse() {
            Ok(n) if n <= MOST_PACKETS => Ok(QueueLimit::Packets(n)),
            Ok(n) => Err(format!("a queue of {n} packets is above {MOST_PACKETS}")),
            Err(_) => {
                Err(format!("`{text}` is not a whole number of packets from 1 to {MOST_PACKETS}"))
            }
        };
    }
    match trimmed.parse::<Bytes>() {
        Ok(bytes) => Ok(QueueLimit::Bytes(bytes)),
        Err(error) => Err(format!("{error}; or write \"100 packets\"")),
    }
}
