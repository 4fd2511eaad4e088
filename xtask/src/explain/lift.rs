//! Second runs: the same draw with one suspected limit removed. What makes the transfer fastest when it is gone is
//! what limited it.

use maxseg_core::outcome::LimitedBy;
use serde::{Deserialize, Serialize};

use super::setup::Setup;
use crate::draws::{Application, whole};

/// A limit that a second run removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lift {
    /// The receiver's window is ample.
    Window,
    /// The application reads at once.
    Reader,
    /// The send buffer is ample.
    Buffer,
    /// Nothing is lost: there are no errors, and the queue is ample.
    Losses,
    /// Nothing is reordered.
    Reordering,
    /// The line is several times as fast, with a queue of as many seconds.
    Rate,
    /// The acknowledgements' link is as fast as that of the data.
    AckPath,
    /// There is no other traffic.
    Cross,
}

/// One of them, as it was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SecondRun {
    /// What was removed.
    pub lift: Lift,
    /// The goodput without it.
    pub goodput_bps: f64,
    /// Why the lab says that it proves nothing; empty for a valid run.
    pub invalid_because: Vec<String>,
}

/// A window or a buffer that never matters here.
pub(super) const AMPLE: u64 = 8 << 20;
/// A queue that holds so many times what the path does, and this, drops nothing of a transfer of seconds.
const AMPLE_QUEUE: f64 = 10.0;
const AMPLE_QUEUE_BYTES: u64 = 4 << 20;

impl Lift {
    /// The limit that it removes. Reordering, and other traffic, limit by the congestion window.
    pub const fn limit(self) -> LimitedBy {
        match self {
            Self::Window | Self::Reader => LimitedBy::ReceiveWindow,
            Self::Buffer => LimitedBy::SendBuffer,
            Self::Losses | Self::Reordering | Self::Cross => LimitedBy::Congestion,
            Self::Rate | Self::AckPath => LimitedBy::Bandwidth,
        }
    }

    /// In a table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Reader => "reader",
            Self::Buffer => "buffer",
            Self::Losses => "losses",
            Self::Reordering => "reordering",
            Self::Rate => "rate",
            Self::AckPath => "ack path",
            Self::Cross => "other traffic",
        }
    }
}

impl Setup {
    /// What may limit a bulk transfer of this setup, in which packets were lost or not; nothing for requests, which the
    /// application limits.
    pub fn suspects(&self, has_lost: bool) -> Vec<Lift> {
        if matches!(self.application, Application::Requests { .. }) {
            return Vec::new();
        }
        let all = [
            (Lift::Window, (self.window_bytes as f64) < 3.0 * self.path_bytes()),
            (Lift::Reader, self.read_bps.is_some()),
            (Lift::Buffer, self.send_buffer_bytes.is_some()),
            (Lift::Losses, has_lost),
            (Lift::Reordering, self.line.reorder > 0.0),
            (Lift::AckPath, self.line.reverse.is_some()),
            (Lift::Cross, self.cross.is_some()),
            (Lift::Rate, true),
        ];
        all.into_iter().filter(|(_, suspected)| *suspected).map(|(lift, _)| lift).collect()
    }

    /// The same without a limit.
    #[must_use]
    pub fn without(&self, lift: Lift) -> Self {
        let mut setup = self.clone();
        match lift {
            Lift::Window => setup.window_bytes = AMPLE.max(setup.window_bytes),
            Lift::Reader => setup.read_bps = None,
            Lift::Buffer => setup.send_buffer_bytes = None,
            Lift::Losses => {
                setup.loss = 0.0;
                let ample = self.queue_bytes as f64 * AMPLE_QUEUE / self.queue_in_paths().max(0.05);
                setup.queue_bytes = whole(ample).max(AMPLE_QUEUE_BYTES);
            }
            Lift::Reordering => setup.line.reorder = 0.0,
            Lift::AckPath => setup.line.reverse = None,
            Lift::Cross => setup.cross = None,
            Lift::Rate => {
                // Beyond some 100 Mbit/s a small machine cannot keep time.
                let times = if setup.rate_bps <= 25_000_000 { 4 } else { 2 };
                setup.rate_bps *= times;
                setup.queue_bytes *= times;
                if let Some(hop) = &mut setup.other_hop {
                    hop.rate_bps = hop.rate_bps.max(setup.rate_bps * 2);
                }
            }
        }
        setup
    }
}

#[cfg(test)]
mod tests {
    use super::super::stratum::Stratum;
    use super::*;

    #[test]
    fn what_is_removed_is_suspected_no_more() {
        for number in 0..200 {
            let setup = Setup::draw(Stratum::NearEnds, 1, number);
            for lift in setup.suspects(false).into_iter().filter(|lift| *lift != Lift::Rate) {
                let left = setup.without(lift).suspects(false);
                assert!(!left.contains(&lift), "{lift:?} of {setup:?}");
            }
        }
    }
}
