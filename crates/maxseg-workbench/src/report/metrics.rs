//! The numbers of outcomes that pages show.

use maxseg_core::outcome::Outcome;
use maxseg_core::results::Group;

use super::marks::mark;
use super::words;

/// A number of an outcome, as a column of a page.
pub(super) struct Metric {
    /// Its key in JSON.
    pub(super) key: &'static str,
    /// The heading.
    pub(super) title: &'static str,
    /// Its value in an outcome, that of a run or of one of its flows.
    pub(super) of: fn(&Outcome) -> Option<f64>,
    pub(super) write: fn(f64) -> String,
}

/// In the order of the columns.
pub(super) const METRICS: [Metric; 19] = [
    Metric {
        key: "goodput_bps",
        title: "goodput",
        of: Outcome::headline_goodput_bps,
        write: words::rate,
    },
    Metric {
        key: "segment_loss",
        title: "segments lost",
        of: |o| o.segment_loss,
        write: words::percent,
    },
    Metric { key: "rtt_min_s", title: "RTT least", of: |o| o.rtt_min_s, write: words::time },
    Metric { key: "rtt_mean_s", title: "RTT mean", of: |o| o.rtt_mean_s, write: words::time },
    Metric { key: "rtt_p99_s", title: "RTT p99", of: |o| o.rtt_p99_s, write: words::time },
    Metric { key: "ping_mean_s", title: "ping mean", of: |o| o.ping_mean_s, write: words::time },
    Metric { key: "ping_p99_s", title: "ping p99", of: |o| o.ping_p99_s, write: words::time },
    Metric { key: "requests", title: "requests", of: |o| count(o.requests), write: words::count },
    Metric {
        key: "request_mean_s",
        title: "request mean",
        of: |o| o.request_mean_s,
        write: words::time,
    },
    Metric {
        key: "request_p50_s",
        title: "request median",
        of: |o| o.request_p50_s,
        write: words::time,
    },
    Metric {
        key: "request_p99_s",
        title: "request p99",
        of: |o| o.request_p99_s,
        write: words::time,
    },
    Metric {
        key: "queue_mean_s",
        title: "queueing delay",
        of: |o| o.queue_mean_s,
        write: words::time,
    },
    Metric {
        key: "data_packets",
        title: "data packets",
        of: |o| count(o.data_packets),
        write: words::digits,
    },
    Metric {
        key: "retransmitted_packets",
        title: "retransmitted",
        of: |o| count(o.retransmitted_packets),
        write: words::digits,
    },
    Metric {
        key: "spurious_retransmissions",
        title: "spurious retransmissions",
        of: |o| count(o.spurious_retransmissions),
        write: words::digits,
    },
    Metric { key: "timeouts", title: "timeouts", of: |o| count(o.timeouts), write: words::digits },
    Metric {
        key: "fast_retransmits",
        title: "fast retransmits",
        of: |o| count(o.fast_retransmits),
        write: words::digits,
    },
    Metric {
        key: "mss_used_bytes",
        title: "MSS used",
        of: |o| count(o.mss_used_bytes),
        write: words::digits_whole,
    },
    Metric {
        key: "cpu_s_per_gbit",
        title: "CPU per Gbit",
        of: |o| o.cpu_s_per_gbit,
        write: words::time,
    },
];

fn count(count: Option<u64>) -> Option<f64> {
    count.map(|n| n as f64)
}

impl Metric {
    pub(super) fn is_goodput(&self) -> bool {
        self.key == "goodput_bps"
    }

    /// What ends agree on, rather than what chance makes of it.
    pub(super) fn is_chosen(&self) -> bool {
        self.key == "mss_used_bytes"
    }

    /// The mean; `None` where no run knows it.
    pub(super) fn mean(&self, group: &Group<'_>) -> Option<f64> {
        Some(group.headline(self.of)?.mean)
    }

    /// The mean in words; of a goodput with its confidence interval, and with a mark where it is not to be
    /// relied on.
    pub(super) fn show(&self, group: &Group<'_>) -> String {
        let Some(summary) = group.headline(self.of) else { return "–".to_owned() };
        let mean = (self.write)(summary.mean);
        if !self.is_goodput() {
            return mean;
        }
        let mean = format!("{}{mean}", mark(group));
        match summary.ci95() {
            Some(half) if half > 0.0 => format!("{mean} ± {}", (self.write)(half)),
            Some(_) | None => mean,
        }
    }
}
