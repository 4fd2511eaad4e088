//! A sender's limits in the outcome's words.

use crate::outcome::LimitedBy;
use crate::tcp::Limit;

impl From<Limit> for LimitedBy {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Application => Self::Application,
            Limit::StartUp => Self::StartUp,
            Limit::ReceiveWindow => Self::ReceiveWindow,
            Limit::SendBuffer => Self::SendBuffer,
            Limit::Congestion => Self::Congestion,
            Limit::Rto => Self::Rto,
            Limit::Paced => Self::Paced,
        }
    }
}
