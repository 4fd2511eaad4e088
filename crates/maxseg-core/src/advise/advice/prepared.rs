//! A scenario as it is run: no longer than its packets allow, with echo requests that measure the round trip under load, and with
//! draws of its own.

use crate::advise::data_flow::data_rate;
use crate::framing::{ICMP_ECHO_HEADER, ip_header};
use crate::path::HopSpec;
use crate::scenario::{End, Flow, FlowKind, HopRange, Scenario};
use crate::units::{Bytes, Time};

/// A run that chooses has so many full packets of the bottleneck link at most, or so many round trips of a path that holds many:
/// what a run costs is its packets.
const PACKETS: u64 = 100_000;
const MOST_PACKETS: u64 = 400_000;
const ROUND_TRIPS: u64 = 60;
/// One that proves may have more: in a shorter one the beginning counts for more than in the scenario's own time. Some twenty of
/// them take about ten seconds then.
pub(super) const PACKETS_OF_PROOF: u64 = 2_000_000;

/// Payload of the echo requests that measure the round trip under load, in bytes.
const ECHO: u64 = 56;
/// They take this share of the bottleneck link at most, and are this often in a run at most.
const ECHO_SHARE: u64 = 100;
const ECHOES: u64 = 400;
const LEAST_INTERVAL: Time = Time::from_millis(2);

/// How a path's times fall together is not known exactly, and where nothing is left to chance, it decides: the delay is varied by
/// so much for each further run, which is how well a round trip is known. In millionths; no two of the first 600 numbers have the
/// same delay.
const VARIATION: u64 = 6000;
const VARIATIONS: u64 = 10;
const ASIDE: u64 = 90;
const FURTHER_ASIDE: u64 = 1000;

/// The scenario of a run with this number: with a seed of its own, and the delay of the path varied by up to 3%. The first
/// has the path's own delay.
pub fn varied(scenario: &Scenario, number: u64) -> Scenario {
    let mut run = scenario.clone();
    run.seed = scenario.seed.wrapping_add(number);
    let (step, tens, hundreds) =
        (number % VARIATIONS, number / VARIATIONS % 10, number / (10 * VARIATIONS) % 6);
    let apart = step.div_ceil(2) * VARIATION;
    let varied = if step % 2 == 1 { MILLION + apart } else { MILLION - apart };
    let varied = varied + tens * ASIDE + hundreds * FURTHER_ASIDE;
    for hop in &mut run.path.hops {
        for link in [&mut hop.forward, &mut hop.reverse] {
            // The jitter of a link is at most its delay.
            let delay = link.delay.as_nanos() / MILLION * varied
                + link.delay.as_nanos() % MILLION * varied / MILLION;
            link.delay = Time::from_nanos(delay).max(link.jitter);
        }
    }
    run
}

const MILLION: u64 = 1_000_000;

/// The scenario as it is run: with echo requests that measure the round trip under load, where it has none, and no longer
/// than its packets allow. Also the time to which it was shortened.
pub fn prepared(scenario: &Scenario) -> (Scenario, Option<Time>) {
    let mut run = scenario.clone();
    let shortened = shorten(&mut run, MOST_PACKETS);
    if !run.flows.iter().any(|flow| matches!(flow.kind, FlowKind::Ping { .. })) {
        let kind = echo(&run);
        run.flows.push(Flow {
            kind,
            from: End::Sender,
            hops: HopRange::all(&run.path),
            start: Time::ZERO,
            stop: Time::NEVER,
        });
    }
    (run, shortened)
}

/// Ends a run after so many full packets at most, or after those of its round trips where these are fewer.
pub(super) fn shorten(run: &mut Scenario, most_packets: u64) -> Option<Time> {
    let rate = data_rate(run);
    let packet = run.path.smallest_mtu().bytes();
    let airtime = rate.time_for(packet).max(Time::from_nanos(1));
    let held = run.path.propagation_rtt().as_nanos() / airtime.as_nanos();
    let packets = if most_packets > MOST_PACKETS {
        most_packets
    } else {
        (held * ROUND_TRIPS).clamp(PACKETS, most_packets)
    };
    let most = airtime.times(packets);
    if let Some(whole) = run.until.bytes {
        let payload = packet.saturating_sub(run.tcp_ip_headers()).get().max(1);
        let bytes = whole.min(Bytes::new(packets * payload));
        run.until.bytes = Some(bytes);
        return (bytes < whole).then_some(most);
    }
    let is_bulk = run.flows.iter().any(|flow| flow.kind == FlowKind::Bulk);
    if is_bulk && run.until.time > most {
        run.until.time = most;
        return Some(most);
    }
    None
}

/// Echo requests that the bottleneck link of either direction hardly feels.
fn echo(scenario: &Scenario) -> FlowKind {
    let header = ip_header(scenario.ip) + ICMP_ECHO_HEADER;
    let size = Bytes::new(ECHO);
    let links = scenario.path.hops.iter().flat_map(HopSpec::links);
    let slowest = links.map(|link| link.airtime(size + header)).max().unwrap_or(Time::ZERO);
    let often = Time::from_nanos(expected_time(scenario).as_nanos() / ECHOES);
    let interval = slowest.times(ECHO_SHARE).max(often).max(LEAST_INTERVAL);
    FlowKind::Ping { size, header, interval }
}

/// About how long a run takes: a transfer of so many bytes ends by itself.
fn expected_time(scenario: &Scenario) -> Time {
    let transfer = scenario.until.bytes.map(|bytes| {
        let rtt = scenario.path.propagation_rtt();
        data_rate(scenario).time_for(bytes).saturating_add(rtt).times(2)
    });
    transfer.map_or(scenario.until.time, |transfer| transfer.min(scenario.until.time))
}
