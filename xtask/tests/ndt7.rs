//! What limited real downloads, by their servers' own `tcp_info`: the largest of the kernel's shares must be that of
//! [`diagnose_socket`]. `MAXSEG_NDT7` names the folders of snapshots (M-Lab's ndt7 tests as JSON), with `:` between them, relative
//! to the repository's root.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use maxseg_core::diagnose::diagnose_socket;
use maxseg_core::outcome::LimitedBy;
use maxseg_wire::inet_diag::Sample;
use maxseg_wire::tcp_info::TcpInfo;
use serde_json::Value;
use xtask::root;

/// Where the snapshots are if `MAXSEG_NDT7` is not set.
const FOLDER: &str = "../shared/captures/mlab/ndt7-json";

/// A part of the time, as the kernel divides it (`tcp_chrono_start` in `net/ipv4/tcp_output.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    ReceiveWindow,
    SendBuffer,
    /// There was data, and neither window nor buffer was the limit.
    Network,
    Idle,
}

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many were checked")]
fn the_largest_share_of_real_downloads_is_the_kernels() {
    let Some(files) = snapshots() else { return };
    let mut differing = Vec::new();
    for file in &files {
        let test: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let rows = test["rows"].as_array().unwrap().len();
        let all: Vec<Snapshot> = (0..rows).map(|row| Snapshot::of(&test, row)).collect();
        let (ours, kernels) = (our_parts(&all), all[0].parts_until(&all[rows - 1]));
        if largest(&ours) != largest(&kernels) {
            let name = file.file_name().unwrap().to_string_lossy();
            differing.push(format!("{name}: the kernel has {kernels:?}, this program {ours:?}"));
        }
    }
    println!("checked {} downloads", files.len());
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

/// Seconds of each part by the limits of each two samples in turn, as a list of connections has them.
fn our_parts(all: &[Snapshot]) -> BTreeMap<Part, f64> {
    let mut parts = BTreeMap::new();
    for (before, after) in all.iter().zip(&all[1..]) {
        let elapsed = after.time.saturating_sub(before.time);
        let evidence = after.sample().evidence(Some((&before.sample(), elapsed)));
        for limit in diagnose_socket(&evidence).limits {
            *parts.entry(part(limit.kind)).or_default() += limit.share * elapsed.as_secs_f64();
        }
    }
    parts
}

fn largest(parts: &BTreeMap<Part, f64>) -> Option<Part> {
    parts.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(part, _)| *part)
}

/// The part of the time that a limit is of. What is left of it without a limit that shows is the network's, as the kernel counts.
fn part(limit: LimitedBy) -> Part {
    match limit {
        LimitedBy::ReceiveWindow => Part::ReceiveWindow,
        LimitedBy::SendBuffer => Part::SendBuffer,
        LimitedBy::Application => Part::Idle,
        LimitedBy::Paced
        | LimitedBy::StartUp
        | LimitedBy::Bandwidth
        | LimitedBy::Congestion
        | LimitedBy::Host
        | LimitedBy::PathMtu
        | LimitedBy::Rto
        | LimitedBy::Unknown => Part::Network,
    }
}

/// The snapshots of downloads; `None`, and that is printed, where they are not.
#[expect(clippy::print_stdout, reason = "what is skipped is said")]
fn snapshots() -> Option<Vec<PathBuf>> {
    let root = root();
    let named = std::env::var("MAXSEG_NDT7").ok();
    if named.is_none() && !root.join(FOLDER).is_dir() {
        println!("skipped: there is no {FOLDER}, and MAXSEG_NDT7 names no other folder");
        return None;
    }
    let mut files = Vec::new();
    for folder in named.as_deref().unwrap_or(FOLDER).split(':') {
        let before = files.len();
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("download")
                && path.extension().is_some_and(|ending| ending == "json")
            {
                files.push(path);
            }
        }
        assert!(files.len() > before, "{folder} has no snapshots of a download");
    }
    files.sort();
    Some(files)
}

/// What a server knew of its socket at one time, by M-Lab's names.
struct Snapshot {
    numbers: BTreeMap<String, u64>,
    /// Since the test began.
    time: Duration,
}

impl Snapshot {
    fn of(test: &Value, row: usize) -> Self {
        let constant = test["constant"].as_object().unwrap().iter();
        let columns = test["columns"].as_array().unwrap().iter();
        let values = test["rows"][row].as_array().unwrap().iter();
        let changing = columns.map(|name| name.as_str().unwrap()).zip(values);
        let all = constant.map(|(name, value)| (name.as_str(), value)).chain(changing);
        let number = |value: &Value| value.as_u64().or_else(|| value.as_bool().map(u64::from));
        let numbers: BTreeMap<String, u64> =
            all.filter_map(|(name, value)| Some((name.to_owned(), number(value)?))).collect();
        let time = Duration::from_micros(numbers["ElapsedTime"]);
        Self { numbers, time }
    }

    /// 0 where the kernel of that day had no such number.
    fn number(&self, name: &str) -> u64 {
        self.numbers.get(name).copied().unwrap_or_default()
    }

    fn micros(&self, name: &str) -> Duration {
        Duration::from_micros(self.number(name))
    }

    fn short(&self, name: &str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(u32::MAX)
    }

    /// Seconds of each part, as the kernel counted them.
    fn parts_until(&self, later: &Self) -> BTreeMap<Part, f64> {
        let grown = |name: &str| later.micros(name).saturating_sub(self.micros(name));
        let (busy, window, buffer) =
            (grown("BusyTime"), grown("RWndLimited"), grown("SndBufLimited"));
        let parts = [
            (Part::ReceiveWindow, window),
            (Part::SendBuffer, buffer),
            (Part::Network, busy.saturating_sub(window + buffer)),
            (Part::Idle, later.time.saturating_sub(self.time).saturating_sub(busy)),
        ];
        parts.into_iter().map(|(part, time)| (part, time.as_secs_f64())).collect()
    }

    fn sample(&self) -> Sample {
        let mut info = TcpInfo::decode(&[0; TcpInfo::LEN]).unwrap();
        info.state = 1;
        info.snd_mss = self.short("SndMSS");
        info.unacked = self.short("Unacked");
        info.sacked = self.short("Sacked");
        info.lost = self.short("Lost");
        info.retrans = self.short("Retrans");
        info.retransmits = u8::try_from(self.number("Retransmits")).unwrap();
        info.probes = u8::try_from(self.number("Probes")).unwrap();
        info.rtt = self.micros("RTT");
        info.snd_cwnd = self.short("SndCwnd");
        // The kernel's word for "none yet" is `TCP_INFINITE_SSTHRESH`.
        info.snd_ssthresh =
            Some(self.short("SndSsThresh")).filter(|segments| *segments < 0x7fff_ffff);
        info.total_retrans = self.short("TotalRetrans");
        info.bytes_acked = Some(self.number("BytesAcked"));
        info.bytes_received = Some(self.number("BytesReceived"));
        info.notsent_bytes = Some(self.short("NotsentBytes"));
        info.min_rtt = Some(self.micros("MinRTT"));
        info.data_segs_out = Some(self.short("DataSegsOut"));
        info.max_pacing_rate = Some(u64::MAX);
        info.delivery_rate = Some(self.number("DeliveryRate"));
        info.flags.delivery_rate_app_limited = self.number("AppLimited") != 0;
        info.busy_time = Some(self.micros("BusyTime"));
        info.rwnd_limited = Some(self.micros("RWndLimited"));
        info.sndbuf_limited = Some(self.micros("SndBufLimited"));
        info.bytes_sent = Some(self.number("BytesSent"));
        info.bytes_retrans = Some(self.number("BytesRetrans"));
        info.snd_wnd = self.numbers.get("SndWnd").map(|_| self.short("SndWnd"));
        // The server's other number of it, `SIOCOUTQ`, was not kept.
        let unacked_bytes = (info.unacked * info.snd_mss) + info.notsent_bytes.unwrap_or_default();
        Sample { info, memory: None, bbr: None, unread_bytes: 0, unacked_bytes }
    }
}
