//! Segment sizes that the ends offer each other.

use std::net::IpAddr;

use maxseg_core::framing::Headers;
use maxseg_linux::far_end::SynAsReceived;
use maxseg_linux::probe::tcp::offer::{OfferedMss, PortOffer, PortState, offers};

use super::MtuReport;

/// The MSS options of both ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MssReport {
    /// What this host's SYN offers.
    pub sent_bytes: Option<u32>,
    /// That option as the far end received it; a far end alone can tell.
    pub received_bytes: Option<u32>,
    /// What the far side's SYN-ACK offers, as it arrives here: of the port that was named, else of the first that is open.
    pub offered_bytes: Option<u32>,
    /// The ports that were asked.
    pub ports: Vec<PortMss>,
    /// What lowers an option on the way.
    pub clamped_by: Option<String>,
    /// What the far side's offer shows beside the path MTU.
    pub remark: Option<String>,
}

/// What a port offers.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct PortMss {
    /// The port.
    pub port: u16,
    /// Whether it takes connections.
    pub state: PortMssState,
    /// What its SYN-ACK offers, bytes.
    pub offered_bytes: Option<u32>,
    /// It may offer more: without `CAP_NET_RAW` a larger one than this host can use is not seen.
    pub is_at_least: bool,
    /// What the handshake took, seconds.
    pub rtt_s: Option<f64>,
}

/// Whether a port takes connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PortMssState {
    /// It does.
    Open,
    /// The host refuses them.
    Closed,
    /// A router or the host rejects a SYN by ICMP: unreachable, or prohibited.
    Rejected,
    /// Nothing answers a SYN.
    NoAnswer,
}

/// The ports that are asked besides the one that is named: HTTPS, HTTP, SSH.
const PORTS: [u16; 3] = [443, 80, 22];

/// The segment size of packets of this size to an address, without TCP options.
pub(super) fn segment_in(packet: u32, address: IpAddr) -> u32 {
    packet.saturating_sub(Headers::plain(address.into()).octets())
}

impl MssReport {
    /// Asks the named port and the usual ones for a connection each, which is closed again without a byte.
    ///
    /// # Errors
    /// A socket cannot be made.
    pub(super) fn measure(
        address: IpAddr,
        named: Option<u16>,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> std::io::Result<Self> {
        let usual = PORTS.into_iter().filter(|port| Some(*port) != named);
        let ports: Vec<u16> = named.into_iter().chain(usual).collect();
        let offers_of = |ports: &[u16]| offers(address, ports, is_over);
        let mut offers = offers_of(&ports)?;
        // What is said of a named port must not hang on three SYNs of a path that loses many.
        if let Some(first) = offers.first_mut().filter(|first| Some(first.port) == named)
            && first.state == PortState::NoAnswer
        {
            *first = offers_of(&[first.port])?.into_iter().next().unwrap_or_else(|| first.clone());
        }
        let ports: Vec<PortMss> = offers.iter().map(PortMss::of).collect();
        let offered_bytes = ports.iter().find_map(|port| port.offered_bytes);
        let sent_bytes = offers.iter().find_map(|offer| offer.sent_mss).map(u32::from);
        Ok(Self { sent_bytes, offered_bytes, ports, ..Self::default() })
    }

    /// The ports that take connections.
    pub(super) fn open_ports(&self) -> Vec<u16> {
        let is_open = |port: &&PortMss| port.state == PortMssState::Open;
        self.ports.iter().filter(is_open).map(|port| port.port).collect()
    }

    /// The far side's offer, bytes, where all of it is seen.
    pub(super) fn exact_offer(&self) -> Option<u32> {
        let is_exact = |port: &&PortMss| port.offered_bytes.is_some() && !port.is_at_least;
        self.ports.iter().find(is_exact).and_then(|port| port.offered_bytes)
    }

    /// Compares the far side's offer with the path MTU: which of two causes makes it smaller cannot be told from here.
    pub(super) fn compare(&mut self, mtu: &MtuReport, address: IpAddr) {
        let (Some(offered), Some(mtu)) = (self.exact_offer(), mtu.forward_bytes) else { return };
        let fits = segment_in(mtu, address);
        if offered < fits {
            self.remark = Some(format!(
                "the far side offers an MSS of {offered}, and packets for {fits} arrive: either its link has a smaller MTU, or the \
                 option is lowered on the way"
            ));
        }
    }

    /// What became on the way of the option that this host's SYN to a far end offered.
    pub(super) fn compare_syn(&mut self, sent: Option<u32>, syn: &SynAsReceived) {
        self.sent_bytes = sent.or(self.sent_bytes);
        self.received_bytes = syn.mss.map(u32::from);
        let lowered = self.sent_bytes.zip(self.received_bytes);
        self.clamped_by = lowered.filter(|(sent, received)| received < sent).map(|(sent, received)| {
            format!("a host or router on the way lowers this host's MSS option from {sent} to {received}")
        });
    }

    /// The port by which TCP's probes go: the named one, else the first that is open.
    pub(super) fn open_port(&self) -> Option<u16> {
        self.open_ports().first().copied()
    }
}

impl PortMss {
    fn of(offer: &PortOffer) -> Self {
        let (offered_bytes, is_at_least) = match offer.mss {
            Some(OfferedMss::Exactly(mss)) => (Some(mss.into()), false),
            Some(OfferedMss::AtLeast(mss)) => (Some(mss.into()), true),
            None => (None, false),
        };
        let state = match offer.state {
            PortState::Open => PortMssState::Open,
            PortState::Closed => PortMssState::Closed,
            PortState::Rejected => PortMssState::Rejected,
            PortState::NoAnswer => PortMssState::NoAnswer,
        };
        let rtt_s = offer.rtt.map(|rtt| rtt.as_secs_f64());
        Self { port: offer.port, state, offered_bytes, is_at_least, rtt_s }
    }
}
