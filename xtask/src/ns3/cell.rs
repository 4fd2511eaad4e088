//! One row of a reference table: a configuration of ns-3 in its columns, and what came of it.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};

use crate::tables::Row;

/// A configuration with ns-3's results.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What its author called the configuration.
    pub tag: String,
    /// Congestion control.
    pub control: Control,
    /// `SegmentSize`: payload of a full segment in bytes.
    pub mss: u32,
    /// `RcvBufSize`: the window offered, in bytes.
    pub window: u64,
    /// The first of two links; `None` where there is one.
    pub first: Option<Link>,
    /// The last link, to the receiver.
    pub last: Link,
    /// Packets that wait before the last link; those of the first have all the room they need.
    pub queue: u32,
    /// Share of packets towards the receiver that the error model drops.
    pub loss: f64,
    /// `InitialCwnd` in segments.
    pub initial_window: u32,
    /// `DelAckCount`: segments per acknowledgement.
    pub delayed_ack: u32,
    /// `MinRto` in seconds.
    pub min_rto: f64,
    /// SACK and timestamps.
    pub options: TcpOptions,
    /// How long it lasts.
    pub extent: Extent,
    /// What ns-3 gave.
    pub ns3: Given,
}

/// Congestion control of ns-3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// `TcpNewReno` with classic recovery: RFC 5681, RFC 6582.
    NewReno,
    /// `TcpLinuxReno`.
    LinuxReno,
    /// `TcpCubic`.
    Cubic,
}

/// A link, the same in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// In bits per second.
    pub rate: u64,
    /// One way, in seconds.
    pub delay: f64,
}

/// TCP options that both ends have on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
}

/// How long a run lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// Until so many bytes have arrived, or the time is up.
    Bytes {
        /// How many.
        bytes: u64,
        /// Seconds at most.
        seconds: f64,
    },
    /// So many seconds, of which the first are not counted.
    Seconds(f64),
}

/// What ns-3 gave.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    /// Payload in bits per second: bytes by the time of the last of them, or what arrived after
    /// [`WARM_UP`].
    pub goodput: f64,
    /// Segments with payload, the repeated ones included.
    pub data_packets: u64,
    /// Packets on the last link towards the receiver.
    pub forward: u64,
    /// Packets on the last link towards the sender.
    pub reverse: u64,
    /// Payload bytes that arrived.
    pub received: u64,
    /// Mean round trip of echoes in seconds, where there were any.
    pub ping: Option<f64>,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
}

/// Seconds of an endless run that its table does not count.
pub const WARM_UP: f64 = 30.0;

/// Why ns-3 3.37 is no oracle for a row. `testdata/ns3/README.md` tells its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Packets are lost: it crashes in recovery, or sends again what none has lost.
    LossRecovery,
    /// A timer expired: it takes the doubled timer back without a valid sample.
    Karn,
    /// Slow start in another way than RFC 5681's, which we do not have.
    SlowStart,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LossRecovery => "loss recovery: ns-3 3.37 fails there",
            Self::Karn => {
                "spurious timeouts: ns-3 3.37 takes a doubled timer back without a valid sample (RFC 6298 §5.7)"
            }
            Self::SlowStart => {
                "slow start of Linux or CUBIC, by acknowledged segments: we have RFC 5681's, by acknowledgements"
            }
        })
    }
}

/// Every column that a table may have; the last are about ns-3's own speed.
const COLUMNS: [&str; 45] = [
    "tag",
    "cc",
    "mss",
    "rwnd",
    "rate",
    "d1",
    "d2",
    "q",
    "loss",
    "iw",
    "delack",
    "minrto",
    "initrto",
    "sack",
    "ts",
    "run",
    "bytes",
    "sim_s",
    "duration_s",
    "goodput_bps",
    "goodput_KBps",
    "ping_n",
    "ping_min_s",
    "ping_avg_s",
    "ping_max_s",
    "tx_segs",
    "tx_payload",
    "rx_payload",
    "retx_frac",
    "rto_events",
    "fast_recoveries",
    "max_cwnd",
    "fwd_pkts",
    "rev_pkts",
    "fwd_ip_bytes",
    "rev_ip_bytes",
    "fwd_eth_bytes",
    "rev_eth_bytes",
    "qdrops",
    "events",
    "link2_pkts",
    "hop_pkts",
    "wall_s",
    "maxrss_kB",
    "cpu_s",
];

impl Row for Cell {
    fn from_row(row: &[(&str, &str)]) -> Result<Self> {
        if let Some((column, _)) = row.iter().find(|(column, _)| !COLUMNS.contains(column)) {
            bail!("unknown column `{column}`");
        }
        let columns = Columns(row);
        let bytes: u64 = columns.parsed("bytes")?;
        let seconds = columns.parsed("sim_s")?;
        let cell = Self {
            tag: columns.text("tag")?.to_owned(),
            control: match columns.text("cc")? {
                "TcpNewReno" => Control::NewReno,
                "TcpLinuxReno" => Control::LinuxReno,
                "TcpCubic" => Control::Cubic,
                other => bail!("unknown congestion control `{other}`"),
            },
            mss: columns.parsed("mss")?,
            window: columns.parsed("rwnd")?,
            first: columns.first_link()?,
            last: Link { rate: columns.rate("rate")?, delay: columns.milliseconds("d2")? },
            queue: columns.with_unit("q", "p")?,
            loss: columns.parsed("loss")?,
            initial_window: columns.parsed("iw")?,
            delayed_ack: columns.parsed("delack")?,
            min_rto: columns.parsed("minrto")?,
            options: TcpOptions { sack: columns.flag("sack")?, timestamps: columns.flag("ts")? },
            extent: match bytes {
                0 => Extent::Seconds(seconds),
                _ => Extent::Bytes { bytes, seconds },
            },
            ns3: Given {
                goodput: columns.parsed("goodput_bps")?,
                data_packets: columns.parsed("tx_segs")?,
                forward: columns.parsed("fwd_pkts")?,
                reverse: columns.parsed("rev_pkts")?,
                received: columns.parsed("rx_payload")?,
                ping: match columns.parsed::<u64>("ping_n")? {
                    0 => None,
                    _ => Some(columns.parsed("ping_avg_s")?),
                },
                timeouts: columns.parsed("rto_events")?,
                recoveries: columns.parsed("fast_recoveries")?,
            },
        };
        ensure!(cell.ns3.goodput > 0.0, "a run that delivered nothing");
        Ok(cell)
    }

    fn is_usable(&self) -> bool {
        self.fault().is_none()
    }
}

impl Cell {
    /// Why ns-3 is no oracle here, if it is none.
    pub fn fault(&self) -> Option<Fault> {
        if self.loss > 0.0 || self.ns3.recoveries > 0 {
            Some(Fault::LossRecovery)
        } else if self.ns3.timeouts > 0 {
            Some(Fault::Karn)
        } else if self.control != Control::NewReno {
            Some(Fault::SlowStart)
        } else {
            None
        }
    }

    /// Whether the transfer came to its end, so that its packets can be counted.
    pub fn is_complete(&self) -> bool {
        matches!(self.extent, Extent::Bytes { bytes, .. } if bytes == self.ns3.received)
    }

    /// The configuration in a few words.
    pub fn title(&self) -> String {
        let Self { tag, mss, window, .. } = self;
        match self.extent {
            Extent::Bytes { bytes, .. } => {
                format!("{tag}, {mss} B, window {window}, {bytes} bytes")
            }
            Extent::Seconds(seconds) => format!("{tag}, {mss} B, window {window}, {seconds} s"),
        }
    }
}

/// A row by its columns.
struct Columns<'a>(&'a [(&'a str, &'a str)]);

impl Columns<'_> {
    fn text(&self, column: &str) -> Result<&str> {
        let found = self.0.iter().find(|(name, _)| *name == column);
        found.map(|(_, value)| *value).with_context(|| format!("no column `{column}`"))
    }

    fn parsed<T: std::str::FromStr>(&self, column: &str) -> Result<T> {
        let text = self.text(column)?;
        text.parse().ok().with_context(|| format!("`{column}` is not a number: {text}"))
    }

    fn with_unit<T: std::str::FromStr>(&self, column: &str, unit: &str) -> Result<T> {
        let text = self.text(column)?;
        let number = text.strip_suffix(unit).and_then(|number| number.parse().ok());
        number.with_context(|| format!("`{column}` is not a number of {unit}: {text}"))
    }

    fn rate(&self, column: &str) -> Result<u64> {
        let units = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("bps", 1)];
        let text = self.text(column)?;
        let (unit, factor) = units
            .into_iter()
            .find(|(unit, _)| text.ends_with(unit))
            .with_context(|| format!("`{column}` has no unit of a rate: {text}"))?;
        Ok(self.with_unit::<u64>(column, unit)? * factor)
    }

    fn milliseconds(&self, column: &str) -> Result<f64> {
        Ok(self.with_unit::<f64>(column, "ms")? / 1000.0)
    }

    fn flag(&self, column: &str) -> Result<bool> {
        match self.text(column)? {
            "0" => Ok(false),
            "1" => Ok(true),
            other => bail!("`{column}` is neither 0 nor 1 but {other}"),
        }
    }

    /// A packet is counted once on every link that it crosses. The rate of the first link is in no
    /// column: each set of runs has its own, and its own delay.
    fn first_link(&self) -> Result<Option<Link>> {
        let (last, all): (u64, u64) = (self.parsed("link2_pkts")?, self.parsed("hop_pkts")?);
        if all == last {
            return Ok(None);
        }
        let delay = self.text("d1")?;
        let rate = match delay {
            "0.5ms" => 1_000_000_000,
            "5ms" => 10_000_000,
            "0.002ms" => 10_000_000_000,
            other => bail!("no set of runs has a first link of {other}"),
        };
        Ok(Some(Link { rate, delay: self.milliseconds("d1")? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "tag,cc,mss,rwnd,rate,d1,d2,q,loss,iw,delack,minrto,sack,ts,bytes,sim_s,goodput_bps,\
                          ping_n,tx_segs,rx_payload,rto_events,fast_recoveries,fwd_pkts,rev_pkts,link2_pkts,hop_pkts";
    const ROW: &str = "one,TcpNewReno,536,8192,10Mbps,1ms,0.5ms,10000p,0,1,2,1,0,0,1048576,2,9e6,\
                       0,1957,1048576,0,0,1960,981,2941,2941";

    fn cell(row: &str) -> Result<Cell> {
        let named: Vec<(&str, &str)> = HEADER.split(',').zip(row.split(',')).collect();
        Cell::from_row(&named)
    }

    #[test]
    fn what_ns3_is_no_oracle_for_has_its_reason() {
        let fault = |from: &str, to: &str| cell(&ROW.replace(from, to)).unwrap().fault();
        assert_eq!(fault("one", "one"), None);
        assert_eq!(fault("10000p,0,", "10000p,0.01,"), Some(Fault::LossRecovery));
        assert_eq!(fault("1048576,0,0,1960", "1048576,0,3,1960"), Some(Fault::LossRecovery));
        assert_eq!(fault("1048576,0,0,1960", "1048576,9,0,1960"), Some(Fault::Karn));
        assert_eq!(fault("TcpNewReno", "TcpCubic"), Some(Fault::SlowStart));
        assert_eq!(fault("TcpNewReno", "TcpLinuxReno"), Some(Fault::SlowStart));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let cases = [
            ("TcpNewReno", "TcpBbr", "unknown congestion control `TcpBbr`"),
            ("10Mbps", "10MBps", "`rate` has no unit of a rate: 10MBps"),
            ("10000p", "10000B", "`q` is not a number of p: 10000B"),
            ("2941,2941", "2941,5882", "no set of runs has a first link of 1ms"),
            ("9e6", "0", "a run that delivered nothing"),
        ];
        for (from, to, want) in cases {
            let error = cell(&ROW.replace(from, to)).unwrap_err();
            assert_eq!(error.to_string(), want);
        }
        assert!(Cell::from_row(&[("colour", "red")]).is_err());
    }
}
