//! A test of a path.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::probing::{Probing, Trips};
use super::{FarEndOptions, MssReport, PathError, PathReport, findings, mtu};

/// What is tested, and how.
#[derive(Debug, Clone)]
pub struct PathOptions {
    /// Flows that are tried, each with ports of its own: routers with several paths of equal cost choose by them.
    pub flows: u8,
    /// Round trips that are measured.
    pub pings: u32,
    /// A far end, and what is measured with it.
    pub far_end: Option<FarEndOptions>,
    /// Only probes that teach the kernel nothing.
    pub quiet_probes: bool,
    /// Whether the beginning of a request may be sent to an open port, where nothing else shows what arrives.
    pub payload: bool,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { flows: 4, pings: 20, far_end: None, quiet_probes: false, payload: true }
    }
}

/// What is told while a test runs.
pub trait PathObserver {
    /// What is tried now, in a few words.
    fn on_step(&mut self, step: &str);
}

impl PathObserver for () {
    fn on_step(&mut self, _: &str) {}
}

/// A test of the path to one address.
#[derive(Debug, Clone)]
pub struct PathTest {
    /// The host as it was named.
    pub target: String,
    /// Its address.
    pub address: IpAddr,
    /// The port, where one was given.
    pub port: Option<u16>,
    /// What is tested.
    pub options: PathOptions,
}

impl PathTest {
    /// Runs it.
    ///
    /// # Errors
    /// There is no route, a socket cannot be used, or the caller stopped it.
    pub fn run(
        &self,
        observer: &mut dyn PathObserver,
        stop: &AtomicBool,
    ) -> Result<PathReport, PathError> {
        let mut probing =
            Probing::new(self.address, self.port, self.options.clone(), observer, stop)?;
        let rtt = Trips::measure(&mut probing)?;
        let mut mss = Self::mss(&mut probing)?;
        let path_mtu = mtu::measure(&mut probing, &mss)?;
        mss.compare(&path_mtu, self.address);
        let mut report = PathReport {
            target: self.target.clone(),
            address: self.address,
            port: self.port,
            rtt,
            path_mtu,
            mss,
            bottleneck: None,
            under_load: Vec::new(),
            table: None,
            syn_as_received: None,
            rfc6349: None,
            findings: Vec::new(),
            sent_bytes: probing.sent_bytes(),
            elapsed_s: probing.budget.elapsed_s(),
            notes: std::mem::take(&mut probing.notes),
        };
        report.findings = findings::of(&report, &probing.route);
        if let Some(options) = &self.options.far_end {
            super::far_end::measure(options, &mut report, observer, stop)?;
        }
        Ok(report)
    }

    /// Asks ports for what they offer.
    fn mss(probing: &mut Probing<'_>) -> Result<MssReport, PathError> {
        probing.observer.on_step("the MSS that ports offer");
        let stop = probing.stop;
        let is_over = || stop.load(Ordering::Relaxed);
        let mss = MssReport::measure(probing.to, probing.port, &is_over)
            .map_err(|source| PathError::Socket { doing: "open a connection", source })?;
        if is_over() { Err(PathError::Stopped) } else { Ok(mss) }
    }
}
