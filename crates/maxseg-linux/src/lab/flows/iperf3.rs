//! Bulk transfer by the installed iperf3.

use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::Duration;

use maxseg_core::scenario::Flow;
use maxseg_core::units::{BitsPerSec, Time};

use super::FlowContext;
use super::open::{port, settings_of};
use super::status::{FlowCounts, Status};
use crate::iperf3::{Amount, Bulk, Report, Version, VersionError, version_of};
use crate::lab::flows::congestion_of;
use crate::lab::topology::host_at;
use crate::sys::{dies_with_parent, in_namespace, run_to_end};

/// A bulk flow with its iperf3 server listening.
pub(crate) struct Iperf3<'a> {
    context: &'a FlowContext<'a>,
    flow: &'a Flow,
    index: usize,
    version: Version,
    bulk: Bulk,
    /// Killed when the flow is dropped.
    _server: Server,
}

/// The server process; dropping it kills it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Fails if the process has exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program's name, looked up in `PATH`.
const PROGRAM: &str = "iperf3";

/// The version of the installed iperf3.
///
/// # Errors
/// iperf3 is not installed, or it is too old.
pub(crate) fn version() -> Result<Version, VersionError> {
    version_of(&mut Command::new(PROGRAM))
}

impl<'a> Iperf3<'a> {
    pub(super) fn prepare(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
    ) -> io::Result<Self> {
        let version = version().map_err(io::Error::other)?;
        let bulk = test_of(context, index, flow);
        let (host, _) = host_at(context.scenario, flow, flow.from.other());
        let mut command = Command::new(PROGRAM);
        command
            .args(bulk.server())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        in_namespace(&mut command, &context.hosts[host].namespace)?;
        dies_with_parent(&mut command);
        let server = Server(command.spawn()?);
        wait_for_listener(context, host, bulk.port)?;
        Ok(Self { context, flow, index, version, bulk, _server: server })
    }

    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>, status: &'scope Status)
    where
        'a: 'scope,
    {
        scope.spawn(move || {
            if !self.context.wait_until(self.flow.start) {
                return;
            }
            status.count(|counted| counted.report_pending = true);
            match self.run() {
                Ok(Some(report)) => {
                    status.count(|counted| add_report(counted, &report, self.flow.start));
                    status.finished(self.context.clock.now());
                }
                Ok(None) => {}
                Err(error) => status.failed(error),
            }
        });
    }

    /// Runs the client and returns its report; `None` if the run ended first.
    fn run(&self) -> io::Result<Option<Report>> {
        let (host, _) = host_at(self.context.scenario, self.flow, self.flow.from);
        let mut command = Command::new(PROGRAM);
        command.args(self.bulk.client(self.version).map_err(io::Error::other)?);
        in_namespace(&mut command, &self.context.hosts[host].namespace)?;
        let output = run_to_end(command, self.context.stop, None)?;
        if self.context.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let report = Report::parse(&String::from_utf8_lossy(&output.stdout))
            .map_err(|_| no_report(&output))?;
        match &report.error {
            Some(error) => {
                Err(io::Error::other(format!("{PROGRAM} on port {}: {error}", port(self.index))))
            }
            None => Ok(Some(report)),
        }
    }
}

/// Why there is no report: what the program says on standard error, or how it ended.
fn no_report(output: &Output) -> io::Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let why = match said.trim() {
        "" => output.status.to_string(),
        said => said.to_owned(),
    };
    io::Error::other(format!("{PROGRAM} gave no report: {why}"))
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PROGRAM}, process {}", self.0.id())
    }
}

/// The iperf3 test of a flow.
fn test_of(context: &FlowContext<'_>, index: usize, flow: &Flow) -> Bulk {
    let scenario = context.scenario;
    let settings = settings_of(context, flow.from);
    let nanos = scenario.until.time.since(flow.start).as_nanos();
    Bulk {
        server: host_at(scenario, flow, flow.from.other()).1,
        port: port(index),
        bind: Some(host_at(scenario, flow, flow.from).1),
        amount: match scenario.until.bytes {
            Some(bytes) => Amount::Bytes(bytes.get()),
            None => Amount::Time(Duration::from_nanos(nanos)),
        },
        is_reverse: false,
        streams: 1,
        mss: settings.mss.map(|mss| u32::try_from(mss.bytes().get()).unwrap_or(u32::MAX)),
        // Windows are set on the hosts, by sysctls and route metrics.
        buffer_bytes: None,
        write_rate: scenario.lab.write_rate.map(BitsPerSec::get),
        pacing_rate: scenario.lab.pacing_rate.map(BitsPerSec::get),
        congestion: Some(congestion_of(settings).to_owned()),
        interval: Duration::from_millis(500),
        connect_timeout: Duration::from_secs(30),
    }
}

/// Waits until a socket listens on `port` of the host.
fn wait_for_listener(context: &FlowContext<'_>, host: usize, port: u16) -> io::Result<()> {
    /// A server that does not listen after this time has failed.
    const TIMEOUT: Time = Time::from_secs(10);
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    let begun = std::time::Instant::now();
    while begun.elapsed() < Duration::from_nanos(TIMEOUT.as_nanos()) {
        let listens = context.hosts[host].namespace.run(|| {
            let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
            Ok(tables.iter().any(|table| {
                std::fs::read_to_string(table)
                    .is_ok_and(|text| text.lines().any(|line| is_listener(line, port)))
            }))
        })?;
        if listens {
            return Ok(());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(io::Error::other(format!("{PROGRAM} does not listen on port {port}")))
}

/// `sl local_address rem_address st …`; `0A` is the state of a listener (`include/net/tcp_states.h`).
fn is_listener(line: &str, port: u16) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let (local, _, state) = (words.next(), words.next(), words.next());
    local.is_some_and(|local| local.ends_with(&format!(":{port:04X}"))) && state == Some("0A")
}

/// Adds the report of a flow that began at `start`; its times count from there.
fn add_report(counted: &mut FlowCounts, report: &Report, start: Time) {
    counted.report_pending = false;
    let received = report.received.as_ref().or(report.sent.as_ref());
    counted.delivered = received.and_then(|sum| sum.bytes).unwrap_or(0);
    let lasted = received.and_then(|sum| sum.end_s).map(Time::from_secs_f64);
    counted.elapsed = lasted.map(|lasted| start + lasted);
    counted.tcp.retransmitted_packets =
        report.sent.as_ref().and_then(|sum| sum.retransmits).unwrap_or(0);
    let least = report.streams.iter().filter_map(|stream| stream.min_rtt).min();
    counted.tcp.rtt_min = least.map(Time::from);
    for sample in report.intervals.iter().flat_map(|interval| &interval.streams) {
        if let Some(rtt) = sample.rtt {
            counted.tcp.samples += 1;
            counted.tcp.rtt_sum += rtt.as_secs_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn the_elapsed_time_counts_from_the_start_of_the_run() {
        let report = r#"{"end":{"sum_received":{"end":3.1,"bytes":2966000}}}"#;
        let mut counted = FlowCounts::default();
        add_report(&mut counted, &Report::parse(report).unwrap(), Time::from_millis(3000));
        assert_eq!(counted.elapsed, Some(Time::from_millis(6100)));
    }

    #[test]
    fn who_was_killed_says_nothing_and_its_signal_is_named() {
        let ended = |stderr: &str| {
            let (status, stdout) = (ExitStatus::from_raw(libc::SIGKILL), Vec::new());
            no_report(&Output { status, stdout, stderr: stderr.into() }).to_string()
        };
        assert_eq!(ended(""), "iperf3 gave no report: signal: 9 (SIGKILL)");
        assert_eq!(ended("no memory\n"), "iperf3 gave no report: no memory");
    }
}
