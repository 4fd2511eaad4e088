//! Options of a test with a far end.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use maxseg_core::engine::EngineName;
use maxseg_core::framing::Framing;
use maxseg_core::rfc6349::Thresholds;
use maxseg_core::units::{BitsPerSec, Bytes, Time};
use maxseg_workbench::path::{FarEndKind, FarEndOptions, Rfc6349Options, TableOptions};

use crate::failure::Failure;

/// Options of a test with a far end.
#[derive(Debug, Args)]
#[command(next_help_heading = "With a far end")]
pub(crate) struct FarEndArgs {
    /// What runs at the host: responder or iperf3, perhaps with its port
    #[arg(long, value_name = "KIND[:PORT]")]
    far_end: Option<FarEndAt>,
    /// The token that `maxseg responder` printed
    #[arg(long, value_name = "TOKEN", env = "MAXSEG_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Test TCP throughput as RFC 6349 has it, both ways
    #[arg(long, requires = "far_end")]
    rfc6349: bool,
    /// Measure a table of four segment sizes and four windows
    #[arg(long, requires = "far_end")]
    table: bool,
    /// Engines that run the table's rows too, on the path as measured: model, sim
    #[arg(long, value_name = "ENGINE", requires = "table", value_delimiter = ',', value_parser = engine)]
    engine: Vec<EngineName>,
    /// The run in equilibrium of RFC 6349, each way; every other step takes a sixth of it
    #[arg(long, value_name = "TIME", default_value = "30 s")]
    duration: Time,
    /// Connections that fill the path
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: u16,
    /// Number of runs in equilibrium
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// The bandwidth that the provider states, instead of the measured one
    #[arg(long, value_name = "RATE", requires = "rfc6349")]
    bandwidth: Option<BitsPerSec>,
    /// The framing of the link that --bandwidth is of: ip, ethernet, ppp, pppoe …
    #[arg(long, value_name = "NAME", requires = "bandwidth", default_value = "ethernet", value_parser = framing)]
    framing: Framing,
    /// Send buffer and receive window of the run in equilibrium, instead of the kernels' autotuning
    #[arg(long, value_name = "SIZE", requires = "rfc6349", value_parser = buffer)]
    buffer: Option<u32>,
    /// Note in the report that layers 2 and 3 were tested before
    #[arg(long, requires = "rfc6349")]
    layer2_tested: bool,
    /// Fail above this transfer time ratio
    #[arg(long, value_name = "RATIO", requires = "rfc6349", value_parser = number)]
    max_transfer_time_ratio: Option<f64>,
    /// Fail below this TCP efficiency, in percent
    #[arg(long, value_name = "PERCENT", requires = "rfc6349", value_parser = percent)]
    min_efficiency: Option<f64>,
    /// Fail above this buffer delay, in percent of the baseline
    #[arg(long, value_name = "PERCENT", requires = "rfc6349", value_parser = number)]
    max_buffer_delay: Option<f64>,
    /// Fail below this throughput
    #[arg(long, value_name = "RATE", requires = "rfc6349")]
    min_throughput: Option<BitsPerSec>,
}

/// What runs at the host, and its port.
#[derive(Debug, Clone, Copy)]
struct FarEndAt {
    kind: FarEndKind,
    port: Option<u16>,
}

impl FromStr for FarEndAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, port) = match text.split_once(':') {
            Some((kind, port)) => {
                let number = port.parse().ok().filter(|number| *number > 0);
                let is_none = || format!("`{port}` is not a port, a number from 1 to 65535");
                (kind, Some(number.ok_or_else(is_none)?))
            }
            None => (text, None),
        };
        let kind = match kind {
            "responder" => FarEndKind::Responder,
            "iperf3" => FarEndKind::Iperf3,
            _ => return Err("it is responder or iperf3, perhaps with a port: iperf3:5201".into()),
        };
        Ok(Self { kind, port })
    }
}

fn framing(text: &str) -> Result<Framing, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|_| "framings: ip, ethernet, ethernet-vlan, ppp, pppoe, serial".to_owned())
}

fn engine(text: &str) -> Result<EngineName, String> {
    match text {
        "model" => Ok(EngineName::Model),
        "sim" => Ok(EngineName::Sim),
        _ => {
            Err("it is model or sim: the lab would need this host's processors meanwhile"
                .to_owned())
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("not a number".into()) }
}

/// A part of the whole in percent.
fn percent(text: &str) -> Result<f64, String> {
    let percent = number(text)?;
    if percent <= 100.0 { Ok(percent) } else { Err("it is at most 100 percent".to_owned()) }
}

/// What sockets take: `SO_SNDBUF` doubles it, within 32 bits with a sign.
fn buffer(text: &str) -> Result<u32, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let size = u32::try_from(size.get()).ok().filter(|size| (4096..=1 << 30).contains(size));
    size.ok_or_else(|| "a buffer has 4 KiB to 1 GiB".to_owned())
}

/// The least run in equilibrium: shorter ones are slow start.
const LEAST_DURATION: Duration = Duration::from_secs(3);

impl FarEndArgs {
    /// What is asked for; `None` without a far end.
    ///
    /// # Errors
    /// A responder without its token, or a run that is too short.
    pub(super) fn options(&self) -> Result<Option<FarEndOptions>, Failure> {
        let Some(at) = self.far_end else { return Ok(None) };
        let token = match (at.kind, &self.token) {
            (FarEndKind::Responder, None) => {
                return Err(Failure::usage(
                    "a responder wants its token",
                    "`maxseg responder` prints it: --token TOKEN, or MAXSEG_TOKEN=TOKEN",
                ));
            }
            (_, token) => token.clone().unwrap_or_default(),
        };
        let duration = Duration::from_nanos(self.duration.as_nanos());
        if duration < LEAST_DURATION {
            return Err(Failure::usage(
                "--duration is shorter than 3 s",
                "RFC 6349 wants 30 s; what is shorter measures slow start",
            ));
        }
        let step = duration.div_f64(6.0).max(Duration::from_secs(1));
        // iperf3 knows whole seconds.
        let step = Duration::from_secs(step.as_secs() + u64::from(step.subsec_nanos() > 0));
        Ok(Some(FarEndOptions {
            kind: at.kind,
            port: at.port,
            token,
            step,
            connections: self.connections,
            rfc6349: self.rfc6349.then(|| self.rfc6349_options(duration)),
            table: self.table.then(|| TableOptions {
                row: step.min(Duration::from_secs(3)),
                engines: self.engine.clone(),
            }),
        }))
    }

    /// Whether anything has to be reached.
    pub(super) fn has_thresholds(&self) -> bool {
        self.rfc6349_options(Duration::ZERO).thresholds != Thresholds::default()
    }

    fn rfc6349_options(&self, duration: Duration) -> Rfc6349Options {
        let share = |percent: Option<f64>| percent.map(|percent| percent / 100.0);
        Rfc6349Options {
            duration,
            repeats: self.repeats,
            thresholds: Thresholds {
                transfer_time_ratio_max: self.max_transfer_time_ratio,
                efficiency_min: share(self.min_efficiency),
                buffer_delay_max: share(self.max_buffer_delay),
                throughput_min_bps: self.min_throughput.map(|rate| rate.get() as f64),
            },
            bandwidth: self.bandwidth.map(|rate| (rate, self.framing)),
            buffer: self.buffer,
            is_layer_2_tested: self.layer2_tested,
        }
    }
}
