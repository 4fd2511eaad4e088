//! A fact about a path.

use maxseg_core::path_mtu::Confidence;

/// A fact about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFinding {
    /// What kind of fact.
    pub kind: PathFindingKind,
    /// How sure it is.
    pub confidence: Confidence,
    /// The fact in a sentence.
    pub text: String,
    /// What to do about it, where something can be done.
    pub remedy: Option<String>,
}

/// Kinds of facts about a path, the gravest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PathFindingKind {
    /// Routers send the packets round in a circle.
    RoutingLoop,
    /// The host answers nothing at all, and routers on the way do.
    HostSilent,
    /// The host refuses connections to the port that was named.
    PortRefused,
    /// Nothing answers a SYN to the port that was named.
    PortSilent,
    /// Routers say that packets are too big, and this host drops what they say.
    MessageDroppedHere,
    /// Large packets vanish, and no message says so.
    BlackHole,
    /// A router states an MTU that is too small, that larger packets contradict, or that is no smaller than the packet that it refuses;
    /// or none.
    WrongMessage,
    /// Paths of equal cost have different MTUs.
    UnequalFlows,
    /// Large packets are lost, and small ones are not.
    LargeLoss,
    /// The path takes less than the interface of this host.
    SmallMtu,
    /// The route of this host has an MTU that is less than the path takes.
    RouteMtu,
    /// This host's kernel remembers a path MTU, which shrinks its connections.
    LearntMtu,
    /// A tenth or more of the packets are lost.
    Loss,
    /// An MSS option is changed on the way.
    MssClamped,
}

impl PathFindingKind {
    /// As documents have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RoutingLoop => "routing-loop",
            Self::HostSilent => "host-silent",
            Self::PortRefused => "port-refused",
            Self::PortSilent => "port-silent",
            Self::MessageDroppedHere => "message-dropped-here",
            Self::BlackHole => "black-hole",
            Self::WrongMessage => "wrong-message",
            Self::UnequalFlows => "unequal-flows",
            Self::LargeLoss => "large-loss",
            Self::SmallMtu => "small-mtu",
            Self::RouteMtu => "route-mtu",
            Self::LearntMtu => "learnt-mtu",
            Self::Loss => "loss",
            Self::MssClamped => "mss-clamped",
        }
    }

    /// Whether it is a fault: the program ends with exit code 3.
    pub const fn is_fault(self) -> bool {
        match self {
            Self::RoutingLoop
            | Self::HostSilent
            | Self::PortRefused
            | Self::PortSilent
            | Self::MessageDroppedHere
            | Self::BlackHole
            | Self::WrongMessage
            | Self::UnequalFlows
            | Self::LargeLoss => true,
            Self::SmallMtu | Self::RouteMtu | Self::LearntMtu | Self::Loss | Self::MssClamped => {
                false
            }
        }
    }
}
