//! What a lab run proves of itself: what its links did, how late they were, and what was really set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A lab run's account of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabProof {
    /// Why the run proves nothing; empty where it is valid.
    pub invalid_because: Vec<String>,
    /// What each link did with the packets of the wire, in the order of the path; of a kernel's links
    /// what it tells.
    pub links: Vec<LabLink>,
    /// How late packets came out of the relay; `None` where the kernel had them.
    pub lateness: Option<Lateness>,
    /// Packets that the kernel dropped at interfaces and sockets of the hosts, not on a link.
    pub kernel_drops: u64,
    /// Packets that came too fast for the capture and are not in it; `None` where nothing is captured.
    #[serde(default)]
    pub capture_drops: Option<u64>,
    /// CPU time of this program and of what the kernel did for it, in seconds.
    pub cpu_s: f64,
    /// That of the relay's threads, in seconds.
    pub relay_cpu_s: Option<f64>,
    /// What each TCP flow asked for and got.
    pub flows: Vec<LabFlow>,
}

impl LabProof {
    /// Whether relay and kernel kept up.
    pub fn is_valid(&self) -> bool {
        self.invalid_because.is_empty()
    }
}

/// One direction of a hop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabLink {
    /// The hop's name; with `.reverse` towards the sender.
    pub link: String,
    /// Packets of the wire that came to it.
    pub packets: u64,
    /// Bytes of them, IP headers included.
    pub bytes: u64,
    /// What the kernel handed over at once: one or several packets each.
    pub super_packets: u64,
    /// Packets damaged on the wire. Where super-packets meet the link as one (`lab.as_netem`), this and what
    /// follows count those.
    pub damaged: u64,
    /// The share of the packets on the wire that the error model damages in the long run, for these
    /// packets; `None` where it has no such number.
    pub damaged_expected: Option<f64>,
    /// Packets that found the queue full.
    pub refused: u64,
    /// Packets that exceeded the policer's rate.
    pub policed: u64,
    /// Packets that the queue discipline dropped.
    pub early: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that entered twice.
    pub doubled: u64,
    /// Packets above the MTU that came in spite of it.
    pub too_big: u64,
    /// News of packets above an MTU that was withheld (`icmp = "drop"`).
    pub withheld: u64,
    /// Packets that went on the wire; `None` of a kernel's links.
    #[serde(default)]
    pub sent_packets: Option<u64>,
    /// Time that these, and those that wait at the end, have waited in the queue, all together; `None` of a kernel's links.
    #[serde(default)]
    pub waited_s: Option<f64>,
}

/// How much later than their time packets left the relay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// Packets that left.
    pub packets: u64,
    /// Mean.
    pub mean_s: f64,
    /// Half were no later.
    pub p50_s: f64,
    /// 99 of 100 were no later.
    pub p99_s: f64,
    /// The latest.
    pub max_s: f64,
    /// By how much the earliest left before its time: the relay rounds to what it can be woken for.
    #[serde(default)]
    pub early_max_s: f64,
    /// Packets by lateness.
    pub histogram: Vec<LatenessBucket>,
}

impl Lateness {
    /// The last edge between buckets, in seconds: all that is later is in one, whose edge is the latest packet.
    pub const LAST_EDGE_S: f64 = 0.02;

    /// Packets of two runs: their mean, the later of each quantile, and their buckets together.
    #[must_use]
    pub fn merged(self, other: &Self) -> Self {
        let packets = self.packets + other.packets;
        let weighed = self.mean_s * self.packets as f64 + other.mean_s * other.packets as f64;
        let mut histogram = self.histogram;
        for bucket in &other.histogram {
            let is_same = |known: &&mut LatenessBucket| {
                (known.is_open() && bucket.is_open())
                    || (known.up_to_s - bucket.up_to_s).abs() < SAME_EDGE_S
            };
            match histogram.iter_mut().find(is_same) {
                Some(known) => {
                    known.packets += bucket.packets;
                    known.up_to_s = known.up_to_s.max(bucket.up_to_s);
                }
                None => histogram.push(*bucket),
            }
        }
        histogram.sort_by(|a, b| a.up_to_s.total_cmp(&b.up_to_s));
        Self {
            packets,
            mean_s: if packets > 0 { weighed / packets as f64 } else { 0.0 },
            p50_s: self.p50_s.max(other.p50_s),
            p99_s: self.p99_s.max(other.p99_s),
            max_s: self.max_s.max(other.max_s),
            early_max_s: self.early_max_s.max(other.early_max_s),
            histogram,
        }
    }
}

/// Edges are whole microseconds: closer ones are the same.
const SAME_EDGE_S: f64 = 1e-9;

impl LatenessBucket {
    /// Whether its edge is the latest packet's.
    fn is_open(&self) -> bool {
        self.up_to_s > Lateness::LAST_EDGE_S + SAME_EDGE_S
    }
}

/// Packets that were late by no more than so much, and by more than the bucket before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessBucket {
    /// The upper edge.
    pub up_to_s: f64,
    /// How many.
    pub packets: u64,
}

/// Segment size and window of a TCP flow: asked for, advertised on the wire, in effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabFlow {
    /// Which flow, from 0; of several connections each has an entry.
    pub flow: usize,
    /// Its congestion control.
    pub congestion: Option<String>,
    /// The segment size that the sender's settings ask for; `None` where they leave it to the MTU.
    pub mss_asked: Option<u64>,
    /// The option in the data sender's SYN.
    pub mss_advertised_by_sender: Option<u64>,
    /// The option in the answer: the most that the receiver wants to be sent.
    pub mss_advertised_by_receiver: Option<u64>,
    /// Payload of a full segment in the end.
    pub mss_effective: Option<u64>,
    /// Why these differ, where they do.
    pub mss_reason: Option<String>,
    /// The window that the receiver's settings ask for, in bytes.
    pub window_asked: Option<u64>,
    /// The largest window that the receiver offered on the wire.
    pub window_advertised: Option<u64>,
    /// The largest that the sender had in flight.
    pub window_effective: Option<u64>,
    /// Why these differ, where they do.
    pub window_reason: Option<String>,
    /// By the kernel of the data's sender: the time during which there was data to send or to be acknowledged
    /// (`tcpi_busy_time`); `None` where it does not say. Of several connections the sum, as below.
    #[serde(default)]
    pub busy_s: Option<f64>,
    /// The part of it during which the receiver's window had stopped the sender (`tcpi_rwnd_limited`).
    #[serde(default)]
    pub window_limited_s: Option<f64>,
    /// The part of it during which the send buffer had no room for what the application writes
    /// (`tcpi_sndbuf_limited`).
    #[serde(default)]
    pub buffer_limited_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last bucket of each run ends at its latest packet.
    #[test]
    fn the_open_buckets_of_two_runs_are_one() {
        let run = |buckets: &[(f64, u64)]| Lateness {
            packets: buckets.iter().map(|(_, packets)| packets).sum(),
            histogram: buckets
                .iter()
                .map(|&(up_to_s, packets)| LatenessBucket { up_to_s, packets })
                .collect(),
            ..Lateness::default()
        };
        let both = run(&[(1e-5, 7), (0.02, 1), (0.025, 1)]).merged(&run(&[(1e-5, 3), (0.03, 2)]));
        let buckets: Vec<(f64, u64)> =
            both.histogram.iter().map(|bucket| (bucket.up_to_s, bucket.packets)).collect();
        assert_eq!(buckets, [(1e-5, 10), (0.02, 1), (0.03, 3)]);
        assert_eq!(both.packets, 14);
    }
}
