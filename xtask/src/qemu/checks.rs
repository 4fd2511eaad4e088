//! What netem, tbf and their kin make of the commands on a kernel that has them.

use std::io;

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::errors::{Clock, ErrorModel, GilbertElliott, Per, Schedule};
use maxseg_core::framing::Framing;
use maxseg_core::path::{CodelSettings, Discipline, LinkSpec, QueueLimit, RedSettings};
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};
use maxseg_linux::lab::netem::{self, Devices, Plan, PlanOptions};

use super::Check;
use super::guest::Guest;

/// Every check, in order; each begins without network namespaces.
pub(super) const CHECKS: [Check; 6] = [
    Check { name: "netem is found", run: is_found },
    Check { name: "every command is taken and means what it should", run: are_taken },
    Check { name: "the share of lost packets is what was asked for", run: loses_its_share },
    Check { name: "a queue holds what it should", run: holds_its_queue },
    Check { name: "a packet takes airtime and delay", run: takes_its_time },
    Check { name: "no super-packet leaves a source without offloads", run: sends_wire_packets },
];

fn rate(text: &str) -> Result<BitsPerSec> {
    text.parse().context("a rate")
}

fn share(p: f64) -> Result<Probability> {
    Probability::new(p).context("a probability")
}

fn uniform(p: f64) -> Result<Schedule> {
    Ok(Schedule::constant(ErrorModel::Uniform { per: Per::Packet, rate: share(p)? }))
}

fn bursts(rate: f64, burst: f64) -> Result<Schedule> {
    let clock = Clock::Units { per: Per::Packet, burst };
    let (good, bad) = (Probability::NEVER, Probability::ALWAYS);
    let chain = GilbertElliott { clock, rate: share(rate)?, good, bad };
    Ok(Schedule::constant(ErrorModel::GilbertElliott(chain)))
}

fn plain(speed: &str, delay: Time) -> Result<LinkSpec> {
    Ok(LinkSpec::plain(rate(speed)?, delay))
}

fn apart() -> Devices {
    Devices::TwoInterfaces { wire: "w0".to_owned(), pipe: "p0".to_owned() }
}

fn is_found(guest: &mut Guest) -> Result<String> {
    guest.must("ip netns add try && ip -n try link set lo up")?;
    let run = |command: &netem::TcCommand| {
        guest.run(&format!("ip netns exec try {command}")).map_err(io::Error::other)
    };
    let found = netem::detect(run)?;
    let left = guest.must("ip netns exec try tc qdisc show dev lo")?;
    ensure!(!left.contains("netem"), "netem is left on lo: {left}");
    let seeds = if found.seeds { "can be seeded" } else { "cannot be seeded" };
    Ok(format!("{}; its chance {seeds}", found.tc))
}

/// Adds the plan's qdiscs to two dummy interfaces, and says what `tc` shows of them.
fn shown(guest: &mut Guest, plan: &Plan) -> Result<String> {
    guest.must("ip netns add n")?;
    for device in ["w0", "p0"] {
        guest.must(&format!(
            "ip -n n link add {device} type dummy && ip -n n link set {device} up"
        ))?;
    }
    for command in plan.add() {
        guest.must_in("n", &command)?;
    }
    let shown = guest.must("ip netns exec n tc -d qdisc show")?;
    guest.tidy()?;
    Ok(shown)
}

/// Links, and what `tc qdisc show` must say of each, in order.
#[expect(clippy::too_many_lines, reason = "a table")]
fn wanted() -> Result<Vec<(LinkSpec, Devices, &'static [&'static str])>> {
    let ms = Time::from_millis;
    let quick = || plain("10 Mbit/s", Time::ZERO);
    Ok(vec![
        (
            plain("10 Mbit/s", ms(20))?,
            apart(),
            &[
                "netem 1: dev w0",
                "limit 101 rate 10Mbit",
                "overhead -14",
                "netem 1: dev p0",
                "delay 20ms",
            ],
        ),
        (
            LinkSpec {
                errors: uniform(0.0125)?,
                jitter: ms(5),
                reorder: share(0.01)?,
                duplicate: share(0.02)?,
                ..plain("10 Gbit/s", ms(20))?
            },
            apart(),
            &[
                "rate 10Gbit",
                "delay 20ms  5ms",
                "loss 1.25%",
                "duplicate 2%",
                "reorder 1%",
                "gap 1",
            ],
        ),
        (
            LinkSpec { errors: bursts(0.1, 4.0)?, ..quick()? },
            apart(),
            &["loss gemodel p 2.77778%", "r 25%", "1-h 100%", "1-k 0%"],
        ),
        (
            LinkSpec { framing: Framing::Ethernet, ..quick()? },
            apart(),
            &["rate 10Mbit", "overhead 24", "mpu 84", "tsize 1539"],
        ),
        (
            LinkSpec { framing: Framing::AtmAal5, ..plain("9.6 kbit/s", Time::ZERO)? },
            apart(),
            &["rate 9600bit", "linklayer atm", "overhead -6"],
        ),
        (
            LinkSpec { frame: Some(128), pad: true, ..quick()? },
            apart(),
            &["rate 10Mbit cellsize 128"],
        ),
        (
            LinkSpec { queue: QueueLimit::Bytes(Bytes::new(65_536)), ..plain("1 Gbit/s", ms(1))? },
            apart(),
            &["tbf 1: dev w0", "rate 1Gbit", "burst 125000b", "netem 1: dev p0", "delay 1ms"],
        ),
        (
            LinkSpec {
                burst: Bytes::new(15_000),
                discipline: Discipline::Codel(CodelSettings::default()),
                ecn: true,
                ..quick()?
            },
            apart(),
            &[
                "tbf 1: dev w0",
                "burst 15000b",
                "codel 2: dev w0",
                "limit 100p",
                "target 5ms",
                "interval 100ms",
                "ecn",
            ],
        ),
        (
            LinkSpec { discipline: Discipline::Red(RedSettings::default()), ecn: true, ..quick()? },
            apart(),
            // The kernel shows the weight as a power of two: 9 is 1/512.
            &[
                "red 2: dev w0",
                "limit 151500b",
                "min 7500b",
                "max 22500b",
                "ecn harddrop",
                "ewma 9",
                "probability 0.02",
            ],
        ),
        (
            LinkSpec { errors: uniform(0.01)?, ..plain("10 Mbit/s", ms(20))? },
            Devices::OneInterface { device: "w0".to_owned() },
            &[
                "netem 1: dev w0 root",
                "delay 20ms",
                "loss 1%",
                "netem 2: dev w0 parent 1:1",
                "limit 101 rate 10Mbit",
            ],
        ),
        (
            LinkSpec { duplicate: share(0.01)?, ..plain("10 Mbit/s", ms(20))? },
            Devices::OneInterface { device: "w0".to_owned() },
            &[
                "netem 1: dev w0 root",
                "duplicate 1%",
                "tbf 2: dev w0 parent 1:1",
                "pfifo 3: dev w0 parent 2:1",
                "limit 101p",
            ],
        ),
    ])
}

fn are_taken(guest: &mut Guest) -> Result<String> {
    let mut commands = 0;
    let links = wanted()?;
    for (link, place, words) in &links {
        let plan = Plan::of(link, place, &PlanOptions::default());
        let shown = shown(guest, &plan)?;
        // A parameter stands somewhere behind the name of its qdisc.
        let mut rest = shown.as_str();
        for word in *words {
            let (_, behind) =
                rest.split_once(word).with_context(|| format!("no `{word}` in {shown}"))?;
            if word.contains(": dev") {
                rest = behind;
            }
        }
        commands += plan.qdiscs.len();
    }
    Ok(format!("{commands} commands of {} links", links.len()))
}

/// Two hosts on one link: `s0` of `s`, `r0` of `r`. What `s` sends to 10.9.9.9, `r` drops in silence.
const PAIR: [&str; 5] = [
    "ip netns add s && ip netns add r",
    "ip link add s0 netns s address 02:00:00:00:00:01 type veth peer name r0 netns r address 02:00:00:00:00:02",
    "ip -n s addr add 10.0.0.1/24 dev s0 && ip -n s link set s0 up && ip -n r addr add 10.0.0.2/24 dev r0 && \
     ip -n r link set r0 up",
    "ip -n s neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev s0 nud permanent && \
     ip -n r neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev r0 nud permanent",
    "ip -n s route add 10.9.9.9 via 10.0.0.2",
];

fn pair(guest: &mut Guest) -> Result<()> {
    PAIR.iter().try_for_each(|line| guest.must(line).map(drop))
}

fn number(guest: &mut Guest, line: &str) -> Result<u64> {
    let said = guest.must(line)?;
    said.trim().parse().with_context(|| format!("`{line}` said {said:?}"))
}

/// Frames that `r0` has taken in: datagrams alone, since nobody needs to ask for an address.
fn arrived(guest: &mut Guest) -> Result<u64> {
    number(guest, "ip netns exec r cat /sys/class/net/r0/statistics/rx_packets")
}

/// Sends datagrams of so many bytes of payload, and says how many the kernel sent.
fn send(guest: &mut Guest, count: u32, payload: u32) -> Result<u64> {
    // bash opens the socket, and each of dd's writes is a datagram.
    let sent = "ip netns exec s awk '/^Udp:/ && $2 ~ /[0-9]/ { print $5 }' /proc/net/snmp";
    let before = number(guest, sent)?;
    guest.must(&format!(
        "ip netns exec s bash -c 'dd if=/dev/zero bs={payload} count={count} >/dev/udp/10.9.9.9/9'"
    ))?;
    Ok(number(guest, sent)? - before)
}

/// How many standard deviations a share may be off: beyond 4.5, a true share is seven times in a million.
const DEVIATIONS: f64 = 4.5;
const DATAGRAMS: u32 = 40_000;

fn loses_its_share(guest: &mut Guest) -> Result<String> {
    let mut seen = Vec::new();
    let models = [(0.01, None), (0.03, None), (0.1, None), (0.1, Some(4.0))];
    for (asked, burst) in models {
        pair(guest)?;
        let errors = burst.map_or_else(|| uniform(asked), |burst| bursts(asked, burst))?;
        let link = LinkSpec { errors, ..plain("10 Gbit/s", Time::ZERO)? };
        // Only what stands behind the wire.
        let place = Devices::TwoInterfaces { wire: "none".to_owned(), pipe: "s0".to_owned() };
        let plan = Plan::of(&link, &place, &PlanOptions::default());
        let errs = plan.qdiscs.last().context("no qdisc")?;
        guest.must_in("s", &errs.add())?;
        let before = arrived(guest)?;
        let sent = send(guest, DATAGRAMS, 100)?;
        ensure!(sent == u64::from(DATAGRAMS), "only {sent} datagrams were sent");
        let lost = sent - (arrived(guest)? - before);
        let got = lost as f64 / sent as f64;
        // Losses in runs vary more: by (1 + m) ÷ (1 − m) of the variance, m the chain's memory,
        // 1 − p − r, with which the chance of being bad decays from packet to packet.
        let memory = burst.map_or(0.0, |burst: f64| {
            let to_good = 1.0 / burst;
            1.0 - to_good - asked * to_good / (1.0 - asked)
        });
        let variance = asked * (1.0 - asked) / sent as f64 * (1.0 + memory) / (1.0 - memory);
        let bound = DEVIATIONS * variance.sqrt();
        let text = format!("{asked} ± {bound:.4}: {got:.4}");
        ensure!((got - asked).abs() <= bound, "{text}");
        seen.push(text);
        guest.tidy()?;
    }
    Ok(format!("{DATAGRAMS} datagrams each: {}", seen.join(", ")))
}

/// Packets that wait on `s0`, by the outermost qdisc's account.
fn waiting(guest: &mut Guest) -> Result<u64> {
    let said = guest.must("ip netns exec s tc -s qdisc show dev s0")?;
    let backlog = said.split_once("backlog ").and_then(|(_, rest)| rest.split_whitespace().nth(1));
    let packets = backlog.and_then(|word| word.strip_suffix('p')?.parse().ok());
    packets.with_context(|| format!("no backlog in {said}"))
}

fn holds_its_queue(guest: &mut Guest) -> Result<String> {
    // A packet in ten seconds, so that hardly one leaves while all the others come.
    let slow = plain("800 bit/s", Time::ZERO)?;
    let cases = [
        // 100 wait, and one is on the wire.
        ("100 packets, netem", LinkSpec { queue: QueueLimit::Packets(100), ..slow.clone() }, 101),
        // 50 wait, and one gathers tokens: 51 × 1000 bytes fit in 50 × 1000 + 1500.
        (
            "50 kB, tbf",
            LinkSpec { queue: QueueLimit::Bytes(Bytes::new(50_000)), ..slow.clone() },
            51,
        ),
        (
            "100 packets in CoDel, tbf",
            LinkSpec { discipline: Discipline::Codel(CodelSettings::default()), ..slow },
            101,
        ),
    ];
    let mut seen = Vec::new();
    for (what, link, wanted) in cases {
        pair(guest)?;
        let place = Devices::OneInterface { device: "s0".to_owned() };
        for command in Plan::of(&link, &place, &PlanOptions::default()).add() {
            guest.must_in("s", &command)?;
        }
        // 1000 bytes each with 28 of headers. A host's own queue would hold the sender up: enough room.
        guest.must("sysctl -q -w net.core.wmem_max=8388608 net.core.wmem_default=8388608")?;
        send(guest, 300, 972)?;
        let waiting = waiting(guest)?;
        // One may have left before they are counted; the first of tbf leaves at once.
        ensure!((wanted - 1..=wanted).contains(&waiting), "{what}: {waiting} wait, not {wanted}");
        seen.push(format!("{what}: {waiting}"));
        guest.tidy()?;
    }
    Ok(seen.join(", "))
}

/// Hosts `s` and `r` with two boxes between: `a` has the wires' end, `b` the other.
fn chain(guest: &mut Guest) -> Result<()> {
    let ends = [("s", "a", 1), ("a", "b", 2), ("b", "r", 3)];
    for host in ["s", "a", "b", "r"] {
        guest.must(&format!(
            "ip netns add {host} && ip netns exec {host} sysctl -q -w net.ipv4.ip_forward=1"
        ))?;
    }
    for (left, right, net) in ends {
        guest.must(&format!(
            "ip link add {left}-{right} netns {left} type veth peer name {right}-{left} netns {right}"
        ))?;
        for (host, device, last) in
            [(left, format!("{left}-{right}"), 1), (right, format!("{right}-{left}"), 2)]
        {
            guest.must(&format!(
                "ip -n {host} addr add 10.0.{net}.{last}/24 dev {device} && ip -n {host} link set {device} up"
            ))?;
        }
    }
    for (host, via) in [("s", "10.0.1.2"), ("a", "10.0.2.2"), ("b", "10.0.2.1"), ("r", "10.0.3.1")]
    {
        guest.must(&format!("ip -n {host} route add default via {via}"))?;
    }
    Ok(())
}

fn takes_its_time(guest: &mut Guest) -> Result<String> {
    chain(guest)?;
    let link = plain("100 kbit/s", Time::from_millis(30))?;
    let place = Devices::TwoInterfaces { wire: "a-b".to_owned(), pipe: "b-r".to_owned() };
    for qdisc in Plan::of(&link, &place, &PlanOptions::default()).qdiscs {
        guest.must_in(&qdisc.device[..1], &qdisc.add())?;
    }
    // 1250 bytes with 28 of headers: 100 ms of airtime, and 30 ms; the way back is free. Neighbours
    // are asked for first.
    guest.must("ip netns exec s ping -c 1 10.0.3.2")?;
    let said = guest.must("ip netns exec s ping -c 5 -s 1222 10.0.3.2")?;
    let times = said.lines().find(|line| line.starts_with("round-trip")).context("no times")?;
    let least = times.split(['=', '/']).find_map(|word| word.trim().parse::<f64>().ok());
    let least = least.with_context(|| format!("no time in {times}"))?;
    // No upper bound: how late this machine is, says nothing of the link.
    ensure!(least >= 130.0, "a round trip of {least} ms");
    Ok(format!("at least 130 ms: {least} ms"))
}

fn sends_wire_packets(guest: &mut Guest) -> Result<String> {
    let mut sizes = Vec::new();
    for as_netem in [true, false] {
        pair(guest)?;
        if let Some(command) = netem::source_offloads("s0", as_netem) {
            guest.must_in("s", &command)?;
        }
        guest.must("(ip netns exec r nc -l -p 9000 >/dev/null 2>&1 &) ; sleep 1")?;
        guest.must(
            "ip netns exec s bash -c 'dd if=/dev/zero bs=64k count=64 >/dev/tcp/10.0.0.2/9000'",
        )?;
        let bytes = number(guest, "ip netns exec r cat /sys/class/net/r0/statistics/rx_bytes")?;
        sizes.push(bytes / arrived(guest)?.max(1));
        guest.tidy()?;
    }
    let [with, without] = sizes[..] else { bail!("two sizes") };
    // An Ethernet frame of 1500 bytes of IP.
    ensure!(without <= 1514 && with > 1514, "{with} bytes each with offloads, {without} without");
    Ok(format!("{with} bytes a packet with offloads, {without} without"))
}
