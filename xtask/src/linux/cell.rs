//! A row of `cells.csv`.

use anyhow::{Context, Result, bail};
use maxseg_core::tcp::linux::{Algorithm, Host};
use maxseg_core::units::{Mss, Time};

use super::settings::set;
use crate::tables::Row;

/// What the application does (column `app`; sizes and times are in `variant`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum App {
    /// Writes without end.
    Bulk,
    /// Writes so many bytes.
    Finite(u64),
    /// Writes for so long, and is then idle for so long.
    OnOff {
        /// Time of writing.
        on: Time,
        /// Time of silence.
        off: Time,
    },
    /// Writes so many bytes each so often.
    OneWay {
        /// Bytes of a write.
        size: u64,
        /// From one to the next.
        every: Time,
    },
    /// The same, and each is answered with 100 bytes after so long.
    Requests {
        /// Bytes of a request.
        size: u64,
        /// From one to the next.
        every: Time,
        /// Until the answer is written.
        think: Time,
    },
}

/// One cell: configuration and means over its runs.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its name: for people only.
    pub name: String,
    /// Which of the sets.
    pub set: String,
    /// Congestion control.
    pub cc: String,
    /// What is special.
    pub variant: String,
    /// Bits a second.
    pub rate: u64,
    /// Round trip.
    pub rtt: Time,
    /// Packets that wait at most.
    pub queue: usize,
    /// How the bottleneck is made.
    pub qdisc: String,
    /// Share of packets lost behind it.
    pub loss: f64,
    /// Payload of a segment.
    pub mss: u64,
    /// How long it ran.
    pub time: Time,
    /// The application.
    pub app: App,
    /// Ticks a second.
    pub hz: u64,
    /// Every column by its name.
    columns: Vec<(String, String)>,
}

/// TCP options in a segment's header.
const STAMPS: u64 = 12;
/// The host is up for so long when `connect()` is called: `tt.c` waits for the second whole second.
const UP: Time = Time::from_secs(2);
/// `MAX_TCP_HEADER` of that build (no tunnels, no wireless LAN).
const MAX_TCP_HEADER: u64 = 192;

impl Cell {
    /// A number of a column; `None` where it is empty.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    /// A count of a column; `None` where it is empty.
    pub fn count(&self, column: &str) -> Option<usize> {
        self.text(column)?.parse().ok()
    }

    /// What a column has; `None` where the table has none of that name.
    fn text(&self, column: &str) -> Option<&str> {
        self.columns.iter().find(|(name, _)| name == column).map(|(_, text)| text.as_str())
    }

    /// What tells it from the others: losses are drawn from a stream of its own, as the kernel's are.
    pub(super) fn configuration(&self) -> String {
        let Self { set, cc, variant, rate, rtt, queue, loss, mss, .. } = self;
        format!("{set} {cc} {variant} {rate} {} {queue} {loss} {mss}", rtt.as_nanos())
    }

    /// Why it cannot be run here, if so.
    pub fn not_here(&self) -> Option<&'static str> {
        let known = ["tbf+pfifo", "netem-rate"];
        let base = self.qdisc.split('+').filter(|part| !["tso", "fq@sender"].contains(part));
        let base = base.collect::<Vec<_>>().join("+");
        (!known.contains(&base.as_str())).then_some("its bottleneck is not built")
    }

    /// Packets of data that are dropped behind the bottleneck, counted from 1; and the SYN, counted as 0.
    ///
    /// # Errors
    /// The variant is none that is understood.
    pub fn drops(&self) -> Result<Vec<u64>> {
        let list = match self.setting("path.drops")? {
            Some(list) => list,
            None if self.set != "pattern" => return Ok(Vec::new()),
            None => match self.variant.split_once("drop") {
                Some((_, list)) => list,
                None => bail!("what is dropped by {:?}?", self.variant),
            },
        };
        let list = list.trim_end_matches("lastIW");
        if list.is_empty() {
            return Ok(vec![0]); // "syndrop"
        }
        let mut drops = Vec::new();
        for range in list.split('_') {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            drops.extend(from.parse::<u64>()?..=to.parse::<u64>()?);
        }
        Ok(drops)
    }

    /// Whether what happens is drawn, so that runs with different seeds differ.
    pub fn is_drawn(&self) -> bool {
        self.loss > 0.0 || self.cc == "bbr"
    }

    /// The two hosts: sender and receiver, which draw from this seed.
    ///
    /// # Errors
    /// The congestion control or the variant is none that is understood.
    pub fn hosts(&self, seed: u64) -> Result<(Host, Host)> {
        let congestion = match self.cc.as_str() {
            "cubic" => Algorithm::Cubic { hystart: self.variant != "nohystart" },
            "reno" => Algorithm::Reno,
            "bbr" => Algorithm::Bbr,
            other => bail!("no congestion control {other:?} here"),
        };
        let mut host = Host {
            congestion,
            seed,
            tcp_rmem: [4096, 131_072, 67_108_864],
            tcp_wmem: [4096, 16_384, 67_108_864],
            hz: self.hz,
            up_before: UP,
            max_tcp_header: MAX_TCP_HEADER,
            scatter_gather: self.qdisc.contains("tso"),
            fq: self.qdisc.contains("fq@sender"),
            is_watched: true,
            ..Host::default()
        };
        match self.variant.as_str() {
            "nosack" => host.tcp_sack = false,
            "norack" => host.tcp_recovery = false,
            "nots" => host.tcp_timestamps = false,
            "notlp" => host.tcp_early_retrans = false,
            "nofrto" => host.tcp_frto = false,
            "ssai0" => host.tcp_slow_start_after_idle = false,
            _ => {}
        }
        let settings = self.settings()?;
        for (key, value) in settings.iter().filter(|(key, _)| !key.contains('.')) {
            set(&mut host, key, value)?;
        }
        // The congestion control is the sending socket's; a host's own is CUBIC.
        let congestion = Algorithm::Cubic { hystart: true };
        let mut receiver = Host { nodelay: true, congestion, fq: false, ..host };
        host.nodelay = matches!(self.app, App::OneWay { .. } | App::Requests { .. });
        if self.mss != 1448 {
            host.maxseg = Mss::new(self.mss + STAMPS).ok();
        }
        for (key, value) in settings {
            match key.split_once('.') {
                None | Some(("snd", "so_sndbuf") | ("path", "drops" | "mtu")) => {}
                Some(("snd", key)) => set(&mut host, key, value)?,
                Some(("rcv", key)) => set(&mut receiver, key, value)?,
                Some(_) => bail!("whose setting is {key:?}?"),
            }
        }
        if let Some(bytes) = self.variant.strip_prefix("rcvbuf") {
            let bytes = bytes.split('_').next().unwrap_or(bytes);
            receiver.rcvbuf = Some(bytes.parse().context("the receive buffer")?);
        }
        Ok((host, receiver))
    }

    /// Settings of both hosts, of the sender's (`snd.`), of the receiver's (`rcv.`) or of what is between (`path.`): `key=value;key=value`.
    fn settings(&self) -> Result<Vec<(&str, &str)>> {
        let list = self.text("settings").unwrap_or_default().split(';');
        let pairs = list.filter(|setting| !setting.is_empty()).map(|setting| {
            setting.split_once('=').with_context(|| format!("{setting:?} has no value"))
        });
        pairs.collect()
    }

    fn setting(&self, key: &str) -> Result<Option<&str>> {
        let settings = self.settings()?;
        Ok(settings.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value))
    }

    fn setting_number(&self, key: &str) -> Result<Option<u64>> {
        self.setting(key)?.map(str::parse).transpose().with_context(|| key.to_owned())
    }

    /// The MTU behind the bottleneck, in bytes: longer IP packets are dropped unannounced. `None` where all get through.
    ///
    /// # Errors
    /// It is no number.
    pub fn path_mtu(&self) -> Result<Option<u64>> {
        self.setting_number("path.mtu")
    }

    /// What the sender asks for its send buffer (`SO_SNDBUF`), in bytes.
    ///
    /// # Errors
    /// It is no number.
    pub fn send_buffer(&self) -> Result<Option<u64>> {
        self.setting_number("snd.so_sndbuf")
    }

    /// Packets of the receiver that are dropped on their way, counted from 1 with its SYN.
    ///
    /// # Errors
    /// The column has something else.
    pub fn ack_drops(&self) -> Result<Vec<u64>> {
        let list = self.text("ack_drops").unwrap_or_default().split('_');
        let numbers = list.filter(|number| !number.is_empty()).map(str::parse);
        numbers.collect::<Result<_, _>>().context("which packets of the receiver are dropped")
    }

    /// How often the receiver reads so many bytes, if it does not read at once.
    pub fn reads_every(&self, bytes: u64) -> Option<Time> {
        let rate = self.variant.split("reader").nth(1)?;
        let rate = rate.trim_end_matches("kBps").parse::<u64>().ok()? * 1000;
        Some(Time::from_nanos(bytes * 1_000_000_000 / rate))
    }

    fn app_of(kind: &str, variant: &str, mss: u64) -> Result<App> {
        let millis = |text: &str| -> Result<Time> {
            Ok(Time::from_millis(text.trim_end_matches("ms").parse()?))
        };
        let size = |text: &str| -> Result<u64> {
            Ok(match text.strip_suffix('B') {
                Some(bytes) => bytes.parse()?,
                None => text.trim_end_matches("seg").parse::<u64>()? * mss,
            })
        };
        Ok(match kind {
            "bulk" => App::Bulk,
            "fin" => {
                let segments = variant.trim_start_matches("fin").split('_').next();
                App::Finite(segments.unwrap_or_default().parse::<u64>()? * mss)
            }
            "idle" => App::OnOff { on: Time::from_secs(1), off: Time::from_secs(2) },
            "ow" => {
                let text = variant.trim_start_matches("ow");
                let (bytes, every) = text.split_once('_').context("size and interval")?;
                App::OneWay { size: size(bytes)?, every: millis(every)? }
            }
            "rr" => match variant.strip_prefix("dialog_") {
                Some(text) => {
                    let (bytes, think) = text.split_once("_think").context("size and think")?;
                    let think = millis(think)?;
                    // One request each half second: the table's own driver (repro/extra.py).
                    App::Requests { size: size(bytes)?, every: Time::from_millis(500), think }
                }
                None => {
                    App::Requests { size: 20_000, every: Time::from_millis(100), think: Time::ZERO }
                }
            },
            other => bail!("no application {other:?}"),
        })
    }
}

impl Row for Cell {
    fn from_row(row: &[(&str, &str)]) -> Result<Self> {
        let text = |name: &str| {
            let found = row.iter().find(|(column, _)| *column == name);
            found.map(|(_, value)| (*value).to_owned()).with_context(|| format!("no {name}"))
        };
        let number = |name: &str| -> Result<f64> {
            text(name)?.parse().with_context(|| format!("{name} is no number"))
        };
        let mss = text("mss")?.parse()?;
        let variant = text("variant")?;
        Ok(Self {
            name: text("cell")?,
            set: text("set")?,
            cc: text("cc")?,
            app: Self::app_of(&text("app")?, &variant, mss)?,
            variant,
            rate: text("rate_mbps")?.parse::<u64>()? * 1_000_000,
            rtt: Time::from_secs_f64(number("rtt_ms")? / 1000.0),
            queue: text("queue_pkts")?.parse()?,
            qdisc: text("qdisc")?,
            loss: number("loss")?,
            mss,
            time: Time::from_secs_f64(number("T_s")?),
            hz: text("hz")?.parse()?,
            columns: row.iter().map(|(c, v)| ((*c).to_owned(), (*v).to_owned())).collect(),
        })
    }

    fn is_usable(&self) -> bool {
        !self.name.is_empty()
    }
}
