//! A test of a path.

use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

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
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { flows: 4, pings: 20, far_end: None, quiet_probes: false }
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
        let path_mtu = mtu::measure(&mut probing)?;
        let mut report = PathReport {
            target: self.target.clone(),
            address: self.address,
            port: self.port,
            rtt,
            path_mtu,
            mss: MssReport::default(),
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
}
