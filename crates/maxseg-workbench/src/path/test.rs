//! A test of a path.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::probing::{Probing, Trips};
use super::{
    MssReport, PathObserver, PathOptions, PathReport, findings, measure_mtu, with_far_end,
};
use crate::error::PathError;

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
        let path_mtu = measure_mtu::measure(&mut probing, &mss)?;
        mss.compare(&path_mtu, self.address);
        let mut report = PathReport {
            port: self.port,
            mss,
            sent_bytes: probing.sent_bytes(),
            elapsed_s: probing.budget.elapsed_s(),
            notes: std::mem::take(&mut probing.notes),
            ..PathReport::begun(self.target.clone(), self.address, rtt, path_mtu)
        };
        if let Some(options) = &self.options.far_end {
            with_far_end::measure(options, &mut report, &mut probing)?;
            report.sent_bytes = probing.sent_bytes();
            report.elapsed_s = probing.budget.elapsed_s();
            report.notes.append(&mut probing.notes);
        }
        report.findings = findings::of(&report, &probing.route, probing.echo.is_some());
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
