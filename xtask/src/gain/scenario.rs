//! A drawn run as a scenario's file, with the commands that make its hosts ordinary ones and set its fault.

use std::fmt::Write as _;

use super::draw::Draw;
use super::limit::Limit;
use super::once::HostLine;

/// A hop next to the line: faster than any line that is drawn, with a queue that never drops.
const OTHER_HOP: &str =
    "[[hop]]\nname = \"first\"\nrate = \"200 Mbit/s\"\ndelay = \"0.1 ms\"\nqueue = \"4 MiB\"\n";
/// The kernel's window is about half of the buffer (`tcp_adv_win_scale`).
const BUFFER_PER_WINDOW: u64 = 2;
/// Linux's largest receive buffer (`tcp_rmem`).
const LARGEST_BUFFER: u64 = 6_291_456;
/// A queue that holds so many times what the path does drops nothing of a short transfer.
const AMPLE_QUEUE: f64 = 10.0;

impl Draw {
    /// The scenario as a file.
    pub fn to_toml(&self) -> String {
        self.to_toml_until(&format!("time = \"{:.3} s\"", self.seconds))
    }

    /// The same, until `bytes` of payload have arrived: the same transfer again.
    pub fn to_toml_of(&self, bytes: u64) -> String {
        // A run without its limit is no slower; one that is, by far, is cut.
        let most = 4.0 * self.seconds;
        self.to_toml_until(&format!("bytes = \"{} B\"\ntime = \"{most:.3} s\"", bytes.max(1)))
    }

    fn to_toml_until(&self, until: &str) -> String {
        let mut text = format!("seed = {}\n", self.seed);
        if self.hidden_mtu.is_some() {
            text.push_str(OTHER_HOP);
        }
        let _ = writeln!(
            text,
            "[[hop]]\nname = \"line\"\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = {}",
            self.rate_bps,
            self.rtt_s * 500.0,
            self.queue()
        );
        if self.loss > 0.0 && self.burst > 1.0 {
            let _ = writeln!(
                text,
                "errors = {{ model = \"gilbert-elliott\", per = \"packet\", rate = {:.6}, burst = {:.2} }}",
                self.loss, self.burst
            );
        } else if self.loss > 0.0 {
            let _ = writeln!(
                text,
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.6} }}",
                self.loss
            );
        }
        if let Some(mtu) = self.hidden_mtu {
            let _ = writeln!(text, "mtu = {mtu}\nicmp = \"drop\"\n[hop.reverse]\nmtu = 1500");
        }
        let _ = write!(
            text,
            "[sender]\nstack = \"linux\"\ncongestion = \"{}\"\n",
            self.congestion.word()
        );
        if let Some(bytes) = self.send_buffer_bytes {
            let _ = writeln!(text, "send_buffer = \"{bytes} B\"");
        }
        if self.hidden_mtu.is_some() {
            text.push_str("mtu_probing = true\n");
        }
        text.push_str("[receiver]\nstack = \"linux\"\n");
        if let Some(bytes) = self.window_bytes {
            let buffer = BUFFER_PER_WINDOW * bytes;
            let most = if self.is_first_buffer { LARGEST_BUFFER } else { buffer };
            let _ = writeln!(text, "linux = {{ tcp_rmem = [4096, {buffer}, {most}] }}");
        }
        let _ = write!(text, "[[flow]]\nkind = \"bulk\"\n[until]\n{until}\n");
        text
    }

    /// The line's queue.
    fn queue(&self) -> String {
        if self.is_fair_queue {
            return "{ limit = \"10240 packets\", discipline = \"codel\" }".to_owned();
        }
        format!("\"{} B\"", self.queue_bytes)
    }

    /// With a queue that controls its delay in the place of the line's.
    #[must_use]
    pub fn with_fair_queue(&self) -> Self {
        Self { is_fair_queue: true, ..self.clone() }
    }

    /// Without what limits it.
    #[must_use]
    pub fn lifted(&self) -> Self {
        let mut lifted = self.clone();
        match self.limit {
            Limit::ReceiveWindow => lifted.window_bytes = None,
            Limit::SendBuffer => lifted.send_buffer_bytes = None,
            Limit::SegmentSize => lifted.mss_bytes = None,
            Limit::Queue => {
                let full = self.rate_bps as f64 * self.rtt_s / 8.0;
                lifted.queue_bytes = crate::draws::whole(AMPLE_QUEUE * full);
            }
            Limit::Errors => lifted.loss = 0.0,
            Limit::PathMtu => lifted.hidden_mtu = None,
        }
        lifted
    }

    /// What makes the hosts ordinary: the lab has a route to each host, with metrics; a host elsewhere has one to a network.
    /// The receiver's may have a fault.
    pub fn preparation(&self) -> Vec<HostLine> {
        let (first_hop, network) = match self.hidden_mtu {
            Some(_) => ("first", "10.77.1"),
            None => ("line", "10.77.0"),
        };
        let advmss = self.mss_bytes.map_or_else(String::new, |mss| format!(" advmss {mss}"));
        let mut lines = vec![
            HostLine::new(
                "sender",
                format!(
                    "ip route del {network}.2 && ip route replace {network}.0/24 dev {first_hop} src 10.77.0.1"
                ),
            ),
            HostLine::new(
                "receiver",
                format!(
                    "ip route del 10.77.0.1 && ip route replace 10.77.0.0/24 dev line src {network}.2{advmss}"
                ),
            ),
        ];
        if self.window_bytes.is_some() && self.is_first_buffer {
            lines.push(HostLine::new("receiver", "sysctl -q -w net.ipv4.tcp_moderate_rcvbuf=0"));
        }
        lines
    }
}
