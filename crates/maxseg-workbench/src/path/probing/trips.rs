//! Round trips of small packets.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use maxseg_linux::probe::{RoundEnd, Shot, SynTrip, syn_trips};

use super::{Probing, Which, probe};
use crate::path::{PathError, RttMethod, RttReport};

/// Ports that a host answers at likeliest, by a SYN-ACK or an RST.
const LIKELY_PORTS: [u16; 2] = [443, 80];
/// Connections that are opened at a port where somebody listens, at most.
const MOST_CONNECTIONS: u32 = 10;
/// Time between pings.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of a SYN with the options that Linux sends, its IP header aside.
const SYN_BYTES: u64 = 40;

/// So many show whether there are answers at all.
const FIRST_ECHOES: u32 = 3;
const FIRST_SYNS: u32 = 2;
/// Echoes that are sent again, and the time between them: Linux limits what it limits to one a second (`icmp_ratelimit`).
const FEW: u32 = 4;
const APART: Duration = Duration::from_millis(1050);
/// So many SYNs show losses as frequent as those that a limit looks like.
const ENOUGH: u32 = 10;
/// Fewer unanswered echoes look like losses.
const LEAST_UNANSWERED: usize = 4;

/// Measures round trips.
pub(crate) struct Trips;

/// Whether the first echoes of a burst are answered, and of those behind them no more than half: a limit's burst, and then its rate.
fn looks_limited(trips: &[Option<f64>]) -> bool {
    let burst = trips.iter().take_while(|trip| trip.is_some()).count();
    let unanswered = trips.iter().filter(|trip| trip.is_none()).count();
    burst > 0 && unanswered >= LEAST_UNANSWERED && 2 * unanswered >= trips.len() - burst
}

impl Trips {
    /// By echoes where they are answered, else by TCP, else by UDP.
    pub(crate) fn measure(probing: &mut Probing<'_>) -> Result<RttReport, PathError> {
        probing.observer.on_step("round trip");
        let (began, mut waited) = (Instant::now(), Duration::ZERO);
        let mut report = Self::by_any(probing)?;
        if report.method.is_none() {
            Self::last_word(probing)?;
            // What answered after all shows how long to wait: by satellite twice, or behind a full queue, longer than a second.
            if probing.longest_trip.is_some() {
                waited = began.elapsed();
                report = Self::by_any(probing)?;
            }
        }
        if let Some(said) = probing.unreachable.take().filter(|_| report.method.is_none()) {
            return Err(said.error(probing.to, probing.route.source));
        }
        probing.loss.sent += report.sent;
        probing.loss.lost += report.lost;
        if let Some(least) = report.min_s {
            probing.budget.set_round_trip(Duration::from_secs_f64(least));
            // The search has its time besides.
            probing.budget.extend(waited);
        } else {
            probing.loss = maxseg_core::path_mtu::LossEstimate::default();
        }
        Ok(report)
    }

    /// By what is answered first.
    fn by_any(probing: &mut Probing<'_>) -> Result<RttReport, PathError> {
        if let Some(report) = Self::by_echo(probing)? {
            return Ok(report);
        }
        match Self::by_tcp(probing)? {
            Some(report) => Ok(report),
            None => Self::by_udp(probing),
        }
    }

    fn by_echo(probing: &mut Probing<'_>) -> Result<Option<RttReport>, PathError> {
        if probing.echo.is_none() {
            return Ok(None);
        }
        let small = probing.small();
        // A few show whether there are answers at all, and how long they take.
        let pings = probing.options.pings;
        let few = vec![probe(small); pings.min(FIRST_ECHOES) as usize];
        let first = probing.round(Which::Echo, &few, RoundEnd::LastAnswered)?;
        probing.is_echo_answered = first.shots.iter().any(|shot| shot.arrival().is_some());
        if !probing.is_echo_answered {
            return Ok(None);
        }
        let more = pings.saturating_sub(FIRST_ECHOES) as usize;
        let rest = probing.round(Which::Echo, &vec![probe(small); more], RoundEnd::LastAnswered)?;
        let trips: Vec<Option<f64>> = first
            .shots
            .iter()
            .chain(&rest.shots)
            .map(|shot| shot.arrival().map(|answer| answer.round_trip.as_secs_f64()))
            .collect();
        let limited = if looks_limited(&trips) { Self::limited(probing, &trips)? } else { None };
        Ok(Some(limited.unwrap_or_else(|| RttReport::of(RttMethod::IcmpEcho, &trips))))
    }

    /// Round trips of the echoes that were answered, where nothing is lost and the destination limits its answers: SYNs, which have no limit
    /// or another one, are answered, or else echoes that are far apart. `None` where they are not either.
    fn limited(
        probing: &mut Probing<'_>,
        trips: &[Option<f64>],
    ) -> Result<Option<RttReport>, PathError> {
        let mut answered: Vec<Option<f64>> = trips.iter().copied().flatten().map(Some).collect();
        let unanswered = trips.len() - answered.len();
        let syns = Self::by_tcp(probing)?.filter(|syns| syns.sent >= ENOUGH);
        let (is_limited, others) = if let Some(syns) = syns {
            (!syns.is_lossy(), "SYNs")
        } else {
            let apart = Self::far_apart(probing)?;
            answered.extend(&apart);
            (apart.iter().all(Option::is_some), "echoes that are a second apart")
        };
        if !is_limited {
            return Ok(None);
        }
        probing.notes.push(format!(
            "the destination limits its answers: {unanswered} of {} echoes were not answered, and {others} are; that is no loss",
            trips.len()
        ));
        let report = RttReport::of(RttMethod::IcmpEcho, &answered);
        Ok(Some(RttReport { answers_limited: true, ..report }))
    }

    /// A few echoes, so far apart that a limit passes each.
    fn far_apart(probing: &mut Probing<'_>) -> Result<Vec<Option<f64>>, PathError> {
        let (began, small) = (Instant::now(), probing.small());
        let mut trips = Vec::new();
        for _ in 0..FEW {
            probing.wait(APART)?;
            let round = probing.round(Which::Echo, &[probe(small)], RoundEnd::AllAnswered)?;
            let arrival = round.shots.first().and_then(Shot::arrival);
            trips.push(arrival.map(|answer| answer.round_trip.as_secs_f64()));
            if arrival.is_none() {
                break;
            }
        }
        // The search has its time besides.
        probing.budget.extend(began.elapsed());
        Ok(trips)
    }

    /// Where nothing was answered: waits for what routers say of it, who give a neighbour three seconds to answer (`mcast_solicit`,
    /// `retrans_time`; RFC 4861 §10) before they call it unreachable.
    fn last_word(probing: &mut Probing<'_>) -> Result<(), PathError> {
        let small = probing.small();
        for which in [Which::Echo, Which::Udp] {
            if probing.unreachable.is_none() {
                probing.round(which, &[probe(small)], RoundEnd::AllAnswered)?;
            }
        }
        Ok(())
    }

    fn by_tcp(probing: &mut Probing<'_>) -> Result<Option<RttReport>, PathError> {
        let ports = probing.port.map_or_else(|| LIKELY_PORTS.to_vec(), |port| vec![port]);
        for port in ports {
            let pings = probing.options.pings;
            let mut trips = Self::syns(probing, port, pings.min(FIRST_SYNS))?;
            if trips.iter().all(|trip| trip.round_trip.is_none()) {
                continue;
            }
            let is_open = trips.iter().any(|trip| trip.is_open);
            let pings = if is_open { pings.min(MOST_CONNECTIONS) } else { pings };
            trips.extend(Self::syns(probing, port, pings.saturating_sub(FIRST_SYNS))?);
            let seconds: Vec<Option<f64>> =
                trips.iter().map(|trip| trip.round_trip.map(|time| time.as_secs_f64())).collect();
            return Ok(Some(RttReport::of(RttMethod::TcpSyn, &seconds)));
        }
        Ok(None)
    }

    fn syns(probing: &mut Probing<'_>, port: u16, count: u32) -> Result<Vec<SynTrip>, PathError> {
        let to = SocketAddr::new(probing.to, port);
        let patience = probing.patience();
        let trips = syn_trips(to, count, PAUSE, patience, probing.stop)
            .map_err(|source| PathError::socket("open a TCP connection", source))?;
        let header = maxseg_core::framing::ip_header(probing.version()).get();
        let answers = trips.iter().filter(|trip| trip.is_open).count() as u64;
        // A connection that opens is acknowledged and closed: two more packets.
        probing.other_bytes +=
            u64::from(count) * (header + SYN_BYTES) + answers * 2 * (header + 32);
        let longest = trips.iter().filter_map(|trip| trip.round_trip).max();
        probing.longest_trip = probing.longest_trip.max(longest);
        Ok(trips)
    }

    /// The destination's port unreachable is rate limited, and routers answer for the hops: a few packets.
    fn by_udp(probing: &mut Probing<'_>) -> Result<RttReport, PathError> {
        let small = probing.small();
        let few = vec![probe(small); probing.options.pings.min(FIRST_ECHOES) as usize];
        let round = probing.round(Which::Udp, &few, RoundEnd::LastAnswered)?;
        let trips: Vec<Option<f64>> = round
            .shots
            .iter()
            .map(|shot| shot.arrival().map(|answer| answer.round_trip.as_secs_f64()))
            .collect();
        Ok(RttReport::of(RttMethod::UdpUnreachable, &trips))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_answers_a_burst_and_then_its_rate() {
        let trips = |answered: &[usize]| -> Vec<Option<f64>> {
            (0..20).map(|at| answered.contains(&at).then_some(0.01)).collect()
        };
        assert!(looks_limited(&trips(&[0, 1, 2, 3, 4])));
        assert!(looks_limited(&trips(&[0, 1, 2, 3, 4, 9, 14])), "five, and one now and then");
        assert!(looks_limited(&trips(&[0])));
        let all: Vec<usize> = (0..20).collect();
        assert!(!looks_limited(&trips(&all)));
        assert!(!looks_limited(&trips(&all[..17])), "three are too few");
        let third: Vec<usize> = all.iter().copied().filter(|at| at % 3 != 2).collect();
        assert!(!looks_limited(&trips(&third)), "losses in between");
        assert!(!looks_limited(&trips(&all[5..])), "a neighbour that has to be found first");
    }
}
