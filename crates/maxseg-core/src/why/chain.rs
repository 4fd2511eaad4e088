//! A number of a running connection with everything that bounds it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::Bytes;

/// What bounds a segment size or a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The MTU of the interface.
    InterfaceMtu,
    /// `mtu` of the route.
    RouteMtu,
    /// The path MTU that the host has learnt from ICMP, or that the connection goes by and nothing on the host has.
    PathMtu,
    /// The kernel's `mss_clamp`: the peer's MSS option as it arrived, or `TCP_MAXSEG` where that is less.
    MssClamp,
    /// The MSS option of the peer's SYN.
    PeerOption,
    /// A clamp of the MSS option, on this host or on the way.
    PathClamp,
    /// `TCP_MAXSEG`, set by the program before the connection began.
    UserMss,
    /// `tcp_mtu_probing`.
    MtuProbing,
    /// Half of the largest window that the peer has offered, or all of a small one.
    PeerWindow,
    /// `tcp_min_snd_mss`.
    Floor,
    /// `advmss` of the route.
    RouteAdvmss,
    /// The window scale option: 65 535 bytes, shifted.
    WindowScale,
    /// `window` of the route.
    RouteWindow,
    /// `TCP_WINDOW_CLAMP`: the program's, or what the kernel has made of the receive buffer.
    WindowClamp,
    /// `SO_RCVBUF`, set by the program.
    SocketBuffer,
    /// `net.core.rmem_max`, the most that `SO_RCVBUF` may be.
    RmemMax,
    /// The third number of `net.ipv4.tcp_rmem`, the most that autotuning gives.
    TcpRmem,
    /// The receive buffer as autotuning has made it: it follows what the program reads in a round trip.
    Autotuning,
    /// How far the window has grown with the data that arrived (`rcv_ssthresh`).
    Growth,
    /// Data that the program has not read.
    UnreadData,
}

/// One bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What it is.
    pub source: Source,
    /// As it is set or known: an MTU, an MSS option, a buffer. `None` where it is not set, or not known.
    pub value: Option<Bytes>,
    /// How much it allows of the number. `None` where it bounds nothing, or that is not known.
    pub allows: Option<Bytes>,
    /// Both are only known to be no less.
    pub is_least: bool,
    /// Whether it is the bound that holds.
    pub wins: bool,
    /// Things that a running socket does not tell apart: the bound is one of them.
    pub one_of: Vec<Source>,
    /// What else there is to know; a clause without a full stop.
    pub note: Option<String>,
}

/// A number with its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The number.
    pub effective: Bytes,
    /// Its bounds.
    pub links: Vec<Link>,
    /// Why none is known to hold; a clause without a full stop.
    pub unexplained: Option<String>,
}

impl Link {
    pub(super) const fn new(source: Source, value: Option<Bytes>, allows: Option<Bytes>) -> Self {
        Self { source, value, allows, is_least: false, wins: false, one_of: Vec::new(), note: None }
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(super) fn at_least(self) -> Self {
        Self { is_least: true, ..self }
    }
}

impl Chain {
    /// The bound that holds; `None` where that is not known.
    pub fn winner(&self) -> Option<&Link> {
        self.links.iter().find(|link| link.wins)
    }

    /// The bound of a source.
    pub fn link(&self, source: Source) -> Option<&Link> {
        self.links.iter().find(|link| link.source == source)
    }

    /// Marks the bound that holds.
    pub(super) fn let_win(&mut self, source: Source) {
        if let Some(link) = self.links.iter_mut().find(|link| link.source == source) {
            link.wins = true;
        }
    }

    pub(super) fn note(&mut self, source: Source, note: impl Into<String>) {
        if let Some(link) = self.links.iter_mut().find(|link| link.source == source) {
            link.note = Some(note.into());
        }
    }
}
