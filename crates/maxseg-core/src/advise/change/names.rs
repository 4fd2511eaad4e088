//! How changes are called: in the names of advice, and several in one line.

use super::Change;
use crate::scenario::Scenario;

/// The words for all kinds of change ([`Change::kind`]).
#[rustfmt::skip]
const KINDS: [&str; 21] = [
    "window", "receive-buffer", "first-receive-buffer", "send-buffer", "mss", "mtu", "clamp", "congestion", "initial-window", "rto-min",
    "rto-initial", "pacing", "mtu-probing", "slow-start-after-idle", "reordering", "read-at-once", "icmp", "queue", "fair-queue", "codel",
    "no-errors",
];

/// Where changes are made, where that is no address.
const PLACES: [&str; 6] = ["sender", "receiver", "route", "host", "gateway", "path"];

impl Change {
    /// Whether a word is the name of an advice: a kind of change and where it is made, `window-receiver`.
    pub fn is_name(name: &str) -> bool {
        let places =
            KINDS.into_iter().filter_map(|kind| name.strip_prefix(kind)?.strip_prefix('-'));
        // Addresses have `-` for their dots and colons.
        let is_address = |place: &str| {
            place.contains('-') && place.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        };
        places.into_iter().any(|place| PLACES.contains(&place) || is_address(place))
    }

    /// The word for its kind, in JSON and in the names of advice.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Window(_) => "window",
            Self::ReceiveBuffer(_) => "receive-buffer",
            Self::FirstReceiveBuffer(_) => "first-receive-buffer",
            Self::SendBuffer(_) => "send-buffer",
            Self::SegmentSize(_) => "mss",
            Self::Mtu(_) => "mtu",
            Self::Clamp(_) => "clamp",
            Self::Congestion(_) => "congestion",
            Self::InitialWindow(_) => "initial-window",
            Self::RtoMin(_) => "rto-min",
            Self::RtoInitial(_) => "rto-initial",
            Self::Pacing(_) => "pacing",
            Self::MtuProbing => "mtu-probing",
            Self::NoSlowStartAfterIdle => "slow-start-after-idle",
            Self::ReorderingTolerance => "reordering",
            Self::ReadsAtOnce => "read-at-once",
            Self::IcmpSent => "icmp",
            Self::Queue(_) => "queue",
            Self::FairQueue => "fair-queue",
            Self::Codel => "codel",
            Self::NoErrors => "no-errors",
        }
    }

    /// Several as one line in this scenario; `none` in the place of none.
    pub fn describe_all_in(scenario: &Scenario, changes: &[Self], none: &str) -> String {
        if changes.is_empty() {
            return none.to_owned();
        }
        changes.iter().map(|change| change.describe_in(scenario)).collect::<Vec<_>>().join(", ")
    }

    /// Several as one line; `none` in the place of none.
    pub fn describe_all(changes: &[Self], none: &str) -> String {
        if changes.is_empty() {
            return none.to_owned();
        }
        changes.iter().map(|change| change.describe()).collect::<Vec<_>>().join(", ")
    }
}
