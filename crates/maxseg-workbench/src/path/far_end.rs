//! What a far end measures with this host.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use maxseg_core::stats::median;
use maxseg_core::units::approx;
use maxseg_linux::far_end::{
    BulkPlan, BulkResult, FarEndError, Iperf3Server, Pings, ResponderClient, SynAsReceived,
};
use maxseg_wire::responder::{DEFAULT_PORT, Towards};

use super::bulk::Filled;
use super::rfc6349::{Rfc6349Options, Rfc6349Test};
use super::table::{TableOptions, table};
use super::under_load::{idle_row, loaded_row};
use super::{PathError, PathObserver, PathReport};

/// The narrowest link each way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// Towards the far end, bits per second of IP packets.
    pub forward_bps: Option<f64>,
    /// From the far end, bits per second of IP packets.
    pub reverse_bps: Option<f64>,
    /// How it was measured.
    pub method: &'static str,
}

/// How the bottleneck is measured.
pub const BOTTLENECK_METHOD: &str = "several TCP connections at once: payload acknowledged per second after slow start, with the headers of IP and TCP";

/// What runs at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarEndKind {
    /// `maxseg responder`.
    Responder,
    /// `iperf3 -s`.
    Iperf3,
}

/// Ports of iperf3's servers.
const IPERF3_PORT: u16 = 5201;

/// What is measured with a far end.
#[derive(Debug, Clone)]
pub struct FarEndOptions {
    /// What runs there.
    pub kind: FarEndKind,
    /// Its port; `None` for the usual one.
    pub port: Option<u16>,
    /// The responder's token.
    pub token: String,
    /// The time of a step; the run in equilibrium of RFC 6349 has its own.
    pub step: Duration,
    /// Connections that fill the path.
    pub connections: u16,
    /// The test of RFC 6349.
    pub rfc6349: Option<Rfc6349Options>,
    /// The table of segment sizes and windows.
    pub table: Option<TableOptions>,
}

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
    fn reach(
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
        baseline_s: Option<f64>,
    ) -> Result<BulkResult, FarEndError> {
        match self {
            Self::Responder(client) => {
                settle(client, baseline_s)?;
                client.bulk(plan)
            }
            Self::Iperf3(server) => server.bulk(plan),
        }
    }

    pub(super) fn most_connections(&self) -> u16 {
        match self {
            Self::Responder(client) => client.limits().connections,
            Self::Iperf3(_) => 128,
        }
    }
}

/// Waits, ten seconds at most, until pings are near the baseline again.
fn settle(client: &mut ResponderClient<'_>, baseline_s: Option<f64>) -> Result<(), FarEndError> {
    const LONGEST: Duration = Duration::from_secs(10);
    let Some(baseline) = baseline_s else { return Ok(()) };
    let calm = 1.2 * baseline + 0.002;
    let (began, mut in_a_row) = (Instant::now(), 0);
    while in_a_row < 3 && began.elapsed() < LONGEST {
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

/// Pings for the baseline.
const BASELINE_PINGS: usize = 40;

fn baseline(end: &mut FarEnd<'_>, report: &PathReport) -> Result<Option<Baseline>, FarEndError> {
    let FarEnd::Responder(client) = end else {
        return Ok(report.rtt.min_s.map(|rtt_s| Baseline {
            rtt_s,
            method: "the least round trip of small packets",
            sent: usize::try_from(report.rtt.sent).unwrap_or(usize::MAX),
            pings: Pings::default(),
        }));
    };
    let pings = client.pings(Duration::from_millis(20), |count, _| count >= BASELINE_PINGS)?;
    let least = pings.trips.iter().map(|(_, trip)| *trip).min();
    Ok(pings.kernel_min.or(least).map(|least| Baseline {
        rtt_s: least.as_secs_f64(),
        method: "the least TCP round trip of small segments, by the kernel's clock (tcpi_min_rtt)",
        sent: pings.trips.len(),
        pings,
    }))
}

/// Measures with the far end, into the report.
pub(super) fn measure(
    options: &FarEndOptions,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    stop: &AtomicBool,
) -> Result<(), PathError> {
    measure_all(options, report, observer, stop).map_err(|source| {
        if matches!(source, FarEndError::Stopped) {
            PathError::Stopped
        } else {
            PathError::FarEnd { source }
        }
    })
}

fn measure_all(
    options: &FarEndOptions,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    stop: &AtomicBool,
) -> Result<(), FarEndError> {
    observer.on_step(&format!("reaching the far end; {}", plan_text(options)));
    let mut end = FarEnd::reach(report.address, options, stop)?;
    let baseline = baseline(&mut end, report)?;
    if let FarEnd::Responder(client) = &mut end {
        if let Some(syn) = client.syn_as_received()? {
            compare_syns(report, &syn);
            report.syn_as_received = Some(syn);
        }
        observer.on_step("path MTU of the way back");
        let most = report.path_mtu.interface_bytes.unwrap_or(1500).clamp(1280, 65_535);
        let trip = Duration::from_secs_f64(baseline.as_ref().map_or(0.1, |base| base.rtt_s));
        let most = u16::try_from(most).unwrap_or(u16::MAX);
        match client.reverse_mtu(most, trip)? {
            Some(mtu) => report.path_mtu.reverse_bytes = Some(mtu.largest_arrived.into()),
            None => report.notes.push(
                "the path MTU of the way back is unknown: no datagram of the far end arrives"
                    .to_owned(),
            ),
        }
    }
    if let Some(asked) = options.rfc6349 {
        let test = Rfc6349Test { options, asked, baseline: baseline.as_ref() };
        test.run(&mut end, report, observer)?;
    } else {
        fill_both_ways(options, &mut end, report, observer, baseline.as_ref())?;
    }
    if let Some(asked) = &options.table {
        report.table = Some(table(asked, &mut end, report, observer, baseline.as_ref())?);
    }
    Ok(())
}

/// What is to come and how long it takes.
fn plan_text(options: &FarEndOptions) -> String {
    let step = options.step.as_secs_f64();
    let mut total = 2.0 * step;
    if let Some(asked) = &options.rfc6349 {
        total = asked.total_s(step);
    }
    if let Some(asked) = &options.table {
        total += asked.total_s();
    }
    format!("its tests take {total:.0} s in all")
}

/// Fills the path each way, with pings beside the data.
fn fill_both_ways(
    options: &FarEndOptions,
    end: &mut FarEnd<'_>,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    baseline: Option<&Baseline>,
) -> Result<(), FarEndError> {
    let mut bottleneck =
        Bottleneck { forward_bps: None, reverse_bps: None, method: BOTTLENECK_METHOD };
    let mut rows = idle_row(baseline).into_iter().collect::<Vec<_>>();
    for towards in DIRECTIONS {
        observer.on_step(&format!("filling the path, {}", direction_word(towards)));
        let filled = super::bulk::fill(end, options, towards, baseline)?;
        let Some(filled) = filled else { continue };
        match towards {
            Towards::Responder => bottleneck.forward_bps = Some(filled.packet_bps),
            Towards::Client => bottleneck.reverse_bps = Some(filled.packet_bps),
        }
        note_bound(towards, &filled, report);
        rows.push(loaded_row(towards, &filled, baseline));
    }
    report.bottleneck = Some(bottleneck);
    report.under_load = rows;
    Ok(())
}

/// Says where a path was not filled.
pub(super) fn note_bound(towards: Towards, filled: &Filled, report: &mut PathReport) {
    let Some(limit) = filled.limits.first().filter(|_| filled.is_lower_bound) else { return };
    report.notes.push(format!(
        "{}: the path carries more than was measured, as {} connections were limited by {} for {} of the time",
        direction_word(towards),
        filled.run.connections,
        limit.kind,
        approx::whole_percent(limit.share)
    ));
}

/// As rows and documents call a direction.
pub(super) const fn direction_word(towards: Towards) -> &'static str {
    match towards {
        Towards::Client => "download",
        Towards::Responder => "upload",
    }
}

/// What became of the SYN on the way.
fn compare_syns(report: &mut PathReport, syn: &SynAsReceived) {
    let mss = &mut report.mss;
    mss.received_bytes = syn.mss.map(u32::from);
    if let (Some(sent), Some(received)) = (mss.sent_bytes, mss.received_bytes)
        && received < sent
    {
        mss.clamped_by = Some(format!(
            "a host or router on the way lowers this host's MSS option from {sent} to {received}"
        ));
    }
}

/// Median round trip, seconds.
pub(super) fn median_s(pings: &Pings) -> Option<f64> {
    median(pings.trips.iter().map(|(_, trip)| trip.as_secs_f64()).collect())
}
