//! How each key of a scenario file may be written.

use super::key::KeyStep;

/// How the key at `path` may look; indices in `path` are left aside.
pub(super) fn example(path: &[KeyStep]) -> &'static str {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            KeyStep::Key(key) => Some(key.as_str()),
            KeyStep::Index(_) => None,
        })
        .collect();
    let (key, within) = match keys.split_last() {
        Some((key, within)) => (*key, within.last().copied().unwrap_or_default()),
        None => ("", ""),
    };
    below(within, key).or_else(|| anywhere(key)).unwrap_or("rate = \"10 Mbit/s\"")
}

/// Keys that mean something else, or nothing, outside the table `within`.
fn below(within: &str, key: &str) -> Option<&'static str> {
    Some(match (within, key) {
        ("errors", "rate") => "rate = 0.01",
        ("errors", "burst") => "burst = 4",
        ("errors", "bad" | "good") => "bad = 0.5",
        ("errors", "lost") => "lost = [3, 17]",
        ("policer", "burst") => "burst = \"10 kB\"",
        ("queue", "min") => "min = \"5 packets\"",
        ("queue", "max") => "max = \"15 packets\"",
        ("queue", "interval") => "interval = \"100 ms\"",
        ("rto", "min") => "min = \"1 s\"",
        ("rto", "max") => "max = \"60 s\"",
        ("tunnel", "kind") => "kind = \"wireguard\"",
        ("sweep", _) => "\"sender.mss\" = [536, 1460]",
        _ => return None,
    })
}

fn anywhere(key: &str) -> Option<&'static str> {
    of_the_file(key).or_else(|| of_a_hop(key)).or_else(|| of_a_host(key)).or_else(|| of_a_flow(key))
}

fn of_the_file(key: &str) -> Option<&'static str> {
    Some(match key {
        "name" => "name = \"radio\"",
        "about" => "about = \"What the scenario shows\"",
        "seed" => "seed = 1",
        "ip" => "ip = 4",
        "hop" => "[[hop]] with rate = \"10 Mbit/s\" and delay = \"20 ms\"",
        "sender" => "[sender] with mss = 1460",
        "receiver" => "[receiver] with window = \"64 KiB\"",
        "flow" => "[[flow]] with kind = \"bulk\"",
        "until" => "until = { time = \"60 s\" }",
        "lab" => "lab = { backend = \"relay\" }",
        "sweep" => "[sweep] with \"sender.mss\" = [536, 1460]",
        "time" => "time = \"60 s\"",
        "bytes" => "bytes = \"1 MiB\"",
        "backend" => "backend = \"relay\"",
        "traffic" => "traffic = \"builtin\"",
        "as_netem" => "as_netem = true",
        "write_rate" => "write_rate = \"5 Mbit/s\"",
        "pacing_rate" => "pacing_rate = \"5 Mbit/s\"",
        _ => return None,
    })
}

fn of_a_hop(key: &str) -> Option<&'static str> {
    Some(match key {
        "rate" => "rate = \"10 Mbit/s\"",
        "delay" => "delay = \"20 ms\"",
        "mtu" => "mtu = 1500",
        "tunnel" => "tunnel = \"wireguard\"",
        "outer" => "outer = 4",
        "framing" => "framing = \"ethernet\"",
        "frame" => "frame = 128",
        "pad" => "pad = true",
        "queue" => "queue = \"100 packets\"",
        "limit" => "limit = \"100 packets\"",
        "discipline" => "discipline = \"codel\"",
        "target" => "target = \"5 ms\"",
        "max_p" => "max_p = 0.02",
        "weight" => "weight = 0.002",
        "errors" => "errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }",
        "model" => "model = \"uniform\"",
        "per" => "per = \"packet\"",
        "at" => "at = \"0 s\"",
        "arq" => "arq = { retries = 3, delay = \"20 ms\" }",
        "retries" => "retries = 3",
        "burst" => "burst = \"10 kB\"",
        "policer" => "policer = { rate = \"5 Mbit/s\", burst = \"10 kB\" }",
        "ecn" => "ecn = true",
        "jitter" => "jitter = \"5 ms\"",
        "reorder" => "reorder = \"1%\"",
        "duplicate" => "duplicate = \"1%\"",
        "icmp" => "icmp = \"send\"",
        "reverse" => "reverse = { rate = \"1 Mbit/s\" }",
        _ => return None,
    })
}

fn of_a_host(key: &str) -> Option<&'static str> {
    Some(match key {
        "stack" => "stack = \"linux\"",
        "mss" => "mss = 1460",
        "df" => "df = true",
        "window" => "window = \"64 KiB\"",
        "window_scale" => "window_scale = \"auto\"",
        "send_buffer" => "send_buffer = \"256 KiB\"",
        "congestion" => "congestion = \"reno\"",
        "recovery" => "recovery = \"newreno\"",
        "recovery_burst" => "recovery_burst = 2",
        "initial_window" => "initial_window = \"10 segments\"",
        "initial_ssthresh" => "initial_ssthresh = \"unlimited\"",
        "limited_transmit" => "limited_transmit = true",
        "handshake_ack" => "handshake_ack = true",
        "delayed_ack" => "delayed_ack = { timeout = \"200 ms\", every = 2 }",
        "timeout" => "timeout = \"200 ms\"",
        "every" => "every = 2",
        "first_at_once" => "first_at_once = true",
        "sack" => "sack = true",
        "timestamps" => "timestamps = true",
        "mtu_probing" => "mtu_probing = true",
        "read_rate" => "read_rate = \"5 Mbit/s\"",
        "packet_cost" => "packet_cost = \"10 us\"",
        "ns2" => "ns2 = { exact_halves = true }",
        "exact_halves" => "exact_halves = true",
        "first_loss" => "first_loss = \"always\"",
        "rto" => "rto = { min = \"1 s\" }",
        "rule" => "rule = \"rfc6298\"",
        "initial" => "initial = \"1 s\"",
        "granularity" => "granularity = \"10 ms\"",
        "tick" => "tick = \"10 ms\"",
        "phase" => "phase = \"0 s\"",
        "forget_after" => "forget_after = 8",
        "linux" => "linux = { tcp_rmem = [4096, 131072, 6291456] }",
        "tcp_rmem" => "tcp_rmem = [4096, 131072, 6291456]",
        "tcp_wmem" => "tcp_wmem = [4096, 16384, 4194304]",
        "tcp_recovery" => "tcp_recovery = true",
        "tcp_early_retrans" => "tcp_early_retrans = true",
        "tcp_frto" => "tcp_frto = true",
        "tcp_slow_start_after_idle" => "tcp_slow_start_after_idle = true",
        "hystart" => "hystart = true",
        "hz" => "hz = 250",
        _ => return None,
    })
}

fn of_a_flow(key: &str) -> Option<&'static str> {
    Some(match key {
        "kind" => "kind = \"bulk\"",
        "from" => "from = \"sender\"",
        "hops" => "hops = [\"radio\"]",
        "start" => "start = \"1 s\"",
        "stop" => "stop = \"30 s\"",
        "rate_counts" => "rate_counts = \"payload\"",
        "size" => "size = 536",
        "header" => "header = 28",
        "interval" => "interval = \"1 s\"",
        "request" => "request = \"200 B\"",
        "reply" => "reply = \"20 KiB\"",
        "pause" => "pause = \"1 s\"",
        "think" => "think = \"10 ms\"",
        "connection" => "connection = \"new\"",
        "count" => "count = 100",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::ScenarioSpec;
    use super::{anywhere, below};

    /// Every key of the schema, with the tables around it left aside.
    fn keys(schema: &Value, into: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    into.extend(properties.keys().cloned());
                }
                object.values().for_each(|value| keys(value, into));
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_key_of_the_schema_has_an_example_that_is_toml() {
        let schema = serde_json::to_value(schemars::schema_for!(ScenarioSpec)).unwrap();
        let mut known = Vec::new();
        keys(&schema, &mut known);
        assert!(known.len() > 60, "{known:?}");
        for key in known.iter().filter(|key| *key != "point") {
            let of_tables =
                ["errors", "policer", "queue", "rto", "tunnel"].map(|table| below(table, key));
            let examples: Vec<&str> =
                of_tables.into_iter().flatten().chain(anywhere(key)).collect();
            assert!(!examples.is_empty(), "{key}");
            for example in examples.iter().filter(|example| !example.starts_with('[')) {
                assert!(example.parse::<toml::Table>().is_ok(), "{example}");
            }
        }
    }
}
