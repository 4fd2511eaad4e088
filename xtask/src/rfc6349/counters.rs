//! What a link of the lab counts, read again and again, and what that makes of a time between.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::case::{ACK, Case, PACKET, PAYLOAD, SMALL};

/// The counters of both directions at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) at_s: f64,
    /// Towards the receiver, towards the sender.
    links: [Link; 2],
    late: Late,
}

/// How much later than due packets left the links, both ways together.
#[derive(Debug, Clone, Copy)]
struct Late {
    packets: f64,
    sum_s: f64,
    /// 99 of 100 packets were no later.
    p99_s: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    packets: f64,
    bytes: f64,
    /// Refused, policed, dropped early.
    dropped: f64,
    damaged: f64,
    sent: f64,
    waited_s: f64,
}

/// What a link did in a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) ratio: f64,
    pub(super) efficiency: f64,
    pub(super) round_trip_s: f64,
    pub(super) buffer_delay: f64,
}

impl Look {
    /// Reads them.
    pub(super) fn now(program: &Path, lab: &str) -> Result<Self> {
        let before = now_s();
        let output = Command::new(program)
            .args(["-q", "lab", "status", "--name", lab, "--json"])
            .output()?;
        ensure!(output.status.success(), "lab status: {}", String::from_utf8_lossy(&output.stderr));
        let status: Value = serde_json::from_slice(&output.stdout)?;
        let late = Late::of(&status["lateness"])?;
        let link = |at: usize| Link::of(&status["links"][at]);
        let at_s = f64::midpoint(before, now_s());
        Ok(Self { at_s, links: [link(0)?, link(1)?], late })
    }

    /// 99 of 100 packets were no later until then.
    pub(super) const fn late_p99_s(&self) -> f64 {
        self.late.p99_s
    }
}

impl Late {
    fn of(lateness: &Value) -> Result<Self> {
        let number = |key: &str| lateness[key].as_f64().context("lateness");
        let packets = number("packets")?;
        Ok(Self { packets, sum_s: packets * number("mean_s")?, p99_s: number("p99_s")? })
    }

    /// The mean of the packets between the looks nearest to two times.
    fn mean_s(looks: &[Look], [from, until]: [f64; 2]) -> Option<f64> {
        let at = |time: f64| looks.iter().find(|look| look.at_s >= time).map(|look| look.late);
        let (a, b) = (at(from)?, at(until)?);
        (b.packets > a.packets).then(|| (b.sum_s - a.sum_s) / (b.packets - a.packets))
    }
}

impl Link {
    fn of(link: &Value) -> Result<Self> {
        let number = |key: &str| link[key].as_f64().with_context(|| format!("{key} of a link"));
        Ok(Self {
            packets: number("packets")?,
            bytes: number("bytes")?,
            dropped: number("refused")? + number("policed")? + number("early")?,
            damaged: number("damaged")?,
            sent: number("sent_packets")?,
            waited_s: number("waited_s")?,
        })
    }

    /// What had entered the link when that was sent of which the sender hears at a time: a packet is counted when it enters, and
    /// its acknowledgement comes a round trip later, with the wait that it met.
    fn heard_at(case: &Case, looks: &[Look], time: f64, link: usize) -> Option<Self> {
        let trip = 2.0 * case.delay_s + case.wire_s(PACKET) + case.wire_s(ACK);
        let mut before = (looks.first()?.at_s, looks.first()?.at_s);
        for pair in looks.windows(2) {
            let (a, b) = (&pair[0].links[link], &pair[1].links[link]);
            let count = b.sent - a.sent;
            let wait = if count > 0.0 { (b.waited_s - a.waited_s) / count } else { 0.0 };
            // The wait of the time between is that of its middle.
            let entered = f64::midpoint(pair[0].at_s, pair[1].at_s);
            let heard = entered + wait + trip;
            if heard >= time && heard > before.1 {
                let share = ((time - before.1) / (heard - before.1)).clamp(0.0, 1.0);
                return Self::at(looks, before.0 + share * (entered - before.0), link);
            }
            before = (entered, heard);
        }
        None
    }

    fn at(looks: &[Look], time: f64, link: usize) -> Option<Self> {
        let after = looks.iter().position(|look| look.at_s >= time)?;
        let (a, b) = (looks.get(after.checked_sub(1)?)?, looks.get(after)?);
        let share = (time - a.at_s) / (b.at_s - a.at_s);
        let of = |number: fn(&Self) -> f64| {
            let (a, b) = (number(&a.links[link]), number(&b.links[link]));
            a + share * (b - a)
        };
        Some(Self {
            packets: of(|link| link.packets),
            bytes: of(|link| link.bytes),
            dropped: of(|link| link.dropped),
            damaged: of(|link| link.damaged),
            sent: of(|link| link.sent),
            waited_s: of(|link| link.waited_s),
        })
    }
}

impl Counted {
    /// Of the link with this index between two times, beside the baseline that was measured; `None` where nobody looked then.
    pub(super) fn between(
        case: &Case,
        looks: &[Look],
        [from, until]: [f64; 2],
        link: usize,
        baseline_s: f64,
    ) -> Option<Self> {
        // What was sent and lost in the time; what was heard of in it.
        let (a, b) = (Link::at(looks, from, link)?, Link::at(looks, until, link)?);
        let heard = [from, until].map(|time| Link::heard_at(case, looks, time, link));
        let [Some(begin), Some(end)] = heard else { return None };
        let grown = |of: fn(&Link) -> f64| of(&b) - of(&a);
        let heard = |of: fn(&Link) -> f64| of(&end) - of(&begin);
        let packets = grown(|link| link.packets);
        let lost = grown(|link| link.dropped) + grown(|link| link.damaged);
        // Packets are full, or as small as pings and acknowledgements of the other way.
        let full = (grown(|link| link.bytes) - SMALL * packets) / (PACKET - SMALL);
        let share = full / packets;
        // What is lost is nearly always full.
        let sent = heard(|link| link.sent);
        let delivered = sent * share - heard(|link| link.damaged);
        let throughput = 8.0 * PAYLOAD * delivered / (until - from);
        let wait = heard(|link| link.waited_s) / sent;
        // Of two packets with one acknowledgement (RFC 5681 §4.2) the round trip is that of the first, which waits for the second.
        let late = Late::mean_s(looks, [from, until])?;
        let on_links = 2.0 * case.delay_s + 2.0 * case.wire_s(PACKET) + case.wire_s(ACK);
        // A packet is late, and its acknowledgement.
        let round_trip_s = on_links + wait + 2.0 * late;
        Some(Self {
            ratio: case.ideal_bps() / throughput,
            efficiency: 1.0 - lost / full,
            round_trip_s,
            // The links count what load adds. Hosts take a tenth of a millisecond of each round trip, with load and without, that no
            // link counts: what was added is a share of the baseline as it was measured, which has a bar of its own.
            buffer_delay: (round_trip_s - case.baseline_s()) / baseline_s,
        })
    }
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
