//! What a reader of a path test should know.

/// A fact about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFinding {
    /// What kind of fact.
    pub kind: PathFindingKind,
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
    /// Large packets vanish, and no message says so.
    BlackHole,
    /// A router states an MTU that is too small, or that larger packets contradict.
    WrongMessage,
    /// Paths of equal cost have different MTUs.
    UnequalFlows,
    /// The path takes less than the interface of this host.
    SmallMtu,
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
            Self::BlackHole => "black-hole",
            Self::WrongMessage => "wrong-message",
            Self::UnequalFlows => "unequal-flows",
            Self::SmallMtu => "small-mtu",
            Self::LearntMtu => "learnt-mtu",
            Self::Loss => "loss",
            Self::MssClamped => "mss-clamped",
        }
    }

    /// Whether it is a fault: the program ends with exit code 3.
    pub const fn is_fault(self) -> bool {
        match self {
            Self::BlackHole | Self::WrongMessage | Self::UnequalFlows => true,
            Self::SmallMtu | Self::LearntMtu | Self::Loss | Self::MssClamped => false,
        }
    }
}
