//! Checks before a run: whether this kernel, machine and user can run the scenario.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use maxseg_core::engine::{Caveat, Unwatched};
use maxseg_core::errors::Schedule;
use maxseg_core::framing::IpVersion;
use maxseg_core::path::{HopSpec, LinkSpec, QueueLimit};
use maxseg_core::scenario::{
    End, Flow, FlowKind, HopRange, LabBackend, LabOptions, Scenario, Until,
};
use maxseg_core::settings::{CongestionName, WindowScale, WindowSize};
use maxseg_core::units::{BitsPerSec, Bytes, Mtu, Time};
use socket2::{Domain, Protocol, Socket, Type};

use super::error::{Capacity, LabError};
use super::flows::{congestion_of, iperf3_version, is_foreign};
use super::kernel_links;
use super::network::Network;
use super::run;
use crate::sys::NetNs;

/// Checks whether this machine and this user can run the scenario. Gives the caveats.
///
/// # Errors
/// They cannot: a [`LabError`] with its hint.
pub(super) fn check(scenario: &Scenario) -> Result<Vec<Caveat>, LabError> {
    mtus(scenario)?;
    if scenario.flows.iter().any(|flow| is_foreign(scenario, flow)) {
        iperf3_version().map_err(LabError::Iperf3)?;
    }
    congestion(scenario)?;
    let mut caveats = Vec::new();
    if scenario.lab.backend == LabBackend::Netem {
        caveats.extend(kernel_links::check(scenario)?);
    }
    caveats.extend(capacity(scenario)?);
    Ok(caveats)
}

/// Whether every link of an IPv6 path carries the least that IPv6 needs ([`Mtu::IPV6_MIN`]).
pub(super) fn mtus(scenario: &Scenario) -> Result<(), LabError> {
    let links = || scenario.path.hops.iter().flat_map(HopSpec::links);
    match links().find(|link| link.mtu.get() < Mtu::IPV6_MIN) {
        Some(link) if scenario.ip == IpVersion::V6 => {
            Err(LabError::MtuBelowIpv6 { mtu: link.mtu, least: Mtu::IPV6_MIN })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether this user's sockets can use the congestion controls of the scenario.
fn congestion(scenario: &Scenario) -> Result<(), LabError> {
    if !scenario.flows.iter().any(|flow| flow.kind.is_tcp()) {
        return Ok(());
    }
    let namespace = NetNs::new().map_err(LabError::Namespace)?;
    for settings in [&scenario.sender, &scenario.receiver] {
        let name = congestion_of(settings);
        let tried: io::Result<()> = namespace.run(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.set_tcp_congestion(name.as_bytes())
        });
        tried.map_err(|error| LabError::Congestion { name: name.to_owned(), error })?;
    }
    Ok(())
}

/// Rates up to this are not measured: every machine that runs Linux today carries 1 Gbit/s.
const UNMEASURED_BPS: u64 = 1_000_000_000;
/// Above this share of the measured rate a run may not keep up: it gets a caveat, and its validity is judged after it.
const SAFE_SHARE: f64 = 0.9;
/// Above this share of the measured rate a run is refused.
const MAX_SHARE: f64 = 2.0;

/// Whether the machine carries the rate of the path's slowest link.
fn capacity(scenario: &Scenario) -> Result<Option<Caveat>, LabError> {
    let asked = scenario.bottleneck_rate().get();
    if asked <= UNMEASURED_BPS || !scenario.flows.iter().any(|flow| flow.kind == FlowKind::Bulk) {
        return Ok(None);
    }
    let mtu = scenario.path.smallest_mtu().bytes().get();
    let hops = scenario.path.hops.len();
    let (carried_bps, asked_bps) = (carried(scenario, mtu)?, asked as f64);
    let capacity = Capacity { carried_bps, asked_bps, hops, mtu };
    if asked_bps > carried_bps * MAX_SHARE {
        return Err(LabError::Capacity(capacity));
    }
    let is_close = asked_bps > carried_bps * SAFE_SHARE;
    Ok(is_close.then(|| Caveat::new("capacity", capacity.to_string())))
}

/// Duration of the calibration.
const CALIBRATION: Time = Time::from_millis(250);
/// A rate above that of any machine.
const ANY: u64 = 400_000_000_000;

/// The rate of one connection over such a path with unlimited links, in bits per second; measured once for each number
/// of hops, MTU and backend.
fn carried(scenario: &Scenario, mtu: u64) -> Result<f64, LabError> {
    static KNOWN: Mutex<BTreeMap<(usize, u64, bool), f64>> = Mutex::new(BTreeMap::new());
    let key = (scenario.path.hops.len(), mtu, scenario.lab.backend == LabBackend::Netem);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rate) = known().get(&key) {
        return Ok(*rate);
    }
    let wide_open = wide_open(scenario);
    let network = Network::build(&wide_open)?;
    let ran = run::run(&wide_open, &network, &mut Unwatched, None)?;
    let bits = ran.flows.iter().map(|flow| flow.tcp.acknowledged).sum::<u64>() as f64 * 8.0;
    let rate = bits / ran.elapsed.as_secs_f64();
    known().insert(key, rate);
    Ok(rate)
}

/// The same hosts and MTUs, with links without delay and loss.
fn wide_open(scenario: &Scenario) -> Scenario {
    let mut wide = scenario.clone();
    let rate = BitsPerSec::new(ANY).unwrap_or(scenario.bottleneck_rate());
    let queue = match scenario.lab.backend {
        LabBackend::Relay => QueueLimit::Packets(1_000_000),
        // A queue in bytes needs tbf only.
        LabBackend::Netem => QueueLimit::Bytes(Bytes::new(1 << 30)),
    };
    let open = |link: &LinkSpec| LinkSpec {
        mtu: link.mtu,
        queue,
        errors: Schedule::default(),
        ..LinkSpec::plain(rate, Time::ZERO)
    };
    let hop = |hop: &HopSpec| HopSpec {
        name: hop.name.clone(),
        forward: open(&hop.forward),
        reverse: open(&hop.reverse),
    };
    wide.path.hops = scenario.path.hops.iter().map(hop).collect();
    for host in [&mut wide.sender, &mut wide.receiver] {
        host.mss = None;
        host.congestion = CongestionName::Reno;
        host.window_scale = WindowScale::Auto;
        host.sack = true;
        host.df = true;
    }
    wide.receiver.window = WindowSize::Bytes(Bytes::new(4 << 20));
    wide.receiver.read_rate = None;
    wide.sender.send_buffer = None;
    wide.flows = vec![Flow {
        kind: FlowKind::Bulk,
        from: End::Sender,
        hops: HopRange::all(&wide.path),
        start: Time::ZERO,
        stop: Time::NEVER,
    }];
    wide.until = Until { time: CALIBRATION, bytes: None };
    wide.lab = LabOptions { backend: scenario.lab.backend, ..LabOptions::default() };
    wide
}
