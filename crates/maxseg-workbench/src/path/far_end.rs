//! What a far end measures with this host.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use maxseg_core::rfc6349::Train;
use maxseg_core::stats::median;
use maxseg_linux::far_end::{
    BulkPlan, BulkResult, FarEndError, Iperf3Server, Pings, ResponderClient, TrainPlan,
};
use maxseg_wire::responder::{DEFAULT_PORT, Towards};

use super::options::LONGEST_SETTLE;
use super::rtt::percentile;
use super::{FarEndKind, FarEndOptions, note_once};

/// Ports of iperf3's servers.
const IPERF3_PORT: u16 = 5201;

/// A far end that answers.
#[derive(Debug)]
pub(super) enum FarEnd<'a> {
    Responder(Box<ResponderClient<'a>>),
    Iperf3(Iperf3Server<'a>),
}

/// The directions, in the order in which they are measured.
pub(super) const DIRECTIONS: [Towards; 2] = [Towards::Responder, Towards::Client];

/// The congestion control of every measurement: what most hosts use, and what fills a path by its queue.
pub(super) const CONGESTION: &str = "cubic";

impl<'a> FarEnd<'a> {
    pub(super) fn reach(
        address: IpAddr,
        options: &FarEndOptions,
        stop: &'a AtomicBool,
    ) -> Result<Self, FarEndError> {
        Ok(match options.kind {
            FarEndKind::Responder => {
                let at = SocketAddr::new(address, options.port.unwrap_or(DEFAULT_PORT));
                Self::Responder(Box::new(ResponderClient::begin(at, &options.token, stop)?))
            }
            FarEndKind::Iperf3 => {
                let at = SocketAddr::new(address, options.port.unwrap_or(IPERF3_PORT));
                Self::Iperf3(Iperf3Server::new(at, stop)?)
            }
        })
    }

    /// Makes a transfer, once what an earlier one has queued is gone.
    pub(super) fn bulk(
        &mut self,
        plan: &BulkPlan,
        calm_s: Option<f64>,
    ) -> Result<BulkResult, FarEndError> {
        match self {
            Self::Responder(client) => {
                settle(client, calm_s)?;
                client.bulk(plan)
            }
            Self::Iperf3(server) => server.bulk(plan),
        }
    }

    /// Sends a train, or has one sent, once what an earlier one has queued is gone.
    ///
    /// # Errors
    /// An iperf3 server sends and counts none.
    pub(super) fn train(
        &mut self,
        plan: &TrainPlan,
        calm_s: Option<f64>,
    ) -> Result<Train, FarEndError> {
        match self {
            Self::Responder(client) => {
                settle(client, calm_s)?;
                client.train(plan)
            }
            Self::Iperf3(server) => Err(FarEndError::NoResponder(server.address())),
        }
    }

    /// Makes one transfer each way at the same time; `None` where the far end cannot.
    pub(super) fn bulk_both_ways(
        &mut self,
        plans: [&BulkPlan; 2],
        calm_s: Option<f64>,
    ) -> Result<Option<[BulkResult; 2]>, FarEndError> {
        let Self::Responder(client) = self else { return Ok(None) };
        let connections = plans.map(|plan| plan.connections).iter().sum::<u16>();
        if connections > client.limits().connections {
            return Ok(None);
        }
        settle(client, calm_s)?;
        client.bulk_at_once(plans).map(Some)
    }

    /// The largest window that can be asked for, bytes.
    pub(super) fn most_window(&self) -> u32 {
        match self {
            Self::Responder(_) => u32::MAX,
            Self::Iperf3(_) => Iperf3Server::most_window().unwrap_or(u32::MAX),
        }
    }

    /// Makes a transfer with a window; `None` where a kernel does not grant the buffer, which is noted.
    pub(super) fn bulk_with_window(
        &mut self,
        plan: &BulkPlan,
        calm_s: f64,
        notes: &mut Vec<String>,
    ) -> Result<Option<BulkResult>, FarEndError> {
        match self.bulk(plan, Some(calm_s)) {
            // iperf3 itself takes no more than 512 MiB.
            Err(error @ (FarEndError::BufferRefused { .. } | FarEndError::Unaskable(_))) => {
                let hint = error.hint().map_or_else(String::new, |hint| format!("; {hint}"));
                note_once(notes, format!("{error}: transfers with that buffer are left out{hint}"));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// The rate that it holds transfers at, bits per second of payload; `None` where it holds none.
    pub(super) fn most_bps(&self) -> Option<f64> {
        let Self::Responder(client) = self else { return None };
        let most = client.limits().bits_per_second;
        (most > 0).then_some(most as f64)
    }

    pub(super) fn most_connections(&self) -> u16 {
        match self {
            Self::Responder(client) => client.limits().connections,
            Self::Iperf3(_) => 128,
        }
    }
}

/// Waits, ten seconds at most, until pings are as without load again: no longer than `calm_s`.
fn settle(client: &mut ResponderClient<'_>, calm_s: Option<f64>) -> Result<(), FarEndError> {
    let Some(calm) = calm_s else { return Ok(()) };
    let (began, mut in_a_row) = (Instant::now(), 0);
    while in_a_row < 3 && began.elapsed() < LONGEST_SETTLE {
        in_a_row = if client.ping()?.as_secs_f64() <= calm { in_a_row + 1 } else { 0 };
    }
    Ok(())
}

/// The round trip without load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Baseline {
    pub(super) rtt_s: f64,
    pub(super) method: &'static str,
    pub(super) sent: usize,
    pub(super) pings: Pings,
}

impl Baseline {
    /// Pings that are no longer than this are as without load: a little more than the least, or what nine of ten take where the path
    /// itself varies.
    pub(super) fn calm_s(&self) -> f64 {
        let usual = percentile(&sorted_trips(&self.pings), 90).unwrap_or_default();
        (1.2 * self.rtt_s + 0.002).max(usual)
    }
}

/// As rows and documents call a direction.
pub(super) const fn direction_word(towards: Towards) -> &'static str {
    match towards {
        Towards::Client => "download",
        Towards::Responder => "upload",
    }
}

/// Round trips in seconds, the shortest first.
pub(super) fn sorted_trips(pings: &Pings) -> Vec<f64> {
    let mut trips: Vec<f64> = pings.trips.iter().map(|(_, trip)| trip.as_secs_f64()).collect();
    trips.sort_by(f64::total_cmp);
    trips
}

/// Median round trip, seconds.
pub(super) fn median_s(pings: &Pings) -> Option<f64> {
    median(pings.trips.iter().map(|(_, trip)| trip.as_secs_f64()).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn pings_of_a_path_that_varies_are_calm_when_they_are_as_before() {
        let trips = (0..40_u64).map(|at| {
            let trip = Duration::from_millis(if at % 2 == 0 { 20 } else { 45 });
            (Duration::from_millis(20 * at), trip)
        });
        let pings = Pings { trips: trips.collect(), ..Pings::default() };
        let base = Baseline { rtt_s: 0.02, method: "", sent: 40, pings };
        assert!((base.calm_s() - 0.045).abs() < 1e-9, "{}", base.calm_s());
        let base = Baseline { pings: Pings::default(), ..base };
        assert!((base.calm_s() - 0.026).abs() < 1e-9, "{}", base.calm_s());
    }
}
