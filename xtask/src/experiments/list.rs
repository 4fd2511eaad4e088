//! The experiments of the pages: which points of which scenario, which numbers, and what the document has.

use maxseg_core::outcome::Outcome;

/// An experiment, which is a table of its page: points of a scenario by every engine.
#[derive(Debug)]
pub(super) struct Experiment {
    /// The page in `docs/`, without its ending.
    pub(super) page: &'static str,
    /// The shipped scenario.
    pub(super) scenario: &'static str,
    /// Keys that are set: times that real runs can take.
    pub(super) set: &'static [&'static str],
    /// Keys that are swept; the scenario's own sweep where there are none.
    pub(super) axes: &'static [&'static str],
    /// The columns.
    pub(super) measures: &'static [Measure],
    /// Why there is no column of the stack `linux`, in simulator and lab.
    pub(super) without_linux: Option<&'static str>,
}

/// A number of a run.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) title: &'static str,
    pub(super) of: fn(&Outcome) -> Option<f64>,
    /// What the document has, point by point; empty where it has no such number.
    pub(super) document: &'static [f64],
}

const fn measure(title: &'static str, of: fn(&Outcome) -> Option<f64>) -> Measure {
    Measure { title, of, document: &[] }
}

const MBITS: Measure = measure("Mbit/s", |run| Some(run.headline_goodput_bps()? / 1e6));
const SECONDS: Measure = measure("s", |run| run.elapsed_s);
const KIB: fn(&Outcome) -> Option<f64> = |run| {
    // Of the download, where it is one of several flows.
    let download = run.flows.first().unwrap_or(run);
    Some(download.goodput_bps? / 8192.0)
};
const PING: fn(&Outcome) -> Option<f64> = |run| run.ping_mean_s;

pub(super) const EXPERIMENTS: [Experiment; 12] = [
    Experiment {
        page: "open-transport-modem",
        scenario: "open-transport-modem",
        set: &["until.time=30 s"],
        axes: &[],
        measures: &[
            Measure {
                title: "KiB/s",
                of: KIB,
                document: &[
                    1.8, 2.7, 2.8, 2.7, 2.7, 2.7, 2.7, 2.7, 2.7, 2.6, 2.1, 2.4, 2.5, 1.3, 1.4, 0.9,
                ],
            },
            Measure {
                title: "ping, s",
                of: PING,
                document: &[
                    4.4, 4.0, 2.6, 1.1, 1.2, 1.4, 1.0, 0.7, 0.5, 0.7, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2,
                ],
            },
        ],
        without_linux: None,
    },
    Experiment {
        page: "browse-while-downloading",
        scenario: "browse-while-downloading",
        set: &["until.time=60 s"],
        axes: &[],
        measures: &[
            measure("page, s", |run| run.request_mean_s),
            measure("ping, s", PING),
            measure("download, KiB/s", KIB),
        ],
        without_linux: None,
    },
    Experiment {
        page: "slow-link-tune-up",
        scenario: "slow-link-tune-up",
        set: &[],
        axes: &[],
        measures: &[
            SECONDS,
            measure("segments repeated", |run| Some(run.retransmitted_packets? as f64)),
            measure("of them for nothing", |run| Some(run.spurious_retransmissions? as f64)),
        ],
        without_linux: None,
    },
    Experiment {
        page: "cable-modem",
        scenario: "cable-modem",
        set: &["until.time=10 s"],
        axes: &["receiver.window=12 segments,44 segments,66 segments,69 segments,100 segments"],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "fddi-long-delay",
        scenario: "fddi-long-delay",
        set: &["until.time=10 s"],
        axes: &[
            "receiver.window=16 KiB,64 KiB,128 KiB,192 KiB,256 KiB,512 KiB,896 KiB",
            "until.bytes=2048 MB",
        ],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "freebsd-route-pipe",
        scenario: "freebsd-route-pipe",
        set: &[],
        axes: &[],
        measures: &[MBITS],
        without_linux: Some("Linux has no buffer size on a route"),
    },
    Experiment {
        page: "stcp-ftp",
        scenario: "stcp-ftp",
        set: &[],
        axes: &[],
        measures: &[Measure { document: &[2.711, 1.966], ..SECONDS }],
        without_linux: None,
    },
    Experiment {
        page: "fragmenting-router",
        scenario: "fragmenting-router",
        set: &["until.time=20 s"],
        axes: &["hop.narrow.errors.rate=0%,1%,5%", "sender.mss=536,1460"],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "jumbo-frames",
        scenario: "jumbo-frames",
        set: &["until.time=1 s"],
        axes: &[],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "jumbo-wan",
        scenario: "jumbo-wan",
        set: &["until.time=10 s"],
        axes: &[],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "cellular-arq",
        scenario: "cellular-arq",
        set: &["until.time=30 s"],
        axes: &["hop.radio.errors.rate=0%,1%,5%", "sender.mss=88,1460"],
        measures: &[MBITS],
        without_linux: None,
    },
    Experiment {
        page: "cellular-requests",
        scenario: "cellular-requests",
        set: &["flow.0.reply=20 KiB", "flow.0.count=10"],
        axes: &["hop.radio.errors.rate=0%,2%", "sender.mss=88,536,1460"],
        measures: &[measure("request, s", |run| run.request_mean_s)],
        without_linux: None,
    },
];
