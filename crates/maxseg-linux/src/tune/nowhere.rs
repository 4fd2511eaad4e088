//! Why a route to some destinations would do nothing, or harm.

use std::fmt;

use maxseg_core::tune::Prefix;

/// Why nothing is sent there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nowhere {
    /// A route keeps the packets from leaving: its kind, as ip-route(8) has it, and its destinations.
    Held(&'static str, Prefix),
    /// They are addresses of this host, or broadcast addresses of its links.
    Own,
    /// TCP has no connections to groups.
    Multicast,
}

impl Nowhere {
    /// What to do instead.
    pub fn hint(&self, prefix: Prefix) -> String {
        match self {
            Self::Held(kind, by) => format!(
                "`ip route show {by}` has it; where they are to leave: ip route del {kind} {by}"
            ),
            Self::Own => format!(
                "`ip route get {}` shows where they go; the MTU of what stays on this host is that of lo: --set interface.lo.mtu=1500",
                prefix.address()
            ),
            Self::Multicast => "name the destinations of connections".to_owned(),
        }
    }
}

impl fmt::Display for Nowhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(kind, by) => {
                write!(
                    f,
                    "`{kind} {by}` keeps these packets from leaving, and a route to them would let them out"
                )
            }
            Self::Own => f.write_str(
                "they are this host's own (table local), which no route of the main table changes",
            ),
            Self::Multicast => f.write_str("they are groups, to which TCP has no connections"),
        }
    }
}
