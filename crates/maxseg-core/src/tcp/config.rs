use crate::framing::TCP_TIMESTAMPS;
use crate::scenario::{Flow, MssDecision, Scenario};
use crate::settings::{MssOption, Settings, WindowScale};
use crate::units::{Bytes, Mss};

/// What both ends of one connection agreed on, and the settings that each keeps to.
#[derive(Debug, Clone)]
pub struct Config {
    /// Settings of the data's sender.
    pub sender: Settings,
    /// Settings of the data's receiver.
    pub receiver: Settings,
    /// Payload of a full segment: the smaller MSS option, within the path's MTU.
    pub mss: Mss,
    /// The same were the MTU of any size.
    pub clamp: Mss,
}

impl Config {
    /// Whether acknowledgements carry SACK blocks: both ends must be willing (RFC 2018 §2).
    pub const fn uses_sack(&self) -> bool {
        self.sender.sack && self.receiver.sack
    }

    /// Whether segments carry timestamps: both ends must be willing (RFC 7323 §3.2).
    pub const fn uses_timestamps(&self) -> bool {
        self.sender.timestamps && self.receiver.timestamps
    }

    /// Whether queues may mark packets instead of dropping them: both ends must be willing (RFC 3168
    /// §6.1.1).
    pub const fn uses_ecn(&self) -> bool {
        self.sender.ecn && self.receiver.ecn
    }

    /// How many SACK blocks fit an acknowledgement: four, or three beside timestamps (RFC 2018 §3), or
    /// what ns-2 sends.
    pub const fn sack_blocks(&self) -> usize {
        if self.uses_timestamps() || self.receiver.ns2.is_some() { 3 } else { 4 }
    }

    /// Payload bytes of a full segment.
    pub const fn mss(&self) -> Bytes {
        self.mss.bytes()
    }

    /// Whether headers have options: a simulator's stack without a window field has none.
    pub fn has_options(&self) -> bool {
        self.receiver.window_scale != WindowScale::Unlimited
    }

    /// Bytes of the options in the SYN of `host`: MSS (RFC 9293 §3.7.1), window scale (RFC 7323 §2.2), SACK permitted
    /// (RFC 2018 §2), which fills what pads the timestamps (RFC 7323 appendix A).
    pub fn syn_options(&self, host: &Settings) -> Bytes {
        if !self.has_options() {
            return Bytes::ZERO;
        }
        let mss = if host.mss_option == Some(MssOption::Absent) { 0 } else { 4 };
        let scale = if self.receiver.window_scale == WindowScale::Off { 0 } else { 4 };
        let rest = match (self.uses_timestamps(), self.uses_sack()) {
            (true, _) => TCP_TIMESTAMPS,
            (false, true) => Bytes::new(4),
            (false, false) => Bytes::ZERO,
        };
        Bytes::new(mss + scale) + rest
    }

    /// What the ends of a flow with data one way agree on; hosts that run Linux's own TCP find that in its handshake.
    pub fn one_way(scenario: &Scenario, flow: &Flow) -> Self {
        let (sender, receiver) = if scenario.runs_linux(flow) {
            scenario.settings_in_use(flow)
        } else {
            scenario.agreed_settings(flow)
        };
        let MssDecision { initial: mss, clamp, .. } = scenario.mss(flow);
        Self { sender, receiver, mss, clamp }
    }

    /// What the ends of a request flow agree on: for its requests, and for its replies.
    pub fn both_ways(scenario: &Scenario, flow: &Flow) -> (Self, Self) {
        let (client, server) = scenario.agreed_settings(flow);
        let MssDecision { initial: mss, clamp, .. } = scenario.mss(flow);
        let requests = Self { sender: client.clone(), receiver: server.clone(), mss, clamp };
        let MssDecision { initial: mss, clamp, .. } = scenario.mss(&flow.reversed());
        (requests, Self { sender: server, receiver: client, mss, clamp })
    }
}
