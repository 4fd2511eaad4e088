//! The program itself in the machine: `maxseg run --engine lab`, over netem's links and over its own.
//!
//! Without KVM the machine computes some ten times slower and wakes late, so rates are low, and what
//! lateness can only make worse is bounded on one side: delays from below, rates from above.

use anyhow::{Context, Result, ensure};
use maxseg_core::outcome::{LabLink, LabProof, Outcome};
use serde_json::Value;

use super::Check;
use super::guest::Guest;

/// Every run, in order.
pub(super) const CHECKS: [Check; 5] = [
    Check { name: "the program runs there", run: says_its_name },
    Check { name: "the lab over netem: a window takes a round trip", run: fills_its_window },
    Check { name: "the lab over netem: losses by packet, and by super-packet", run: loses },
    Check { name: "the lab over netem: queues, marks and copies are counted", run: counts },
    Check { name: "the lab over its own links", run: relays },
];

/// A row of what `maxseg run --json` prints, as far as it matters here.
struct Row {
    outcome: Outcome,
    /// Their codes.
    caveats: Vec<String>,
}

impl Row {
    fn proof(&self) -> Result<&LabProof> {
        self.outcome.lab.as_deref().context("no proof")
    }

    /// The first hop, towards the receiver.
    fn link(&self) -> Result<&LabLink> {
        self.proof()?.links.first().context("no link")
    }

    fn has(&self, code: &str) -> bool {
        self.caveats.iter().any(|caveat| caveat == code)
    }

    fn goodput(&self) -> Result<f64> {
        self.outcome.goodput_bps.context("no goodput")
    }
}

fn says_its_name(guest: &mut Guest) -> Result<String> {
    let said = guest.must("maxseg --version")?;
    ensure!(said.starts_with("maxseg "), "{said}");
    Ok(said.trim().to_owned())
}

/// Runs one scenario there. Invalid runs are rows too: what they prove is judged here.
fn run(guest: &mut Guest, scenario: &str, options: &str) -> Result<Row> {
    guest.must(&format!("printf '{}' >/tmp/run.toml", scenario.replace('\n', "\\n")))?;
    let command = format!("maxseg run /tmp/run.toml --engine lab --json {options}");
    let reply = guest.run(&command)?;
    let row = || -> Option<Row> {
        let results: Value = serde_json::from_str(&reply.stdout).ok()?;
        let row = results.get("rows")?.get(0)?;
        let codes = row.get("caveats")?.as_array()?.iter();
        Some(Row {
            outcome: serde_json::from_value(row.get("outcome")?.clone()).ok()?,
            caveats: codes
                .filter_map(|caveat| Some(caveat.get("code")?.as_str()?.to_owned()))
                .collect(),
        })
    };
    row().with_context(|| format!("`{command}`: {}{}", reply.stdout, reply.stderr))
}

const OVER_NETEM: &str = "--set lab.backend=netem";

fn fills_its_window(guest: &mut Guest) -> Result<String> {
    let scenario = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
                    [sender]\nstack = \"rfc\"\n[receiver]\nstack = \"rfc\"\nwindow = \"58400 B\"\n[until]\ntime = \"5 s\"\n";
    let row = run(guest, scenario, OVER_NETEM)?;
    let round_trip = row.outcome.rtt_min_s.context("no round trip")?;
    ensure!(round_trip >= 0.04, "a round trip of {round_trip} s");
    // A window a round trip, and a full packet's airtime of 0.6 ms: the link is half full. Below that lies what a
    // slow start costs, and what this machine is late; half of it would be another link.
    let most = 58_400.0 * 8.0 / 0.0406;
    let share = row.goodput()? / most;
    ensure!((0.6..1.01).contains(&share), "{share} of a window a round trip");
    // Of the round trip that TCP saw, this is exact but for slow start and for what a mean of samples is not.
    let mean = row.outcome.rtt_mean_s.context("no mean round trip")?;
    let seen = row.goodput()? * mean / (58_400.0 * 8.0);
    ensure!((0.9..1.05).contains(&seen), "{seen} of a window in each round trip of {mean} s");
    let link = row.link()?;
    ensure!((link.refused, link.damaged) == (0, 0), "{link:?}");
    ensure!(link.packets == link.super_packets, "super-packets: {link:?}");
    ensure!(row.proof()?.lateness.is_none(), "nobody can know how late netem is");
    Ok(format!(
        "{share:.3} of a window each 40.6 ms, {seen:.3} of one each {:.1} ms as TCP has it",
        mean * 1e3
    ))
}

/// One percent of the packets.
const LOSSY: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"2 ms\"\nqueue = \"1000 packets\"\n\
                     errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }\n\
                     [sender]\nsack = true\n[receiver]\nsack = true\n[until]\ntime = \"15 s\"\n";

fn loses(guest: &mut Guest) -> Result<String> {
    let wire = run(guest, LOSSY, OVER_NETEM)?;
    let whole = run(guest, LOSSY, &format!("{OVER_NETEM} --set lab.as_netem=true"))?;
    ensure!(wire.has("netem-seed") != kernel_seeds(guest)?, "the seed's caveat");
    ensure!(whole.has("as-netem") && !wire.has("as-netem"), "the caveat of super-packets");
    let (one, many) = (wire.link()?, whole.link()?);
    ensure!(one.packets.abs_diff(one.super_packets) <= 50, "super-packets on the wire: {one:?}");
    // netem draws once for whatever it gets.
    is_a_hundredth(one.damaged, one.packets)?;
    is_a_hundredth(many.damaged, many.super_packets)?;
    // At 50 Mbit/s TCP hands some packets down at once, and so losses are as many times rarer.
    let size = many.packets as f64 / many.super_packets as f64;
    ensure!(size > 1.5, "super-packets of {size}: {many:?}");
    let events = |link: &LabLink| link.damaged as f64 / link.packets as f64;
    ensure!(events(many) < events(one), "{one:?} {many:?}");
    Ok(format!(
        "losses per packet {:.2}% without offloads at {:.0} Mbit/s, {:.2}% as netem ({size:.1} packets at once) at {:.0} Mbit/s",
        events(one) * 100.0,
        wire.goodput()? / 1e6,
        events(many) * 100.0,
        whole.goodput()? / 1e6
    ))
}

/// Within 4.5 standard deviations of a binomial share: one in 150 000 such checks would miss.
fn is_a_hundredth(lost: u64, of: u64) -> Result<()> {
    let n = of as f64;
    let bound = 4.5 * (0.01 * 0.99 / n).sqrt();
    let share = lost as f64 / n;
    ensure!(of > 1000 && (share - 0.01).abs() < bound, "{lost} of {of} lost");
    Ok(())
}

/// A window of 4 MiB against a queue of some packets, and copies.
fn counts(guest: &mut Guest) -> Result<String> {
    let mut seen = Vec::new();
    for (what, queue, ecn) in [
        ("tail drop", "\"20 packets\"", false),
        ("CoDel", "{ discipline = \"codel\", limit = \"1000 packets\" }", false),
        ("RED", "{ discipline = \"red\", limit = \"1000 packets\" }", false),
        ("RED with ECN", "{ discipline = \"red\", limit = \"1000 packets\" }", true),
    ] {
        let scenario = format!(
            "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nduplicate = 0.01\nqueue = {queue}\necn = {ecn}\n\
             [sender]\necn = {ecn}\n[receiver]\necn = {ecn}\n[until]\ntime = \"5 s\"\n"
        );
        let row = run(guest, &scenario, OVER_NETEM)?;
        let link = row.link()?;
        let is_early = what != "tail drop";
        ensure!((link.refused > 0) != is_early, "{what}: {link:?}");
        // RED drops what knows ECN only above its upper threshold, which the queue need not reach.
        ensure!(ecn || (link.early > 0) == is_early, "{what}: {link:?}");
        ensure!((link.marked > 0) == ecn, "{what}: {link:?}");
        let n = link.packets as f64;
        let (share, bound) = (link.doubled as f64 / n, 4.5 * (0.01 * 0.99 / n).sqrt());
        ensure!((share - 0.01).abs() < bound, "{what}: {link:?}");
        seen.push(format!(
            "{what}: {} refused, {} early, {} marked, {} doubled of {}",
            link.refused, link.early, link.marked, link.doubled, link.packets
        ));
    }
    Ok(seen.join("; "))
}

/// Linux 6.6 (`TCA_NETEM_PRNG_SEED`), if tc knows it too: what the machine's own try says.
fn kernel_seeds(guest: &mut Guest) -> Result<bool> {
    let try_it = "ip netns add s && ip netns exec s tc qdisc add dev lo root netem limit 1 seed 7 && \
                  ip netns exec s tc qdisc show dev lo";
    let reply = guest.run(try_it)?;
    guest.tidy()?;
    Ok(reply.success && reply.stdout.contains("seed 7"))
}

fn relays(guest: &mut Guest) -> Result<String> {
    let scenario = "[[hop]]\nrate = \"4 Mbit/s\"\ndelay = \"20 ms\"\n\
                    errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }\n[until]\ntime = \"5 s\"\n";
    let row = run(guest, scenario, "")?;
    let round_trip = row.outcome.rtt_min_s.context("no round trip")?;
    // The kernel rounds to microseconds, and the relay lets packets leave half a quantum early.
    ensure!(round_trip >= 0.0399, "a round trip of {round_trip} s");
    let (proof, link) = (row.proof()?, row.link()?);
    ensure!(proof.kernel_drops == 0 && link.packets > 100, "{proof:?}");
    let late = proof.lateness.as_ref().context("no lateness")?;
    Ok(format!(
        "{} packets, {} damaged, 99% no later than {:.1} ms",
        link.packets,
        link.damaged,
        late.p99_s * 1e3
    ))
}
