//! What is tried on top of sizes, windows and congestion control, where a run shows a reason.

use super::bench::{AS_IT_IS, Bench};
use crate::advise::Change;
use crate::advise::data_flow::{data_flow, data_from, data_hosts, data_rate, link_from, policer};
use crate::framing::Headers;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{FlowKind, Scenario};
use crate::settings::{LinuxRules, RtoRule};
use crate::units::{Bytes, Time};

/// A start-up of a larger share of the run is worth shortening.
const LONG_START: f64 = 0.15;
/// Initial windows to try, in segments (RFC 6928 has 10).
const INITIAL: [u32; 3] = [10, 20, 40];
/// A timer this many round trips long waits for nothing.
const LATE: u64 = 4;
/// Rates of pacing to try, in percent of a policer's: the first leaves it what bursts take, as its bucket holds them; the second is
/// for a bucket that holds little.
const PACED_PERCENT: [u32; 2] = [99, 95];
/// The largest least timer that is advised. Linux adds it to the smoothed round trip (`__tcp_set_rto`, include/net/tcp.h), and whoever
/// waits for the end of a transfer waits for both after a loss: RFC 6298 §2.4 asks for a second, and no rule for more.
const MOST_ADDED: Time = Time::from_secs(1);
/// Where it only bounds the timer: the first one of RFC 1122 §4.2.3.1, which hosts without an estimate have waited for. Where round trips
/// themselves are longer, as on a link that takes seconds for a packet, it outlasts them by a quarter.
const MOST_LEAST: Time = Time::from_secs(3);
/// The least timer that is advised: the least delay of Linux's delayed acknowledgements is 40 ms (`TCP_DELACK_MIN`, include/net/tcp.h).
const LEAST_TIMER: Time = Time::from_millis(50);

/// The further changes for the path with the changes of `best`, by what its first runs show.
pub(super) fn extras(bench: &Bench, best: usize) -> Vec<Change> {
    let outcomes: Vec<&Outcome> =
        [AS_IT_IS, best].iter().filter_map(|point| bench.points[*point].outcome()).collect();
    let Some(outcome) = outcomes.last() else { return Vec::new() };
    let is_slowed =
        outcomes.iter().any(|outcome| outcome.limited_by == Some(LimitedBy::Congestion));
    let scenario = &bench.points[best].scenario;
    let mut changes = timers(scenario, outcome);
    changes.extend(beginnings(scenario, outcome));
    changes.extend(probing(scenario));
    changes.extend(pacing(scenario, is_slowed));
    changes
}

fn timers(scenario: &Scenario, outcome: &Outcome) -> Vec<Change> {
    let needless = outcome.spurious_retransmissions.unwrap_or(0);
    let timeouts = outcome.timeouts.unwrap_or(0);
    let Some(rtt) = outcome.rtt_p99_s.or(outcome.rtt_mean_s).map(Time::from_secs_f64) else {
        return Vec::new();
    };
    let [sending, _] = data_hosts(scenario);
    let rto = &sending.rto;
    if needless > 0 && timeouts > 0 {
        let longer = longer_timer(rto.rule, outcome, rtt);
        let mut changes = Vec::new();
        if longer > rto.initial && sending.linux.is_none() {
            changes.push(Change::RtoInitial(longer));
        }
        changes.extend((longer > rto.min).then_some(Change::RtoMin(longer)));
        return changes;
    }
    let shorter = whole_tenths(rtt.times(2)).max(LEAST_TIMER);
    if timeouts > 0 && rto.min > rtt.times(LATE) && shorter < rto.min {
        return vec![Change::RtoMin(shorter)];
    }
    Vec::new()
}

/// A least timer that outlasts the round trips: with Linux as far as these are above the least, which its estimate never is below.
fn longer_timer(rule: RtoRule, outcome: &Outcome, rtt: Time) -> Time {
    let least = outcome.rtt_min_s.map_or(Time::ZERO, Time::from_secs_f64);
    match rule {
        RtoRule::Linux { .. } => whole_tenths(rtt.since(least.min(rtt))).min(MOST_ADDED),
        RtoRule::Rfc6298 { .. } | RtoRule::Ticks { .. } => {
            let outlasting = Time::from_nanos(rtt.times(5).as_nanos() / 4);
            whole_tenths(rtt.times(3).min(outlasting.max(MOST_LEAST)))
        }
    }
}

/// Up to a whole tenth of a second, or a whole hundredth below one.
fn whole_tenths(time: Time) -> Time {
    let unit = if time < Time::from_secs(1) { 10 } else { 100 };
    let millis = time.as_millis_up().div_ceil(unit) * unit;
    Time::from_millis(millis)
}

/// Whether requests find a congestion window that began anew after a pause.
pub(super) fn restarts(scenario: &Scenario) -> bool {
    let after_idle = |rules: LinuxRules| rules.tcp_slow_start_after_idle;
    let has_requests = scenario.flows.iter().any(|flow| matches!(flow.kind, FlowKind::Request(_)));
    let hosts = [&scenario.sender, &scenario.receiver];
    has_requests && hosts.iter().any(|host| host.linux.is_some_and(after_idle))
}

fn beginnings(scenario: &Scenario, outcome: &Outcome) -> Vec<Change> {
    let mut changes = Vec::new();
    if restarts(scenario) {
        changes.push(Change::NoSlowStartAfterIdle);
    }
    if start_share(outcome) > LONG_START {
        let mss = outcome.mss_used_bytes.unwrap_or(1460).max(1);
        let [sending, _] = data_hosts(scenario);
        let now = sending.initial_window.bytes(Bytes::new(mss)).get() / mss;
        let rtt = scenario.path.propagation_rtt();
        let held = data_rate(scenario).bytes_in(rtt).get() / mss;
        let fits =
            |segments: &u32| u64::from(*segments) > now && u64::from(*segments) <= held.max(10);
        changes.extend(INITIAL.into_iter().filter(fits).map(Change::InitialWindow));
    }
    changes
}

/// The share of slow start in the time in which there is something to send: between requests there is nothing.
fn start_share(outcome: &Outcome) -> f64 {
    let share = |kind: LimitedBy| -> f64 {
        let limits = outcome.limits.iter().filter(|limit| limit.kind == kind);
        limits.map(|limit| limit.share).sum()
    };
    let busy = 1.0 - share(LimitedBy::Application);
    if busy > 0.0 { share(LimitedBy::StartUp) / busy } else { 0.0 }
}

/// Rates below that of a policer whose drops keep the congestion window small, the highest first. Whether its burst lets more through, a
/// run tells.
fn pacing(scenario: &Scenario, is_slowed: bool) -> Vec<Change> {
    let bulk = data_flow(scenario).filter(|flow| flow.kind == FlowKind::Bulk);
    let (Some(flow), Some((hop, policer))) = (bulk, policer(scenario)) else { return Vec::new() };
    if !is_slowed || !scenario.runs_linux(&flow) || policer.rate >= data_rate(scenario) {
        return Vec::new();
    }
    let decision = scenario.mss(&flow);
    let headers = Headers { ip: scenario.ip, tcp_options: decision.options };
    let payload = decision.effective.bytes();
    let link = link_from(hop, data_from(scenario));
    let on_wire = link.wire_bytes(headers.packet(payload));
    let below = |percent| Change::pacing_below(policer.rate, percent, payload, on_wire);
    PACED_PERCENT.into_iter().filter_map(below).collect()
}

/// Probing finds a size where full packets vanish without a word.
fn probing(scenario: &Scenario) -> Option<Change> {
    let flow = data_flow(scenario)?;
    let vanishes = scenario.mss(&flow).is_too_large() && scenario.keeps_df(&flow);
    (vanishes && !scenario.endpoints(&flow).0.mtu_probing.is_on()).then_some(Change::MtuProbing)
}

#[cfg(test)]
mod tests {
    use super::super::{Ends, tune};
    use super::*;

    /// One that probes from the start finds what passes a silent hop already, and is never set back to probing later.
    #[test]
    fn a_host_that_probes_from_the_start_is_not_told_to_probe_later() {
        let text = |probing: &str| {
            let hop = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";
            format!(
                "{hop}{hop}mtu = 1300\nicmp = \"drop\"\n{hop}[sender]\nmtu_probing = {probing}\n[until]\ntime = \"20 s\""
            )
        };
        let mut always = Scenario::from_toml("test", &text("\"always\"")).unwrap();
        assert_eq!(probing(&always), None);
        let never = Scenario::from_toml("test", &text("false")).unwrap();
        assert_eq!(probing(&never), Some(Change::MtuProbing));
        Change::MtuProbing.apply(&mut always);
        assert_eq!(always.sender.mtu_probing.sysctl(), 2);
        let set = tune::settings(Change::MtuProbing, &Ends::default(), true, None);
        assert_eq!(set[0].value, ">=1");
    }

    /// Linux paces payload, and a policer counts what is on the wire: 95% of it with 1448 bytes of 1538 would be too much.
    #[test]
    fn pacing_stays_below_a_policer_on_the_wire() {
        let text = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\nframing = \"ethernet\"\n\
                    policer = { rate = \"10 Mbit/s\", burst = \"100 kB\" }\n[sender]\nmss = 268\n[until]\ntime = \"10 s\"";
        let scenario = Scenario::from_toml("test", text).unwrap();
        let tried = pacing(&scenario, true);
        let [Change::Pacing(higher), Change::Pacing(lower)] = tried.as_slice() else {
            panic!("{tried:?}")
        };
        // 256 bytes beside timestamps, in packets of 308 bytes and 38 around them.
        for (rate, wanted) in [(higher, 9.9e6), (lower, 9.5e6)] {
            let on_wire = rate.get() as f64 * 346.0 / 256.0;
            assert!((on_wire / wanted - 1.0).abs() < 1e-6, "{on_wire}");
        }
        assert_eq!(pacing(&scenario, false), []);
    }

    /// Round trips of 8.8 s in a long queue are no reason to wait 26 s after a loss.
    #[test]
    fn a_longer_least_timer_is_bounded_and_linux_adds_it_to_the_round_trip() {
        let longer = |more: &str, rtt: [f64; 2]| {
            let text = format!(
                "[[hop]]\nrate = \"28.8 kbit/s\"\ndelay = \"60 ms\"\n{more}[until]\ntime = \"10 s\""
            );
            let outcome = Outcome {
                rtt_min_s: Some(rtt[0]),
                rtt_p99_s: Some(rtt[1]),
                timeouts: Some(1),
                spurious_retransmissions: Some(1),
                ..Outcome::default()
            };
            timers(&Scenario::from_toml("test", &text).unwrap(), &outcome)
        };
        let millis = Time::from_millis;
        assert_eq!(longer("", [0.15, 8.8]), [Change::RtoMin(millis(1000))]);
        assert_eq!(longer("", [0.2, 0.6]), [Change::RtoMin(millis(400))]);
        assert_eq!(longer("[sender]\nrto.min = \"1 s\"\n", [0.15, 8.8]), []);
        let rfc = longer("[sender]\nstack = \"rfc\"\n", [0.15, 8.8]);
        assert_eq!(rfc.last(), Some(&Change::RtoMin(millis(11_000))));
        let rfc = longer("[sender]\nstack = \"rfc\"\n", [0.15, 1.2]);
        assert_eq!(rfc.last(), Some(&Change::RtoMin(millis(3000))));
    }
}
