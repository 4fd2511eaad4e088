//! iperf3's arguments for a bulk flow, checked against its limits.
//!
//! Beyond its limits iperf3 prints its usage instead of JSON.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use thiserror::Error;

use super::Version;

/// A bulk flow from client to server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bulk {
    /// The server's address.
    pub server: IpAddr,
    /// The server's port; a server runs one test at a time.
    pub port: u16,
    /// The client's source address, where it has several.
    pub bind: Option<IpAddr>,
    /// The end of the test.
    pub amount: Amount,
    /// Whether the server sends (`-R`).
    pub is_reverse: bool,
    /// Parallel connections.
    pub streams: u32,
    /// `TCP_MAXSEG` at both ends, an upper bound: segments carry at most what path MTU and options leave
    /// (`-M 9000` on MTU 9000 gives 8948). The report repeats the requested value.
    pub mss: Option<u32>,
    /// `SO_SNDBUF` and `SO_RCVBUF` at both ends, which disable autotuning. The kernel reserves twice the value; the
    /// test fails where `rmem_max` or `wmem_max` is lower.
    pub buffer_bytes: Option<u64>,
    /// Rate at which the client writes, in bits per second (`-b`), in blocks of 10 ms or 128 KiB; as fast as the socket
    /// takes it where `None`.
    pub write_rate: Option<u64>,
    /// Rate at which the kernel paces the client, in bits per second (`--fq-rate`); iperf3 3.1 has no such option.
    pub pacing_rate: Option<u64>,
    /// The congestion control.
    pub congestion: Option<String>,
    /// Interval of the reports.
    pub interval: Duration,
    /// Timeout of the connection attempt; without effect before iperf3 3.2, which waits for the SYN's timeout.
    pub connect_timeout: Duration,
}

/// The end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// After this time, rounded up to whole seconds.
    Time(Duration),
    /// After this many payload bytes, rounded up to blocks of 128 KiB.
    Bytes(u64),
}

/// A value beyond the limits of iperf3.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("iperf3 takes {option} from {least} to {most}{unit}, not {asked}")]
pub struct Unaskable {
    /// The option.
    pub option: &'static str,
    /// The requested value.
    pub asked: u64,
    /// The least valid value.
    pub least: u64,
    /// The largest valid value.
    pub most: u64,
    /// The unit after a blank; empty for a count.
    pub unit: &'static str,
}

// `iperf.h` of 3.12; the least MSS is the kernel's `TCP_MIN_MSS`.
const TIMES_S: RangeInclusive<u64> = 1..=86_400;
const INTERVALS_MS: RangeInclusive<u64> = 100..=60_000;
const STREAMS: RangeInclusive<u64> = 1..=128;
const SIZES: RangeInclusive<u64> = 88..=9216;
const BUFFERS: RangeInclusive<u64> = 1..=512 << 20;

fn within(
    option: &'static str,
    asked: u64,
    range: &RangeInclusive<u64>,
    unit: &'static str,
) -> Result<u64, Unaskable> {
    if range.contains(&asked) {
        return Ok(asked);
    }
    Err(Unaskable { option, asked, least: *range.start(), most: *range.end(), unit })
}

/// The first version with `--connect-timeout`.
const WITH_TIMEOUT: Version = Version { major: 3, minor: 2, patch: 0 };

impl Bulk {
    /// The client's arguments. It prints its report, which contains the server's, on standard output.
    ///
    /// # Errors
    /// A value is beyond the limits of iperf3.
    pub fn client(&self, version: Version) -> Result<Vec<String>, Unaskable> {
        let streams = within("streams (-P)", self.streams.into(), &STREAMS, "")?;
        let mut arguments = Arguments(vec!["--json".to_owned(), "--get-server-output".to_owned()]);
        arguments.pair("--client", &self.server).pair("--port", &self.port);
        arguments.pair("--parallel", &streams).pair("--interval", &self.interval_s()?);
        match self.amount {
            Amount::Time(time) => arguments.pair("--time", &whole_seconds(time)?),
            Amount::Bytes(bytes) => {
                arguments.pair("--bytes", &within("bytes (-n)", bytes, &(1..=u64::MAX), "")?)
            }
        };
        if let Some(address) = self.bind {
            arguments.pair("--bind", &address);
        }
        if let Some(mss) = self.mss {
            arguments.pair("--set-mss", &within("an MSS (-M)", mss.into(), &SIZES, " bytes")?);
        }
        if let Some(buffer) = self.buffer_bytes {
            arguments.pair("--window", &within("a buffer (-w)", buffer, &BUFFERS, " bytes")?);
        }
        if let Some(rate) = self.write_rate {
            arguments.pair("-b", &rate).pair("--length", &block(rate));
        }
        if let Some(rate) = self.pacing_rate {
            arguments.pair("--fq-rate", &rate);
        }
        if let Some(congestion) = &self.congestion {
            arguments.pair("--congestion", congestion);
        }
        if self.is_reverse {
            arguments.0.push("--reverse".to_owned());
        }
        if version >= WITH_TIMEOUT {
            arguments.pair("--connect-timeout", &self.connect_timeout.as_millis().max(1));
        }
        Ok(arguments.0)
    }

    /// The arguments of a server that exits after this test.
    pub fn server(&self) -> Vec<String> {
        let mut arguments =
            Arguments(["--server", "--one-off", "--json"].map(str::to_owned).to_vec());
        arguments.pair("--port", &self.port).pair("--bind", &self.server);
        arguments.0
    }

    /// In seconds with a fraction.
    fn interval_s(&self) -> Result<f64, Unaskable> {
        let millis = u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX);
        within("an interval (-i)", millis, &INTERVALS_MS, " ms")?;
        Ok(self.interval.as_secs_f64())
    }
}

/// What a client of this rate writes at once, in bytes: what 10 ms take, and no more than iperf3's own block.
fn block(rate: u64) -> u64 {
    (rate / 8 / 100).clamp(1, 128 << 10)
}

fn whole_seconds(time: Duration) -> Result<u64, Unaskable> {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    within("a time (-t)", seconds, &TIMES_S, " s")
}

struct Arguments(Vec<String>);

impl Arguments {
    fn pair(&mut self, option: &str, value: &impl ToString) -> &mut Self {
        self.0.extend([option.to_owned(), value.to_string()]);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V3_12: Version = Version { major: 3, minor: 12, patch: 0 };

    fn bulk() -> Bulk {
        Bulk {
            server: [10, 0, 0, 2].into(),
            port: 5201,
            bind: None,
            amount: Amount::Time(Duration::from_secs(10)),
            is_reverse: false,
            streams: 1,
            mss: None,
            buffer_bytes: None,
            write_rate: None,
            pacing_rate: None,
            congestion: None,
            interval: Duration::from_millis(500),
            connect_timeout: Duration::from_secs(2),
        }
    }

    #[test]
    fn what_is_asked_is_in_the_arguments() {
        let line = bulk().client(V3_12).unwrap().join(" ");
        let plain = "--json --get-server-output --client 10.0.0.2 --port 5201 --parallel 1 \
                     --interval 0.5 --time 10 --connect-timeout 2000";
        assert_eq!(line, plain);
        let full = Bulk {
            bind: Some([10, 0, 0, 1].into()),
            amount: Amount::Bytes(1 << 30),
            mss: Some(9000),
            buffer_bytes: Some(65_536),
            write_rate: Some(8_000_000),
            pacing_rate: Some(9_000_000),
            congestion: Some("reno".to_owned()),
            ..bulk()
        };
        let line = full.client(V3_12).unwrap().join(" ");
        let more = "--interval 0.5 --bytes 1073741824 --bind 10.0.0.1 --set-mss 9000 \
                    --window 65536 -b 8000000 --length 10000 --fq-rate 9000000 --congestion reno --connect-timeout 2000";
        assert!(line.ends_with(more), "{line}");
        let old = bulk().client(Version { major: 3, minor: 1, patch: 3 }).unwrap();
        assert!(!old.contains(&"--connect-timeout".to_owned()));
        let server = "--server --one-off --json --port 5201 --bind 10.0.0.2";
        assert_eq!(bulk().server().join(" "), server);
    }

    #[test]
    fn times_are_rounded_up_never_to_zero() {
        let time = |millis| whole_seconds(Duration::from_millis(millis));
        assert_eq!((time(1), time(1000), time(1001)), (Ok(1), Ok(1), Ok(2)));
        assert!(time(0).is_err()); // for iperf3: without end
    }

    #[test]
    fn what_iperf3_would_answer_with_its_usage_is_refused() {
        let cases = [
            (
                Bulk { mss: Some(9217), ..bulk() },
                "iperf3 takes an MSS (-M) from 88 to 9216 bytes, not 9217",
            ),
            (
                Bulk { mss: Some(87), ..bulk() },
                "iperf3 takes an MSS (-M) from 88 to 9216 bytes, not 87",
            ),
            (
                Bulk { buffer_bytes: Some(1 << 30), ..bulk() },
                "iperf3 takes a buffer (-w) from 1 to 536870912 bytes, not 1073741824",
            ),
            (
                Bulk { interval: Duration::from_millis(50), ..bulk() },
                "iperf3 takes an interval (-i) from 100 to 60000 ms, not 50",
            ),
            (Bulk { streams: 0, ..bulk() }, "iperf3 takes streams (-P) from 1 to 128, not 0"),
        ];
        for (bulk, want) in cases {
            assert_eq!(bulk.client(V3_12).unwrap_err().to_string(), want);
        }
    }
}
