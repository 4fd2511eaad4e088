//! A path as a scenario's file, the same for both engines.

use std::fmt::Write as _;

use super::path::Path;
use crate::draws::Application;

/// Receive and send buffers begin as the kernel's do and grow by its rules; the first may grow to what a host with more than a few
/// gigabytes of memory has (`tcp_init`, net/ipv4/tcp.c).
const RMEM: [u64; 3] = [4096, 131_072, 33_554_432];
const WMEM: [u64; 3] = [4096, 16_384, 4_194_304];
/// Ethernet's, and that of jumbo frames.
const MTUS: [u64; 2] = [1500, 9000];
/// IP and TCP.
const HEADERS: u64 = 40;

impl Path {
    /// The scenario with this seed; `rules` are keys of its hosts' `linux` tables.
    pub(super) fn to_toml(&self, seed: u64, rules: &str) -> String {
        let mut text = format!("seed = {seed}\n");
        self.line_to(&mut text);
        self.hosts_to(&mut text, rules);
        self.flows_to(&mut text);
        text.push_str(&self.load.to_until(self.seconds));
        text
    }

    fn line_to(&self, text: &mut String) {
        let mtu = if self.mss_bytes + HEADERS > MTUS[0] { MTUS[1] } else { MTUS[0] };
        let _ = writeln!(
            text,
            "[[hop]]\nname = \"line\"\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = \"{} B\"\nmtu = {mtu}",
            self.rate_bps,
            self.rtt_s * 500.0,
            self.queue_bytes
        );
        let Some(loss) = self.loss else { return };
        let _ = match loss.burst {
            None => writeln!(
                text,
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.6} }}",
                loss.rate
            ),
            Some(burst) => writeln!(
                text,
                "errors = {{ model = \"gilbert-elliott\", per = \"packet\", rate = {:.6}, burst = {burst:.2} }}",
                loss.rate
            ),
        };
    }

    fn hosts_to(&self, text: &mut String, rules: &str) {
        let congestion = self.congestion.word();
        for host in ["sender", "receiver"] {
            let _ = writeln!(
                text,
                "[{host}]\nstack = \"linux\"\ncongestion = \"{congestion}\"\nmss = {}",
                self.mss_bytes
            );
            let _ =
                writeln!(text, "[{host}.linux]\ntcp_rmem = {RMEM:?}\ntcp_wmem = {WMEM:?}\n{rules}");
        }
    }

    fn flows_to(&self, text: &mut String) {
        for start in &self.starts_s {
            text.push_str(&self.load.to_flow());
            if !matches!(self.load, Application::Requests { .. }) {
                let _ = writeln!(text, "start = \"{start:.3} s\"");
            }
        }
    }
}
