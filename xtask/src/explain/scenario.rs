//! A setup as a scenario's file.

use std::fmt::Write as _;

use super::setup::{Cross, OtherHop, Pace, Setup};
use crate::draws::Engine;

/// What a hop next to the line holds, in seconds of its rate: it never drops.
const AMPLE_QUEUE_S: f64 = 2.0;
/// Payload of a datagram of other traffic, in bytes.
pub(super) const DATAGRAM_PAYLOAD: u16 = 1200;

impl Setup {
    /// The scenario as a file.
    pub fn to_toml(&self) -> String {
        let mut text = format!("seed = {}\n", self.seed);
        if let Some(Pace::Shaper { rate_bps, burst_bytes }) = self.pace {
            let queue = AMPLE_QUEUE_S * rate_bps as f64 / 8.0;
            let _ = write!(
                text,
                "[[hop]]\nname = \"shaper\"\nrate = \"{rate_bps} bit/s\"\ndelay = \"0.01 ms\"\nqueue = \"{queue:.0} B\"\n\
                 burst = \"{burst_bytes} B\"\n[hop.reverse]\nrate = \"900 Mbit/s\"\n"
            );
        }
        let other = self.other_hop;
        if let Some(hop) = other.filter(|hop| hop.is_first) {
            self.other_hop_to(&mut text, hop);
        }
        self.line_to(&mut text);
        if let Some(hop) = other.filter(|hop| !hop.is_first) {
            self.other_hop_to(&mut text, hop);
        }
        self.hosts_to(&mut text);
        self.flows_to(&mut text);
        text.push_str(&self.application.to_until(self.seconds));
        let _ = match self.pace {
            Some(Pace::Writes(bps)) => writeln!(text, "[lab]\nwrite_rate = \"{bps} bit/s\""),
            Some(Pace::Socket(bps)) => writeln!(text, "[lab]\npacing_rate = \"{bps} bit/s\""),
            Some(Pace::Shaper { .. }) | None => Ok(()),
        };
        text
    }

    /// The name of the hop that begins at the sender.
    pub(super) fn first_hop(&self) -> &'static str {
        let begins_with_other = self.other_hop.is_some_and(|hop| hop.is_first);
        match self.pace {
            Some(Pace::Shaper { .. }) => "shaper",
            _ if begins_with_other => "other",
            _ => "line",
        }
    }

    fn line_to(&self, text: &mut String) {
        let share = 1.0 - self.other_hop.map_or(0.0, |hop| hop.share_of_rtt);
        let _ = writeln!(
            text,
            "[[hop]]\nname = \"line\"\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = \"{} B\"",
            self.rate_bps,
            self.rtt_s * share * 500.0,
            self.queue_bytes
        );
        if self.loss > 0.0 {
            let _ = writeln!(
                text,
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.6} }}",
                self.loss
            );
        }
        if let Some((rate, burst)) = self.line.policer {
            let _ =
                writeln!(text, "policer = {{ rate = \"{rate} bit/s\", burst = \"{burst} B\" }}");
        }
        if self.line.reorder > 0.0 {
            let _ = writeln!(text, "reorder = \"{:.3}%\"", 100.0 * self.line.reorder);
        }
        text.push_str("[hop.reverse]\n");
        if self.line.policer.is_some() {
            text.push_str("policer = false\n");
        }
        if self.line.reorder > 0.0 {
            text.push_str("reorder = \"0%\"\n");
        }
        if let Some((rate, queue)) = self.line.reverse {
            let _ = writeln!(text, "rate = \"{rate} bit/s\"\nqueue = \"{queue} B\"");
        }
    }

    fn other_hop_to(&self, text: &mut String, hop: OtherHop) {
        let _ = writeln!(
            text,
            "[[hop]]\nname = \"other\"\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = \"{:.0} B\"",
            hop.rate_bps,
            self.rtt_s * hop.share_of_rtt * 500.0,
            AMPLE_QUEUE_S * hop.rate_bps as f64 / 8.0
        );
    }

    fn hosts_to(&self, text: &mut String) {
        // In the lab that leaves the kernel as it is.
        let stack = match self.engine {
            Engine::Lab => "rfc",
            Engine::Sim => "linux",
        };
        let host = format!(
            "stack = \"{stack}\"\nsack = {}\ntimestamps = {}\ninitial_window = \"10 segments\"\nrto = {{ min = \"200 ms\" }}\n{}",
            self.sack,
            self.timestamps,
            self.mss_bytes.map(|mss| format!("mss = {mss}\n")).unwrap_or_default()
        );
        let _ = write!(text, "[sender]\n{host}congestion = \"{}\"\n", self.congestion.word());
        if let Some(bytes) = self.send_buffer_bytes {
            let _ = writeln!(text, "send_buffer = \"{bytes} B\"");
        }
        let _ = write!(text, "[receiver]\n{host}window = \"{} B\"\n", self.window_bytes);
        if let Some(rate) = self.read_bps {
            let _ = writeln!(text, "read_rate = \"{rate} bit/s\"");
        }
    }

    fn flows_to(&self, text: &mut String) {
        text.push_str(&self.application.to_flow());
        let _ = match self.cross {
            Some(Cross::Datagrams(bps)) => writeln!(
                text,
                "[[flow]]\nkind = \"cbr\"\nhops = [\"line\"]\nrate = \"{bps} bit/s\"\nsize = {DATAGRAM_PAYLOAD}"
            ),
            Some(Cross::Transfers(count)) => (0..count)
                .try_for_each(|_| writeln!(text, "[[flow]]\nkind = \"bulk\"\nhops = [\"line\"]")),
            None => Ok(()),
        };
    }
}
