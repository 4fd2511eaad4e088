//! Networks of one hop that is the same both ways.

/// A network, and what its hosts are set to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// What passes in the long run, bits a second of IP packets.
    pub(super) rate_bps: f64,
    /// The rate of the wire: that of a policed path is higher.
    pub(super) wire_bps: f64,
    /// Propagation, one way.
    pub(super) delay_s: f64,
    /// The cause that the test is to give, both ways.
    pub(super) cause: &'static str,
    /// Further keys of the hop.
    pub(super) hop: &'static str,
    /// Whether windows are so small that acknowledgements wait for the receiver's timer, which no link counts.
    pub(super) has_late_acks: bool,
    /// Hosts with a sysctl each.
    pub(super) sysctls: &'static [(&'static str, &'static str)],
}

/// A window of 64 KiB at each end.
const SMALL_WINDOWS: [(&str, &str); 2] = [
    ("sender", "net.ipv4.tcp_rmem=4096 65536 65536"),
    ("receiver", "net.ipv4.tcp_rmem=4096 65536 65536"),
];

impl Case {
    /// One for each interpretation.
    pub(super) const ALL: [Self; 5] = [
        Self {
            name: "plain",
            cause: "shaping",
            rate_bps: 50e6,
            wire_bps: 50e6,
            delay_s: 0.020,
            hop: "queue = \"200 packets\"",
            has_late_acks: false,
            sysctls: &[],
        },
        Self {
            name: "window",
            cause: "window",
            rate_bps: 50e6,
            wire_bps: 50e6,
            delay_s: 0.020,
            hop: "queue = \"400 packets\"",
            has_late_acks: false,
            sysctls: &SMALL_WINDOWS,
        },
        Self {
            name: "bufferbloat",
            cause: "bufferbloat",
            rate_bps: 20e6,
            wire_bps: 20e6,
            delay_s: 0.020,
            hop: "queue = \"500 packets\"",
            has_late_acks: false,
            sysctls: &[],
        },
        Self {
            name: "loss",
            cause: "loss",
            rate_bps: 30e6,
            wire_bps: 30e6,
            delay_s: 0.020,
            hop: "queue = \"300 packets\"\n\
                  errors = { model = \"uniform\", per = \"packet\", rate = 0.005 }\n\
                  reverse = { errors = { model = \"uniform\", per = \"packet\", rate = 0.005 } }",
            has_late_acks: true,
            sysctls: &[],
        },
        Self {
            name: "policed",
            cause: "policing",
            rate_bps: 20e6,
            wire_bps: 100e6,
            delay_s: 0.020,
            hop: "queue = \"500 packets\"\npolicer = { rate = \"20 Mbit/s\", burst = \"256 KiB\" }",
            has_late_acks: false,
            sysctls: &[],
        },
    ];

    /// The network as a scenario.
    pub(super) fn scenario(&self) -> String {
        format!(
            "[[hop]]\nname = \"access\"\nrate = \"{:.0} bit/s\"\ndelay = \"{:.0} us\"\n{}\n\n[until]\ntime = \"1 s\"\n",
            self.wire_bps,
            self.delay_s * 1e6,
            self.hop
        )
    }

    /// The ideal throughput: whole packets of 1500 bytes in a second, their payload with timestamps.
    pub(super) fn ideal_bps(&self) -> f64 {
        (self.rate_bps / (8.0 * PACKET)).floor() * 8.0 * PAYLOAD
    }

    /// How long a packet is on the wire.
    pub(super) fn wire_s(&self, bytes: f64) -> f64 {
        8.0 * bytes / self.wire_bps
    }

    /// The round trip of the test's small messages: 5 bytes of them, or 7, in a packet with timestamps.
    pub(super) fn baseline_s(&self) -> f64 {
        2.0 * (self.delay_s + self.wire_s(SMALL))
    }
}

/// A full packet, its payload, and a small one.
pub(super) const PACKET: f64 = 1500.0;
pub(super) const PAYLOAD: f64 = 1448.0;
pub(super) const SMALL: f64 = 59.0;
/// An acknowledgement.
pub(super) const ACK: f64 = 52.0;
